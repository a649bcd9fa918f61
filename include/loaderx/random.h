/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Random numbers of each sample, for augmentation.
 */
#ifndef LOADERX_RANDOM_H
#define LOADERX_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_random_get_key Random numbers of each sample
 *
 * Each sample has a stream of random numbers of its own. It depends on the seed, the epoch and the
 * sample alone: not on the number of threads or ranks, and not on earlier draws.
 *
 * @code
 * uint64_t key[2], draw;
 * lx_random_get_key(42, epoch, index, key);
 * lx_random_get_draws(key, 0, 1, &draw);
 * bool flipped = draw >> 63;
 * @endcode
 *
 * Both functions may be called by any thread.
 * @see lx_batch_get_keys(), loaderx(7)
 * @{
 */

/**
 * Computes the key of a sample's stream. With the same seed, no two samples and no two epochs share
 * a key. doc/orders.md has the formula.
 *
 * @param[in]  seed    Any number.
 * @param[in]  epoch   The epoch of the order in which the sample is read.
 * @param[in]  sample  The index of the sample in the source.
 * @param[out] key     Receives the key: for lx_random_get_draws(), for numpy.random.Philox, or for
 *                     any generator that takes 128 bits.
 */
LX_API void lx_random_get_key(uint64_t seed, uint64_t epoch, uint64_t sample, uint64_t key[2]);

/**
 * Computes the draws @p first, @p first + 1, ... of a key's stream, 64-bit numbers. They are equal
 * to those of numpy.random.Philox(key=key).random_raw(). The cost does not depend on @p first.
 *
 * Source of the algorithm: Philox4x64-10 (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw,
 * Parallel Random Numbers: As Easy as 1, 2, 3, 2011).
 *
 * @param[in]  key    A key of lx_random_get_key(), or any two numbers.
 * @param[in]  first  The number of the first draw, from 0.
 * @param[in]  count  Draws to compute; the number of the last one must fit in 64 bits.
 * @param[out] draws  Receives @p count numbers.
 */
LX_API void lx_random_get_draws(const uint64_t key[2], uint64_t first, size_t count,
                                uint64_t *draws);

/** @} */

LX_END_DECLS

#endif
