/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Moves payloads from the chunks of a state to new ones, in the order given.
 *
 * Values are collected in a window. The payloads of a window are fetched in the order of their
 * offsets, and written in the order given. Each one is verified by its CRC and gets the CRC of its
 * new place. Memory is bounded by the size of a window, and by that of the largest payload.
 */
#ifndef LX_ZRECORD_RELOCATE_H
#define LX_ZRECORD_RELOCATE_H

#include "zrecord/chunk/fetch.h"
#include "zrecord/wal/replay.h"

/** A value to be moved, and the place of its entry. */
typedef struct lx__move {
    uint8_t *offset_row;
    uint8_t *check_row;
    uint64_t index;
    uint32_t field;        /**< Position in the schema. */
    const uint8_t *stored; /**< Its payload once it is fetched. */
} lx__move;

/** The present place of the payload of a move. */
typedef struct lx__move_source {
    lx__extent extent;
    lx__move *move;
} lx__move_source;

typedef struct lx__relocation {
    /* Set by the caller; only `to` changes. */
    const lx__file *directory; /**< The chunk directory. */
    const lx__file *tables;    /**< The table directory, for error messages. */
    const lx_schema *schema;
    const lx__entry_rules *rules;
    const lx__state *from;
    /** Receives the items of new chunks; its next_chunk is larger than all their ids. */
    lx__state *to;
    uint64_t records_limit, bytes_limit;

    lx__fd_cache files; /**< The old chunks. */
    lx__pread pread;

    /* The window: the payloads that are moved next. */
    lx__move *moves;          /**< In the order given. */
    lx__move_source *sources; /**< Of each move. */
    lx__extent *extents;      /**< In the order of their offsets. */
    size_t count;
    uint64_t window_bytes; /**< Of its payloads. */
    uint8_t *input;        /**< Receives the payloads. */

    lx__file chunk;        /**< The chunk that is being filled. */
    lx__chunk_item filled; /**< Its extent once the output is written. */
    uint8_t *output;
    size_t output_size;
    uint64_t payloads; /**< Payloads moved so far. */
    uint64_t bytes;
} lx__relocation;

/** Allocates memory. The caller has set the first members and zeroed the others. */
lx_status lx__relocation_open(lx__relocation *relocation, lx_error *error);

/**
 * Checks the entry of a value against all rules, without reading its payload.
 * @retval LX_ERR_CORRUPT  It breaks one; the error names the value.
 */
lx_status lx__relocation_check(const lx__relocation *relocation, const lx__move *move,
                               lx_error *error);

/**
 * Moves a value, checked before. Its rows are changed now or at the latest by
 * lx__relocation_flush(). A value without a payload is verified and stays as it is.
 * @retval LX_ERR_CORRUPT  This value, or one before it, is damaged; the error names it.
 */
lx_status lx__relocation_add(lx__relocation *relocation, const lx__move *move, lx_error *error);

/** Moves all values added so far. */
lx_status lx__relocation_flush(lx__relocation *relocation, lx_error *error);

/**
 * Makes the last chunk durable, after lx__relocation_flush(). The caller syncs the directory.
 * @retval LX_ERR_POISONED  The sync of this chunk failed, or, in an earlier call, that of a full
 *                          one; @p error has LX_ERR_IO.
 */
lx_status lx__relocation_finish(lx__relocation *relocation, lx_error *error);

void lx__relocation_close(lx__relocation *relocation);

#endif
