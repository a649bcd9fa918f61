/* SPDX-License-Identifier: MIT */
#include "sampler/core/batch-bounds.h"

#include <loaderx/batching.h>

#include "base/error.h"

#define WORD_BITS 32
/* Words per block: one cache line. */
#define BLOCK_WORDS 16
#define BLOCK_BITS (WORD_BITS * BLOCK_WORDS)

/* ---- tables */

static size_t words_of(uint64_t length)
{
    return (size_t)(length / WORD_BITS + (length % WORD_BITS != 0));
}

static size_t blocks_of(uint64_t length)
{
    return (size_t)(length / BLOCK_BITS + (length % BLOCK_BITS != 0));
}

/** Number of batches that begin before each block, followed by the total. */
static const uint32_t *counts_of(const uint32_t *table, uint64_t length)
{
    return table + words_of(length);
}

size_t lx__batch_bounds_size(uint64_t length)
{
    return words_of(length) + blocks_of(length) + 1;
}

void lx__batch_bounds_finish(uint32_t *table, uint64_t length)
{
    size_t words = words_of(length);
    uint32_t *counts = table + words, count = 0;
    for (size_t i = 0; i < words; i++) {
        if (i % BLOCK_WORDS == 0)
            *counts++ = count;
        count += (uint32_t)__builtin_popcount(table[i]);
    }
    *counts = count;
}

/** Returns the number of the batch that contains an offset. */
static uint64_t number_at(const uint32_t *table, uint64_t length, uint64_t offset)
{
    size_t at = (size_t)(offset / WORD_BITS), first = at - at % BLOCK_WORDS;
    uint32_t upto = UINT32_MAX >> (WORD_BITS - 1 - offset % WORD_BITS);
    uint64_t number = counts_of(table, length)[offset / BLOCK_BITS];
    for (size_t i = first; i < at; i++)
        number += (uint64_t)__builtin_popcount(table[i]);
    return number + (uint64_t)__builtin_popcount(table[at] & upto) - 1;
}

/** Returns the start of the batch that contains an offset. */
static uint64_t begin_of(const uint32_t *table, uint64_t offset)
{
    size_t at = (size_t)(offset / WORD_BITS);
    uint32_t bits = table[at] & UINT32_MAX >> (WORD_BITS - 1 - offset % WORD_BITS);
    while (bits == 0)
        bits = table[--at];
    return (uint64_t)at * WORD_BITS + (WORD_BITS - 1) - (uint64_t)__builtin_clz(bits);
}

/** Returns the start of the next batch, or the end of the table. */
static uint64_t end_of(const uint32_t *table, uint64_t length, uint64_t offset)
{
    size_t words = words_of(length), at = (size_t)(offset / WORD_BITS);
    uint32_t bits = table[at] & ~(UINT32_MAX >> (WORD_BITS - 1 - offset % WORD_BITS));
    while (bits == 0 && ++at < words)
        bits = table[at];
    return bits != 0 ? (uint64_t)at * WORD_BITS + (uint64_t)__builtin_ctz(bits) : length;
}

/** Returns the start of batch @p number, which exists. */
static uint64_t begin_of_number(const uint32_t *table, uint64_t length, uint64_t number)
{
    const uint32_t *counts = counts_of(table, length);
    size_t low = 0, high = blocks_of(length);
    while (high - low > 1) { /* finds the last block with at most this number of batches before
                                it */
        size_t middle = low + (high - low) / 2;
        if (counts[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    uint64_t left = number - counts[low];
    size_t at = low * BLOCK_WORDS;
    uint64_t here = (uint64_t)__builtin_popcount(table[at]);
    for (; left >= here; here = (uint64_t)__builtin_popcount(table[at])) {
        left -= here;
        at++;
    }
    uint32_t bits = table[at];
    for (; left > 0; left--)
        bits &= bits - 1;
    return (uint64_t)at * WORD_BITS + (uint64_t)__builtin_ctz(bits);
}

/* ---- batches of an order */

/** Sets the bounds of the batch that contains an offset. The end of the positions may truncate the
 * last epoch. */
static void locate(const lx_order *order, const uint32_t *table, uint64_t offset,
                   lx__batch_bounds *bounds)
{
    uint64_t start = bounds->epoch * order->length, left = LX__POSITION_END - start;
    uint64_t length = left < order->length ? left : order->length;
    bounds->begin = start + begin_of(table, offset);
    uint64_t end = end_of(table, order->length, offset);
    bounds->end = start + (end < length ? end : length);
}

lx_status lx__batch_bounds_find(const lx_order *order, lx__epoch_table **held, uint64_t position,
                                lx__batch_bounds *bounds, lx_error *error)
{
    uint64_t epoch = position / order->length, offset = position % order->length;
    lx_status status = lx__epoch_tables_get(order->batch_bounds, order, epoch, held, error);
    if (status != LX_OK)
        return status;
    const uint32_t *table = (*held)->table.narrow;
    *bounds =
        (lx__batch_bounds){.epoch = epoch,
                           .number = number_at(table, order->length, offset),
                           .count = counts_of(table, order->length)[blocks_of(order->length)]};
    locate(order, table, offset, bounds);
    return LX_OK;
}

void lx__batch_bounds_go_to(const lx_order *order, const lx__epoch_table *held, uint64_t number,
                            lx__batch_bounds *bounds)
{
    bounds->number = number;
    locate(order, held->table.narrow, begin_of_number(held->table.narrow, order->length, number),
           bounds);
}

/* ---- public functions */

uint64_t lx_order_get_max_batch_size(const lx_order *order)
{
    return order->batch_rows;
}

/** Like lx__batch_bounds_find(), but for any order and position. */
static lx_status find(const lx_order *order, uint64_t position, lx__batch_bounds *bounds,
                      lx_error *error)
{
    lx__epoch_table *held = NULL;
    if (order == NULL)
        return lx__fail_null(error, "order");
    if (order->batch_bounds == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the order is not cut into batches: pass a "
                       "budgeted order");
    if (order->length == 0 || position == LX__POSITION_END)
        return LX_END;
    lx_status status = lx__batch_bounds_find(order, &held, position, bounds, error);
    lx__epoch_table_clear_scratch(&held);
    return status;
}

lx_status lx_order_get_batch_count(const lx_order *order, uint64_t epoch, uint64_t *count,
                                   lx_error *error)
{
    lx__batch_bounds bounds = {0};
    if (count == NULL)
        return lx__fail_null(error, "count");
    *count = 0;
    uint64_t length = order != NULL ? order->length : 0;
    bool exists = length != 0 && epoch <= (LX__POSITION_END - 1) / length;
    lx_status status = find(order, exists ? epoch * length : LX__POSITION_END, &bounds, error);
    *count = bounds.count;
    return status == LX_END ? LX_OK : status;
}

lx_status lx_order_find_batch(const lx_order *order, uint64_t position, uint64_t *number,
                              uint64_t *begin, uint64_t *end, lx_error *error)
{
    lx__batch_bounds bounds = {0};
    lx_status status = find(order, position, &bounds, error);
    if (number != NULL)
        *number = bounds.number;
    if (begin != NULL)
        *begin = bounds.begin;
    if (end != NULL)
        *end = bounds.end;
    return status;
}
