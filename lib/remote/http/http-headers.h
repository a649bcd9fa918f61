/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The header of an HTTP response, from lines that a server may have made up.
 */
#ifndef LX_REMOTE_HTTP_HEADERS_H
#define LX_REMOTE_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The most bytes of the headers of all responses to a request, interim ones included: without a
 * limit, a server could fill the memory. */
#define LX__HTTP_HEADERS_BYTES ((size_t)64 << 10)
/** The size of each text, with its NUL. A longer text is ignored: it is "". */
#define LX__HTTP_TEXT_SIZE 160

typedef struct lx__http_headers {
    size_t bytes; /**< Of all lines. */

    /** @name Of the last response */
    /** @{ */
    bool has_range;   /**< It had a valid Content-Range with the members below. */
    bool bad_range;   /**< It had a Content-Range that is invalid. */
    bool unsatisfied; /**< The range is "*": only the total is known. */
    uint64_t first;   /**< The first byte of the range. */
    uint64_t last;    /**< The last byte, at least @ref first. */
    uint64_t total;   /**< The length of the file, more than @ref last; LX_NONE: "*". */
    bool encoded;     /**< It had a Content-Encoding other than identity. */
    char etag[LX__HTTP_TEXT_SIZE];          /**< With its quotes. */
    char request_id[LX__HTTP_TEXT_SIZE];    /**< x-amz-request-id, or one of its like. */
    char bucket_region[LX__HTTP_TEXT_SIZE]; /**< x-amz-bucket-region. */
    /** @} */
} lx__http_headers;

/** Adds a line, which need not be terminated. The status line of a further response replaces what
 * the former one had. Returns false if there are too many bytes. */
bool lx__http_headers_add(lx__http_headers *headers, const char *line, size_t size);

#endif
