/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A committed state: what replaying the log up to one of its frames gives.
 */
#ifndef LX_ZRECORD_REPLAY_H
#define LX_ZRECORD_REPLAY_H

#include "zrecord/wal/wal.h"
#include "zrecord/wal/overlay.h"

/** A committed state. A value: copied with lx__state_copy(), ended with lx__state_free(). Copies
 * share what is large, until one of them changes it. */
typedef struct lx__state {
    lx__log_position position; /**< In the log, behind the last frame of the state. */
    lx__log_position changed;  /**< The same of the last frame that changed something. */
    uint64_t length;
    uint64_t rows; /**< Of the tables. */
    uint32_t table_generation;
    uint32_t next_chunk;
    uint64_t items;         /**< Set items of all frames so far. */
    lx__chunk_item *chunks; /**< Ascending by id; shared memory. */
    size_t chunk_count;
    size_t chunk_capacity;
    lx__overlay overlay;
} lx__state;

/** Which of a log's frames to replay. */
typedef enum lx__replay {
    LX__REPLAY_NEWEST, /**< All that the scan trusts. */
    LX__REPLAY_DURABLE /**< Those up to the last synced one. */
} lx__replay;

/**
 * Goes on from @p state (zeroed: from the start) to the last frame that counts. On failure the
 * state is as it was.
 *
 * @param[in,out] state   A state of this log.
 * @param[in,out] log     Open.
 * @param[in]     schema  The fields whose sets are kept; sets of others are skipped.
 * @param[in]     which   Newest or durable.
 * @param[out]    scan    What was found in the log; may be NULL.
 * @param[out]    unknown Whether a set of a field that is not in @p schema was skipped.
 */
lx_status lx__state_replay(lx__state *state, lx__log_reader *log, const lx_schema *schema,
                           lx__replay which, lx__log_scan *scan, bool *unknown, lx_error *error);

/**
 * As lx__state_replay(), for a reader that shows only some fields.
 *
 * @param[in]  shown    The fields whose sets are kept.
 * @param[in]  known    All fields; of sets of others @p unknown tells.
 */
lx_status lx__state_follow(lx__state *state, lx__log_reader *log, const lx_schema *shown,
                           const lx_schema *known, lx__replay which, lx__log_scan *scan,
                           bool *unknown, lx_error *error);

/** As lx__state_replay(), to the frame that ends at @p end, which a scan has found valid. */
lx_status lx__state_replay_to(lx__state *state, lx__log_reader *log, const lx_schema *schema,
                              uint64_t end, lx_error *error);

/** Looks whether the frames behind @p state up to @p end, which are valid and do not count, keep the
 * rules all the same. */
lx_status lx__state_check_rest(const lx__state *state, lx__log_reader *log, const lx_schema *schema,
                               uint64_t end, lx_error *error);

/** A copy, which costs the same however much is in the state. */
void lx__state_copy(lx__state *copy, const lx__state *state);

void lx__state_free(lx__state *state);

/** The item of chunk @p id, or NULL. */
const lx__chunk_item *lx__state_find_chunk(const lx__state *state, uint32_t id);

/** Notes in @p error where a damaged value lies: in its chunk, or, if it is in none that there is, in
 * the row of its table. @p tables and @p chunks are the directories of these. */
void lx__state_add_context(const lx__state *state, const lx__file *tables, const lx__file *chunks,
                           const lx__field *field, uint64_t index, const lx__entry *entry,
                           lx_error *error);

/** Makes room for @p count more chunks, so that noting them cannot fail as long as the state is not
 * copied. */
lx_status lx__state_reserve_chunks(lx__state *state, size_t count, lx_error *error);

/** Notes the numbers of a chunk, a new one or one that grew. */
lx_status lx__state_put_chunk(lx__state *state, const lx__chunk_item *item, lx_error *error);

#endif
