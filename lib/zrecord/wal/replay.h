/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A committed state: the result of replaying the WAL up to one of its frames.
 */
#ifndef LX_ZRECORD_REPLAY_H
#define LX_ZRECORD_REPLAY_H

#include "zrecord/wal/wal.h"
#include "zrecord/wal/overlay.h"

/** A committed state. Copy it with lx__state_copy(), free it with lx__state_free(). Copies share
 * what is large until one of them changes it. */
typedef struct lx__state {
    lx__log_position position; /**< After the last frame of the state. */
    lx__log_position changed;  /**< After the last frame that changed something. */
    uint64_t length;
    uint64_t rows; /**< Rows of the tables. */
    uint32_t table_generation;
    uint32_t next_chunk;
    uint64_t items;         /**< Row updates in all frames so far, including dropped ones. */
    lx__chunk_item *chunks; /**< Ascending by id. A shared array. */
    size_t chunk_count;
    size_t chunk_capacity;
    lx__overlay overlay;
} lx__state;

/** Which frames to replay. */
typedef enum lx__replay {
    LX__REPLAY_NEWEST, /**< All that are valid in this boot. */
    LX__REPLAY_DURABLE /**< Those up to the last synced frame. */
} lx__replay;

/**
 * Replays the frames after @p state (zeros: all frames). After a failure the state is unchanged.
 *
 * @param[in,out] state   A state of this log.
 * @param[in]     schema  The fields whose updates are kept; those of other fields are skipped.
 * @param[out]    scan    Receives the result of the scan; may be NULL.
 */
lx_status lx__state_replay(lx__state *state, lx__log_reader *log, const lx_schema *schema,
                           lx__replay which, lx__log_scan *scan, lx_error *error);

/** As lx__state_replay(), up to the frame that ends at @p end. A scan must have found it valid. */
lx_status lx__state_replay_to(lx__state *state, lx__log_reader *log, const lx_schema *schema,
                              uint64_t end, lx_error *error);

/** Checks whether the valid frames after @p state, up to @p end, keep the rules, although the state
 * does not include them. */
lx_status lx__state_check_rest(const lx__state *state, lx__log_reader *log, const lx_schema *schema,
                               uint64_t end, lx_error *error);

/** Copies a state in constant time. */
void lx__state_copy(lx__state *copy, const lx__state *state);

void lx__state_free(lx__state *state);

/** Returns the item of chunk @p id; NULL if not found. */
const lx__chunk_item *lx__state_find_chunk(const lx__state *state, uint32_t id);

/** Adds the location of a damaged value to @p error: its chunk, or, if the state does not have the
 * chunk, its row of the table. @p tables and @p chunks are the directories of the files. */
void lx__state_add_context(const lx__state *state, const lx__file *tables, const lx__file *chunks,
                           const lx__field *field, uint64_t index, const lx__entry *entry,
                           lx_error *error);

/** Reserves room for @p count more chunks, so that lx__state_put_chunk() cannot fail until the
 * state is copied. */
lx_status lx__state_reserve_chunks(lx__state *state, size_t count, lx_error *error);

/** Adds a chunk, or replaces the item of a chunk that has grown. */
lx_status lx__state_put_chunk(lx__state *state, const lx__chunk_item *item, lx_error *error);

#endif
