/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An epoch of a mixture in phases: in each, positions are split by the same weights.
 */
#ifndef LX_SAMPLER_MIXTURE_PHASES_H
#define LX_SAMPLER_MIXTURE_PHASES_H

#include "sampler/orders/mixture.h"
#include "sampler/orders/mixture-split.h"

/** From one offset on, up to the next phase. */
typedef struct lx__phase {
    uint64_t begin;
    lx__split split;
    uint64_t *before; /**< What each set had in the epoch before it. */
} lx__phase;

/** All of an epoch. It never changes. */
typedef struct lx__phases {
    size_t set_count;
    lx__phase *list; /**< The first begins at 0. */
    size_t count, capacity;
    uint64_t length;  /**< Positions in the epoch. */
    uint64_t *totals; /**< Of these, each set has. */
} lx__phases;

/**
 * Plans the epoch of a mixture, which lx__mixture_check() has passed.
 *
 * @retval LX_ERR_ARGUMENT  Its length would be beyond 2^64 - 1, or weights begin behind it.
 * @retval LX_ERR_LIMIT     There would be too many phases.
 */
lx_status lx__phases_new(const lx_mixture *mixture, lx__phases *phases, lx_error *error);

void lx__phases_free(lx__phases *phases);

/** The phase of an offset below the length, by number. */
size_t lx__phases_find(const lx__phases *phases, uint64_t offset);

/** How many of the offsets below @p end, which is the length at most, each set has. */
void lx__phases_count(const lx__phases *phases, uint64_t end, uint64_t *counts);

#endif
