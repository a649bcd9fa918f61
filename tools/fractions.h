/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The sets of a split, each with a name and a fraction of all records.
 */
#ifndef LX_TOOLS_FRACTIONS_H
#define LX_TOOLS_FRACTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** A set. */
typedef struct fraction {
    const char *name; /**< Without slashes, because it is used in file names. */
    double part;
    double begin, end; /**< Its part of the hash space. */
} fraction;

/** The sets in order; initialize with zeros. */
typedef struct fractions {
    fraction *sets;
    size_t count;
} fractions;

/** Parses NAME=F,NAME=F,...; the names point into @p text. Call fractions_free() afterwards, even on
 * failure. */
lx_status fractions_parse(fractions *self, char *text, lx_error *error);

/** Gives each set its part of the hash space. In formula 2, the parts are in the order of the names,
 * so that the order in which the caller names the sets does not matter; in formula 1, they are in
 * that order. The sum of the fractions must be at most 1; if it is about 1, the last part ends at
 * 1. */
lx_status fractions_place(fractions *self, uint64_t formula, lx_error *error);

void fractions_free(fractions *self);

#endif
