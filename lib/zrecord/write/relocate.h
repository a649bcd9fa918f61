/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Moves payloads from the chunks of a state to new ones, in the order in which they are
 * given.
 *
 * They are gathered in windows. Those of a window are read in the order in which they lie, in as
 * few extents as there are, and the extents of the next window are asked for before. Each payload
 * is verified by its CRC and gets the CRC of its new place, while those before it are written.
 * Memory is bounded, also for a payload of gigabytes.
 */
#ifndef LX_ZRECORD_RELOCATE_H
#define LX_ZRECORD_RELOCATE_H

#include "zrecord/chunk/fd-cache.h"
#include "zrecord/chunk/payload.h"
#include "zrecord/write/block-writer.h"
#include "zrecord/write/io-window.h"
#include "zrecord/wal/replay.h"

/** Chunks that are open for reading at once. */
#define LX__RELOCATION_OPEN_FILES 16

typedef struct lx__relocation {
    /* Set by the caller; all but to stays as it is. */
    const lx__file *directory; /**< Of the chunks. */
    const lx__file *tables;    /**< Of the tables, to tell of damage. */
    const lx_schema *schema;
    const lx__entry_rules *rules;
    const lx__state *from;
    lx__state *to; /**< Gets the items of new chunks, and above their ids its next chunk id. */
    uint64_t records_limit, bytes_limit;
    lx_executor *executor; /**< Writes. */

    lx__fd_cache old; /**< Of the chunks. */
    lx__io_window windows[2];
    unsigned filling; /**< Which of them; the other, if it has any, was asked for. */
    uint8_t *input;
    uint32_t *places; /**< In the input, of the payload of each move. */

    lx__file chunk;        /**< The one that is being filled. */
    lx__chunk_item filled; /**< What it has, and will have once the output is written. */
    lx__block_writer output;
    uint64_t payloads; /**< That were moved. */
    uint64_t bytes;
} lx__relocation;

/** Takes memory; the caller's part was set, and all else is zero. */
lx_status lx__relocation_open(lx__relocation *relocation, lx_error *error);

/** Holds the entry of a value against all rules, without a look at its payload.
 * @retval LX_ERR_CORRUPT  It breaks one; the error tells which value it is. */
lx_status lx__relocation_check(const lx__relocation *relocation, const lx__move *move,
                               lx_error *error);

/**
 * Moves a value. Its rows are changed now or at the latest by lx__relocation_flush(); a value
 * without a payload is verified, and stays as it is. The value was checked before.
 * @retval LX_ERR_CORRUPT  This value, or one before it, is damaged; the error tells which.
 */
lx_status lx__relocation_add(lx__relocation *relocation, const lx__move *move, lx_error *error);

/** Moves all values so far. */
lx_status lx__relocation_flush(lx__relocation *relocation, lx_error *error);

/** Makes the last chunk durable, after lx__relocation_flush(). The directory is the caller's.
 * @retval LX_ERR_POISONED  The sync of this chunk failed, or, of the calls before this one, of one
 *                          that was full; @p error has LX_ERR_IO. */
lx_status lx__relocation_finish(lx__relocation *relocation, lx_error *error);

void lx__relocation_close(lx__relocation *relocation);

#endif
