/* SPDX-License-Identifier: MIT */
#include "sampler/order/order.h"
#include "sampler/order/state.h"
#include "sampler/numbers/wide.h"

/* Where window and stride are equal neither matters, and both are kept as 1: what gives the same
 * indices is the same order, also in a state. */
struct sequential {
    lx_order order;
    uint64_t window, stride;
};

/** A place in the order, and what a step of some positions adds to it: no division on the way. */
struct walk {
    uint64_t length, window;
    uint64_t index;  /* at this position */
    uint64_t within; /* the position mod window */
    uint64_t ahead;  /* what the step adds to the index, mod length */
    uint64_t inner;  /* what the step adds to within, below window */
    uint64_t slide;  /* what a window passed adds to the index, mod length */
};

/** The index at @p position, the window being @p window. */
static uint64_t index_at(const struct sequential *self, uint64_t window, uint64_t position)
{
    uint64_t length = self->order.length;
    uint64_t base = lx__multiply_mod(position / window % length, self->stride % length, length);
    return lx__add_mod(base, position % window % length, length);
}

static struct walk begin(const struct sequential *self, uint64_t first, uint64_t step)
{
    uint64_t length = self->order.length;
    /* A plain order is one window, of which no position reaches the end. */
    uint64_t window = self->window == self->stride ? LX__POSITION_END : self->window;
    return (struct walk){
        .length = length,
        .window = window,
        .index = index_at(self, window, first),
        .within = first % window,
        .ahead = index_at(self, window, step),
        .inner = step % window,
        .slide = lx__add_mod(self->stride % length, (length - window % length) % length, length)};
}

static void read_strided(struct walk walk, uint64_t count, uint64_t *restrict indices)
{
    for (uint64_t i = 0; i < count; i++) {
        indices[i] = walk.index;
        walk.index = lx__add_mod(walk.index, walk.ahead, walk.length);
        if (walk.within >= walk.window - walk.inner) {
            walk.within -= walk.window - walk.inner;
            walk.index = lx__add_mod(walk.index, walk.slide, walk.length);
        } else {
            walk.within += walk.inner;
        }
    }
}

/** Positions one after the other: runs of indices up to the end of the window or of the circle. */
static void read_runs(struct walk walk, uint64_t count, uint64_t *restrict indices)
{
    while (count != 0) {
        uint64_t run = walk.length - walk.index;
        if (run > walk.window - walk.within)
            run = walk.window - walk.within;
        if (run > count)
            run = count;
        for (uint64_t i = 0; i < run; i++)
            indices[i] = walk.index + i;
        indices += run;
        count -= run;

        walk.index = walk.index + run < walk.length ? walk.index + run : 0;
        walk.within += run;
        if (walk.within == walk.window) {
            walk.within = 0;
            walk.index = lx__add_mod(walk.index, walk.slide, walk.length);
        }
    }
}

static lx_status sequential_read(const lx_order *order, void *scratch, uint64_t first,
                                 uint64_t step, uint64_t count, uint64_t *indices, lx_error *error)
{
    (void)scratch, (void)error;
    struct walk walk = begin((const struct sequential *)order, first, step);
    if (step == 1)
        read_runs(walk, count, indices);
    else
        read_strided(walk, count, indices);
    return LX_OK;
}

static int sequential_describe(const lx_order *order, json_t *object)
{
    const struct sequential *self = (const struct sequential *)order;
    int failed = json_object_set_new(object, "window", lx__state_number(self->window));
    failed |= json_object_set_new(object, "stride", lx__state_number(self->stride));
    return failed;
}

static const lx__order_class sequential_class = {.kind = "sequential",
                                                 .formula = 1,
                                                 .read = sequential_read,
                                                 .describe = sequential_describe};

lx_status lx_order_new_sequential(uint64_t length, uint64_t window, uint64_t stride,
                                  lx_order **order, lx_error *error)
{
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
