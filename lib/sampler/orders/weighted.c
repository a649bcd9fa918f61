/* SPDX-License-Identifier: MIT */
#include <loaderx/weighted.h>

#include "base/error.h"
#include "sampler/core/order-options.h"
#include "sampler/core/order.h"
#include "sampler/orders/alias-table.h"
#include "sampler/orders/order-weights.h"
#include "sampler/random/stream-key.h"

struct weighted {
    lx_order order;
    uint64_t seed, key;
    lx__order_weights properties;
    lx__alias alias;
};

static lx_status weighted_read(const lx_order *order, void *scratch, uint64_t *positions,
                               size_t count, lx_error *error)
{
    const struct weighted *self = (const struct weighted *)order;
    (void)scratch;
    return lx__alias_draw(&self->alias, self->key, positions, count, error);
}

static int weighted_describe(const lx_order *order, json_t *object)
{
    const struct weighted *self = (const struct weighted *)order;
    return lx__order_weights_describe(&self->properties, self->seed, object);
}

static void weighted_dispose(lx_order *order)
{
    lx__alias_free(&((struct weighted *)order)->alias);
}

static const lx__order_class weighted_class = {.kind = "weighted",
                                               .formula = 1,
                                               .read = weighted_read,
                                               .describe = weighted_describe,
                                               .dispose = weighted_dispose};

lx_status lx_order_new_weighted(const double *weights, uint64_t count,
                                const lx_order_options *options, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    lx__order_weights properties;
    lx_status status = lx__order_options_take(
        options, LX__ORDER_LENGTH | LX__ORDER_SEED | LX__ORDER_TABLES, &how, error);
    if (status == LX_OK)
        status = lx__order_weights_check(weights, count, order, &properties, error);
    if (status == LX_OK)
        status = lx__order_new(&weighted_class, sizeof(struct weighted),
                               (how.given & LX__ORDER_LENGTH) != 0 ? how.length : count, count,
                               order, error);
    if (status != LX_OK)
        return status;
    struct weighted *self = (struct weighted *)*order;
    self->seed = how.seed;
    self->properties = properties;
    lx__key(how.seed, 0, LX__STREAM_WEIGHTED, 1, &self->key);
    status = lx__alias_new(weights, count, properties.largest, properties.crc, how.tables,
                           &self->alias, error);
    return lx__order_finish(order, status);
}
