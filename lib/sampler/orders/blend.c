/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "sampler/orders/mixture-phases.h"
#include "sampler/orders/mixture-sets.h"
#include "sampler/orders/mixture-split.h"
#include "sampler/orders/mixture-weights.h"

struct blend {
    lx_order order;
    lx__mixture_phases phases;
    lx__mixture_sets sets;
    lx__saved_weights_list weightings; /* for saved states */
};

/* ---- reading */

/** A position's phase. */
struct spot {
    uint64_t epoch;
    const lx__mixture_phase *phase;
    uint64_t start, end; /* positions of the phase in this epoch */
};

static struct spot find_spot(const struct blend *self, uint64_t position)
{
    const lx__mixture_phases *phases = &self->phases;
    uint64_t epoch = position / phases->length, start = epoch * phases->length;
    size_t number = lx__mixture_phases_find(phases, position - start);
    const lx__mixture_phase *phase = &phases->list[number];
    uint64_t end = number + 1 < phases->count ? phase[1].begin : phases->length;
    return (struct spot){epoch, phase, start + phase->begin, start + end};
}

/** Returns the position in a set's part for the set's n-th sample of the phase. */
static inline uint64_t place_of(const struct blend *self, const struct spot *spot, size_t set,
                                uint64_t n)
{
    return lx__mixture_sets_place(&self->sets, self->phases.totals, spot->epoch, set,
                                  spot->phase->before[set] + n);
}

/** Finds the sets of the first position and of those that follow it in the same phase and epoch,
 * and the positions in these sets. Returns the number of positions. */
static size_t find_in_phase(const struct blend *self, uint64_t *positions, size_t count,
                            uint16_t *sets)
{
    const struct spot spot = find_spot(self, positions[0]);
    uint64_t size = spot.end - spot.start;
    size_t n = 0;
    for (; n < count && positions[n] - spot.start < size; n++)
        positions[n] -= spot.start;
    lx__mixture_split_find(&spot.phase->split, positions, n, sets);
    for (size_t i = 0; i < n; i++)
        positions[i] = place_of(self, &spot, sets[i], positions[i]);
    return n;
}

static lx_status blend_read(const lx_order *order, void *memory, uint64_t *positions, size_t count,
                            lx_error *error)
{
    const struct blend *self = (const struct blend *)order;
    lx__mixture_sets_scratch *scratch = memory;
    lx_status status = lx__mixture_sets_prepare(&self->sets, scratch, error);
    if (status != LX_OK)
        return status;
    for (size_t done = 0; done < count;)
        done += find_in_phase(self, positions + done, count - done, scratch->of + done);
    return lx__mixture_sets_read(&self->sets, scratch, positions, count, error);
}

static void blend_clear(void *scratch)
{
    lx__mixture_sets_clear(scratch);
}

/* ---- class */

static int blend_describe(const lx_order *order, json_t *object)
{
    const struct blend *self = (const struct blend *)order;
    int failed = lx__exhausted_describe(self->sets.exhausted, object);
    failed |= json_object_set_new(object, "weightings",
                                  lx__saved_weights_list_to_json(&self->weightings));
    failed |= lx__mixture_sets_describe(&self->sets, object);
    return failed;
}

static lx_status blend_count(const lx_order *order, uint64_t end, uint64_t *counts, lx_error *error)
{
    const struct blend *self = (const struct blend *)order;
    uint64_t epoch = end / order->length;
    (void)error;
    lx__mixture_phases_count(&self->phases, end % order->length, counts);
    for (size_t i = 0; i < order->sets; i++)
        counts[i] += epoch * self->phases.totals[i];
    return LX_OK;
}

static void blend_dispose(lx_order *order)
{
    struct blend *self = (struct blend *)order;
    lx__saved_weights_list_free(&self->weightings);
    lx__mixture_phases_free(&self->phases);
    lx__mixture_sets_free(&self->sets);
}

static const lx__order_class blend_class = {.kind = "blend",
                                            .formula = 1,
                                            .scratch_size = sizeof(lx__mixture_sets_scratch),
                                            .clear_scratch = blend_clear,
                                            .read = blend_read,
                                            .describe = blend_describe,
                                            .count = blend_count,
                                            .dispose = blend_dispose};

/* ---- construction */

static lx_status fill(struct blend *self, const lx_mixture *mixture, lx_error *error)
{
    lx_status status = lx__mixture_phases_new(mixture, &self->phases, error);
    if (status == LX_OK)
        status = lx__saved_weights_list_new(mixture, &self->weightings, error);
    if (status == LX_OK)
        status = lx__mixture_sets_new(mixture, &self->order, &self->sets, error);
    self->order.length = self->phases.length;
    return status;
}

lx_status lx_order_new_blend(const lx_mixture *mixture, lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    if (order == NULL)
        return lx__fail_null(error, "order");
    lx_status status = lx__mixture_check(mixture, error);
    if (status == LX_OK)
        status = lx__order_new(&blend_class, sizeof(struct blend), 0, 0, order, error);
    if (status != LX_OK)
        return status;
    status = fill((struct blend *)*order, mixture, error);
    return lx__order_finish(order, status);
}
