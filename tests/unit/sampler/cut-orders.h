/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders that are cut into batches, and a simple search for their batches.
 */
#ifndef LX_TESTS_CUT_ORDERS_H
#define LX_TESTS_CUT_ORDERS_H

#include "orders.h"
#include "statistics.h"
#include "../../new-orders.h"

#define CUT_LENGTH_MAX 3000

/** The parameters by which an order is cut. */
typedef struct cut_order {
    lx_order *order;
    uint64_t length, budget, rows;
    bool padded;
    uint64_t costs[CUT_LENGTH_MAX];
} cut_order;

/** Over a part of @p kind, with costs from 1 to @p most, some of them equal. */
static inline void make_cut(cut_order *cut, const char *kind, uint64_t length, uint64_t most,
                            uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order(kind, length, next_choice(state) % 9, 0);
    ck_assert_uint_le(length, CUT_LENGTH_MAX);
    cut->length = length;
    for (uint64_t i = 0; i < length; i++)
        cut->costs[i] = i % 7 == 3 ? most : next_choice(state) % most + 1;
    unit_ok(new_budgeted(part, cut->costs, length, cut->budget, cut->rows, cut->padded, &cut->order,
                         &error));
    lx_order_unref(part);
}

/** Any order that is cut: short and long batches, with a limit of rows or none. */
static inline void make_any_cut(cut_order *cut, uint64_t *state)
{
    static const char *const kinds[] = {"sequential", "random", "shuffle"};
    uint64_t most = next_choice(state) % 100 + 1;
    cut->budget = most + next_choice(state) % (1 << next_choice(state) % 12);
    cut->rows = next_choice(state) % 3 == 0 ? next_choice(state) % 20 + 1 : 0;
    cut->padded = next_choice(state) % 2 == 0;
    make_cut(cut, kinds[next_choice(state) % 3], next_choice(state) % 300 + 1, most, state);
}

/** Whether these @p count samples fit in a batch. */
static inline bool cut_fits(const cut_order *cut, const uint64_t *indices, uint64_t count)
{
    uint64_t sum = 0, largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t cost = cut->costs[indices[i]];
        sum += cost;
        largest = cost > largest ? cost : largest;
    }
    return (cut->padded ? largest * count : sum) <= cut->budget &&
           (cut->rows == 0 || count <= cut->rows);
}

/** The end of each batch of an epoch of these indices, as offsets. Returns their number. */
static inline uint64_t find_batches(const cut_order *cut, const uint64_t *indices, uint64_t *ends)
{
    uint64_t count = 0;
    for (uint64_t begin = 0; begin < cut->length; begin = ends[count++])
        for (ends[count] = begin + 1;
             ends[count] < cut->length && cut_fits(cut, indices + begin, ends[count] + 1 - begin);)
            ends[count]++;
    return count;
}

#endif
