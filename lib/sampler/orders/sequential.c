/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/wide-arithmetic.h"

/* If window and stride are equal, both are stored as 1, so that orders with the same indices are
 * equal in saved states, too. */
struct sequential {
    lx_order order;
    uint64_t window, stride;
};

/** The current window, and the last jump between windows: this avoids divisions while positions
 * advance in equal steps. */
struct cursor {
    uint64_t length, window, slide; /* slide is below length */
    uint64_t start;                 /* first position of the window */
    uint64_t base;                  /* index at this position */
    uint64_t jump, jump_index;      /* positions to skip, and the increase of the index */
};

static void jump(struct cursor *cursor, uint64_t by, uint64_t index)
{
    cursor->start += by;
    cursor->base = lx__add_mod(cursor->base, index, cursor->length);
}

/** Moves to the window that contains @p position, which is not the current one. */
static void advance(struct cursor *cursor, uint64_t position)
{
    if (position < cursor->start)
        cursor->start = cursor->base = 0;
    if (cursor->jump != 0 && position - cursor->start >= cursor->jump)
        jump(cursor, cursor->jump, cursor->jump_index);
    if (position - cursor->start >= cursor->window)
        jump(cursor, cursor->window, cursor->slide);
    if (position - cursor->start < cursor->window)
        return;
    uint64_t windows = (position - cursor->start) / cursor->window;
    cursor->jump = windows * cursor->window;
    cursor->jump_index = lx__multiply_mod(windows % cursor->length, cursor->slide, cursor->length);
    jump(cursor, cursor->jump, cursor->jump_index);
}

static void read_windows(const struct sequential *self, uint64_t *positions, size_t count)
{
    const uint64_t length = self->order.length;
    struct cursor cursor = {
        .length = length, .window = self->window, .slide = self->stride % length};
    for (size_t i = 0; i < count; i++) {
        /* A window may wrap around the positions, so the difference alone does not suffice. */
        if (positions[i] < cursor.start || positions[i] - cursor.start >= cursor.window)
            advance(&cursor, positions[i]);
        uint64_t within = positions[i] - cursor.start;
        positions[i] = lx__add_mod(cursor.base, within < length ? within : within % length, length);
    }
}

static lx_status sequential_read(const lx_order *order, void *scratch, uint64_t *positions,
                                 size_t count, lx_error *error)
{
    (void)scratch, (void)error;
    const struct sequential *self = (const struct sequential *)order;
    if (self->window != self->stride) {
        read_windows(self, positions, count);
        return LX_OK;
    }
    for (size_t here; count != 0; positions += here, count -= here)
        (void)lx__order_split_epoch(order, positions, count, &here);
    return LX_OK;
}

static int sequential_describe(const lx_order *order, json_t *object)
{
    const struct sequential *self = (const struct sequential *)order;
    int failed = json_object_set_new(object, "window", lx__state_number(self->window));
    failed |= json_object_set_new(object, "stride", lx__state_number(self->stride));
    return failed;
}

static const lx__order_class sequential_class = {
    .kind = "sequential", .formula = 1, .read = sequential_read, .describe = sequential_describe};

lx_status lx_order_new_sequential(uint64_t length, uint64_t window, uint64_t stride,
                                  lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_status status = lx__order_new(&sequential_class, sizeof(struct sequential), length, length,
                                     order, error);
    if (status != LX_OK)
        return status;
    struct sequential *self = (struct sequential *)*order;
    self->window = window != 0 ? window : 1;
    self->stride = stride != 0 ? stride : self->window;
    if (self->window == self->stride)
        self->window = self->stride = 1;
    return LX_OK;
}
