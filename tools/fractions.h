/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sets of a split, each with a name and a fraction of all records.
 */
#ifndef LX_TOOLS_FRACTIONS_H
#define LX_TOOLS_FRACTIONS_H

#include <stddef.h>

#include <loaderx/status.h>

/** One set. */
typedef struct fraction {
    const char *name; /**< Without a slash: files are called by it. */
    double part;
    double end; /**< Where its part of all hashes ends; it begins where the one before it does. */
} fraction;

/** The sets, in their order; zeroed there are none. */
typedef struct fractions {
    fraction *sets;
    size_t count;
} fractions;

/** Reads NAME=F,NAME=F,..., in which the names stay. The fractions are 1 together at most; if they
 * are about 1, the last part ends at 1. fractions_free() is due in any case. */
lx_status fractions_parse(fractions *self, char *text, lx_error *error);

void fractions_free(fractions *self);

#endif
