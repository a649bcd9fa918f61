/* SPDX-License-Identifier: MIT */
/* Indices of records in Python: slices, sequences, arrays and masks; and their places in an order. */
#ifndef LXPY_INDICES_H
#define LXPY_INDICES_H

#include <loaderx/source.h>

#include "lxpy.h"

/* Number of indices that fit on the stack, which is enough for the batches of most loaders. */
#define LXPY_INDICES_SMALL 512

/** Indices from 0 to the dataset's length - 1. They are copies, so no other thread can change
 * them. */
typedef struct lxpy_indices {
    uint64_t *numbers;
    size_t count;
    uint64_t small[LXPY_INDICES_SMALL];
} lxpy_indices;

/** Converts indices of a dataset of @p length records: a slice, a mask of that length, or integers.
 * Negative integers count from the end. Raises IndexError for an index out of range; TypeError and
 * ValueError name @p argument. */
int lxpy_indices_take(lxpy_indices *indices, lxpy_state *state, PyObject *object, uint64_t length,
                      const char *argument);

/** Frees the memory. */
void lxpy_indices_clear(lxpy_indices *indices);

/** Whether @p object is a single index, that is, an int or an object that can be converted to an
 * int. */
bool lxpy_is_index(lxpy_state *state, PyObject *object);

/** Converts one index. */
int lxpy_index_take(PyObject *object, uint64_t length, uint64_t *index);

/** The place of records in an order, on which the values of maps depend. */
typedef struct lxpy_place {
    uint64_t epoch;
    uint64_t *positions; /**< NULL: the same as the indices. */
} lxpy_place;

/** Converts a place of @p rows records: None, the epoch, or the epoch and the position of the first
 * record, which the others follow. Clear the place, which is zeroed, also after a failure. */
int lxpy_place_take(lxpy_place *place, PyObject *object, size_t rows);

/** Frees the memory. */
void lxpy_place_clear(lxpy_place *place);

/** Returns the samples with these indices; they borrow both arguments. */
lx_samples lxpy_samples_at(const lxpy_indices *indices, const lxpy_place *place);

#endif
