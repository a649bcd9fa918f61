/* SPDX-License-Identifier: MIT */
/* What a call that returns arrays does about missing values. */
#ifndef LXPY_MISSING_H
#define LXPY_MISSING_H

#include "indices.h"

/* Such a call takes an object `lacking`. With None, zeros stand for missing values. With a dict,
 * a missing value is an error except in the fields that are keys of the dict; if such a field lacks
 * values, the call replaces the value of its key by a mask of the present ones. True is like an
 * empty dict, for callers that offer no choice. */

/** Does this for the records @p indices of a field, unless @p lacking is None; @p present has a byte
 * for each of them. */
int lxpy_lacking_add(lxpy_state *state, PyObject *lacking, const char *field,
                     const uint8_t *present, const lxpy_indices *indices);

#endif
