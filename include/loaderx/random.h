/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Random numbers of a sample's own, for augmentation: they depend on the seed, the epoch and
 * the sample, and on nothing else: not on threads, ranks, or what was drawn before.
 *
 * @code
 * uint64_t key[2], draws[4];
 * lx_sample_key(42, epoch, index, key);
 * lx_random_draws(key, 0, 4, draws);  // as numpy.random.Philox(key=key).random_raw(4)
 * @endcode
 */
#ifndef LOADERX_RANDOM_H
#define LOADERX_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>

LX_BEGIN_DECLS

/** @defgroup lx_sample_key Random numbers of each sample
 * @{ */

/**
 * The key of a sample's stream of numbers: of one seed, no two samples and no two epochs have the
 * same. doc/orders.md has its formula.
 *
 * @param[in]  seed    Any number.
 * @param[in]  epoch   Of the order that the sample is read in.
 * @param[in]  sample  Its index in the source.
 * @param[out] key     For lx_random_draws(), for numpy.random.Philox, or for any generator that takes
 *                     128 bits.
 */
LX_API void lx_sample_key(uint64_t seed, uint64_t epoch, uint64_t sample, uint64_t key[2]);

/**
 * Draws first, first + 1, ... of the stream of a key: numbers of 64 bits, any of which is at hand at
 * once. They are those of numpy.random.Philox(key=key).random_raw(). Source of the algorithm:
 * Philox4x64-10 (Salmon, Moraes, Dror and Shaw, 2011).
 *
 * @param[in]  key    Two numbers.
 * @param[in]  first  Of the first draw, counted from 0.
 * @param[in]  count  How many; the last one's number must fit in 64 bits.
 * @param[out] draws  Room for them.
 */
LX_API void lx_random_draws(const uint64_t key[2], uint64_t first, size_t count, uint64_t *draws);

/** @} */

LX_END_DECLS

#endif
