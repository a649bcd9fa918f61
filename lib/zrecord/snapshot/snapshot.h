/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A snapshot: a committed state together with the files that it uses. A reader holds a
 * reference to a snapshot while it reads.
 */
#ifndef LX_ZRECORD_SNAPSHOT_H
#define LX_ZRECORD_SNAPSHOT_H

#include "base/bytes.h"
#include "zrecord/chunk/fetch.h"
#include "zrecord/wal/replay.h"
#include "zrecord/snapshot/store.h"

/** The properties of a field that the hot path needs. */
typedef struct lx__column {
    const uint8_t *offsets; /**< Rows of the offset table; NULL if unmapped or empty. */
    const uint8_t *checks;  /**< Rows of the check table; NULL if unmapped or empty. */
    lx__table *table;       /**< NULL if the snapshot has no rows. */
    const lx__entry_rules *rules;
} lx__column;

/** Immutable once made, except that chunks are mapped on first access. */
typedef struct lx__snapshot {
    lx__fetcher fetcher; /**< Maps chunks; returns addresses that stay valid. Thread-safe. */
    atomic_size_t references;
    lx__store *store;
    lx__state state;
    uint64_t length; /**< Number of records that the reader sees: at most state.length. */
    /** @name Shared with the previous and the next snapshot if unchanged */
    /** @{ */
    lx__column *columns; /**< One per field. */
    /** Position in state.chunks of chunk first_chunk + i; LX__NO_CHUNK if it is not listed there.
     * NULL if the ids are too sparse for a table, in which case state.chunks is searched. */
    uint32_t *chunk_positions;
    _Atomic(const uint8_t *) *chunk_data; /**< Parallel to state.chunks; NULL: not mapped yet. */
    /** @} */
    uint32_t first_chunk;
    uint32_t chunk_span;
    _Atomic(uint64_t *) row_digests; /**< See row-digest.h; NULL: not computed yet. */
    uint8_t *memory; /**< The copied values of a view. A snapshot with memory uses no other members
                          except store and references. */
    size_t memory_size;
} lx__snapshot;

#define LX__NO_CHUNK UINT32_MAX

/** A value of a record, at some stage of being read. */
typedef struct lx__value {
    lx__entry entry;
    /** The row update that contains the entry; NULL if the entry is from a table or the value is
     * missing. */
    const lx__update *update;
    lx__extent extent;   /**< Set by lx__snapshot_locate(). */
    const uint8_t *data; /**< The stored bytes; NULL if the value is missing or not fetched yet.
                              Until the value is located, the bytes of the entry's offset slot. */
    uint8_t slot[LX__INLINE_MAX]; /**< A copy of the offset slot if it was read with pread. */
} lx__value;

/** Makes a snapshot of @p state. Takes ownership of @p state, even on failure. */
lx_status lx__snapshot_new(lx__store *store, lx__state *state, lx__snapshot **snapshot,
                           lx_error *error);

/** Like lx__snapshot_new(), for a state that follows that of @p before, which is a snapshot of the
 * same store. The new snapshot shares everything that has not changed. */
lx_status lx__snapshot_next(const lx__snapshot *before, lx__state *state, lx__snapshot **snapshot,
                            lx_error *error);

/** Makes a new snapshot, which no other thread uses yet, show at most @p length records. */
void lx__snapshot_limit(lx__snapshot *snapshot, uint64_t length);

/** Returns the identity of a snapshot. */
void lx__snapshot_identify(const lx__snapshot *snapshot, lx_dataset_identity *identity);

/** Makes a snapshot that has @p size bytes of memory but no state, for a view of copied values. */
lx_status lx__snapshot_new_memory(lx__store *store, uint64_t size, lx__snapshot **snapshot,
                                  lx_error *error);

lx__snapshot *lx__snapshot_ref(lx__snapshot *snapshot);
LX_API void lx__snapshot_unref(lx__snapshot *snapshot);

/** Loads an entry from its row update or from the mapped tables; @p index must be less than the
 * length. */
void lx__snapshot_load(const lx__snapshot *snapshot, size_t field, uint64_t index,
                       lx__value *value);

/** Checks a loaded entry against all rules and sets the extent of its value. Does not access the
 * payload. A row of zeros, such as that of a lost block, is damaged unless values of the field may
 * be missing. */
lx_status lx__snapshot_locate(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              lx__value *value, lx_error *error);

/** Checks the CRC of a fetched value if the store's verify mode requires it; always checks a
 * compressed value. */
lx_status lx__snapshot_verify(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              const lx__value *value, lx_error *error);

/** Checks the CRC of a fetched value in any verify mode. */
lx_status lx__snapshot_verify_now(const lx__snapshot *snapshot, size_t field, uint64_t index,
                                  const lx__value *value, lx_error *error);

/** Verifies the value of a mapped row, even if a row update hides it, and marks the row as verified
 * if the value is intact. @p index must be less than state.rows. */
void lx__snapshot_verify_row(lx__snapshot *snapshot, size_t field, uint64_t index);

/** Whether values of the field may be missing. */
bool lx__snapshot_may_be_missing(const lx__snapshot *snapshot, size_t field);

/** Adds to @p error the file, offset, field and record of a value that could not be read. */
void lx__snapshot_add_context(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              const lx__entry *entry, lx_error *error);

/** Returns the position of chunk @p id in state.chunks; LX__NO_CHUNK if it is not listed there. */
static inline uint32_t lx__snapshot_find_chunk(const lx__snapshot *snapshot, uint32_t id)
{
    if (snapshot->chunk_positions != NULL) {
        /* For a smaller id, this wraps around to a number beyond any span. */
        uint32_t at = id - snapshot->first_chunk;
        return at < snapshot->chunk_span ? snapshot->chunk_positions[at] : LX__NO_CHUNK;
    }
    const lx__chunk_item *item = lx__state_find_chunk(&snapshot->state, id);
    return item != NULL ? (uint32_t)(item - snapshot->state.chunks) : LX__NO_CHUNK;
}

/** Returns the address of an extent; NULL if its chunk is not mapped yet. */
static inline const uint8_t *lx__snapshot_address(const lx__snapshot *snapshot,
                                                  const lx__extent *extent)
{
    size_t position = (size_t)(extent->chunk - snapshot->state.chunks);
    const uint8_t *data = atomic_load_explicit(&snapshot->chunk_data[position],
                                               memory_order_acquire);
    return data != NULL ? data + extent->offset : NULL;
}

/** Returns the base address of the chunk that a row refers to, and sets @p position to its position
 * in state.chunks. Returns NULL if the location is invalid or the chunk is not mapped yet. */
static inline __attribute__((always_inline)) const uint8_t *
lx__snapshot_find_mapped(const lx__snapshot *snapshot, uint32_t chunk, uint64_t offset,
                         uint32_t size, uint64_t align_mask, uint32_t *position)
{
    *position = lx__snapshot_find_chunk(snapshot, chunk);
    if (*position == LX__NO_CHUNK ||
        !lx__payload_lies_in(offset, size, align_mask, snapshot->state.chunks[*position].bytes))
        return NULL;
    return atomic_load_explicit(&snapshot->chunk_data[*position], memory_order_acquire);
}

#endif
