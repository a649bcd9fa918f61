/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Orders for the tests: made, and read one position at a time.
 */
#ifndef LX_TESTS_ORDERS_H
#define LX_TESTS_ORDERS_H

#include <string.h>

#include "../unit.h"
#include "sampler/order/order.h"

/** An order of a kind; the two parameters are window and stride, or seed and nothing. */
static inline lx_order *make_order(const char *kind, uint64_t length, uint64_t a, uint64_t b)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    if (strcmp(kind, "sequential") == 0)
        unit_ok(lx_order_new_sequential(length, a, b, &order, &error));
    else if (strcmp(kind, "random") == 0)
        unit_ok(lx_order_new_random(length, a, &order, &error));
    else
        unit_ok(lx_order_new_shuffle(length, a, &order, &error));
    return order;
}

/** Reads with a scratch of its own. */
static inline void read_order(lx_order *order, uint64_t first, uint64_t step, uint64_t count,
                              uint64_t *indices)
{
    lx_error error = LX_ERROR_INIT;
    lx__scratch *scratch;
    unit_ok(lx__scratch_new(order, &scratch, &error));
    unit_ok(lx__order_read(order, scratch, first, step, count, indices, &error));
    lx__scratch_free(scratch);
}

/** What stands at one position. */
static inline uint64_t index_at(lx_order *order, uint64_t position)
{
    uint64_t index;
    read_order(order, position, 1, 1, &index);
    return index;
}

#endif
