/* SPDX-License-Identifier: MIT */
#include "zrecord/write/io-window.h"

#include <stdlib.h>

#include "base/alloc.h"

/* What is read at once. */
#define PIECE_BYTES ((uint64_t)1 << 20)
/* Bytes between two payloads that are read with them: fewer than a second call would cost. */
#define GAP_MAX 8192u

bool lx__window_open(lx__window *window)
{
    window->moves = lx__alloc_array(LX__WINDOW_MOVES, sizeof *window->moves);
    window->sources = lx__alloc_array(LX__WINDOW_MOVES, sizeof *window->sources);
    return window->moves != NULL && window->sources != NULL;
}

void lx__window_close(lx__window *window)
{
    lx__free(window->moves);
    lx__free(window->sources);
}

void lx__window_clear(lx__window *window)
{
    window->count = 0;
    window->bytes = 0;
}

bool lx__window_fits(const lx__window *window, uint32_t size)
{
    return window->count < LX__WINDOW_MOVES && window->bytes + size <= LX__WINDOW_BYTES;
}

void lx__window_add(lx__window *window, const lx__move *move, lx__source source)
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

void lx__window_sort(lx__window *window)
{
    for (size_t i = 1; i < window->count; i++) {
        if (compare(&window->sources[i - 1], &window->sources[i]) > 0) {
            qsort(window->sources, window->count, sizeof *window->sources, compare);
            return;
        }
    }
}

/** Whether the piece grows by the next source, and by the gap before that. */
static bool extend(const lx__window *window, lx__piece *piece, const lx__source *next)
{
    uint64_t end = piece->start + piece->size;
    /* One that lies over the last is read anew. */
    if (next->chunk != next[-1].chunk || next->offset < end)
        return false;
    uint64_t gap = next->offset - end;
    if (gap > GAP_MAX || gap > LX__WINDOW_INPUT - window->bytes - piece->gaps ||
        piece->size + gap + next->size > PIECE_BYTES)
        return false;
    piece->size += gap + next->size;
    piece->gaps += gap;
    return true;
}

bool lx__window_next(const lx__window *window, lx__piece *piece)
{
    size_t i = piece->first = piece->end;
    if (i == window->count)
        return false;
    piece->start = window->sources[i].offset;
    piece->size = window->sources[i].size;
    for (i++; i < window->count && extend(window, piece, &window->sources[i]);)
        i++;
    piece->end = i;
    return true;
}
