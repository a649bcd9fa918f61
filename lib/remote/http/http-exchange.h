/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One request, for a range of bytes or for something else, and its response. Nothing that
 * the server sends is written beyond the range, and no text is kept that is longer than expected.
 */
#ifndef LX_REMOTE_HTTP_EXCHANGE_H
#define LX_REMOTE_HTTP_EXCHANGE_H

#include <loaderx/remote.h>

#include "remote/http/http-client.h"
#include "remote/http/http-headers.h"
#include "remote/transport/transport.h"

/** The most bytes that are kept of the text of an error: S3 explains errors in XML. */
#define LX__HTTP_ERROR_BYTES 4096
/** The most headers that the caller adds. */
#define LX__HTTP_OWN_HEADERS 3

/** What is wrong with a response whose status is good. */
typedef enum lx__http_flaw {
    LX__HTTP_FLAWLESS = 0,
    LX__HTTP_HEADERS_TOO_LONG,
    LX__HTTP_NO_RANGE,    /**< The server sends the whole file. */
    LX__HTTP_WRONG_RANGE, /**< Content-Range is invalid, or is not what was requested. */
    LX__HTTP_ENCODED,     /**< The bytes are compressed. */
    LX__HTTP_TOO_LONG     /**< The body is longer than its range, or than expected. */
} lx__http_flaw;

typedef struct lx__http_exchange {
    /** @name The request */
    /** @{ */
    const char *method; /**< "GET", "HEAD", "PUT", "POST" or "DELETE". */
    const char *url;
    uint64_t offset;     /**< Of a range. */
    size_t size;         /**< Of a range. */
    uint8_t *data;       /**< Room for @ref size bytes; NULL: no range is asked for. */
    size_t text_limit;   /**< The most bytes of a text, if no range is asked for. */
    const uint8_t *body; /**< What PUT or POST sends; may be NULL. */
    size_t body_size;
    const char *etag; /**< The file must have it; "" or NULL: any. */
    const char
        *own[LX__HTTP_OWN_HEADERS];    /**< Further headers, such as "Name: value"; NULL: none. */
    const lx_credentials *credentials; /**< NULL: none are sent. */
    const char *signing;               /**< For CURLOPT_AWS_SIGV4. */
    const char *ca_bundle;             /**< A file with certificates; NULL: those of libcurl. */
    unsigned stall_seconds;            /**< How long less than 4 KiB/s are tolerated. */
    bool fresh;                        /**< A new connection is made, and the name looked up. */
    const char *node;                  /**< "::host:port" of a cache, which gets the request instead
                                            of the server, without encryption; NULL: none. */
    uint32_t version;                  /**< Of the dataset; tells such caches what is the same. */
    /** @} */

    /** @name The response */
    /** @{ */
    CURLcode result;          /**< CURLE_WRITE_ERROR if there is a flaw. */
    long status;              /**< 0: none came. */
    lx__http_headers headers; /**< Those of the last response. */
    bool judged;              /**< @ref flaw is decided. */
    lx__http_flaw flaw;
    bool empty; /**< The file has no bytes. */
    size_t got; /**< Number of bytes in @ref data. */
    char *text; /**< Of a response without a range, or the beginning of an error's text; it
                            may contain NULs; owned; NULL, or terminated. */
    size_t text_size;
    size_t text_room; /**< What @ref text has room for. */
    bool out_of_memory;
    uint64_t length;         /**< Of the file, for HEAD; LX_NONE: the server did not tell. */
    uint64_t modified;       /**< When the file was written, in seconds since 1970; 0: unknown. */
    uint64_t retry_after_ns; /**< 0: the server did not tell. */
    char *redirect;          /**< Where the server redirects to; owned; NULL: nowhere. */
    /** @} */
} lx__http_exchange;

/** Whether the status of the response says that the request succeeded. */
bool lx__http_exchange_is_good(const lx__http_exchange *self);

/** Sends the request and receives the response. Fails only if out of memory. */
lx_status lx__http_exchange_run(lx__http_exchange *self, lx__http_client *client, lx_error *error);

/** Forgets the response. */
void lx__http_exchange_clear(lx__http_exchange *self);

#endif
