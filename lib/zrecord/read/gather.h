/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies records of one field of a snapshot into the caller's memory.
 *
 * Dense fields that are mapped have a fast path for raw values (gather-dense.c). It passes
 * everything else to the gather of gather.c, which reads any value in any access mode.
 */
#ifndef LX_ZRECORD_GATHER_H
#define LX_ZRECORD_GATHER_H

#include "zrecord/read/damage.h"
#include "zrecord/read/value-reader.h"

/* Rows of the tables that are prefetched ahead: a miss costs about ten hits. */
#define LX__ROWS_AHEAD 16

/** Dense records of @p size bytes, @p stride bytes apart; a missing one gives zeros. */
lx_status lx__gather_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                           lx_error *error);

/** Records of any length, to out + offsets[i]. */
lx_status lx__gather_bytes(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error);

/** Lengths of records, as offsets from 0. */
lx_status lx__measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                      const uint64_t *indices, size_t count, uint64_t *offsets, uint8_t *present,
                      lx_error *error);

/** Shows records where they are mapped, or in memory that @p view has. As lx_dataset_view(). */
lx_status lx__view(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                   const uint64_t *indices, size_t count, lx_slice *slices, lx__snapshot **view,
                   lx_error *error);

/** Shows mapped records, as long as the snapshot lives. */
lx_status lx__mapped_slices(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                            const uint64_t *indices, size_t count, lx_slice *slices,
                            lx_error *error);

/** lx__gather_dense() without the fast path. */
lx_status lx__gather_rows(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                          const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                          lx_error *error);

/** Copies one value of any kind, checked and verified, to @p out, which holds @p room bytes; zeros
 * for a damaged one, if the policy says so. */
lx_status lx__gather_one(lx__value_reader *reader, lx__damages *damages, size_t field,
                         uint64_t index, uint8_t *out, uint64_t room, lx_error *error);

/** Fails for an index that is not below the length. */
lx_status lx__fail_index(const lx__snapshot *snapshot, size_t field, uint64_t index,
                         lx_error *error);

#endif
