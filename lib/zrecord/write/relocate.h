/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Moves payloads from the chunks of a state to new ones, in the order given.
 *
 * Payloads are collected in I/O windows. Those of a window are read in the order of their offsets,
 * in as few extents as possible, after the extents of the next window are prefetched. Each payload
 * is verified by its CRC and gets the CRC of its new place, while earlier ones are written. Memory
 * is bounded, even for a payload of gigabytes.
 */
#ifndef LX_ZRECORD_RELOCATE_H
#define LX_ZRECORD_RELOCATE_H

#include "zrecord/chunk/fd-cache.h"
#include "zrecord/chunk/payload.h"
#include "zrecord/write/block-writer.h"
#include "zrecord/write/io-window.h"
#include "zrecord/wal/replay.h"

/** Chunks open for reading at once. */
#define LX__RELOCATION_OPEN_FILES 16

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
    lx_executor *executor; /**< Writes the output. */

    lx__fd_cache old; /**< The old chunks. */
    lx__io_window windows[2];
    /** The window that is being filled; the other one, if not empty, was prefetched. */
    unsigned filling;
    uint8_t *input;
    uint32_t *places; /**< The offset in the input of each move's payload. */

    lx__file chunk;        /**< The chunk that is being filled. */
    lx__chunk_item filled; /**< Its extent once the output is written. */
    lx__block_writer output;
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
