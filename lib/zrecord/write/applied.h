/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the next frame of a writer will commit: operations that were turned into entries.
 *
 * The rows of new records are in the table writer. Used under the writer's mutex.
 */
#ifndef LX_ZRECORD_APPLIED_H
#define LX_ZRECORD_APPLIED_H

#include "zrecord/write/write-buffer.h"
#include "zrecord/wal/update-map.h"

typedef struct lx__applied {
    uint64_t length; /**< Length of the dataset after these operations. */
    /** Entries that override rows that are already committed or already in the tables. */
    lx__update_map updates;
    lx__chunk_item *grown; /**< Items of chunks that have grown; if a chunk has several items, the
                                last one counts. */
    size_t grown_count, grown_capacity;
} lx__applied;

/** Adds the chunk items of a flushed buffer. */
lx_status lx__applied_add_chunks(lx__applied *applied, const lx__write_buffer *buffer,
                                 lx_error *error);

/** Sorts the chunk items by chunk id, and keeps only the last item of each chunk. */
void lx__applied_sort_chunks(lx__applied *applied);

/** Drops everything, and sets the length of the dataset to @p length records. */
void lx__applied_clear(lx__applied *applied, uint64_t length);

void lx__applied_free(lx__applied *applied);

#endif
