/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Positions split among sets by their weights, by a closed form: which set has position k,
 * and how many positions below k it had, without a table of positions.
 *
 * A tree halves the sets, the left half of them against the right, until one is left. Where a node
 * is given j positions, its left side has round(j * r) of them, r being the weight of the left side
 * over that of both; so position j goes left where round((j + 1) * r) is more than that, and is the
 * round(j * r)-th of the left side, or the (j - round(j * r))-th of the right one. Each level is
 * off its share by a half at most, and hands down a part of what it was off: so a set among m has
 * what its weight says to within half of the levels, which are log2(m), rounded up (doc/orders.md
 * proves it).
 */
#ifndef LX_SAMPLER_MIXTURE_SPLIT_H
#define LX_SAMPLER_MIXTURE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Most sets of one. */
#define LX__SPLIT_SETS_MAX 65535u

/**
 * A split. It never changes.
 *
 * Every level of the tree is full: where halving ends one level above the lowest, a node of the
 * ratio 0 has the set on its right side. So every position goes through as many levels, and the
 * children of a level's node k are the next one's 2k and 2k + 1.
 */
typedef struct lx__split {
    unsigned depth;   /**< Levels of nodes: log2 of the sets with a weight, rounded up. */
    uint64_t *ratios; /**< r of each node as a fraction of 2^64, level by level from the root on. */
    uint16_t *sets;   /**< 2^depth of them, below the lowest level. */
} lx__split;

/**
 * Makes the split of @p count weights. Those of 0 have no positions.
 *
 * @retval LX_ERR_ARGUMENT  A weight is negative, infinite or no number; the error tells which. Or
 *                          all are 0, or there is none.
 * @retval LX_ERR_LIMIT     There are more than #LX__SPLIT_SETS_MAX.
 */
lx_status lx__split_new(const double *weights, size_t count, lx__split *split, lx_error *error);

void lx__split_free(lx__split *split);

/** Finds for each of @p count positions its set, and puts in the place of the position how many
 * that set had below it. */
void lx__split_find(const lx__split *split, uint64_t *places, size_t count, uint16_t *sets);

/** A kernel: what lx__split_find() does. */
typedef void lx__split_kernel(const lx__split *split, uint64_t *places, size_t count,
                              uint16_t *sets);

/** In plain C: the reference for the other one. */
lx__split_kernel lx__split_find_scalar;
#if defined(__x86_64__)
/** By AVX2; only where the processor has it. */
lx__split_kernel lx__split_find_avx2;
#endif

/** How many of the positions below @p end each set has; those without any are left as they are. */
void lx__split_count(const lx__split *split, uint64_t end, uint64_t *counts);

/** How many positions there are before the first that a set would get beyond its @p room, which is
 * a number for each set; 2^64 - 1 where there are more. */
uint64_t lx__split_fit(const lx__split *split, const uint64_t *room);

#endif
