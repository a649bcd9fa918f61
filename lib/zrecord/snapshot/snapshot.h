/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A committed state together with the mapped files that it needs: what readers pin.
 */
#ifndef LX_ZRECORD_SNAPSHOT_H
#define LX_ZRECORD_SNAPSHOT_H

#include "base/bytes.h"
#include "zrecord/chunk/fetch.h"
#include "zrecord/wal/replay.h"
#include "zrecord/snapshot/store.h"

/** A field as the hot path needs it. */
typedef struct lx__column {
    const uint8_t *offsets; /**< Rows of the tables; NULL if the snapshot has none. */
    const uint8_t *checks;
    lx__table *table; /**< NULL if the snapshot has no rows. */
    const lx__entry_rules *rules;
} lx__column;

/** Read-only once made, but for the chunks that are mapped when they are first touched. */
typedef struct lx__snapshot {
    lx__fetcher fetcher; /**< Fetches what is mapped: addresses, which stay. Any thread may. */
    atomic_size_t references;
    lx__store *store;
    lx__state state;
    /** @name Shared with the snapshots before and after, as far as they are the same */
    /** @{ */
    lx__column *columns; /**< One a field. */
    /** Position in state.chunks of chunk first_chunk + i, LX__NO_CHUNK if there is none; NULL if
     * ids are too far apart, and have to be searched for. */
    uint32_t *chunk_positions;
    _Atomic(const uint8_t *) *chunk_data; /**< Beside state.chunks; NULL: not touched yet. */
    /** @} */
    uint32_t first_chunk;
    uint32_t chunk_span;
    uint8_t *memory; /**< Of a view that has values of its own; then nothing else is set. */
    size_t memory_size;
} lx__snapshot;

#define LX__NO_CHUNK UINT32_MAX

/** A value of a record, as far as it was read. */
typedef struct lx__value {
    lx__entry entry;
    const lx__set *set;  /**< That has the entry; NULL if it is the table's, or nobody's. */
    lx__extent extent;   /**< Once it is located. */
    const uint8_t *data; /**< Stored bytes; NULL: missing, or not fetched yet. Of an entry that is
                              not located: the bytes of its offset slot. */
    uint8_t slot[LX__INLINE_MAX]; /**< For these, where the entry was read by pread. */
} lx__value;

/** Makes a snapshot of @p state, which it takes over, on success and on failure. */
lx_status lx__snapshot_new(lx__store *store, lx__state *state, lx__snapshot **snapshot,
                           lx_error *error);

/** As lx__snapshot_new(), for a state that follows that of @p before, a snapshot of the same store:
 * what is the same in both is shared. */
lx_status lx__snapshot_next(const lx__snapshot *before, lx__state *state, lx__snapshot **snapshot,
                            lx_error *error);

/** Makes one that has @p size bytes, and nothing to read: a view of values that were copied. */
lx_status lx__snapshot_new_memory(lx__store *store, uint64_t size, lx__snapshot **snapshot,
                                  lx_error *error);

lx__snapshot *lx__snapshot_ref(lx__snapshot *snapshot);
void lx__snapshot_unref(lx__snapshot *snapshot);

/** Loads the entry of a record below the length from mapped rows. */
void lx__snapshot_load(const lx__snapshot *snapshot, size_t field, uint64_t index,
                       lx__value *value);

/** Locates a value whose entry was loaded: checks it against all rules. Nothing of the payload is
 * touched. */
lx_status lx__snapshot_locate(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              lx__value *value, lx_error *error);

/** Checks the CRC of a fetched value as the store's verify says; of compressed ones always. */
lx_status lx__snapshot_verify(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              const lx__value *value, lx_error *error);

/** Checks the CRC whatever the store's verify says. */
lx_status lx__snapshot_verify_now(const lx__snapshot *snapshot, size_t field, uint64_t index,
                                  const lx__value *value, lx_error *error);

/** Notes that the value of a mapped row is verified, if it is intact: also of a row that a set
 * hides. There is such a row. */
void lx__snapshot_verify_row(lx__snapshot *snapshot, size_t field, uint64_t index);

/** Notes where a failure about this record lies. */
void lx__snapshot_blame(const lx__snapshot *snapshot, size_t field, uint64_t index,
                        const lx__entry *entry, lx_error *error);

/** Position of chunk @p id in the state's list; LX__NO_CHUNK if there is none. */
static inline uint32_t lx__snapshot_find_chunk(const lx__snapshot *snapshot, uint32_t id)
{
    if (snapshot->chunk_positions != NULL) {
        uint32_t at = id - snapshot->first_chunk; /* wraps for smaller ids, beyond any span */
        return at < snapshot->chunk_span ? snapshot->chunk_positions[at] : LX__NO_CHUNK;
    }
    const lx__chunk_item *item = lx__state_find_chunk(&snapshot->state, id);
    return item != NULL ? (uint32_t)(item - snapshot->state.chunks) : LX__NO_CHUNK;
}

/** The address of an extent; NULL: its chunk is not mapped yet. */
static inline const uint8_t *lx__snapshot_address(const lx__snapshot *snapshot,
                                                  const lx__extent *extent)
{
    size_t position = (size_t)(extent->chunk - snapshot->state.chunks);
    const uint8_t *data =
        atomic_load_explicit(&snapshot->chunk_data[position], memory_order_acquire);
    return data != NULL ? data + extent->offset : NULL;
}

/** Base address of the chunk of a value's stored bytes, and its @p position, by what a row says;
 * NULL where that breaks a rule of lx__entry_check(), or the chunk is not mapped yet. */
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
