/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The nodes of a tier: HTTP caches on the hosts of a job, between them and a dataset's
 * server.
 *
 * Which node has a segment of a file is computed by rendezvous hashing (Thaler, Ravishankar 1998):
 * the node with the highest weight, a hash of node and segment. So all hosts ask the same node
 * without agreeing on anything, and if a node is added or lost, only its segments move. A node that
 * fails is passed over for a while. Any thread may call these functions.
 */
#ifndef LX_REMOTE_TIER_H
#define LX_REMOTE_TIER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** A file is cut into segments of so many bytes: small enough that each node gets its share of a
 * few files, and large enough that few reads cross a border, where they are cut in two. */
#define LX__TIER_SEGMENT ((uint64_t)64 << 20)

typedef struct lx__tier_node {
    char *target;  /**< "::host:port", for CURLOPT_CONNECT_TO. The name of the node follows "::". */
    uint64_t hash; /**< Of the name. */
    _Atomic uint64_t again; /**< When to try the node again (executor/clock.h); 0: it is in use. */
} lx__tier_node;

/** Zeros are a tier without nodes. */
typedef struct lx__tier {
    lx__tier_node *nodes;
    size_t count;
} lx__tier;

/**
 * Makes a tier of the nodes at @p urls, each `http://host` or `http://host:port`.
 *
 * @retval LX_ERR_ARGUMENT  One of them is another URL.
 */
lx_status lx__tier_open(lx__tier *tier, const char *const *urls, size_t count, lx_error *error);
/** Makes a tier of the nodes of another one, all of which are in use. */
lx_status lx__tier_copy(lx__tier *tier, const lx__tier *from, lx_error *error);
void lx__tier_close(lx__tier *tier);

/** Returns the key of the segment that has the byte at @p offset of the file @p name, of the
 * dataset at @p base. It is the same on all machines and in all versions. */
uint64_t lx__tier_get_key(const char *base, const char *name, uint64_t offset);

/** Returns the node that is to have the segment, of all but @p except and those that are passed
 * over; NULL if there is none. When a node may be tried again, only one thread gets it. */
lx__tier_node *lx__tier_choose(lx__tier *tier, uint64_t key, const lx__tier_node *except,
                               uint64_t now);

/** Uses a node that has answered. */
void lx__tier_use(lx__tier_node *node);

/** Passes a node over for 30 s. Logs @p why, unless it was passed over already. */
void lx__tier_pass_over(lx__tier_node *node, const lx_error *why, uint64_t now);

#endif
