/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A client of HTTP for one thread at a time: a handle of libcurl, whose transfers another
 * thread can interrupt.
 */
#ifndef LX_REMOTE_HTTP_CLIENT_H
#define LX_REMOTE_HTTP_CLIENT_H

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <loaderx/status.h>

typedef struct lx__http_client {
    CURL *easy;
    CURLM *multi; /**< Drives @ref easy, because its waits can be interrupted. Keeps connections. */
    const atomic_bool *stop;
    char text[CURL_ERROR_SIZE]; /**< What libcurl says about a failed transfer. */
} lx__http_client;

/** Makes a client. Once @p stop is true, all transfers end with CURLE_ABORTED_BY_CALLBACK. */
lx_status lx__http_client_open(lx__http_client *client, const atomic_bool *stop, lx_error *error);
void lx__http_client_close(lx__http_client *client);

/** Restores the options of @ref lx__http_client.easy that all transfers have. */
void lx__http_client_reset(lx__http_client *client);

/** Runs the transfer that @ref lx__http_client.easy describes. */
CURLcode lx__http_client_perform(lx__http_client *client);

/** Makes a transfer look at @ref lx__http_client.stop at once. Any thread may call this. */
void lx__http_client_wake(const lx__http_client *client);

/** A request to a service of this machine, which answers with a short text. */
typedef struct lx__http_fetch {
    const char *method; /**< "GET" or "PUT". */
    const char *url;
    const char *header; /**< Such as "Name: value"; NULL: none. */
    long timeout_ms;
} lx__http_fetch;

/**
 * Sends a request without proxies and redirects, and receives the text of the answer, which may
 * contain NULs and is NUL-terminated.
 *
 * @param[out] code  The HTTP status; 0 if there was no answer, which is no failure.
 * @retval LX_ERR_LIMIT     The text has @p capacity bytes or more.
 * @retval LX_ERR_CANCELED  The client was stopped.
 */
lx_status lx__http_client_fetch(lx__http_client *client, const lx__http_fetch *what, char *text,
                                size_t capacity, long *code, lx_error *error);

#endif
