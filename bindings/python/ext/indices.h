/* SPDX-License-Identifier: MIT */
/* Indices of records in Python: slices, sequences, arrays and masks. */
#ifndef LXPY_INDICES_H
#define LXPY_INDICES_H

#include "lxpy.h"

/* As many lie on the stack: the batches of most loaders. */
#define LXPY_INDICES_SMALL 512

/** Numbers from 0 to the dataset's length - 1. They are copies: no other thread changes them. */
typedef struct lxpy_indices {
    uint64_t *numbers;
    size_t count;
    uint64_t small[LXPY_INDICES_SMALL];
} lxpy_indices;

/**
 * Takes indices of a dataset of @p length records: a slice, a mask of that length, or integers, of
 * which negative ones count from the end. IndexError for one that is out of range; TypeError and
 * ValueError name @p argument.
 * @return 0, and lxpy_indices_clear() is due; or -1 with an exception.
 */
int lxpy_indices_take(lxpy_indices *indices, lxpy_state *state, PyObject *object, uint64_t length,
                      const char *argument);

/** Frees the memory. */
void lxpy_indices_clear(lxpy_indices *indices);

/** Whether @p object is one index and not several: an int or what can be used as one. */
bool lxpy_is_index(lxpy_state *state, PyObject *object);

/** Takes one index. */
int lxpy_index_take(PyObject *object, uint64_t length, uint64_t *index);

#endif
