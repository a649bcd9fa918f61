/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/error.h"
#include "sampler/core/inner-order.h"
#include "sampler/core/saved-state.h"

struct padded {
    lx_order order;
    lx__inner_order part;
    uint64_t multiple;
};

static lx_status padded_read(const lx_order *order, void *scratch, uint64_t *positions,
                             size_t count, lx_error *error)
{
    const struct padded *self = (const struct padded *)order;
    uint64_t length = self->part.order->length;
    for (size_t at = 0, here; at < count; at += here) {
        uint64_t epoch = lx__order_split_epoch(order, positions + at, count - at, &here);
        uint64_t start = lx__inner_order_place(&self->part, epoch, 0);
        for (size_t i = at; i < at + here; i++) /* positions after the end repeat the start of the
                                                   epoch */
            positions[i] = start + (positions[i] < length ? positions[i] : positions[i] % length);
    }
    return lx__inner_order_map(&self->part, scratch, positions, count, error);
}

static lx_status padded_find_block(const lx_order *order, void *scratch, uint64_t position,
                                   lx__index_block *block, lx_error *error)
{
    const struct padded *self = (const struct padded *)order;
    uint64_t epoch = position / order->length, offset = position - epoch * order->length;
    uint64_t place = lx__inner_order_place(&self->part, epoch, offset % self->part.order->length);
    lx_status status = lx__inner_order_find_block(&self->part, scratch, place, block, error);
    block->begin += position - place;
    return status;
}

static int padded_describe(const lx_order *order, json_t *object)
{
    const struct padded *self = (const struct padded *)order;
    int failed = json_object_set_new(object, "multiple", lx__state_number(self->multiple));
    failed |= json_object_set_new(object, "part", lx__inner_order_to_json(&self->part));
    return failed;
}

static void padded_dispose(lx_order *order)
{
    lx__inner_order_clear(&((struct padded *)order)->part);
}

static const lx__order_class padded_class = {.kind = "padded",
                                             .formula = 1,
                                             .scratch_size = sizeof(lx__scratch *),
                                             .clear_scratch = lx__inner_order_clear_scratch,
                                             .read = padded_read,
                                             .find_block = padded_find_block,
                                             .describe = padded_describe,
                                             .dispose = padded_dispose};

lx_status lx_order_new_padded(lx_order *part, uint64_t multiple, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_status status = lx__inner_order_check(part, order, error);
    if (status != LX_OK)
        return status;
    if (multiple == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "multiple must be at least 1");
    uint64_t missing = part->length % multiple != 0 ? multiple - part->length % multiple : 0;
    if (missing > UINT64_MAX - part->length)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%" PRIu64 " positions padded to a multiple of %" PRIu64 " exceed 2^64 - 1",
                       part->length, multiple);
    status = lx__order_new(&padded_class, sizeof(struct padded), part->length + missing,
                           part->bound, order, error);
    if (status != LX_OK)
        return status;
    struct padded *self = (struct padded *)*order;
    self->multiple = multiple;
    lx__inner_order_init(&self->part, part, *order);
    lx__inner_order_keep_blocks(&self->part, *order);
    return LX_OK;
}
