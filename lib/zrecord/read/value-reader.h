/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads values of a snapshot: their entries, their bytes, and what these decode to.
 *
 * It reads what is mapped, or by pread. What has gone from a file since it was opened, and what a
 * disk cannot read, is an error by pread, where it raises SIGBUS in a mapping. Maintenance always
 * reads by pread, and so do readers with pread access.
 */
#ifndef LX_ZRECORD_VALUE_READER_H
#define LX_ZRECORD_VALUE_READER_H

#include "zrecord/snapshot/snapshot.h"

/** What was read of one field last, by pread. */
typedef struct lx__field_window {
    uint8_t *rows;         /**< Of the offset table, then of the check table. */
    uint64_t first, count; /**< Which, */
    uint64_t next;         /**< and where a walk would continue. */
    lx__pread pread;       /**< Bytes of chunks. */
} lx__field_window;

/** Reads values of one snapshot on one thread at a time. All but the first two starts as zeros. */
typedef struct lx__value_reader {
    lx__snapshot *snapshot;  /**< The caller's reference. */
    bool by_pread;           /**< Else by mappings, which the snapshot must have. */
    lx__inflater *inflater;  /**< Taken when the first compressed value is met. */
    lx__field_window *fields;
    size_t window_rows; /**< Of each field: what a walk reads at once. */
} lx__value_reader;

/** A reader with the access mode of the snapshot's store. */
static inline lx__value_reader lx__value_reader_of(lx__snapshot *snapshot)
{
    return (lx__value_reader){.snapshot = snapshot,
                              .by_pread = snapshot->store->access == LX_ACCESS_PREAD};
}

/** Loads the entry of a record, which must be below the length. */
lx_status lx__value_load(lx__value_reader *reader, size_t field, uint64_t index, lx__value *value,
                         lx_error *error);

/** Loads and locates a value: the entry keeps all rules. */
static inline lx_status lx__value_find(lx__value_reader *reader, size_t field, uint64_t index,
                                       lx__value *value, lx_error *error)
{
    lx_status status = LX_OK;
    if (!reader->by_pread)
        lx__snapshot_load(reader->snapshot, field, index, value);
    else
        status = lx__value_load(reader, field, index, value, error);
    return status == LX_OK ? lx__snapshot_locate(reader->snapshot, field, index, value, error)
                           : status;
}

/** lx__value_fetch() of a value that lies in a chunk. */
lx_status lx__value_fetch_stored(lx__value_reader *reader, size_t field, uint64_t index,
                                 lx__value *value, uint8_t *into, lx_error *error);

/** Fetches the bytes of a located value, to @p into where that is not NULL and they are not mapped.
 * They stay until the next value of the field is fetched. */
static inline lx_status lx__value_fetch(lx__value_reader *reader, size_t field, uint64_t index,
                                        lx__value *value, uint8_t *into, lx_error *error)
{
    if (value->extent.chunk == NULL)
        return LX_OK;
    if (!reader->by_pread &&
        (value->data = lx__snapshot_address(reader->snapshot, &value->extent)) != NULL)
        return LX_OK;
    return lx__value_fetch_stored(reader, field, index, value, into, error);
}

/** lx__value_decode() of a compressed value. */
lx_status lx__value_inflate(lx__value_reader *reader, size_t field, uint64_t index,
                            const lx__value *value, uint8_t *out, lx_error *error);

/** Decodes a value that was fetched and verified to its value->entry.logical bytes at @p out. */
static inline lx_status lx__value_decode(lx__value_reader *reader, size_t field, uint64_t index,
                                         const lx__value *value, uint8_t *out, lx_error *error)
{
    if (lx__entry_is_compressed(&value->entry))
        return lx__value_inflate(reader, field, index, value, out, error);
    lx__payload_copy_raw(&value->entry, value->data, out);
    return LX_OK;
}

/** What fetches the bytes of a field; NULL: out of memory. */
lx__fetcher *lx__value_fetcher(lx__value_reader *reader, size_t field, lx_error *error);

/** Asks the system for an extent, which will be read soon by pread. */
void lx__value_advise(lx__value_reader *reader, size_t field, const lx__extent *extent);

/** Frees what it took; it may be used again. */
void lx__value_reader_end(lx__value_reader *reader);

/** @name In value-rows.c */
/** @{ */

/** Records whose entries are read at once. */
#define LX__VALUE_BLOCK 256

/** The entry of a record of a block. */
typedef struct lx__loaded {
    lx__entry entry;
    const lx__set *set;
    bool lost; /**< It could not be read: lx__value_load() reports why. */
} lx__loaded;

/** Reads one table's rows by pread. */
lx_status lx__value_read_rows(const lx__value_reader *reader, size_t field, lx__part part,
                              uint64_t first, uint64_t count, uint8_t *rows, lx_error *error);

/**
 * The entries of up to LX__VALUE_BLOCK records in any order, by pread. Those at or above the length
 * are left out. Rows that are near each other are read at once.
 *
 * @p to_gather: of raw values that need no verification, nothing is read of the check table; their
 * CRC is not known then.
 */
lx_status lx__value_load_block(lx__value_reader *reader, size_t field, const uint64_t *indices,
                               size_t count, bool to_gather, lx__loaded *loaded, lx_error *error);

/** @} */

#endif
