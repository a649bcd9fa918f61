/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Numbers in a file, one for each record: a .npy array with one axis, gzipped or not.
 */
#ifndef LX_TOOLS_VECTOR_H
#define LX_TOOLS_VECTOR_H

#include <stdint.h>

#include <loaderx/status.h>

/** What the numbers are. */
typedef enum vector_kind {
    VECTOR_INDICES, /**< Integers, 0 to 2^64 - 2. */
    VECTOR_LENGTHS, /**< The same. */
    VECTOR_COSTS,   /**< The same. */
    VECTOR_CLASSES, /**< Integers; those below 0 are taken as 2^64 more. */
    VECTOR_KEYS,    /**< The same. */
    VECTOR_WEIGHTS  /**< Integers, float32 or float64, 0 or more and finite. */
} vector_kind;

/** A number: of weights the real one, else the word. */
typedef union vector_number {
    uint64_t word;
    double real;
} vector_number;

/** Numbers that were read; zeroed it has none. */
typedef struct vector {
    union {
        vector_number *numbers;
        uint64_t *words;
        double *reals;
    };
    uint64_t count;
} vector;

/**
 * Reads all of them.
 *
 * @param[out] self  For vector_free(), also on failure.
 *
 * @retval LX_ERR_UNSUPPORTED  It has no such numbers, or more than one axis.
 * @retval LX_ERR_CORRUPT      One is out of range, or the file is damaged.
 * @return Else as column_open() and column_read().
 */
lx_status vector_read(vector *self, vector_kind kind, const char *path, lx_error *error);

void vector_free(vector *self);

#endif
