/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a response means, and what to do after one that is not what was asked for.
 */
#ifndef LX_REMOTE_HTTP_DECISION_H
#define LX_REMOTE_HTTP_DECISION_H

#include "remote/http/http-exchange.h"

/** Whether the server has refused the credentials, and may accept others. */
bool lx__http_is_refused(const lx__http_exchange *exchange);

/**
 * Decides whether the response is what was asked for, and otherwise what to do. Some servers send
 * the status 200 before they know whether they can do it, and an error in the text.
 *
 * @param client  For what libcurl says.
 * @return The statuses of the functions of a transport. The error does not name the file.
 */
lx_status lx__http_decide(const lx__http_exchange *exchange, const lx__http_client *client,
                          lx__answer *answer, lx_error *error);

#endif
