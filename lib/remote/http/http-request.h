/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One attempt to get an answer from a server: exchanges with credentials, which are renewed
 * if the server refuses them, and with the redirections that are allowed. Another server gets no
 * credentials, not even after a redirection back.
 */
#ifndef LX_REMOTE_HTTP_REQUEST_H
#define LX_REMOTE_HTTP_REQUEST_H

#include "remote/http/http-connection.h"
#include "remote/http/http-exchange.h"
#include "remote/http/tier-route.h"

typedef struct lx__http_request {
    lx__transport_http *transport;
    lx__http_connection *connection;
    /** The caller sets what is asked for: method, range or limit of the text, body, headers. */
    lx__http_exchange exchange;
    /** How many times as long as usual the server may be silent; 0: once. */
    unsigned patience;
    lx__tier_route route; /**< Through a tier; the caller may begin it. */

    /** @name Private to the request */
    /** @{ */
    lx_credentials credentials;
    uint64_t version; /**< Of the credentials; 0: none were asked for. */
    char *url;        /**< Of the file, or where the server redirects to. */
    bool foreign;     /**< It is on another server, which gets no credentials. */
    unsigned redirects;
    bool renewed;
    /** @} */
} lx__http_request;

/** Makes a request on a connection, and clears the answer; NULL if out of memory. */
lx__http_request *lx__http_request_new(lx__connection *connection, lx__answer *answer,
                                       lx_error *error);

/** Whether libcurl signs a plus sign of a query: from 8.14 to 8.18, it takes %2B for a space. */
bool lx__http_request_signs_plus(void);

/** Overwrites secrets and frees the request. Does nothing if it is NULL. */
void lx__http_request_free(lx__http_request *self);

/**
 * Sends the request, once, and receives the response, which is decided (http-decision.h).
 *
 * @param url  Owned by the request from now on; NULL: out of memory.
 */
lx_status lx__http_request_send(lx__http_request *self, char *url, lx__answer *answer,
                                lx_error *error);

#endif
