/* SPDX-License-Identifier: MIT */
#include "loader/tokens/best-fit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "loader/tokens/bin-lists.h"

/** The pieces in the order of placement. */
typedef struct turn_list {
    uint32_t *pieces; /**< By decreasing length. */
    uint32_t *ends;   /**< For each length, one past its last piece. */
    uint32_t count;
} turn_list;

/** Sorts the pieces with a counting sort. */
static bool sort(const uint32_t *lengths, uint32_t count, uint32_t capacity, turn_list *made)
{
    *made = (turn_list){.ends = lx__alloc_array(capacity, sizeof *made->ends)};
    if (made->ends == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        made->ends[lengths[i]]++;
    made->ends[0] = 0;
    for (uint32_t length = capacity; --length > 0;) {
        uint32_t pieces = made->ends[length];
        made->ends[length] = made->count; /* the start; the loop below advances it to the end */
        made->count += pieces;
    }
    made->pieces = lx__alloc((size_t)made->count * sizeof *made->pieces);
    if (made->pieces == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (lengths[i] != 0)
            made->pieces[made->ends[lengths[i]]++] = i;
    return true;
}

/**
 * Finds the bin of each piece and returns the number of bins.
 *
 * From the first piece of a length on, the lists of all spaces that are large enough for it grow no
 * more, except for one bin in an empty list: the bin that had the least sufficient space and still
 * has enough. So each list is sorted once, when the lengths reach its space.
 */
static uint32_t place(const turn_list *turns, uint32_t capacity, lx__rooms *rooms, uint32_t *places)
{
    uint32_t bins = 0, sorted = capacity, turn = 0;
    for (uint32_t length = capacity; --length > 0;) {
        if (turn == turns->ends[length])
            continue;
        for (uint32_t room = lx__rooms_find(rooms, length); room < sorted;
             room = lx__rooms_find(rooms, room + 1))
            lx__rooms_sort(rooms, room);
        sorted = length;
        for (; turn < turns->ends[length]; turn++) {
            uint32_t room = lx__rooms_find(rooms, length);
            bool fits = room != LX__ROOMS_NONE;
            uint32_t bin = fits ? lx__rooms_take(rooms, room) : bins++;
            uint32_t left = (fits ? room : capacity) - length;
            if (left != 0)
                lx__rooms_add(rooms, bin, left);
            places[turn] = bin;
        }
    }
    return bins;
}

/** Lists the pieces by bin. */
static bool collect(const turn_list *turns, const uint32_t *places, lx__bins *bins)
{
    uint32_t first = 0;
    bins->starts = lx__alloc_array((size_t)bins->count + 1, sizeof *bins->starts);
    bins->pieces = lx__alloc((size_t)turns->count * sizeof *bins->pieces);
    if (bins->starts == NULL || bins->pieces == NULL)
        return false;
    for (uint32_t i = 0; i < turns->count; i++)
        bins->starts[places[i]]++;
    for (uint32_t i = 0; i <= bins->count; i++) {
        uint32_t pieces = bins->starts[i];
        bins->starts[i] = first;
        first += pieces;
    }
    for (uint32_t i = 0; i < turns->count; i++)
        bins->pieces[bins->starts[places[i]]++] = turns->pieces[i];
    memmove(bins->starts + 1, bins->starts, (size_t)bins->count * sizeof *bins->starts);
    bins->starts[0] = 0; /* the loop advanced each start to the next one */
    return true;
}

lx_status lx__best_fit(uint32_t *lengths, uint32_t count, uint32_t capacity, lx__bins *bins,
                       lx_error *error)
{
    turn_list turns;
    lx__rooms rooms;
    *bins = (lx__bins){.count = 0};
    bool made = sort(lengths, count, capacity, &turns);
    if (made && (made = lx__rooms_init(&rooms, capacity, turns.count))) {
        bins->count = place(&turns, capacity, &rooms, lengths);
        lx__rooms_free(&rooms);
        made = collect(&turns, lengths, bins);
    }
    lx__free(turns.pieces);
    lx__free(turns.ends);
    if (made)
        return LX_OK;
    lx__bins_free(bins);
    return lx__fail_memory(error, "bins");
}

void lx__bins_free(lx__bins *bins)
{
    lx__free(bins->starts);
    lx__free(bins->pieces);
    *bins = (lx__bins){.count = 0};
}
