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
 * It reproduces Nanotron's order exactly, to continue a training that began there;
 * doc/from-nanotron.md describes how. For a new mixture use lx_order_new_blend(), which needs no
 * table.
 * @see lx_error, lx_order, lx_order_new_greedy(), lx_order_new_torch_random(), lx_sampler
 * @{
 */

/**
 * Makes the order of a Nanoset: the samples of several sets, mixed by their weights as Megatron's
 * greedy loop does (lx_order_new_greedy()), and shuffled as by numpy.random.RandomState. A set that
 * is exhausted begins again. An epoch has as many samples as all sets together, and all epochs are
 * equal. The indices are those of the concatenated sets: sample s of set i has the index s plus the
 * lengths of the sets before it.
 *
 * The order holds 4 bytes for each sample, or 8 if there are more than 2^32. Making it takes
 * another 8, and about 30 ns for each sample of 8 sets.
 *
 * @param[in]  lengths  Samples of each set, 1 or more.
 * @param[in]  weights  The weight of each set, 0 or more; NULL for the lengths.
 * @param[in]  count    The number of sets, 1 to 65,535.
 * @param[in]  divide   True: the weights are divided by their sum, added as NumPy does, as in
 *                      Nanotron's code. False: they are used as they are, as the example in its
 *                      documentation needs, where rounding may decide a tie.
 * @param[in]  options  The seed, below 2^32 and by default 1234 as in Nanotron, and the directory
 *                      of tables. NULL for the defaults.
 * @param[out] order    Receives the order, to be released with lx_order_unref(); NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The order is made.
 * @retval LX_ERR_ARGUMENT  There is no set, a length is 0, a weight is negative, infinite or not a
 *                          number, all weights are 0, the seed is too large, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are too many sets, or more than 2^53 samples.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_nanoset(const uint64_t *lengths, const double *weights, size_t count,
                                      bool divide, const lx_order_options *options,
                                      lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
