/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Per-sample random numbers, for data augmentation.
 */
#ifndef LOADERX_RANDOM_H
#define LOADERX_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_random_get_key Random numbers for each sample
 *
 * Each sample has its own stream of random numbers. The stream depends only on the seed, the epoch
 * and the sample, not on the number of threads or ranks, nor on earlier draws.
 *
 * @code
 * uint64_t key[2], draw;
 * lx_random_get_key(42, epoch, position, key);
 * lx_random_get_draws(key, 0, 1, &draw);
 * bool flipped = draw >> 63;
 * @endcode
 *
 * Any thread may call both functions.
 * @see lx_batch_get_keys(), loaderx(7)
 * @{
 */

/**
 * Computes the key of a sample's stream. For a given seed, each combination of epoch and sample has
 * a different key. doc/orders.md gives the formula.
 *
 * @param[in]  seed    Any value.
 * @param[in]  epoch   The epoch in which the sample is read.
 * @param[in]  sample  The number of the sample: usually its position in the global order, as in
 *                     lx_batch_get_keys(), or its index in the source.
 * @param[out] key     Receives the key, for use with lx_random_get_draws(), numpy.random.Philox, or
 *                     any generator that takes a 128-bit key.
 */
LX_API void lx_random_get_key(uint64_t seed, uint64_t epoch, uint64_t sample, uint64_t key[2]);

/**
 * Computes draws @p first, @p first + 1, ... of a key's stream, as 64-bit numbers. The draws are
 * equal to those of numpy.random.Philox(key=key).random_raw(). The cost does not depend on
 * @p first.
 *
 * The algorithm is Philox4x64-10 (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, Parallel
 * Random Numbers: As Easy as 1, 2, 3, 2011).
 *
 * @param[in]  key    A key from lx_random_get_key(), or any two numbers.
 * @param[in]  first  The number of the first draw, counted from 0.
 * @param[in]  count  The number of draws to compute; the number of the last draw must fit in 64
 *                    bits.
 * @param[out] draws  Receives @p count numbers.
 */
LX_API void lx_random_get_draws(const uint64_t key[2], uint64_t first, size_t count,
                                uint64_t *draws);

/** @} */

LX_END_DECLS

#endif
