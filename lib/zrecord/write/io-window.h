/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Collects values that move to new chunks, and reads their payloads in the order of their
 * offsets, in as few extents as possible.
 */
#ifndef LX_ZRECORD_IO_WINDOW_H
#define LX_ZRECORD_IO_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Payload bytes of a window: enough to keep a disk busy. */
#define LX__IO_WINDOW_BYTES ((uint64_t)16 << 20)
#define LX__IO_WINDOW_MOVES ((size_t)65536)
/** Room for the payloads, and for gaps between them. */
#define LX__IO_WINDOW_INPUT ((uint64_t)32 << 20)

/** A value whose payload is to be moved, and the place of its entry. */
typedef struct lx__move {
    uint8_t *offset_row;
    uint8_t *check_row;
    uint64_t index;
    uint32_t field; /**< Position in the schema. */
} lx__move;

/** The present place of a payload. */
typedef struct lx__source {
    uint64_t offset;
    uint32_t chunk; /**< Position in the state's chunks. */
    uint32_t size;
    uint32_t move; /**< Index in the order given. */
} lx__source;

/** Values that are moved together. */
typedef struct lx__io_window {
    lx__move *moves;
    lx__source
        /** In the order given; after lx__io_window_sort() in the order of their offsets. */
        *sources;
    size_t count;
    uint64_t bytes; /**< Of all payloads. */
} lx__io_window;

/** A range of a chunk that is read at once, with sources [first, end). Start with zeros. */
typedef struct lx__io_extent {
    size_t first, end;
    uint64_t start, size;
    uint64_t gaps; /**< Bytes between payloads, in all extents so far. */
} lx__io_extent;

/** Allocates a window; false when out of memory. */
bool lx__io_window_open(lx__io_window *window);

void lx__io_window_close(lx__io_window *window);

/** Whether there is room for a payload of @p size bytes. */
bool lx__io_window_fits(const lx__io_window *window, uint32_t size);

/** Adds a value, for which there is room; source.move is set here. */
void lx__io_window_add(lx__io_window *window, const lx__move *move, lx__source source);

/** Sorts the sources by chunk and offset. */
void lx__io_window_sort(lx__io_window *window);

/** Advances to the next extent; false after the last. All extents together have at most
 * LX__IO_WINDOW_INPUT bytes. */
bool lx__io_window_next(const lx__io_window *window, lx__io_extent *extent);

/** Empties the window. */
void lx__io_window_clear(lx__io_window *window);

#endif
