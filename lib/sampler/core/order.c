/* SPDX-License-Identifier: MIT */
#include "sampler/core/order.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/error.h"

struct lx__scratch {
    lx_order *order;
    max_align_t memory[]; /* scratch_size bytes */
};

lx_status lx__order_new(const lx__order_class *class, size_t size, uint64_t length, uint64_t bound,
                        lx_order **order, lx_error *error)
{
    if (order == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "order is NULL");
    *order = lx__alloc_array(1, size);
    if (*order == NULL)
        return lx__fail_memory(error, "an order");
    (*order)->class = class;
    (*order)->length = length;
    (*order)->bound = bound;
    (*order)->depth = 1;
    (*order)->size = 1;
    atomic_init(&(*order)->references, 1);
    return LX_OK;
}

lx_status lx__order_finish(lx_order **order, lx_status status)
{
    if (status != LX_OK) {
        lx_order_unref(*order);
        *order = NULL;
    }
    return status;
}

lx_order *lx_order_ref(lx_order *order)
{
    if (order != NULL)
        atomic_fetch_add_explicit(&order->references, 1, memory_order_relaxed);
    return order;
}

void lx_order_unref(lx_order *order)
{
    /* Release ordering: this thread's accesses happen before another thread frees the order. */
    if (order == NULL ||
        atomic_fetch_sub_explicit(&order->references, 1, memory_order_acq_rel) != 1)
        return;
    if (order->class->dispose != NULL)
        order->class->dispose(order);
    lx__free(order);
}

uint64_t lx_order_get_length(const lx_order *order)
{
    return order->length;
}

uint64_t lx__order_get_bound(const lx_order *order)
{
    return order->bound;
}

uint64_t lx__order_get_lanes(const lx_order *order)
{
    return order->lanes;
}

uint64_t lx__order_get_window(const lx_order *order)
{
    return order->window;
}

lx_status lx__order_find_block(const lx_order *order, lx__scratch *scratch, uint64_t position,
                               lx__index_block *block, lx_error *error)
{
    assert(order->lanes != 0 && order->length != 0 && scratch->order == order);
    return order->class->find_block(order, scratch->memory, position, block, error);
}

lx_status lx__scratch_new(lx_order *order, lx__scratch **scratch, lx_error *error)
{
    *scratch = lx__alloc_array(1, sizeof **scratch + order->class->scratch_size);
    if (*scratch == NULL)
        return lx__fail_memory(error, "reading an order");
    (*scratch)->order = lx_order_ref(order);
    return LX_OK;
}

void lx__scratch_free(lx__scratch *scratch)
{
    if (scratch == NULL)
        return;
    lx_order *order = scratch->order;
    if (order->class->clear_scratch != NULL)
        order->class->clear_scratch(scratch->memory);
    lx__free(scratch);
    lx_order_unref(order);
}

lx_status lx__order_map(const lx_order *order, lx__scratch *scratch, uint64_t *positions,
                        size_t count, lx_error *error)
{
    lx_status status = LX_OK;
    assert(count == 0 || (order->length != 0 && scratch->order == order));
    for (size_t done = 0, block; status == LX_OK && done < count; done += block) {
        block = count - done < LX__ORDER_BLOCK ? count - done : LX__ORDER_BLOCK;
        status = order->class->read(order, scratch->memory, positions + done, block, error);
    }
    return status;
}

lx_status lx__order_read(const lx_order *order, lx__scratch *scratch, uint64_t first, uint64_t step,
                         uint64_t count, uint64_t *indices, lx_error *error)
{
    lx_status status = LX_OK;
    assert(count == 0 || (step != 0 && first < LX__POSITION_END &&
                          count - 1 <= (LX__POSITION_END - 1 - first) / step));
    while (status == LX_OK && count != 0) {
        /* A block is still in the first-level cache when the class reads it. */
        size_t block = count < LX__ORDER_BLOCK ? (size_t)count : LX__ORDER_BLOCK;
        for (size_t i = 0; i < block; i++)
            indices[i] = first + i * step;
        status = lx__order_map(order, scratch, indices, block, error);
        first += block * step; /* may wrap after the last block */
        indices += block;
        count -= block;
    }
    return status;
}
