/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Writes payloads one after another to new chunks, outside of the write buffers: for a new
 * generation that moves payloads, or that adds a field with values.
 */
#ifndef LX_ZRECORD_CHUNK_OUTPUT_H
#define LX_ZRECORD_CHUNK_OUTPUT_H

#include "base/file.h"
#include "zrecord/format/entry.h"
#include "zrecord/wal/replay.h"

typedef struct lx__chunk_output {
    /* Set by the caller; of these members, only `to` changes. */
    const lx__file *directory; /**< The chunk directory. */
    /** Receives the items of the new chunks; its next_chunk stays larger than the ids of all these
     * chunks. */
    lx__state *to;
    uint64_t records_limit, bytes_limit;

    lx__file chunk;        /**< The chunk that is being filled. */
    lx__chunk_item filled; /**< The item of that chunk, as it will be once the data is written. */
    uint8_t *data;
    size_t used;
    uint64_t payloads; /**< Number of payloads written so far. */
    uint64_t bytes;
} lx__chunk_output;

/** Allocates the memory. The caller must have set the first members and zeroed the others. */
lx_status lx__chunk_output_open(lx__chunk_output *output, lx_error *error);

/** Finds room for a payload in the current chunk or in a new one. Sets the chunk and the offset of
 * @p entry. */
lx_status lx__chunk_output_place(lx__chunk_output *output, uint64_t size, uint32_t align,
                                 lx__entry *entry, lx_error *error);

/** Appends a placed payload to the chunk, preceded by zeros to align it. */
lx_status lx__chunk_output_append(lx__chunk_output *output, const lx__entry *entry,
                                  const uint8_t *stored, lx_error *error);

/**
 * Makes the last chunk durable. The caller syncs the directory.
 * @retval LX_ERR_POISONED  The sync of this chunk failed or, in an earlier call, the sync of a full
 *                          chunk; the status in @p error is LX_ERR_IO.
 */
lx_status lx__chunk_output_finish(lx__chunk_output *output, lx_error *error);

void lx__chunk_output_close(lx__chunk_output *output);

#endif
