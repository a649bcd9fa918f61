/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The permutation of 0..length-1 that belongs to a seed and an epoch: by a table where that
 * is short, by a formula where it is long (doc/orders.md, section 5).
 */
#ifndef LX_SAMPLER_PERMUTATION_H
#define LX_SAMPLER_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "sampler/random/feistel.h"

/**
 * One of them at a time. Zeroed memory is one that holds none yet.
 *
 * @par Thread safety
 * One thread at a time.
 */
typedef struct lx__permutation {
    bool ready;
    uint64_t length, seed, epoch;
    uint64_t table_length; /**< Longer ones have no table. */
    uint16_t *table; /**< Room for @ref room numbers; NULL: none was needed yet. */
    uint64_t room;
    lx__feistel feistel;
} lx__permutation;

/**
 * Makes it the permutation of 0..length-1, length 1 or more, unless it is already.
 *
 * @param table_length  Longest that has a table, at most #LX__FISHER_YATES_LENGTH: part of what
 *                      permutation it is, and the same at each call.
 * @retval LX_ERR_NOMEM  There is no memory for the table. It holds none then.
 */
lx_status lx__permutation_enter(lx__permutation *permutation, uint64_t length, uint64_t seed,
                                uint64_t epoch, uint64_t table_length, lx_error *error);

/** Puts in the place of each of @p count numbers below the length its image. */
void lx__permutation_map(const lx__permutation *permutation, uint64_t *values, size_t count);

/** The number whose image is @p image, below the length: by a look through the table, if it has
 * one. */
uint64_t lx__permutation_find(const lx__permutation *permutation, uint64_t image);

/** Gives its memory back. */
void lx__permutation_clear(lx__permutation *permutation);

#endif
