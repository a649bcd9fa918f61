/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Splits of indices by a hash.
 */
#ifndef LOADERX_SPLIT_H
#define LOADERX_SPLIT_H

#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_split_indices Split indices by a hash
 *
 * An order of nine tenths of the records, shuffled:
 *
 * @code
 * lx_split_options *options = lx_split_options_new();
 * lx_split_options_set_range(options, 0, 0.9, &error);
 * lx_split_indices(NULL, records, options, indices, &found, &error);
 * lx_split_options_free(options);
 * lx_order_new_shuffle(found, 42, &shuffled, &error);
 * lx_order_new_subset(shuffled, indices, found, NULL, &training, &error);
 * lx_order_unref(shuffled);
 * @endcode
 * @see loaderx-split(1), lx_error, lx_order, lx_order_new_subset()
 * @{
 */

/**
 * The options of a split.
 *
 * @par Thread safety
 * One thread at a time.
 */
typedef struct lx_split_options lx_split_options;

/** Returns options with the defaults: all hashes, and the seed 0. Returns NULL when out of memory. */
LX_API lx_split_options *lx_split_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_split_options_free(lx_split_options *options);

/**
 * Sets the seed, any number: each seed gives another split.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_split_options_set_seed(lx_split_options *options, uint64_t seed,
                                           lx_error *error);

/**
 * Sets the interval [from, until) of all hashes, as fractions.
 *
 * @param[in]  options  The options.
 * @param[in]  from     The beginning of the interval, 0 to 1.
 * @param[in]  until    The end of the interval, @p from to 1.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  A number is out of range, or @p options is NULL; nothing changed.
 */
LX_API lx_status lx_split_options_set_range(lx_split_options *options, double from, double until,
                                            lx_error *error);

/**
 * Finds the indices whose hash is in an interval. With [0, 0.9) for training and [0.9, 1) for
 * validation, each index is in exactly one of the two. The result for an index does not depend on
 * the number of indices: appended records do not move others from one part to the other.
 * doc/orders.md defines the hash.
 *
 * @param[in]  keys     What is hashed for each index, so that indices with equal keys are in the
 *                      same part; NULL for the index itself.
 * @param[in]  count    The number of indices.
 * @param[in]  options  The interval and the seed; NULL for the defaults.
 * @param[out] indices  Receives the indices in ascending order, up to @p count; NULL to count them
 *                      only.
 * @param[out] found    Receives their number.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The indices are found.
 * @retval LX_ERR_ARGUMENT  @p found is NULL.
 *
 * @par Thread safety
 * Any thread may call it.
 */
LX_API lx_status lx_split_indices(const uint64_t *keys, uint64_t count,
                                  const lx_split_options *options, uint64_t *indices,
                                  uint64_t *found, lx_error *error);

/** @} */

LX_END_DECLS

#endif
