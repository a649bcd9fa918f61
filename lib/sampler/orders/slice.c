/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/inner-order.h"
#include "sampler/core/saved-state.h"

struct slice {
    lx_order order;
    lx__inner_order part;
    uint64_t first;
};

static lx_status slice_read(const lx_order *order, void *scratch, uint64_t *positions, size_t count,
                            lx_error *error)
{
    const struct slice *self = (const struct slice *)order;
    for (size_t at = 0, here; at < count; at += here) {
        uint64_t epoch = lx__order_split_epoch(order, positions + at, count - at, &here);
        uint64_t start = lx__inner_order_place(&self->part, epoch, self->first);
        for (size_t i = at; i < at + here; i++)
            positions[i] += start;
    }
    return lx__inner_order_map(&self->part, scratch, positions, count, error);
}

static int slice_describe(const lx_order *order, json_t *object)
{
    const struct slice *self = (const struct slice *)order;
    int failed = json_object_set_new(object, "first", lx__state_number(self->first));
    failed |= json_object_set_new(object, "part", lx__inner_order_to_json(&self->part));
    return failed;
}

static void slice_dispose(lx_order *order)
{
    lx__inner_order_clear(&((struct slice *)order)->part);
}

static const lx__order_class slice_class = {.kind = "slice",
                                            .formula = 1,
                                            .scratch_size = sizeof(lx__scratch *),
                                            .clear_scratch = lx__inner_order_clear_scratch,
                                            .read = slice_read,
                                            .describe = slice_describe,
                                            .dispose = slice_dispose};

lx_status lx_order_new_slice(lx_order *part, uint64_t first, uint64_t length, lx_order **order,
                             lx_error *error)
{
    LX__CLEAR(order);
    lx_status status = lx__inner_order_check(part, order, error);
    if (status != LX_OK)
        return status;
    if (!lx__range_fits(first, length, part->length))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a slice of %" PRIu64 " positions starting at position %" PRIu64
                       " extends past the end of an epoch of %" PRIu64 " positions",
                       length, first, part->length);
    status = lx__order_new(&slice_class, sizeof(struct slice), length, part->bound, order, error);
    if (status != LX_OK)
        return status;
    struct slice *self = (struct slice *)*order;
    self->first = first;
    lx__inner_order_init(&self->part, part, *order);
    return LX_OK;
}
