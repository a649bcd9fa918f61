/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads values of a snapshot: loads entries, fetches stored bytes and decodes them.
 *
 * The reader uses mappings or pread. If a file was truncated or a disk fails, pread returns an
 * error, whereas accessing a mapping raises SIGBUS. Maintenance therefore always reads with pread;
 * other code does so only in access mode pread.
 */
#ifndef LX_ZRECORD_VALUE_READER_H
#define LX_ZRECORD_VALUE_READER_H

#include "zrecord/snapshot/snapshot.h"

/** The rows and bytes of one field that were last read with pread. */
typedef struct lx__field_window {
    uint8_t *rows;         /**< Rows of the offset table, followed by those of the check table. */
    uint64_t first, count; /**< The range of these rows. */
    uint64_t next;         /**< The row that comes next if reads are sequential. */
    lx__pread pread;       /**< Reads the chunks. */
} lx__field_window;

/** Reads values of one snapshot, on one thread at a time. Set the first two members and zero all
 * others. */
typedef struct lx__value_reader {
    lx__snapshot *snapshot; /**< The caller keeps the reference. */
    bool by_pread;          /**< If false, the reader uses the mappings, which the snapshot must
                                 have. */
    bool rows_mapped;       /**< With @ref by_pread: the rows of tables are read from the mappings
                                 nevertheless. */
    lx__inflater *inflater; /**< Taken when the first compressed value is read. */
    lx__field_window *fields;
    size_t window_rows; /**< Number of rows per field that a sequential read loads at once. */
} lx__value_reader;

/** Returns a reader that uses the access mode of the snapshot's store. */
static inline lx__value_reader lx__value_reader_of(lx__snapshot *snapshot)
{
    return (lx__value_reader){.snapshot = snapshot,
                              .by_pread = snapshot->store->access == LX_ACCESS_PREAD};
}

/** Loads the entry of a record; @p index must be less than the length. */
lx_status lx__value_load(lx__value_reader *reader, size_t field, uint64_t index, lx__value *value,
                         lx_error *error);

/** Loads and locates a value; locating it checks its entry against all rules. */
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

/** Does the work of lx__value_fetch() for a value that is stored in a chunk. */
lx_status lx__value_fetch_stored(lx__value_reader *reader, size_t field, uint64_t index,
                                 lx__value *value, uint8_t *into, lx_error *error);

/** Fetches the bytes of a located value. Bytes that are not mapped are read into @p into; if @p
 * into is NULL, the bytes are valid until the next fetch from the field. */
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

/** Does the work of lx__value_renew() for a value of a dataset elsewhere. */
bool lx__value_renew_copies(lx__value_reader *reader, size_t field, uint64_t index,
                            lx_error *error);

/**
 * After reading a value failed with @p status: if it seems to be damaged, and this machine has only
 * copies of its rows and bytes, fetches them again, as the fault may be in the copies. Returns
 * whether to read the value once more, from its row on; @p error then no longer describes this
 * damage.
 */
static inline bool lx__value_renew(lx__value_reader *reader, size_t field, uint64_t index,
                                   lx_status status, lx_error *error)
{
    return status == LX_ERR_CORRUPT && lx__store_is_elsewhere(reader->snapshot->store) &&
           lx__value_renew_copies(reader, field, index, error);
}

/** Clears @p error if it describes damage of this value, because the damage is no failure. */
void lx__value_forget_damage(const lx__value_reader *reader, size_t field, uint64_t index,
                             lx_error *error);

/** Finds and fetches a value, and verifies its CRC in any verify mode. The bytes are valid until
 * the next fetch from the field. */
lx_status lx__value_fetch_verified(lx__value_reader *reader, size_t field, uint64_t index,
                                   lx__value *value, lx_error *error);

/** Does the work of lx__value_decode() for a compressed value. */
lx_status lx__value_inflate(lx__value_reader *reader, size_t field, uint64_t index,
                            const lx__value *value, uint8_t *out, lx_error *error);

/** Decodes a fetched and verified value into the value->entry.logical bytes at @p out. */
static inline lx_status lx__value_decode(lx__value_reader *reader, size_t field, uint64_t index,
                                         const lx__value *value, uint8_t *out, lx_error *error)
{
    if (lx__entry_is_compressed(&value->entry))
        return lx__value_inflate(reader, field, index, value, out, error);
    lx__payload_copy_raw(&value->entry, value->data, out);
    return LX_OK;
}

/** Returns the fetcher for the bytes of a field, or NULL when out of memory. */
lx__fetcher *lx__value_fetcher(lx__value_reader *reader, size_t field, lx_error *error);

/** Asks the system to read an extent ahead of time, because pread will read it soon. */
void lx__value_advise(lx__value_reader *reader, size_t field, const lx__extent *extent);

/** Frees the resources of a reader, which can be used again afterwards. */
void lx__value_reader_end(lx__value_reader *reader);

#endif
