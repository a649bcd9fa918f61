/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The sets of an order that mixes them, and how what each has of a block of positions is
 * read at once.
 */
#ifndef LX_SAMPLER_MIXTURE_SETS_H
#define LX_SAMPLER_MIXTURE_SETS_H

#include <stdbool.h>

#include "sampler/core/inner-order.h"
#include "sampler/orders/mixture.h"

/** They never change. */
typedef struct lx__mix_sets {
    size_t count;
    lx_exhausted_policy exhausted;
    lx__part *parts;   /**< One a set. */
    uint64_t *offsets; /**< Added to the indices of each. */
} lx__mix_sets;

/** Those of a mixture; @p order, which is new, gets their bound and their number. */
LX_API lx_status lx__mix_sets_new(const lx_mixture *mixture, lx_order *order, lx__mix_sets *sets,
                                  lx_error *error);

LX_API void lx__mix_sets_free(lx__mix_sets *sets);

/** Adds "parts" and "offsets" to the JSON of an order; as describe of a class. */
LX_API int lx__mix_sets_describe(const lx__mix_sets *sets, json_t *object);

/** The position in a set's part of what is its n-th in an epoch, of each of which it has
 * @p totals[set]. */
static inline uint64_t lx__mix_sets_place(const lx__mix_sets *sets, const uint64_t *totals,
                                          uint64_t epoch, size_t set, uint64_t n)
{
    return sets->exhausted == LX_EXHAUSTED_REPEAT ? epoch * totals[set] + n
                                                  : lx__part_place(&sets->parts[set], epoch, n);
}

/** What a set has of a block of positions that follow each other: places that do so, too. */
typedef struct lx__mix_run {
    uint64_t number; /**< By which the first of them is told from the others. */
    uint64_t place;  /**< That of the first of them. */
    uint64_t end;    /**< The number behind the last one. */
} lx__mix_run;

/** What a thread keeps to read them. Zeroed memory is one that keeps nothing yet. */
typedef struct lx__mix_sets_scratch {
    size_t count; /* of sets */
    lx__scratch **parts;
    uint16_t *starts; /* of each set in the sorted ones; 0 between blocks */
    uint16_t of[LX__ORDER_BLOCK]; /**< The set of each position: for the caller to fill. */
    uint16_t ranks[LX__ORDER_BLOCK];
    uint16_t present[LX__ORDER_BLOCK]; /* sets that have some */
    uint64_t sorted[LX__ORDER_BLOCK];
    uint16_t sorted_of[LX__ORDER_BLOCK]; /* the sets of the sorted ones */
    const lx__feistel **feistels;        /* that map what sets have of a block, where they do */
    lx__mix_run *runs; /**< Of each set: for the caller of lx__mix_sets_read_runs() to fill. */
    uint64_t *above; /* of each set: what numbers are above their places among the sorted ones */
} lx__mix_sets_scratch;

/** Has it ready for lx__mix_sets_read(). */
LX_API lx_status lx__mix_sets_prepare(const lx__mix_sets *sets, lx__mix_sets_scratch *scratch,
                                      lx_error *error);

/** Puts in the place of each of @p count positions, at most a block, of the sets that the scratch
 * says, the index that stands there. */
LX_API lx_status lx__mix_sets_read(const lx__mix_sets *sets, lx__mix_sets_scratch *scratch,
                                   uint64_t *places, size_t count, lx_error *error);

/** Whether positions each follow the last, enough of them to look at what each set has: runs. */
LX_API bool lx__mix_sets_have_runs(const lx__mix_sets *sets, const uint64_t *places, size_t count);

/** As lx__mix_sets_read() of positions of which the scratch has the runs; the places are numbers
 * within these. */
LX_API lx_status lx__mix_sets_read_runs(const lx__mix_sets *sets, lx__mix_sets_scratch *scratch,
                                        uint64_t *places, size_t count, lx_error *error);

LX_API void lx__mix_sets_clear(lx__mix_sets_scratch *scratch);

#endif
