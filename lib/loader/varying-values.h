/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The values of a batch in columns whose records vary in size: their offsets, and the memory
 * that they share.
 */
#ifndef LX_LOADER_VARYING_VALUES_H
#define LX_LOADER_VARYING_VALUES_H

#include "loader/batch.h"

/**
 * Fills these columns for all records of @p batch: gets the sizes, makes room, and copies the
 * values. Does nothing if the batch has no such column.
 *
 * @param source           The source to read: the batch's own source, or a snapshot of it.
 * @param[in,out] damaged  NULL: fails with #LX_ERR_CORRUPT if a value is damaged. Otherwise one
 *                         byte for each record, which is set to 1 if a value of the record is
 *                         damaged; that value is empty.
 * @return Any status that lx_source_fill_bytes() returns.
 */
lx_status lx__varying_fill(lx_source *source, lx_batch *batch, uint8_t *damaged, lx_error *error);

/** Moves the values of record @p from to record @p to, which must not be greater. The records must
 * be moved in increasing order. */
void lx__varying_move(lx_batch *batch, uint64_t from, uint64_t to);

/** Returns the total size of these values, in bytes. */
uint64_t lx__varying_bytes(const lx_batch *batch);

#endif
