/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What each set of a mixture gives of a range of positions: counted, and printed.
 */
#ifndef LX_TOOLS_SHARES_H
#define LX_TOOLS_SHARES_H

#include "mixing.h"

/** Positions with the same weights. */
typedef struct shares_phase {
    uint64_t begin, end; /**< Offsets of an epoch; the same where it ends before. */
    uint64_t positions;  /**< Of the range. */
    uint64_t *samples;   /**< Of these, by sets. */
} shares_phase;

/** All of it. */
typedef struct shares {
    const mixing *mixed;
    lx_order *order;
    uint64_t length; /**< Positions in an epoch. */
    uint64_t first, end;
    uint64_t *samples;    /**< Of the range, by sets. */
    double *wanted;       /**< Parts of it, 0 to 1, that weights alone say. */
    shares_phase *phases; /**< One for each weighting. */
} shares;

/** Counts [first, end) of @p order, which is that of @p mixed. Both have to stay. */
lx_status shares_new(shares *self, const mixing *mixed, lx_order *order, uint64_t first,
                     uint64_t end, lx_error *error);

/** Prints a table, and one of the phases where there is more than one. */
lx_status shares_print(const shares *self, lx_error *error);

/** Prints the same as JSON, to the last digit. */
lx_status shares_print_json(const shares *self, lx_error *error);

void shares_free(shares *self);

#endif
