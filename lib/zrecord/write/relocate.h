/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Moves payloads from the chunks of a state to new chunks, in a given order.
 *
 * Values are collected in a window. The payloads of a window are fetched in order of their offsets
 * and written in the given order. The CRC of each payload is verified, and a new CRC is computed
 * for the new location. Memory use is bounded by the size of a window and the size of the largest
 * payload.
 */
#ifndef LX_ZRECORD_RELOCATE_H
#define LX_ZRECORD_RELOCATE_H

#include "zrecord/chunk/fetch.h"
#include "zrecord/wal/replay.h"

/** A value to be moved, and the location of its entry. */
typedef struct lx__move {
    uint8_t *offset_row;
    uint8_t *check_row;
    uint64_t index;
    uint32_t field;        /**< Position in the schema. */
    const uint8_t *stored; /**< The payload, once it has been fetched. */
} lx__move;

/** Where the payload of a move is now. */
typedef struct lx__move_source {
    lx__extent extent;
    lx__move *move;
} lx__move_source;

typedef struct lx__relocation {
    /* Set by the caller; of these members, only `to` changes. */
    const lx__file *directory; /**< The chunk directory. */
    const lx__file *tables;    /**< The directory of the tables, for error messages. */
    const lx_schema *schema;
    const lx__entry_rules *rules;
    const lx__state *from;
    /** Receives the items of the new chunks; its next_chunk stays larger than the ids of all these
     * chunks. */
    lx__state *to;
    uint64_t records_limit, bytes_limit;

    lx__fd_cache files; /**< The old chunks. */
    lx__pread pread;

    /* The window: the payloads to move next. */
    lx__move *moves;          /**< In the given order. */
    lx__move_source *sources; /**< One per move. */
    lx__extent *extents;      /**< In order of their offsets. */
    size_t count;
    uint64_t window_bytes; /**< Total size of the payloads in the window. */
    uint8_t *input;        /**< Receives the payloads. */
    lx__file chunk;        /**< The chunk that is being filled. */
    lx__chunk_item filled; /**< The item of that chunk, as it will be once the output is written. */
    uint8_t *output;
    size_t output_size;
    uint64_t payloads; /**< Number of payloads moved so far. */
    uint64_t bytes;
} lx__relocation;

/** Allocates the memory. The caller must have set the first members and zeroed the others. */
lx_status lx__relocation_open(lx__relocation *relocation, lx_error *error);

/**
 * Checks the entry of a value against all rules, without reading its payload.
 * @retval LX_ERR_CORRUPT  The entry violates a rule; the error names the value.
 */
lx_status lx__relocation_check(const lx__relocation *relocation, const lx__move *move,
                               lx_error *error);

/**
 * Moves a value, which must already have been checked. Its rows change now or in
 * lx__relocation_flush(). A value without a payload is verified and left unchanged.
 * @retval LX_ERR_CORRUPT  This value or an earlier value is damaged; the error names the damaged
 *                         value.
 */
lx_status lx__relocation_add(lx__relocation *relocation, const lx__move *move, lx_error *error);

/** Moves all values added so far. */
lx_status lx__relocation_flush(lx__relocation *relocation, lx_error *error);

/**
 * Makes the last chunk durable; call lx__relocation_flush() first. The caller syncs the directory.
 * @retval LX_ERR_POISONED  The sync of this chunk failed or, in an earlier call, the sync of a full
 *                          chunk; the status in @p error is LX_ERR_IO.
 */
lx_status lx__relocation_finish(lx__relocation *relocation, lx_error *error);

void lx__relocation_close(lx__relocation *relocation);

#endif
