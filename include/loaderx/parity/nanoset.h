/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The order of Nanotron's Nanosets.
 */
#ifndef LOADERX_PARITY_NANOSET_H
#define LOADERX_PARITY_NANOSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/order.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_order_new_nanoset The order of Nanotron's Nanosets
 *
 * This order reproduces that of Nanotron exactly, so that you can continue a training run that
 * began in Nanotron; doc/from-nanotron.md describes how to do so. For a new mixture, use
 * lx_order_new_blend(), which needs no table.
 * @see lx_error, lx_order, lx_order_new_greedy(), lx_order_new_torch_random(), lx_sampler
 * @{
 */

/**
 * Creates the order of a Nanoset: the samples of several sets, mixed by weight as in Megatron's
 * greedy loop (lx_order_new_greedy()), and shuffled exactly as numpy.random.RandomState shuffles
 * them. A set that is exhausted starts over. An epoch has as many samples as all sets combined, and
 * all epochs are identical. The indices are those of the concatenated sets: sample s of set i has
 * the index s plus the total length of the sets before it.
 *
 * The order uses 4 bytes per sample, or 8 if there are more than 2^32 samples. Creating the order
 * temporarily uses another 8 bytes per sample; with 8 sets, it takes about 30 ns per sample.
 *
 * @param[in]  lengths  The number of samples in each set, 1 or more.
 * @param[in]  weights  The weight of each set, 0 or more; NULL to use the lengths as weights.
 * @param[in]  count    The number of sets, 1 to 65,535.
 * @param[in]  divide   If true, the weights are divided by their sum, which is computed exactly as
 *                      NumPy computes it; this is what Nanotron's code does. If false, the weights
 *                      are used unchanged; the example in Nanotron's documentation requires this,
 *                      because rounding can decide a tie.
 * @param[in]  options  The seed, which must be less than 2^32 and is by default 1234 as in
 *                      Nanotron; and the tables directory. NULL for the defaults.
 * @param[out] order    Receives the order; release it with lx_order_unref(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order was created.
 * @retval LX_ERR_ARGUMENT  There are no sets, a length is 0, a weight is negative, infinite or not
 *                          a number, all weights are 0, the seed is too large, or a pointer is
 *                          NULL.
 * @retval LX_ERR_LIMIT     There are too many sets, or more than 2^53 samples.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_nanoset(const uint64_t *lengths, const double *weights, size_t count,
                                      bool divide, const lx_order_options *options,
                                      lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
