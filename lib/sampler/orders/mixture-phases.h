/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The phases of a mixture's epoch: within a phase, the weights do not change.
 */
#ifndef LX_SAMPLER_MIXTURE_PHASES_H
#define LX_SAMPLER_MIXTURE_PHASES_H

#include "sampler/orders/mixture.h"
#include "sampler/orders/mixture-split.h"

/** A phase, which ends where the next one begins. */
typedef struct lx__mixture_phase {
    uint64_t begin;
    lx__mixture_split split;
    uint64_t *before; /**< Number of positions of each set in the epoch before the phase. */
} lx__mixture_phase;

/** The phases of an epoch. Immutable. */
typedef struct lx__mixture_phases {
    size_t set_count;
    lx__mixture_phase *list; /**< The first phase begins at 0. */
    size_t count, capacity;
    uint64_t length;  /**< Number of positions in the epoch. */
    uint64_t *totals; /**< Number of positions of each set in the epoch. */
} lx__mixture_phases;

/**
 * Plans the epoch of a mixture that lx__mixture_check() accepted.
 *
 * @retval LX_ERR_ARGUMENT  The epoch's length would exceed 2^64 - 1, or weights begin after its
 *                          end.
 * @retval LX_ERR_LIMIT     The epoch would have too many phases.
 */
lx_status lx__mixture_phases_new(const lx_mixture *mixture, lx__mixture_phases *phases,
                                 lx_error *error);

void lx__mixture_phases_free(lx__mixture_phases *phases);

/** Returns the number of the phase that contains an offset below the length. */
size_t lx__mixture_phases_find(const lx__mixture_phases *phases, uint64_t offset);

/** Counts the offsets below @p end for each set; @p end must be at most the length. */
void lx__mixture_phases_count(const lx__mixture_phases *phases, uint64_t end, uint64_t *counts);

#endif
