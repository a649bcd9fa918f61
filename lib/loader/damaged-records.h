/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Skips damaged records or fills them with zeros, as the loader's damage policy requires.
 */
#ifndef LX_LOADER_DAMAGED_RECORDS_H
#define LX_LOADER_DAMAGED_RECORDS_H

#include "loader/batch.h"

/**
 * Fills @p rows records of @p batch one by one, starting at record @p first, after an attempt to
 * fill all of them at once has failed with #LX_ERR_CORRUPT.
 *
 * @param[in]  source   The source to read: the batch's own source, or a snapshot of it.
 * @param[in]  targets  One for each column of the source, for record @p first.
 * @param[in]  policy   SKIP or ZEROS; with ZEROS, the columns that cannot be read become zeros.
 * @param[out] damaged  @p rows bytes: 1 for each damaged record, 0 for the others.
 * @return The status of the first record that fails for a different reason.
 */
lx_status lx__damaged_records_fill(lx_source *source, lx_batch *batch, uint64_t first,
                                   uint64_t rows, const lx_target *targets, lx_damage_policy policy,
                                   uint8_t *damaged, lx_error *error);

/** Counts the marked records of @p batch; with SKIP, also removes them and compacts the rest. */
void lx__damaged_records_finish(lx_batch *batch, lx_damage_policy policy, const uint8_t *damaged);

/**
 * Repeats the records of @p batch, of which there is at least one, until it has @p rows, and reads
 * all of them again. Those that are added do not count as real.
 *
 * @return Any status that reading the records returns.
 */
lx_status lx__damaged_records_replace(lx_source *source, lx_batch *batch, uint64_t rows,
                                      lx_error *error);

#endif
