/* SPDX-License-Identifier: MIT */
#include "loader/tokens/best-fit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "loader/tokens/bin-lists.h"

/** The pieces in the order of placement. */
typedef struct sorted_pieces {
    uint32_t *pieces; /**< By decreasing length. */
    uint32_t *ends;   /**< For each length, one past its last piece. */
    uint32_t count;
} sorted_pieces;

/** Sorts the pieces with a counting sort. */
static bool sort(const uint32_t *lengths, uint32_t count, uint32_t capacity, sorted_pieces *made)
{
    *made = (sorted_pieces){.ends = lx__alloc_array(capacity, sizeof *made->ends)};
    if (made->ends == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        made->ends[lengths[i]]++;
    made->ends[0] = 0;
    for (uint32_t length = capacity; --length > 0;) {
        uint32_t pieces = made->ends[length];
        made->ends[length] = made->count; /* this is the start; the loop below advances it to the
                                             end */
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

/** Finds the bin of each piece and returns the number of bins. */
static uint32_t place(const sorted_pieces *order, uint32_t capacity, lx__bin_lists *lists,
                      uint32_t *places)
{
    uint32_t bins = 0, at = 0;
    for (uint32_t length = capacity; --length > 0;) {
        for (; at < order->ends[length]; at++) {
            uint32_t space = lx__bin_lists_find(lists, length);
            bool fits = space != LX__BIN_LISTS_NONE;
            uint32_t bin = fits ? lx__bin_lists_take(lists, space) : bins++;
            uint32_t left = (fits ? space : capacity) - length;
            if (left != 0)
                lx__bin_lists_add(lists, bin, left);
            places[at] = bin;
        }
    }
    return bins;
}

/** Lists the pieces by bin. */
static bool collect(const sorted_pieces *order, const uint32_t *places, lx__bins *bins)
{
    uint32_t first = 0;
    bins->starts = lx__alloc_array((size_t)bins->count + 1, sizeof *bins->starts);
    bins->pieces = lx__alloc((size_t)order->count * sizeof *bins->pieces);
    if (bins->starts == NULL || bins->pieces == NULL)
        return false;
    for (uint32_t i = 0; i < order->count; i++)
        bins->starts[places[i]]++;
    for (uint32_t i = 0; i <= bins->count; i++) {
        uint32_t pieces = bins->starts[i];
        bins->starts[i] = first;
        first += pieces;
    }
    for (uint32_t i = 0; i < order->count; i++)
        bins->pieces[bins->starts[places[i]]++] = order->pieces[i];
    memmove(bins->starts + 1, bins->starts, (size_t)bins->count * sizeof *bins->starts);
    bins->starts[0] = 0; /* the loop advanced each start to the next one */
    return true;
}

lx_status lx__best_fit(uint32_t *lengths, uint32_t count, uint32_t capacity, lx__bins *bins,
                       lx_error *error)
{
    sorted_pieces order;
    lx__bin_lists lists;
    *bins = (lx__bins){.count = 0};
    bool made = sort(lengths, count, capacity, &order);
    if (made && (made = lx__bin_lists_init(&lists, capacity, order.count))) {
        bins->count = place(&order, capacity, &lists, lengths);
        lx__bin_lists_free(&lists);
        made = collect(&order, lengths, bins);
    }
    lx__free(order.pieces);
    lx__free(order.ends);
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
