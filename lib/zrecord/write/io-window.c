/* SPDX-License-Identifier: MIT */
#include "zrecord/write/io-window.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The most bytes read at once. */
#define PIECE_BYTES ((uint64_t)1 << 20)
/* A gap of at most this size is read along with its neighbors, which costs less than another
 * read. */
#define GAP_MAX 8192u

bool lx__io_window_open(lx__io_window *window)
{
    window->moves = lx__alloc_array(LX__IO_WINDOW_MOVES, sizeof *window->moves);
    window->sources = lx__alloc_array(LX__IO_WINDOW_MOVES, sizeof *window->sources);
    return window->moves != NULL && window->sources != NULL;
}

void lx__io_window_close(lx__io_window *window)
{
    lx__free(window->moves);
    lx__free(window->sources);
}

void lx__io_window_clear(lx__io_window *window)
{
    window->count = 0;
    window->bytes = 0;
}

bool lx__io_window_fits(const lx__io_window *window, uint32_t size)
{
    return window->count < LX__IO_WINDOW_MOVES && window->bytes + size <= LX__IO_WINDOW_BYTES;
}

void lx__io_window_add(lx__io_window *window, const lx__move *move, lx__source source)
{
    source.move = (uint32_t)window->count;
    window->sources[window->count] = source;
    window->moves[window->count++] = *move;
    window->bytes += source.size;
}

static int compare(const void *a, const void *b)
{
    const lx__source *left = a, *right = b;
    if (left->chunk != right->chunk)
        return left->chunk < right->chunk ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

void lx__io_window_sort(lx__io_window *window)
{
    for (size_t i = 1; i < window->count; i++) {
        if (compare(&window->sources[i - 1], &window->sources[i]) > 0) {
            qsort(window->sources, window->count, sizeof *window->sources, compare);
            return;
        }
    }
}

/** Extends the extent by the next source and the gap before it, if they are adjacent and it
 * fits. */
static bool extend(const lx__io_window *window, lx__io_extent *extent, const lx__source *next)
{
    uint64_t end = extent->start + extent->size;
    /* A payload that overlaps the last one is read again. */
    if (next->chunk != next[-1].chunk || next->offset < end)
        return false;
    uint64_t gap = next->offset - end;
    if (gap > GAP_MAX || gap > LX__IO_WINDOW_INPUT - window->bytes - extent->gaps ||
        extent->size + gap + next->size > PIECE_BYTES)
        return false;
    extent->size += gap + next->size;
    extent->gaps += gap;
    return true;
}

bool lx__io_window_next(const lx__io_window *window, lx__io_extent *extent)
{
    size_t i = extent->first = extent->end;
    if (i == window->count)
        return false;
    extent->start = window->sources[i].offset;
    extent->size = window->sources[i].size;
    for (i++; i < window->count && extend(window, extent, &window->sources[i]);)
        i++;
    extent->end = i;
    return true;
}
