/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Splitting indices by a hash.
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
 * This example creates a shuffled order of about nine tenths of the records:
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
 * Only one thread at a time may use the options.
 */
typedef struct lx_split_options lx_split_options;

/**
 * Returns new options with the defaults: all hashes, and seed 0. Returns NULL if out of memory.
 */
LX_API lx_split_options *lx_split_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_split_options_free(lx_split_options *options);

/**
 * Sets the seed; any value is valid. Each seed produces a different split.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_split_options_set_seed(lx_split_options *options, uint64_t seed,
                                           lx_error *error);

/**
 * Sets the interval [from, until) of hashes to select, as fractions of the range of all hashes.
 *
 * @param[in]  options  The options.
 * @param[in]  from     The beginning of the interval, 0 to 1.
 * @param[in]  until    The end of the interval, @p from to 1.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A number is out of range, or @p options is NULL; nothing changed.
 */
LX_API lx_status lx_split_options_set_range(lx_split_options *options, double from, double until,
                                            lx_error *error);

/**
 * Finds the indices whose hashes are in an interval. With the interval [0, 0.9) for training and
 * [0.9, 1) for validation, each index is in exactly one of the two parts. The result for an index
 * does not depend on the number of indices, so appending records does not move existing records
 * from one part to the other. doc/orders.md defines the hash.
 *
 * @param[in]  keys     The key to hash for each index, so that indices with equal keys are in the
 *                      same part; NULL to hash the indices themselves.
 * @param[in]  count    The number of indices.
 * @param[in]  options  The interval and the seed; NULL for the defaults.
 * @param[out] indices  Receives up to @p count indices in ascending order; NULL to only count them.
 * @param[out] found    Receives the number of indices found.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
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
