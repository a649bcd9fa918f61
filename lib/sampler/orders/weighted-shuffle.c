/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include <loaderx/weighted.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/order-options.h"
#include "sampler/core/epoch-tables.h"
#include "sampler/orders/order-weights.h"
#include "sampler/random/logarithm.h"
#include "sampler/random/philox.h"
#include "sampler/random/radix-sort.h"
#include "sampler/random/stream-key.h"
#include "sampler/random/weights.h"

/* Draws per call to lx__philox_draws(). */
#define DRAWS 256

struct weighted_shuffle {
    lx_order order;
    uint64_t seed;
    lx__order_weights properties;
    double *rates; /* integer weights, stored as doubles */
    lx__epoch_tables *epochs;
};

/* Each index gets a lifetime that is exponentially distributed at the rate of its weight, and the
 * indices are sorted by lifetime. The probability that a remaining index expires next is
 * proportional to its weight, so the result is the same as drawing indices one by one without
 * replacement (Efraimidis and Spirakis, "Weighted Random Sampling with a Reservoir", 2006). */
static double lifetime(uint64_t draw, double rate)
{
    uint64_t minus_logarithm = 64 * LX__LOGARITHM_ONE - lx__logarithm(draw != 0 ? draw : 1);
    return (double)minus_logarithm / rate;
}

/** Nonnegative doubles have the same order as their bits, read as integers. */
static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t list_lifetimes(const struct weighted_shuffle *self, uint64_t epoch, lx__keyed *items)
{
    uint64_t key, draws[DRAWS], count = self->properties.count;
    size_t listed = 0;
    lx__key(self->seed, epoch, LX__STREAM_LIFETIMES, 1, &key);
    for (uint64_t i = 0; i < count; i++) {
        if (i % DRAWS == 0)
            lx__philox_draws(key, i, DRAWS, draws);
        if (self->rates[i] > 0)
            items[listed++] = (lx__keyed){bits_of(lifetime(draws[i % DRAWS], self->rates[i])), i};
    }
    return listed;
}

static lx_status fill(const lx_order *order, uint64_t epoch, uint32_t *indices, size_t count,
                      lx_error *error)
{
    const struct weighted_shuffle *self = (const struct weighted_shuffle *)order;
    lx__keyed *items = lx__alloc_array((size_t)self->properties.positive, sizeof *items);
    if (items == NULL)
        return lx__fail_memory(error, "shuffling by weights");
    lx_status status = lx__radix_sort(items, list_lifetimes(self, epoch, items), error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        indices[i] = (uint32_t)items[i].value;
    lx__free(items);
    return status;
}

static lx_status weighted_shuffle_read(const lx_order *order, void *scratch, uint64_t *positions,
                                       size_t count, lx_error *error)
{
    const struct weighted_shuffle *self = (const struct weighted_shuffle *)order;
    return lx__epoch_tables_read(self->epochs, order, scratch, positions, count, error);
}

static int weighted_shuffle_describe(const lx_order *order, json_t *object)
{
    const struct weighted_shuffle *self = (const struct weighted_shuffle *)order;
    return lx__order_weights_describe(&self->properties, self->seed, object);
}

static void weighted_shuffle_dispose(lx_order *order)
{
    struct weighted_shuffle *self = (struct weighted_shuffle *)order;
    lx__epoch_tables_free(self->epochs);
    lx__free(self->rates);
}

static const lx__order_class weighted_shuffle_class = {
    .kind = "weighted shuffle",
    .formula = 1,
    .scratch_size = sizeof(lx__epoch_table *),
    .clear_scratch = lx__epoch_table_clear_scratch,
    .read = weighted_shuffle_read,
    .describe = weighted_shuffle_describe,
    .dispose = weighted_shuffle_dispose};

static lx_status make_rates(struct weighted_shuffle *self, const double *weights,
                            const char *tables, lx_error *error)
{
    size_t count = (size_t)self->properties.count;
    int scale = lx__weights_scale(self->properties.largest, count);
    self->rates = lx__alloc_array(count, sizeof *self->rates);
    if (self->rates == NULL)
        return lx__fail_memory(error, "weights");
    for (size_t i = 0; i < count; i++)
        self->rates[i] = weights[i] > 0 ? (double)lx__weight_to_integer(weights[i], scale) : 0;
    return lx__epoch_tables_new(fill, (size_t)self->order.length, tables, &self->epochs, error);
}

lx_status lx_order_new_weighted_shuffle(const double *weights, uint64_t count,
                                        const lx_order_options *options, lx_order **order,
                                        lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    lx__order_weights properties;
    lx_status status = lx__order_options_take(
        options, LX__ORDER_LENGTH | LX__ORDER_SEED | LX__ORDER_TABLES, &how, error);
    if (status == LX_OK)
        status = lx__order_weights_check(weights, count, order, &properties, error);
    if (status != LX_OK)
        return status;
    uint64_t length = (how.given & LX__ORDER_LENGTH) != 0 ? how.length : properties.positive;
    if (length > properties.positive)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "length (%" PRIu64
                         ") exceeds the number of indices with a positive weight (%" PRIu64 ")",
                         length, properties.positive);
    if (status == LX_OK)
        status = lx__order_new(&weighted_shuffle_class, sizeof(struct weighted_shuffle), length,
                               count, order, error);
    if (status != LX_OK)
        return status;
    struct weighted_shuffle *self = (struct weighted_shuffle *)*order;
    self->seed = how.seed;
    self->properties = properties;
    status = make_rates(self, weights, how.tables, error);
    return lx__order_finish(order, status);
}
