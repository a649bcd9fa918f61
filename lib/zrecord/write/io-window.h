/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Values on their way to new chunks: some at a time, whose payloads are read in the order in
 * which they lie, in as few extents as there are.
 */
#ifndef LX_ZRECORD_IO_WINDOW_H
#define LX_ZRECORD_IO_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Payloads of a window: what a disk needs to be busy. */
#define LX__IO_WINDOW_BYTES ((uint64_t)16 << 20)
#define LX__IO_WINDOW_MOVES ((size_t)65536)
/** Its payloads, and gaps between them as far as there is room. */
#define LX__IO_WINDOW_INPUT ((uint64_t)32 << 20)

/** A value whose payload is to be moved, and where its entry is changed then. */
typedef struct lx__move {
    uint8_t *offset_row;
    uint8_t *check_row;
    uint64_t index;
    uint32_t field; /**< Position in the schema. */
} lx__move;

/** Where the payload of a move lies now. */
typedef struct lx__source {
    uint64_t offset;
    uint32_t chunk; /**< Position in the state. */
    uint32_t size;
    uint32_t move; /**< Which, in the order in which they were given. */
} lx__source;

/** Values that are moved together. */
typedef struct lx__io_window {
    lx__move *moves;
    lx__source
        *sources; /**< As given; after lx__io_window_sort() in the order in which they lie. */
    size_t count;
    uint64_t bytes; /**< Of their payloads. */
} lx__io_window;

/** Bytes of a chunk that are read at once: those of sources [first, end). Zeroed, none. */
typedef struct lx__io_extent {
    size_t first, end;
    uint64_t start, size;
    uint64_t gaps; /**< Bytes between payloads, of all extents so far. */
} lx__io_extent;

/** Takes memory for one; false if there is none. */
bool lx__io_window_open(lx__io_window *window);

void lx__io_window_close(lx__io_window *window);

/** Whether a payload of @p size bytes has room. */
bool lx__io_window_fits(const lx__io_window *window, uint32_t size);

/** Adds a value, whose payload has room; source.move is set. */
void lx__io_window_add(lx__io_window *window, const lx__move *move, lx__source source);

/** Brings the sources into the order in which they lie. */
void lx__io_window_sort(lx__io_window *window);

/** Goes on to the extent behind @p extent; false if there is none. Together they have no more bytes
 * than LX__IO_WINDOW_INPUT. */
bool lx__io_window_next(const lx__io_window *window, lx__io_extent *extent);

/** Empties it. */
void lx__io_window_clear(lx__io_window *window);

#endif
