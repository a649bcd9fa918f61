/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/inner-order.h"
#include "sampler/core/saved-state.h"

struct repeat {
    lx_order order;
    lx__inner_order part;
    uint64_t times;
};

/* Reads the part directly: longer epochs do not change the index of any position. */
static lx_status repeat_read(const lx_order *order, void *scratch, uint64_t *positions,
                             size_t count, lx_error *error)
{
    return lx__inner_order_map(&((const struct repeat *)order)->part, scratch, positions, count,
                               error);
}

static lx_status repeat_find_block(const lx_order *order, void *scratch, uint64_t position,
                                   lx__index_block *block, lx_error *error)
{
    return lx__inner_order_find_block(&((const struct repeat *)order)->part, scratch, position,
                                      block, error);
}

static int repeat_describe(const lx_order *order, json_t *object)
{
    const struct repeat *self = (const struct repeat *)order;
    int failed = json_object_set_new(object, "times", lx__state_number(self->times));
    failed |= json_object_set_new(object, "part", lx__inner_order_to_json(&self->part));
    return failed;
}

static void repeat_dispose(lx_order *order)
{
    lx__inner_order_clear(&((struct repeat *)order)->part);
}

static const lx__order_class repeat_class = {.kind = "repeat",
                                             .formula = 1,
                                             .scratch_size = sizeof(lx__scratch *),
                                             .clear_scratch = lx__inner_order_clear_scratch,
                                             .read = repeat_read,
                                             .find_block = repeat_find_block,
                                             .describe = repeat_describe,
                                             .dispose = repeat_dispose};

lx_status lx_order_new_repeat(lx_order *part, uint64_t times, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    uint64_t length;
    lx_status status = lx__inner_order_check(part, order, error);
    if (status != LX_OK)
        return status;
    if (times == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "times must be at least 1");
    if (!lx__multiply_fits(part->length, times, &length))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%" PRIu64 " epochs of %" PRIu64
                       " positions exceed the limit of 2^64 - 1 positions: "
                       "repeat the order fewer times",
                       times, part->length);
    status = lx__order_new(&repeat_class, sizeof(struct repeat), length, part->bound, order, error);
    if (status != LX_OK)
        return status;
    struct repeat *self = (struct repeat *)*order;
    self->times = times;
    lx__inner_order_init(&self->part, part, *order);
    lx__inner_order_keep_blocks(&self->part, *order);
    return LX_OK;
}
