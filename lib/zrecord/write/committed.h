/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The committed state of a writer: the last frame's state, and the updates that only the log
 * has.
 *
 * Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_COMMITTED_H
#define LX_ZRECORD_COMMITTED_H

#include "zrecord/wal/frame.h"
#include "zrecord/wal/replay.h"
#include "zrecord/wal/update-map.h"

typedef struct lx__committed {
    /** The state at the last frame, without updates. Updates of rows in the tables are below; new
     * rows are in the table writer. */
    lx__state state;
    lx__update_map
        /** Updates below state.rows that are in the log. Those at or above the length are
         * obsolete. */
        updates;
    bool opening_synced; /**< This writer has made durable what the opening found. */
} lx__committed;

/** Reserves room for the chunks and updates of a frame, so that adopting it cannot fail. */
lx_status lx__committed_reserve(lx__committed *committed, size_t chunks, size_t updates,
                                lx_error *error);

/** Returns the header of the next frame, with no changes. */
lx__frame lx__committed_next_frame(const lx__committed *committed, uint32_t flags, uint64_t boot);

/** Advances to the position after @p frame, which is in the log now. */
void lx__committed_advance(lx__committed *committed, const lx__frame *frame);

/** Adopts the state in @p frame and the @p count chunks of @p grown. Room is reserved. */
void lx__committed_adopt(lx__committed *committed, const lx__frame *frame,
                         const lx__chunk_item *grown, size_t count);

/** Returns the index after the last committed row, in the tables or not. */
static inline uint64_t lx__committed_row_end(const lx__committed *committed)
{
    const lx__state *state = &committed->state;
    return state->rows > state->length ? state->rows : state->length;
}

/** Whether the tables differ from the records even if all rows are in them: because of updates, or
 * of rows of deleted records. */
static inline bool lx__committed_has_changes(const lx__committed *committed)
{
    return committed->updates.count != 0 || committed->state.rows > committed->state.length;
}

void lx__committed_free(lx__committed *committed);

#endif
