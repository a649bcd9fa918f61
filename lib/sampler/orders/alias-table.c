/* SPDX-License-Identifier: MIT */
#include "sampler/orders/alias-table.h"

#include <assert.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/order.h"
#include "sampler/random/philox.h"
#include "sampler/random/weights.h"

#define COLUMN (UINT64_C(1) << 32) /* units */

/* ---- units */

/** Assigns units to the indices in order. To make the sum over all indices exactly the size of the
 * columns, the cumulative units are rounded: an index gets the cumulative units up to and including
 * it, minus those up to the index before it. */
typedef struct shares {
    const double *weights;
    uint64_t count, next; /* number of indices, and the next index */
    int scale;
    uint64_t total;         /* sum of the integer weights */
    uint64_t factor;        /* units per integer weight, as a fraction of 2^shift */
    int shift;              /* 1 to 94, so that the factor has 64 bits */
    uint64_t weight, units; /* sums over the indices below next */
} shares;

static uint64_t whole(const shares *s, uint64_t index)
{
    return s->weights[index] > 0 ? lx__weight_to_integer(s->weights[index], s->scale) : 0;
}

static shares start_shares(const double *weights, uint64_t count, double largest)
{
    shares s = {.weights = weights, .count = count, .scale = lx__weights_scale(largest, count)};
    for (uint64_t i = 0; i < count; i++)
        s.total += whole(&s, i);
    uint64_t rest = count * COLUMN % s.total;
    s.factor = count * COLUMN / s.total;
    for (; s.factor >> 63 == 0; s.shift++) {
        rest *= 2;
        s.factor = s.factor * 2 + (rest >= s.total);
        rest -= rest >= s.total ? s.total : 0;
    }
    return s;
}

static uint64_t next_share(shares *s)
{
    uint64_t before = s->units;
    s->weight += whole(s, s->next++);
    s->units = s->weight == s->total ? s->count * COLUMN
                                     : lx__multiply_shift(s->weight, s->factor, s->shift);
    return s->units - before;
}

/** Advances to the next index whose share exceeds a column (if @p large is true) or does not (if it
 * is false), and stores that share in @p share. Returns the count if no index is left. */
static uint64_t next_of(shares *s, bool large, uint64_t *share)
{
    while (s->next < s->count) {
        *share = next_share(s);
        if ((*share > COLUMN) == large)
            return s->next - 1;
    }
    return s->count;
}

/* ---- columns */

static lx__alias_column column_of(uint64_t own, uint64_t index, uint64_t other)
{
    return own == COLUMN ? (lx__alias_column){0, (uint32_t)index}
                         : (lx__alias_column){(uint32_t)own, (uint32_t)other};
}

/* Two sweeps in parallel, one over the small indices, whose share is at most a column, and one over
 * the large ones. The column of each small index is filled up from the share of the current large
 * index. Once the rest of that share fits in the large index's own column, the next large index
 * fills up that column. */
static void sweep(lx__alias_column *columns, uint64_t count, const shares *s)
{
    shares of_small = *s, of_large = *s;
    uint64_t small_share = 0, left = 0;
    uint64_t small = next_of(&of_small, false, &small_share);
    uint64_t large = next_of(&of_large, true, &left);
    while (large < count) {
        if (left > COLUMN) { /* the shares fill all columns exactly, so a small index is left */
            assert(small < count);
            columns[small] = column_of(small_share, small, large);
            left -= COLUMN - small_share;
            small = next_of(&of_small, false, &small_share);
        } else {
            uint64_t share = COLUMN, next = next_of(&of_large, true, &share);
            columns[large] = column_of(left, large, next);
            left = share - (COLUMN - left);
            large = next;
        }
    }
    while (small < count) { /* no large index is left, so each of these fills its own column */
        columns[small] = column_of(small_share, small, small);
        small = next_of(&of_small, false, &small_share);
    }
}

/* ---- the table */

struct given {
    const double *weights;
    uint64_t count;
    double largest;
    uint32_t crc;
};

static int describe(const void *user, json_t *what)
{
    const struct given *given = user;
    return lx__index_table_describe(what, "weighted", given->count, "weights", given->crc);
}

static lx_status make(void *user, lx__index_table *table, lx_error *error)
{
    const struct given *given = user;
    lx__alias_column *columns = given->count <= SIZE_MAX / sizeof *columns
                                    ? lx__alloc_array((size_t)given->count, sizeof *columns)
                                    : NULL;
    if (columns == NULL)
        return lx__fail_memory(error, "a table of weights");
    shares s = start_shares(given->weights, given->count, given->largest);
    sweep(columns, given->count, &s);
    table->wide = (const uint64_t *)columns;
    return LX_OK;
}

lx_status lx__alias_new(const double *weights, uint64_t count, double largest, uint32_t crc,
                        const char *tables, lx__alias *alias, lx_error *error)
{
    static const lx__index_table_maker maker = {"weighted", describe, make};
    struct given given = {weights, count, largest, crc};
    *alias = (lx__alias){.count = count, .table = {.count = count, .bound = UINT64_MAX}};
    lx_status status = lx__index_table_cache_get(tables, &maker, &given, &alias->table, error);
    if (status == LX_OK)
        alias->columns = (const lx__alias_column *)alias->table.wide;
    else
        *alias = (lx__alias){0};
    return status;
}

void lx__alias_free(lx__alias *alias)
{
    lx__index_table_free(&alias->table);
    *alias = (lx__alias){0};
}

/* ---- draws */

/* All columns are drawn before the table is read, so that the memory accesses of different draws
 * overlap. */
lx_status lx__alias_draw(const lx__alias *alias, uint64_t key, uint64_t *numbers, size_t count,
                         lx_error *error)
{
    bool fits = true;
    uint32_t heights[LX__ORDER_BLOCK];
    assert(count <= LX__ORDER_BLOCK);
    for (size_t i = 0; i < count; i++) {
        lx__philox_block block = lx__philox(numbers[i], 0, key);
        numbers[i] = lx__draw_below(block.word[0], alias->count);
        heights[i] = (uint32_t)(block.word[1] >> 32);
    }
    lx_status status = lx__index_table_check(&alias->table, numbers, count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        lx__alias_column column = alias->columns[numbers[i]];
        numbers[i] = heights[i] < column.own ? numbers[i] : column.other;
        fits &= numbers[i] < alias->count;
    }
    return status == LX_OK && !fits ? lx__index_table_fail(&alias->table, error) : status;
}
