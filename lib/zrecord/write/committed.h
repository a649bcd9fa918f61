/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The committed state of a writer: the state at the last frame, and the updates that are
 * only in the log.
 *
 * Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_COMMITTED_H
#define LX_ZRECORD_COMMITTED_H

#include "zrecord/wal/frame.h"
#include "zrecord/wal/replay.h"
#include "zrecord/wal/update-map.h"

typedef struct lx__committed {
    /** The state at the last frame, without updates. Updates of rows in the tables are in @ref
     * updates; new rows are in the table writer. */
    lx__state state;
    /** Updates in the log for rows below state.rows. Updates at or beyond the length are
     * obsolete. */
    lx__update_map updates;
    bool opening_synced; /**< Everything that this writer found when it opened the dataset has been
                              made durable. */
} lx__committed;

/** Reserves room for the chunks and updates of a frame, so that adopting the frame cannot fail. */
lx_status lx__committed_reserve(lx__committed *committed, size_t chunks, size_t updates,
                                lx_error *error);

/** Returns a header for the next frame, which does not contain any changes yet. */
lx__frame lx__committed_next_frame(const lx__committed *committed, uint32_t flags, uint64_t boot);

/** Advances the position past @p frame, which is now in the log. */
void lx__committed_advance(lx__committed *committed, const lx__frame *frame);

/** Adopts the state in @p frame and the @p count chunks in @p grown. Room must have been
 * reserved. */
void lx__committed_adopt(lx__committed *committed, const lx__frame *frame,
                         const lx__chunk_item *grown, size_t count);

/** Returns the index after the last committed row, whether or not it is in the tables. */
static inline uint64_t lx__committed_row_end(const lx__committed *committed)
{
    const lx__state *state = &committed->state;
    return state->rows > state->length ? state->rows : state->length;
}

/** Whether the tables would differ from the records even if all rows were in the tables, because
 * there are updates or rows of deleted records. */
static inline bool lx__committed_has_changes(const lx__committed *committed)
{
    return committed->updates.count != 0 || committed->state.rows > committed->state.length;
}

void lx__committed_free(lx__committed *committed);

#endif
