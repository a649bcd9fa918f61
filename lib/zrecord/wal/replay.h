/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A committed state: the result of replaying the WAL up to some frame.
 */
#ifndef LX_ZRECORD_REPLAY_H
#define LX_ZRECORD_REPLAY_H

#include "zrecord/format/meta.h"
#include "zrecord/wal/changes.h"
#include "zrecord/wal/overlay.h"
#include "zrecord/wal/wal.h"

/** The index in a marker, which is an update that replaces no row, but says that the tables of its
 * field contain a missing value. */
#define LX__MISSING_MARKER UINT64_MAX

/** A committed state. Copy it with lx__state_copy() and free it with lx__state_free(). Copies share
 * large members until one of the copies changes them. */
typedef struct lx__state {
    lx__wal_position position; /**< The end of the last frame in the state. */
    lx__wal_position changed;  /**< The end of the last frame that changed something. */
    uint64_t length;
    uint64_t rows; /**< Number of table rows. */
    uint32_t table_generation;
    uint32_t next_chunk;
    uint64_t items;         /**< Number of row updates in all frames so far, including dropped
                                 updates. */
    lx__chunk_item *chunks; /**< In ascending order of id. A shared array. */
    size_t chunk_count;
    size_t chunk_capacity;
    lx__overlay overlay;
    /** One bit for each field of the schema, set if an update in any of the frames so far is a
     * marker or a missing value. */
    uint64_t missing[LX_MAX_FIELDS / 64];
    lx__changes changes;
} lx__state;

/** Which frames to replay. */
typedef enum lx__replay {
    LX__REPLAY_NEWEST, /**< All frames that are valid in this boot. */
    LX__REPLAY_DURABLE /**< The frames up to the last synced frame. */
} lx__replay;

/**
 * Replays the frames after @p state, or all frames if @p state is zeroed. On failure, @p state is
 * unchanged.
 *
 * @param[in,out] state   A state of this log.
 * @param[in]     schema  The fields whose updates are kept; updates of other fields are skipped.
 * @param[out]    scan    Receives the result of the scan; may be NULL.
 */
lx_status lx__state_replay(lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                           lx__replay which, lx__wal_scan *scan, lx_error *error);

/** Like lx__state_replay(), but replays only up to the frame that ends at @p end, which a scan must
 * have found valid. */
lx_status lx__state_replay_to(lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                              uint64_t end, lx_error *error);

/** Checks that the valid frames after @p state, up to @p end, follow the rules, without adding them
 * to the state. */
lx_status lx__state_check_rest(const lx__state *state, lx__wal_reader *log, const lx_schema *schema,
                               uint64_t end, lx_error *error);

/** Whether a value of the field at @p position may be missing. */
static inline bool lx__state_may_be_missing(const lx__state *state, const lx_schema *schema,
                                            size_t position)
{
    return !lx__schema_field(schema, position)->complete ||
           (state->missing[position / 64] >> position % 64 & 1) != 0;
}

/** Copies a state in constant time. */
void lx__state_copy(lx__state *copy, const lx__state *state);

void lx__state_free(lx__state *state);

/** Gives the state the next table generation, and as many rows as records: all rows will be written
 * to new tables. Rows of one table generation never change, not even in a recovered dataset. */
lx_status lx__state_begin_tables(lx__state *state, lx_error *error);

/** Returns the item of chunk @p id; NULL if the state does not contain that chunk. */
const lx__chunk_item *lx__state_find_chunk(const lx__state *state, uint32_t id);

/** Adds the location of a damaged value to @p error: its offset in the chunk or, if the state does
 * not contain that chunk, its row in the table. @p directory is that of the dataset. */
void lx__state_add_context(const lx__state *state, const lx__file *directory, const lx__meta *meta,
                           const lx__field *field, uint64_t index, const lx__entry *entry,
                           lx_error *error);

/** Reserves room for @p count more chunks, so that adding them with lx__state_put_chunk() cannot
 * fail until the state is copied. */
lx_status lx__state_reserve_chunks(lx__state *state, size_t count, lx_error *error);

/** Adds a chunk, or replaces the item of a chunk that has grown. */
lx_status lx__state_put_chunk(lx__state *state, const lx__chunk_item *item, lx_error *error);

#endif
