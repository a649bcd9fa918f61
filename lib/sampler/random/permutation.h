/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The permutation of 0..length-1 for a seed and an epoch: a table for short lengths, a
 * formula for long lengths (doc/orders.md, section 5).
 */
#ifndef LX_SAMPLER_PERMUTATION_H
#define LX_SAMPLER_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "sampler/random/feistel.h"

/**
 * A permutation. Zeroed memory is valid, and means that no permutation is set yet.
 *
 * @par Thread safety
 * Not thread-safe.
 */
typedef struct lx__permutation {
    bool ready;
    uint64_t length, seed, epoch;
    uint64_t table_length; /**< Longer permutations have no table. */
    uint16_t *table;       /**< An array of @ref capacity entries; NULL if no table has been needed
                                yet. */
    uint64_t capacity;
    lx__feistel feistel;
} lx__permutation;

/**
 * Sets the permutation of 0..length-1 for a seed and an epoch, unless it is already set. @p length
 * must be at least 1.
 *
 * @param table_length  Maximum length of a permutation that has a table, at most
 *                      #LX__FISHER_YATES_LENGTH. The permutation depends on this value, so pass the
 *                      same value in each call.
 * @retval LX_ERR_NOMEM  Out of memory for the table; no permutation is set.
 */
lx_status lx__permutation_set(lx__permutation *permutation, uint64_t length, uint64_t seed,
                              uint64_t epoch, uint64_t table_length, lx_error *error);

/** Replaces each of @p count numbers below the length with its image. */
void lx__permutation_map(const lx__permutation *permutation, uint64_t *values, size_t count);

/** Returns the number whose image is @p image, which is below the length. If there is a table,
 * searches it linearly. */
uint64_t lx__permutation_find(const lx__permutation *permutation, uint64_t image);

/** Frees the table. */
void lx__permutation_clear(lx__permutation *permutation);

#endif
