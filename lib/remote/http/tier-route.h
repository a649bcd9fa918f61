/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The way of one request through a tier: which node is asked, and whom to ask instead.
 */
#ifndef LX_REMOTE_TIER_ROUTE_H
#define LX_REMOTE_TIER_ROUTE_H

#include "remote/http/http-exchange.h"
#include "remote/http/tier.h"

/** The most nodes that are asked before the server. */
#define LX__TIER_ATTEMPTS 2

/** A node that did not answer with the range, and what it did. */
typedef struct lx__tier_failure {
    lx__tier_node *node;
    lx_error why;
} lx__tier_failure;

/** Zeros are the way to the server. */
typedef struct lx__tier_route {
    lx__tier *tier;
    uint64_t key;        /**< Of the segment. */
    lx__tier_node *node; /**< To ask next; NULL: the server. */
    lx__tier_failure failures[LX__TIER_ATTEMPTS];
    unsigned failure_count;
} lx__tier_route;

/** Begins the way with the node of a segment. */
void lx__tier_route_begin(lx__tier_route *route, lx__tier *tier, uint64_t key);

/**
 * Passes over the node if it has not answered with the range: another one is asked instead of one
 * that failed, and the server if the answer may be the server's own. Returns whether to do so.
 *
 * @param client  For what libcurl says.
 */
bool lx__tier_route_pass_over(lx__tier_route *route, const lx__http_exchange *exchange,
                              const lx__http_client *client);

/**
 * Draws conclusions from a request that has succeeded: nodes are at fault if another one or the
 * server could answer. If none could, the server may not be available.
 *
 * @param renewed  Nodes may have been asked with credentials that had expired.
 */
void lx__tier_route_end(lx__tier_route *route, bool renewed);

#endif
