/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Splits positions among sets by weight in closed form: computes the set of position k, and
 * the number of that set's positions below k, without a table of positions.
 *
 * A binary tree halves the list of sets until one set is left. Of the first j positions at a node,
 * the node's left side gets round(j * r), where r is the weight of the left side divided by the
 * weight of both sides. So position j goes left if round((j + 1) * r) exceeds round(j * r), and
 * becomes position round(j * r) of the left side. Otherwise, it becomes position j - round(j * r)
 * of the right side. Each level deviates from its share by at most one half, and passes on only a
 * part of its deviation. Each of m sets therefore deviates from its weighted share by at most half
 * the number of levels, which is log2(m) rounded up (proof in doc/orders.md).
 */
#ifndef LX_SAMPLER_MIXTURE_SPLIT_H
#define LX_SAMPLER_MIXTURE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Maximum number of sets in a split. */
#define LX__MIXTURE_SETS_MAX 65535u

/**
 * A split. Immutable.
 *
 * Every level of the tree is full: a set that is already alone one level above the lowest becomes
 * the right child of a node with ratio 0. All positions therefore descend the same number of
 * levels, and the children of node k are nodes 2k and 2k + 1 of the next level.
 */
typedef struct lx__mixture_split {
    unsigned depth;   /**< Number of levels of nodes: log2 of the number of sets with a weight above
                           0, rounded up. */
    uint64_t *ratios; /**< Each node's r, in units of 2^-64, level by level from the root. */
    uint16_t *sets;   /**< The 2^depth leaves, below the lowest level. */
} lx__mixture_split;

/**
 * Creates the split of @p count weights. Sets with weight 0 get no positions.
 *
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or NaN (the message states its number),
 *                          all weights are 0, or @p count is 0.
 * @retval LX_ERR_LIMIT     @p count exceeds #LX__MIXTURE_SETS_MAX.
 */
lx_status lx__mixture_split_new(const double *weights, size_t count, lx__mixture_split *split,
                                lx_error *error);

void lx__mixture_split_free(lx__mixture_split *split);

/** Finds the set of each of @p count positions, and replaces each position with the number of its
 * set's earlier positions. */
void lx__mixture_split_find(const lx__mixture_split *split, uint64_t *positions, size_t count,
                            uint16_t *sets);

/** Counts the positions below @p end for each set. Leaves the counts of sets with weight 0
 * unchanged. */
void lx__mixture_split_count(const lx__mixture_split *split, uint64_t end, uint64_t *counts);

/** Returns the number of positions before the first position whose set has no room left, at most
 * 2^64 - 1. @p room gives the number of positions that each set has room for. */
uint64_t lx__mixture_split_fit(const lx__mixture_split *split, const uint64_t *room);

#endif
