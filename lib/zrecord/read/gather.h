/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Copies records of one field of a snapshot to the caller's memory.
 *
 * Raw values of dense, mapped fields take a fast path (gather-dense.c), which leaves all other
 * values to gather.c. The functions there can read any value in any access mode.
 */
#ifndef LX_ZRECORD_GATHER_H
#define LX_ZRECORD_GATHER_H

#include "zrecord/read/damage.h"
#include "zrecord/read/value-reader.h"

/* How many table rows to prefetch ahead: a cache miss costs about as much as ten hits. */
#define LX__ROWS_AHEAD 16
/* How many cache lines of each page of the next record to prefetch during a copy: the processor's
 * own prefetcher stops at page boundaries. */
#define LX__LINES_AHEAD 4
/* Number of cache lines of a page. */
#define LX__PAGE_LINES 64

/** Prefetches the first @p lines cache lines of each page of a payload. */
static inline void lx__prefetch_payload(const uint8_t *data, size_t size, size_t lines)
{
    const size_t line_bytes = 64, page_bytes = LX__PAGE_LINES * line_bytes;
    for (size_t page = 0; page < size; page += page_bytes)
        for (size_t line = page; line < size && line < page + lines * line_bytes;
             line += line_bytes)
            __builtin_prefetch(data + line);
}

/** Copies records of any length to out + offsets[i]; their lengths must be those that lx__measure()
 * computed. */
lx_status lx__gather_bytes(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error);

/** Computes the lengths of records, as @p count + 1 offsets, the first of which is 0. */
lx_status lx__measure(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                      const uint64_t *indices, size_t count, uint64_t *offsets, uint8_t *present,
                      lx_error *error);

/** Returns slices of records, which point into mappings or into memory of @p view, like
 * lx_dataset_view(). */
lx_status lx__view(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                   const uint64_t *indices, size_t count, lx_slice *slices, lx__snapshot **view,
                   lx_error *error);

/** Returns slices of mapped records; they are valid as long as the snapshot exists. */
lx_status lx__mapped_slices(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                            const uint64_t *indices, size_t count, lx_slice *slices,
                            lx_error *error);

/** Does what lx__gather_dense() does, but without the fast path. */
lx_status lx__gather_rows(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                          const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                          lx_error *error);

/** Checks, verifies and copies one value of any kind to @p out, which has room for @p room bytes.
 * Writes zeros for a damaged value if the policy is ZEROS. */
lx_status lx__gather_one(lx__value_reader *reader, lx__damage_counter *damages, size_t field,
                         uint64_t index, uint8_t *out, uint64_t room, lx_error *error);

/** Fails with #LX_ERR_RANGE because @p index is not less than the length. */
lx_status lx__fail_index(const lx__snapshot *snapshot, size_t field, uint64_t index,
                         lx_error *error);

#endif
