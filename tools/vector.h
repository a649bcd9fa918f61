/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief An array of numbers from a file, one for each record: a one-dimensional .npy file,
 * optionally gzipped.
 */
#ifndef LX_TOOLS_VECTOR_H
#define LX_TOOLS_VECTOR_H

#include <stdint.h>

#include <loaderx/status.h>

/** The meaning of the numbers. */
typedef enum vector_kind {
    VECTOR_INDICES, /**< Integers, 0 to 2^64 - 2. */
    VECTOR_LENGTHS, /**< Integers, 0 to 2^64 - 2. */
    VECTOR_COSTS,   /**< Integers, 0 to 2^64 - 2. */
    VECTOR_CLASSES, /**< Integers; negative integers wrap modulo 2^64. */
    VECTOR_KEYS,    /**< Integers; negative integers wrap modulo 2^64. */
    VECTOR_WEIGHTS  /**< Integers, float32 or float64, 0 or more and finite. */
} vector_kind;

/** A number: `real` for weights, `word` otherwise. */
typedef union vector_number {
    uint64_t word;
    double real;
} vector_number;

/** The numbers of a file; initialize with zeros. */
typedef struct vector {
    union {
        vector_number *numbers;
        uint64_t *words;
        double *reals;
    };
    uint64_t count;
} vector;

/**
 * Reads all numbers.
 *
 * @param[out] self  To be freed with vector_free(), even on failure.
 *
 * @retval LX_ERR_UNSUPPORTED  The file has elements of an unsupported type, or more than one axis.
 * @retval LX_ERR_CORRUPT      A number is out of range, or the file is damaged.
 * @return Otherwise, any status that column_open() or column_read() returns.
 */
lx_status vector_read(vector *self, vector_kind kind, const char *path, lx_error *error);

void vector_free(vector *self);

#endif
