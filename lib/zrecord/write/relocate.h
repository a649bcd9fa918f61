/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Moves payloads from the chunks of a state to new chunks, in a given order.
 *
 * Values are collected in a window. The payloads of a window are fetched in order of their offsets
 * and written in the given order. The CRC of each payload is verified, and a new CRC is computed
 * for the new location. A payload that values share is moved only once. Memory use is bounded by
 * the size of a window and the size of the largest payload.
 */
#ifndef LX_ZRECORD_RELOCATE_H
#define LX_ZRECORD_RELOCATE_H

#include "zrecord/chunk/fetch.h"
#include "zrecord/write/chunk-output.h"

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

/** The shared payload of a field. */
typedef struct lx__shared_move {
    lx__shared from, to;       /**< `to` is set once the payload has been moved. */
    uint32_t from_crc, to_crc; /**< The CRCs of entries there, without the index CRC. */
} lx__shared_move;

typedef struct lx__relocation {
    /* Set by the caller, as are the first members of the output. */
    const lx__file *directory; /**< The chunk directory. */
    const lx__file *tables;    /**< The directory of the tables, for error messages. */
    const lx__meta *meta;      /**< For error messages. */
    const lx_schema *schema;
    const lx__entry_rules *rules;
    const lx__state *from;
    lx__chunk_output output; /**< The new chunks. */

    lx__shared_move *shared; /**< One per field. */
    lx__fd_cache files;      /**< The old chunks. */
    lx__pread pread;

    /* The window: the payloads to move next. */
    lx__move *moves;          /**< In the given order. */
    lx__move_source *sources; /**< One per move. */
    lx__extent *extents;      /**< In order of their offsets. */
    size_t count;
    uint64_t window_bytes; /**< Total size of the payloads in the window. */
    uint8_t *input;        /**< Receives the payloads. */
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

void lx__relocation_close(lx__relocation *relocation);

#endif
