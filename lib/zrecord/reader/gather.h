/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies records of one field of a snapshot into the caller's memory.
 *
 * lx__gather_dense() and its like are in placement.c: they take the way that the store's placement
 * says. gather.c and gather-dense.c are that of what is mapped, fetch-gather.c that of pread.
 */
#ifndef LX_ZRECORD_GATHER_H
#define LX_ZRECORD_GATHER_H

#include "zrecord/reader/damage.h"
#include "zrecord/store/snapshot.h"

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

/** Shows records where they lie, or in memory that @p view has. As lx_dataset_view(). */
lx_status lx__view(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                   const uint64_t *indices, size_t count, lx_slice *slices, lx__snapshot **view,
                   lx_error *error);

/** @name The same, of what is mapped */
/** @{ */
lx_status lx__mapped_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                           lx_error *error);
lx_status lx__mapped_bytes(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error);
lx_status lx__mapped_measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                             const uint64_t *indices, size_t count, uint64_t *offsets,
                             uint8_t *present, lx_error *error);
lx_status lx__mapped_slices(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                            const uint64_t *indices, size_t count, lx_slice *slices,
                            lx_error *error);
/** @} */

/** Fails for a record that is not as long as was measured. */
lx_status lx__fail_measured(const lx__snapshot *snapshot, size_t field, uint64_t index,
                            uint64_t size, uint64_t room, lx_error *error);

/** Decompresses a value that was found and verified, to the @p place->logical bytes at @p out. */
lx_status lx__inflate_value(const lx__snapshot *snapshot, size_t field, uint64_t index,
                            const lx__entry *entry, const lx__value_place *place,
                            lx__inflater *inflater, uint8_t *out, lx_error *error);

/** Fails for an index that is not below the length. */
lx_status lx__fail_index(const lx__snapshot *snapshot, size_t field, uint64_t index,
                         lx_error *error);

#endif
