/* SPDX-License-Identifier: MIT */
/* Counts the positions of each set of a mixture. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/orders/mixture.h"

size_t lx_order_get_part_count(const lx_order *order)
{
    return order->sets;
}

lx_status lx_order_get_part_lengths(const lx_order *order, uint64_t first, uint64_t end,
                                    uint64_t *counts, lx_error *error)
{
    if (order == NULL || counts == NULL)
        return lx__fail_null(error, order == NULL ? "order" : "counts");
    if (order->sets == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the order is not a mixture: it has no parts");
    if (end < first)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "end (%" PRIu64 ") must not be less than first (%" PRIu64 ")", end, first);
    uint64_t *before = lx__alloc_array(order->sets, sizeof *before);
    if (before == NULL)
        return lx__fail_memory(error, "counting");
    lx_status status = order->class->count(order, first, before, error);
    if (status == LX_OK)
        status = order->class->count(order, end, counts, error);
    for (size_t i = 0; status == LX_OK && i < order->sets; i++)
        counts[i] -= before[i];
    lx__free(before);
    return status;
}
