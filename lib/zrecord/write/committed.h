/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The committed state of a writer: what the last frame of the log says, and the updates of
 * rows that are in the log alone.
 *
 * Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_COMMITTED_H
#define LX_ZRECORD_COMMITTED_H

#include "zrecord/wal/frame.h"
#include "zrecord/wal/replay.h"
#include "zrecord/wal/update-map.h"

typedef struct lx__committed {
    lx__state state; /**< At the last frame, without updates: those of rows in the tables are
                              below, new rows are in the writer's table append buffer. */
    lx__update_map
        updates;         /**< Updates of the log below state.rows. Those at or above the length do
                              not count. */
    bool opening_synced; /**< What the opening found was made durable by this writer. */
} lx__committed;

/** Makes room for the chunks and updates of a frame, so that adopting it cannot fail. */
lx_status lx__committed_reserve(lx__committed *committed, size_t chunks, size_t updates,
                                lx_error *error);

/** A frame after the last one that changes nothing. */
lx__frame lx__committed_next_frame(const lx__committed *committed, uint32_t flags, uint64_t boot);

/** @p frame is in the log: the next one follows it. */
void lx__committed_advance(lx__committed *committed, const lx__frame *frame);

/** What @p frame, with the @p count chunks of @p grown, says is committed. There is room for
 * them. */
void lx__committed_adopt(lx__committed *committed, const lx__frame *frame,
                         const lx__chunk_item *grown, size_t count);

/** Above the index of each committed row, in the tables or not. */
static inline uint64_t lx__committed_row_end(const lx__committed *committed)
{
    const lx__state *state = &committed->state;
    return state->rows > state->length ? state->rows : state->length;
}

/** Whether the tables differ from the records, once every row is in them: there are updates, or
 * rows of records that were deleted. */
static inline bool lx__committed_has_changes(const lx__committed *committed)
{
    return committed->updates.count != 0 || committed->state.rows > committed->state.length;
}

void lx__committed_free(lx__committed *committed);

#endif
