/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What becomes of a batch of which records are damaged, where that is no failure.
 */
#ifndef LX_LOADER_DAMAGED_RECORDS_H
#define LX_LOADER_DAMAGED_RECORDS_H

#include "loader/batch.h"

/**
 * Fills @p rows records of @p batch from record @p first on, one by one, after their source has
 * failed to fill them at once with #LX_ERR_CORRUPT.
 *
 * @param[in]  source   What the batch is filled from: the batch's own, or a state of it.
 * @param[in]  targets  One for each column of the source, of record @p first.
 * @param[in]  policy   SKIP, or ZEROS: then the columns that cannot be read are zeros.
 * @param[out] damaged  @p rows bytes: 1 for each damaged record, 0 for others.
 * @return Of the first record that fails in another way, its status.
 */
lx_status lx__salvage_fill(lx_source *source, lx_batch *batch, uint64_t first, uint64_t rows,
                           const lx_target *targets, lx_damage_policy policy, uint8_t *damaged,
                           lx_error *error);

/** Counts the marked records of @p batch, and with SKIP closes up the others. */
void lx__salvage_end(lx_batch *batch, lx_damage_policy policy, const uint8_t *damaged);

#endif
