/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the next frame of a writer commits: operations that have become entries.
 *
 * Rows for new records wait in lx__table_writer. Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_APPLIED_H
#define LX_ZRECORD_APPLIED_H

#include "zrecord/write/write-buffer.h"
#include "zrecord/wal/update-map.h"

typedef struct lx__applied {
    uint64_t length;        /**< Of the dataset, after these operations. */
    lx__update_map updates; /**< Entries in place of rows that are committed, or in the tables. */
    lx__chunk_item *grown;  /**< Chunks that have grown; a chunk's last item holds. */
    size_t grown_count, grown_capacity;
} lx__applied;

/** Adds what chunks hold after a flushed buffer. */
lx_status lx__applied_add_chunks(lx__applied *applied, const lx__write_buffer *buffer,
                                 lx_error *error);

/** Puts the chunks that have grown in the order of their ids, each once. */
void lx__applied_sort_chunks(lx__applied *applied);

/** Forgets all of it: the dataset has @p length records. */
void lx__applied_clear(lx__applied *applied, uint64_t length);

void lx__applied_free(lx__applied *applied);

#endif
