/* SPDX-License-Identifier: MIT */
#ifndef LXPY_BATCH_H
#define LXPY_BATCH_H

#include "lxpy.h"

/** What happens to missing values. */
typedef enum lxpy_missing {
    LXPY_MISSING_CHOSEN, /**< What the argument `missing` of loaderx.Loader says. */
    LXPY_MISSING_CHECK,  /**< Every column has marks; a batch with a missing value is an error. */
} lxpy_missing;

/** Properties that all batches of a loader share, set by the first batch. */
typedef struct lxpy_columns {
    PyObject *names;  /**< A tuple of str; NULL before the first batch. */
    PyObject *shapes; /**< A tuple of tuples, for batches with @ref rows rows. */
    uint64_t rows;    /**< Number of rows that the shapes have. */
    bool keyed;       /**< Whether batches have "keys". */
    uint64_t seed;    /**< Seed of the keys. */
    lxpy_missing missing;
} lxpy_columns;

void lxpy_columns_clear(lxpy_columns *columns);

/** Returns a Batch of the batch's columns as arrays, which share and own the batch's memory. Takes
 * ownership of the reference to the batch, even on failure. */
PyObject *lxpy_batch_to_dict(lxpy_state *state, lxpy_columns *columns, lx_batch *batch);

#endif
