/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The sets of positions in a mixture, by the fastest kernel that the processor has.
 */
#ifndef LX_SAMPLER_MIXTURE_SPLIT_FIND_H
#define LX_SAMPLER_MIXTURE_SPLIT_FIND_H

#include "sampler/orders/mixture-split.h"

/** Finds the set of each of @p count positions, and replaces the position by the set's number of
 * positions below it. */
void lx__mixture_split_find(const lx__mixture_split *split, uint64_t *places, size_t count,
                            uint16_t *sets);

#endif
