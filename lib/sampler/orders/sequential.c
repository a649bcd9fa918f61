/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/wide-arithmetic.h"

/* If window and stride are equal, both are stored as 1, so that orders with the same indices are
 * equal in saved states, too. */
struct sequential {
    lx_order order;
    uint64_t indices, window, stride;
};

/** Turns offsets of an epoch into indices. A window starts at an index below the number of indices,
 * so only its own positions can wrap around. */
static void read_windows(const struct sequential *self, uint64_t *offsets, size_t count)
{
    uint64_t begin = 0, first = 0; /* the current window's first offset and first index */
    for (size_t i = 0; i < count; i++) {
        if (offsets[i] - begin >= self->window) {
            uint64_t number = offsets[i] / self->window;
            begin = number * self->window;
            first = number * self->stride;
        }
        uint64_t within = offsets[i] - begin;
        if (within >= self->indices)
            within %= self->indices;
        offsets[i] = lx__add_mod(first, within, self->indices);
    }
}

static lx_status sequential_read(const lx_order *order, void *scratch, uint64_t *positions,
                                 size_t count, lx_error *error)
{
    (void)scratch, (void)error;
    const struct sequential *self = (const struct sequential *)order;
    for (size_t here; count != 0; positions += here, count -= here) {
        (void)lx__order_split_epoch(order, positions, count, &here);
        if (self->window != self->stride)
            read_windows(self, positions, here);
    }
    return LX_OK;
}

static int sequential_describe(const lx_order *order, json_t *object)
{
    const struct sequential *self = (const struct sequential *)order;
    int failed = json_object_set_new(object, "window", lx__state_number(self->window));
    failed |= json_object_set_new(object, "stride", lx__state_number(self->stride));
    if (self->window != self->stride)
        failed |= json_object_set_new(object, "indices", lx__state_number(self->indices));
    return failed;
}

static const lx__order_class sequential_class = {
    .kind = "sequential", .formula = 1, .read = sequential_read, .describe = sequential_describe};

lx_status lx_order_new_sequential(uint64_t length, uint64_t window, uint64_t stride,
                                  lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    window = window != 0 ? window : 1;
    if (stride == 0 || stride == window)
        window = stride = 1;
    uint64_t windows = length / stride + (length % stride != 0), positions;
    if (!lx__multiply_fits(windows, window, &positions))
        return lx_fail(error, LX_ERR_LIMIT,
                       "an epoch of %llu windows of %llu positions is too long: use a smaller "
                       "window, or a larger stride",
                       (unsigned long long)windows, (unsigned long long)window);
    lx_status status = lx__order_new(&sequential_class, sizeof(struct sequential), positions,
                                     length, order, error);
    if (status != LX_OK)
        return status;
    struct sequential *self = (struct sequential *)*order;
    self->indices = length;
    self->window = window;
    self->stride = stride;
    return LX_OK;
}
