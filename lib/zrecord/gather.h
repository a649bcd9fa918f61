/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies records of one field of a snapshot into the caller's memory.
 */
#ifndef LX_ZRECORD_GATHER_H
#define LX_ZRECORD_GATHER_H

#include "zrecord/damage.h"
#include "zrecord/snapshot.h"

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

/** Decompresses a value that was found and verified, to the @p place->logical bytes at @p out. */
lx_status lx__inflate_value(const lx__snapshot *snapshot, size_t field, uint64_t index,
                            const lx__entry *entry, const lx__value_place *place,
                            lx__inflater *inflater, uint8_t *out, lx_error *error);

/** Fails for an index that is not below the length. */
lx_status lx__fail_index(const lx__snapshot *snapshot, size_t field, uint64_t index,
                         lx_error *error);

#endif
