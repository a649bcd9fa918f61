/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Counts and prints the samples that each set of a mixture contributes to a range of
 * positions.
 */
#ifndef LX_TOOLS_MIXING_COUNTS_H
#define LX_TOOLS_MIXING_COUNTS_H

#include "mixing.h"

/** Positions with the same weights. */
typedef struct mixing_phase {
    uint64_t begin, end; /**< Offsets in an epoch; equal if the epoch ends before the phase. */
    uint64_t positions;  /**< Number of these positions in the range. */
    uint64_t *samples;   /**< Number of samples at these positions, for each set. */
} mixing_phase;

/** The counts. */
typedef struct mixing_counts {
    const mixing *mixed;
    lx_order *order;
    uint64_t length; /**< Number of positions in an epoch. */
    uint64_t first, end;
    uint64_t *samples;    /**< Number of samples in the range, for each set. */
    double *wanted;       /**< Fractions of the range, 0 to 1, according to the weights alone. */
    mixing_phase *phases; /**< One for each weighting. */
} mixing_counts;

/** Counts the samples at positions [@p first, @p end) of @p order, which is the order of @p mixed.
 * Borrows @p mixed and @p order. */
lx_status mixing_counts_new(mixing_counts *self, const mixing *mixed, lx_order *order,
                            uint64_t first, uint64_t end, lx_error *error);

/** Prints a table, and a second table if there is more than one phase. */
lx_status mixing_counts_print(const mixing_counts *self, lx_error *error);

/** Prints the same information as JSON, with exact numbers. */
lx_status mixing_counts_print_json(const mixing_counts *self, lx_error *error);

void mixing_counts_free(mixing_counts *self);

#endif
