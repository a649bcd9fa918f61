/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One request for a range of bytes, and its response. Nothing that the server sends is
 * written beyond the range.
 */
#ifndef LX_REMOTE_HTTP_EXCHANGE_H
#define LX_REMOTE_HTTP_EXCHANGE_H

#include <loaderx/remote.h>

#include "remote/http/http-client.h"
#include "remote/http/http-headers.h"
#include "remote/transport/transport.h"

/** The most bytes that are kept of the text of an error: S3 explains errors in XML. */
#define LX__HTTP_BODY_BYTES 4096

/** What is wrong with a response whose status is good. */
typedef enum lx__http_flaw {
    LX__HTTP_FLAWLESS = 0,
    LX__HTTP_HEADERS_TOO_LONG,
    LX__HTTP_NO_RANGE,    /**< The server sends the whole file. */
    LX__HTTP_WRONG_RANGE, /**< Content-Range is invalid, or is not what was requested. */
    LX__HTTP_ENCODED,     /**< The bytes are compressed. */
    LX__HTTP_TOO_LONG     /**< The body is longer than its range. */
} lx__http_flaw;

typedef struct lx__http_exchange {
    /** @name The request */
    /** @{ */
    const char *url;
    uint64_t offset;
    size_t size;
    uint8_t *data;                     /**< Room for @ref size bytes. */
    const char *etag;                  /**< The file must have it; "": any. */
    const lx_credentials *credentials; /**< NULL: none are sent. */
    const char *signing;               /**< For CURLOPT_AWS_SIGV4. */
    const char *ca_bundle;             /**< A file with certificates; NULL: those of libcurl. */
    unsigned stall_seconds;            /**< How long less than 4 KiB/s are tolerated. */
    bool fresh;                        /**< A new connection is made, and the name looked up. */
    /** @} */

    /** @name The response */
    /** @{ */
    CURLcode result;          /**< CURLE_WRITE_ERROR if there is a flaw. */
    long status;              /**< 0: none came. */
    lx__http_headers headers; /**< Those of the last response. */
    bool judged;              /**< @ref flaw is decided. */
    lx__http_flaw flaw;
    bool empty;                         /**< The file has no bytes. */
    size_t got;                         /**< Number of bytes in @ref data. */
    char body[LX__HTTP_BODY_BYTES + 1]; /**< The beginning of an error's text, which may contain
                                              NULs; terminated. */
    size_t body_size;
    uint64_t retry_after_ns; /**< 0: the server did not tell. */
    char *redirect;          /**< Where the server redirects to; owned; NULL: nowhere. */
    /** @} */
} lx__http_exchange;

/** Sends the request and receives the response. Fails only if out of memory. */
lx_status lx__http_exchange_run(lx__http_exchange *self, lx__http_client *client, lx_error *error);

/** Frees what the response owns. */
void lx__http_exchange_clear(lx__http_exchange *self);

#endif
