/* SPDX-License-Identifier: MIT */
#include "remote/http/tier-route.h"

#include <string.h>

#include "base/error.h"
#include "executor/clock.h"
#include "remote/http/http-decision.h"

void lx__tier_route_begin(lx__tier_route *route, lx__tier *tier, uint64_t key)
{
    *route = (lx__tier_route){.tier = tier, .key = key};
    route->node = lx__tier_choose(tier, key, NULL, lx__clock_now());
}

/** Whether the node has sent an answer, good or bad, rather than failed. One of status 503 may be
 * the server's. */
static bool has_answered(const lx__http_exchange *exchange)
{
    return exchange->flaw != LX__HTTP_FLAWLESS ||
           (exchange->result == CURLE_OK && (exchange->status < 500 || exchange->status == 503));
}

bool lx__tier_route_pass_over(lx__tier_route *route, const lx__http_exchange *exchange,
                              const lx__http_client *client)
{
    lx__answer answer;
    lx_error why = LX_ERROR_INIT;
    const char *etag = exchange->headers.etag;
    if (route->node == NULL)
        return false;
    lx_status status = lx__http_decide(exchange, client, &answer, &why);
    if (status == LX_OK && *etag != '\0' && *exchange->etag != '\0' &&
        strcmp(etag, exchange->etag) != 0)
        status = lx_fail(&why, LX_ERR_STATE, "it has another file (with the ETag %s)", etag);
    if (status == LX_OK || status == LX_ERR_CANCELED)
        return false;
    bool asks_next = !has_answered(exchange) && route->failure_count + 1 < LX__TIER_ATTEMPTS;
    if (answer.retry != LX__RETRY_SLOWER) /* which the server may have asked for */
        route->failures[route->failure_count++] = (lx__tier_failure){route->node, why};
    route->node = asks_next ? lx__tier_choose(route->tier, route->key, route->node, lx__clock_now())
                            : NULL;
    return true;
}

void lx__tier_route_end(lx__tier_route *route, bool renewed)
{
    uint64_t now = lx__clock_now();
    if (route->node != NULL)
        lx__tier_use(route->node);
    for (unsigned i = 0; i < route->failure_count && !renewed; i++)
        lx__tier_pass_over(route->failures[i].node, &route->failures[i].why, now);
}
