/* SPDX-License-Identifier: MIT */
#ifndef LXPY_BATCH_H
#define LXPY_BATCH_H

#include "lxpy.h"

/** What the dicts of a loader's batches have in common, made at the first of them. */
typedef struct lxpy_columns {
    PyObject *names;  /**< A tuple of str; NULL before the first batch. */
    PyObject *shapes; /**< A tuple of tuples, for batches of */
    uint64_t rows;    /**< so many rows. */
    bool keyed;       /**< Whether there are "keys", of */
    uint64_t seed;    /**< this seed. */
} lxpy_columns;

void lxpy_columns_clear(lxpy_columns *columns);

/** A dict of the batch's columns as arrays, which share its memory and keep it. A reference to the
 * batch is taken over, on failure too. */
PyObject *lxpy_batch_to_dict(lxpy_state *state, lxpy_columns *columns, lx_batch *batch);

#endif
