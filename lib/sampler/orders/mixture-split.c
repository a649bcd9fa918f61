/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-split.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/random/weights.h"
#include "sampler/random/wide-arithmetic.h"

/* ---- the tree */

/** Returns the number of nodes above a level. */
static inline size_t level_begin(unsigned level)
{
    return ((size_t)1 << level) - 1;
}

/** A set with a weight above 0. */
typedef struct leaf {
    uint32_t set;
    uint64_t weight;
} leaf;

static uint64_t sum(const leaf *leaves, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += leaves[i].weight;
    return total;
}

/** Builds the subtree of node @p at of a level, with at least one leaf. Recurses over at most 16
 * levels. */
static void build(lx__mixture_split *split, unsigned level, size_t at, const leaf *leaves,
                  size_t count)
{
    size_t half = (count + 1) / 2;
    if (level == split->depth) {
        split->sets[at] = (uint16_t)leaves[0].set;
        return;
    }
    /* A single leaf belongs to both sides. */
    size_t rest = count == 1 ? 0 : half;
    split->ratios[level_begin(level) + at] =
        count == 1 ? 0 : lx__divide_wide(sum(leaves, half), 0, sum(leaves, count));
    build(split, level + 1, 2 * at, leaves, half);
    build(split, level + 1, 2 * at + 1, leaves + rest, count - rest);
}

lx_status lx__mixture_split_new(const double *weights, size_t count, lx__mixture_split *split,
                                lx_error *error)
{
    double largest;
    size_t used = 0;
    *split = (lx__mixture_split){0};
    if (count > LX__MIXTURE_SETS_MAX)
        return lx_fail(error, LX_ERR_LIMIT, "%zu parts exceed the limit of %u: nest mixtures",
                       count, LX__MIXTURE_SETS_MAX);
    lx_status status = lx__weights_check(weights, count, &largest, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        used += weights[i] > 0;
    leaf *leaves = lx__alloc_array(used, sizeof *leaves);
    while ((size_t)1 << split->depth < used)
        split->depth++;
    split->ratios = lx__alloc_array((size_t)1 << split->depth, sizeof *split->ratios);
    split->sets = lx__alloc_array((size_t)1 << split->depth, sizeof *split->sets);
    if (leaves == NULL || split->ratios == NULL || split->sets == NULL) {
        lx__free(leaves);
        lx__mixture_split_free(split);
        return lx__fail_memory(error, "a mixture");
    }
    int scale = lx__weights_scale(largest, count);
    used = 0;
    for (size_t i = 0; i < count; i++)
        if (weights[i] > 0)
            leaves[used++] = (leaf){(uint32_t)i, lx__weight_to_integer(weights[i], scale)};
    build(split, 0, 0, leaves, used);
    lx__free(leaves);
    return LX_OK;
}

void lx__mixture_split_free(lx__mixture_split *split)
{
    lx__free(split->ratios);
    lx__free(split->sets);
    *split = (lx__mixture_split){0};
}

/* ---- positions */

/** Returns how many of the first @p end positions belong to the left side; sets @p next to whether
 * the next position does, too. */
static inline uint64_t left_of(uint64_t ratio, uint64_t end, bool *next)
{
    const uint64_t half = (uint64_t)1 << 63;
    uint64_t high, low = end * ratio; /* computed twice: faster than keeping both halves of one
                                         product */
    (void)lx__multiply_wide(end, ratio, &high);
    /* Adding half makes the result round to nearest. */
    *next = low + half + ratio < ratio;
    return high + (low >> 63);
}

void lx__mixture_split_find(const lx__mixture_split *split, uint64_t *positions, size_t count,
                            uint16_t *sets)
{
    memset(sets, 0, count * sizeof *sets);
    /* Level by level, so that the computations for different positions are independent. */
    for (unsigned level = 0; level < split->depth; level++) {
        const uint64_t *ratios = split->ratios + level_begin(level);
        for (size_t i = 0; i < count; i++) {
            bool is_left;
            uint64_t left = left_of(ratios[sets[i]], positions[i], &is_left);
            uint64_t right = positions[i] - left;
            positions[i] = is_left ? left : right;
            sets[i] = (uint16_t)(2 * sets[i] + !is_left);
        }
    }
    for (size_t i = 0; i < count; i++)
        sets[i] = split->sets[sets[i]];
}

static void count_below(const lx__mixture_split *split, unsigned level, size_t at, uint64_t end,
                        uint64_t *counts)
{
    bool ignored;
    if (level == split->depth) {
        counts[split->sets[at]] = end;
        return;
    }
    uint64_t ratio = split->ratios[level_begin(level) + at];
    uint64_t left = left_of(ratio, end, &ignored);
    if (ratio != 0)
        count_below(split, level + 1, 2 * at, left, counts);
    count_below(split, level + 1, 2 * at + 1, end - left, counts);
}

void lx__mixture_split_count(const lx__mixture_split *split, uint64_t end, uint64_t *counts)
{
    count_below(split, 0, 0, end, counts);
}

/** Returns the maximum number of positions that a node can get without exceeding the room of a side
 * whose share is @p ratio: (whole * 2^64 + rest) div ratio, limited to 2^64 - 1. */
static uint64_t reach(uint64_t whole, uint64_t rest, uint64_t ratio)
{
    return whole < ratio ? lx__divide_wide(whole, rest, ratio) : UINT64_MAX;
}

static uint64_t fit_below(const lx__mixture_split *split, unsigned level, size_t at,
                          const uint64_t *room)
{
    const uint64_t half = (uint64_t)1 << 63;
    if (level == split->depth)
        return room[split->sets[at]];
    uint64_t ratio = split->ratios[level_begin(level) + at];
    uint64_t right = fit_below(split, level + 1, 2 * at + 1, room);
    if (ratio == 0)
        return right;
    uint64_t left = fit_below(split, level + 1, 2 * at, room);
    /* j * r + 2^63 is below (left + 1) * 2^64, and
     * j * (2^64 - r) - 2^63 is at most right * 2^64. */
    left = reach(left, half - 1, ratio);
    right = reach(right, half, 0 - ratio);
    return left < right ? left : right;
}

uint64_t lx__mixture_split_fit(const lx__mixture_split *split, const uint64_t *room)
{
    return fit_below(split, 0, 0, room);
}
