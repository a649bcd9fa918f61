/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads entries and values of a snapshot by pread, whatever is mapped of it.
 *
 * What has gone from a file since it was opened, and what a disk cannot read, is an error here,
 * where it would be a signal in a mapping. Upkeep reads so, and readers that are told to.
 */
#ifndef LX_ZRECORD_FETCH_H
#define LX_ZRECORD_FETCH_H

#include "zrecord/reader/damage.h"
#include "zrecord/store/files.h"
#include "zrecord/store/snapshot.h"

/** What was read of one field last. */
typedef struct lx__fetched_field {
    uint8_t *rows;         /**< Of the offset table, then of the check table. */
    uint64_t first, count; /**< Which, */
    uint64_t next;         /**< and where a walk would go on. */
    uint8_t *bytes;        /**< Of a chunk, */
    size_t capacity, size;
    uint32_t chunk; /**< of this one, */
    uint64_t start; /**< from here on. */
    uint8_t slot[LX__INLINE_MAX];
} lx__fetched_field;

/** Reads values of one snapshot on one thread at a time. All but the snapshot starts as zeros. */
typedef struct lx__fetch {
    lx__snapshot *snapshot; /**< The caller's reference. */
    lx__fetched_field *fields;
    size_t window_rows, window_bytes; /**< Of each field: what a walk has read at once. */
    lx__open_file *chunk;             /**< The one that was read last. */
} lx__fetch;

/** The entry of a record, which must be below the length; @p set is NULL where it is no set's. */
lx_status lx__fetch_entry(lx__fetch *fetch, size_t field, uint64_t index, lx__entry *entry,
                          const lx__set **set, lx_error *error);

/** Holds an entry against all rules, as lx__snapshot_locate(): its chunk is there, and reaches so
 * far. Of what lies in a chunk @p place has no data yet. */
lx_status lx__fetch_place(lx__fetch *fetch, size_t field, uint64_t index, const lx__entry *entry,
                          const lx__set *set, lx__value_place *place, lx_error *error);

/** Reads @p size stored bytes of a value that was placed, or of several that follow each other, of
 * which it is the first. */
lx_status lx__fetch_bytes(lx__fetch *fetch, size_t field, uint64_t index, const lx__entry *entry,
                          size_t size, uint8_t *out, lx_error *error);

/** The stored bytes of a value that was placed: they stay until the next value of its field is
 * asked for. Of values that are asked for in the order in which they lie, many are read at once. */
lx_status lx__fetch_stored(lx__fetch *fetch, size_t field, uint64_t index, const lx__entry *entry,
                           const uint8_t **data, lx_error *error);

/** As lx__snapshot_locate(), with the bytes, which stay as those of lx__fetch_stored(). */
lx_status lx__fetch_value(lx__fetch *fetch, size_t field, uint64_t index, lx__entry *entry,
                          lx__value_place *place, lx_error *error);

/** Asks the system for bytes of the chunk at @p position of the state's list, within those that are
 * committed; they will be read soon. */
void lx__fetch_advise(lx__fetch *fetch, uint32_t position, uint64_t start, uint64_t size);

/** Gives back what it took; it may be used again. Of one without a snapshot there is nothing. */
void lx__fetch_end(lx__fetch *fetch);

/** @name In fetch-rows.c */
/** @{ */

/** Records whose entries are read at once. */
#define LX__FETCH_BLOCK 256

/** An entry of a block. */
typedef struct lx__fetched {
    lx__entry entry;
    const lx__set *set;
    bool lost; /**< It could not be read: lx__fetch_entry() tells why. */
} lx__fetched;

/** Reads one table's rows. */
lx_status lx__fetch_rows(const lx__fetch *fetch, size_t field, lx__part part, uint64_t first,
                         uint64_t count, uint8_t *rows, lx_error *error);

/**
 * The entries of up to LX__FETCH_BLOCK records in any order. Those at or above the length are left
 * out. Rows that are near each other are read at once.
 *
 * @p to_gather: of raw values that need no verification, nothing is read of the check table; their
 * CRC is not known then.
 */
lx_status lx__fetch_entries(lx__fetch *fetch, size_t field, const uint64_t *indices, size_t count,
                            bool to_gather, lx__fetched *found, lx_error *error);

/** @} */

/** @name In fetch-gather.c: as the calls of gather.h and lx_dataset_view() */
/** @{ */
lx_status lx__fetch_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                          const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                          lx_error *error);
lx_status lx__fetch_any(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                        const uint64_t *indices, size_t count, uint8_t *out,
                        const uint64_t *offsets, lx_error *error);
lx_status lx__fetch_measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                            const uint64_t *indices, size_t count, uint64_t *offsets,
                            uint8_t *present, lx_error *error);

/** @p view has memory of its own. */
lx_status lx__fetch_view(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                         const uint64_t *indices, size_t count, lx_slice *slices,
                         lx__snapshot **view, lx_error *error);
/** @} */

#endif
