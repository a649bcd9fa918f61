/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "base/error.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"
#include "sampler/random/philox.h"
#include "sampler/random/stream-key.h"

struct random_order {
    lx_order order;
    uint64_t seed, key;
};

static bool follow_each_other(const uint64_t *positions, size_t count)
{
    uint64_t off = 0;
    for (size_t i = 0; i < count; i++)
        off |= positions[i] - positions[0] - i;
    return off == 0;
}

static lx_status random_read(const lx_order *order, void *scratch, uint64_t *positions,
                             size_t count, lx_error *error)
{
    (void)scratch, (void)error;
    const uint64_t key = ((const struct random_order *)order)->key, length = order->length;
    if (follow_each_other(positions, count))
        lx__philox_draws(key, positions[0], count, positions);
    else
        lx__philox_draws_at(key, positions, count);
    for (size_t i = 0; i < count; i++)
        positions[i] = lx__draw_below(positions[i], length);
    return LX_OK;
}

static int random_describe(const lx_order *order, json_t *object)
{
    const struct random_order *self = (const struct random_order *)order;
    return json_object_set_new(object, "seed", lx__state_number(self->seed));
}

static const lx__order_class random_class = {
    .kind = "random", .formula = 1, .read = random_read, .describe = random_describe};

lx_status lx_order_new_random(uint64_t length, uint64_t seed, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_status status = lx__order_new(&random_class, sizeof(struct random_order), length, length,
                                     order, error);
    if (status != LX_OK)
        return status;
    struct random_order *self = (struct random_order *)*order;
    self->seed = seed;
    lx__key(seed, 0, LX__STREAM_RANDOM, 1, &self->key);
    return LX_OK;
}
