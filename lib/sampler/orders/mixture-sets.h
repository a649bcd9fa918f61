/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The sets of a mixture; reads a block of positions set by set.
 */
#ifndef LX_SAMPLER_MIXTURE_SETS_H
#define LX_SAMPLER_MIXTURE_SETS_H

#include <stdbool.h>

#include "sampler/core/inner-order.h"
#include "sampler/orders/mixture.h"

/** Immutable. */
typedef struct lx__mixture_sets {
    size_t count;
    lx_exhausted_policy exhausted;
    lx__inner_order *parts; /**< One per set. */
    uint64_t *offsets;      /**< Added to the indices of each set. */
} lx__mixture_sets;

/** Creates the sets of a mixture; stores their bound and number in the new order @p order. */
LX_API lx_status lx__mixture_sets_new(const lx_mixture *mixture, lx_order *order,
                                      lx__mixture_sets *sets, lx_error *error);

LX_API void lx__mixture_sets_free(lx__mixture_sets *sets);

/** Implements a class's describe function: adds "parts" and "offsets" to the JSON of an order. */
LX_API int lx__mixture_sets_describe(const lx__mixture_sets *sets, json_t *object);

/** Returns the position, in the set's part, of the set's n-th sample in an epoch; the set has @p
 * totals[set] positions per epoch. */
static inline uint64_t lx__mixture_sets_place(const lx__mixture_sets *sets, const uint64_t *totals,
                                              uint64_t epoch, size_t set, uint64_t n)
{
    return sets->exhausted == LX_EXHAUSTED_REPEAT
               ? epoch * totals[set] + n
               : lx__inner_order_place(&sets->parts[set], epoch, n);
}

/** A thread's scratch buffer. Zeroed memory is a valid empty buffer. */
typedef struct lx__mixture_sets_scratch {
    size_t count; /* number of sets */
    lx__scratch **parts;
    uint16_t *starts;             /* start of each set in sorted; 0 between blocks */
    uint16_t of[LX__ORDER_BLOCK]; /**< The set of each position; the caller fills it in. */
    uint16_t ranks[LX__ORDER_BLOCK];
    uint16_t present[LX__ORDER_BLOCK]; /* the sets that occur in the block */
    uint64_t sorted[LX__ORDER_BLOCK];
} lx__mixture_sets_scratch;

/** Allocates the arrays in the scratch buffer for lx__mixture_sets_read(), unless they are already
 * allocated. */
LX_API lx_status lx__mixture_sets_prepare(const lx__mixture_sets *sets,
                                          lx__mixture_sets_scratch *scratch, lx_error *error);

/** Replaces each of @p count positions (at most a block) with its index. The scratch buffer must
 * already contain the set of each position. */
LX_API lx_status lx__mixture_sets_read(const lx__mixture_sets *sets,
                                       lx__mixture_sets_scratch *scratch, uint64_t *positions,
                                       size_t count, lx_error *error);

LX_API void lx__mixture_sets_clear(lx__mixture_sets_scratch *scratch);

#endif
