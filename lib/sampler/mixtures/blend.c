/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "sampler/mixtures/phases.h"
#include "sampler/mixtures/sets.h"
#include "sampler/mixtures/weightings.h"

struct blend {
    lx_order order;
    lx_exhausted exhausted;
    lx__phases phases;
    lx__mix_sets sets;
    lx__weightings weightings; /* for states */
};

/* ---- reading */

/** Finds sets, and positions in them, of positions from the first on that are in one phase of one
 * epoch; how many these are. */
static size_t find_in_phase(const struct blend *self, uint64_t *places, size_t count,
                            uint16_t *sets)
{
    const lx__phases *phases = &self->phases;
    uint64_t epoch = places[0] / phases->length, start = epoch * phases->length;
    size_t number = lx__phases_find(phases, places[0] - start), n = 0;
    const lx__phase *phase = &phases->list[number];
    uint64_t end = number + 1 < phases->count ? phase[1].begin : phases->length;
    uint64_t size = end - phase->begin;
    start += phase->begin;
    for (; n < count && places[n] - start < size; n++)
        places[n] -= start;
    lx__split_find(&phase->split, places, n, sets);
    const uint64_t *before = phase->before, *totals = phases->totals;
    if (self->exhausted == LX_EXHAUSTED_REPEAT)
        for (size_t i = 0; i < n; i++)
            places[i] += before[sets[i]] + epoch * totals[sets[i]];
    else
        for (size_t i = 0; i < n; i++)
            places[i] = lx__part_place(&self->sets.parts[sets[i]], epoch,
                                       before[sets[i]] + places[i]);
    return n;
}

static lx_status blend_read(const lx_order *order, void *memory, uint64_t *places, size_t count,
                            lx_error *error)
{
    const struct blend *self = (const struct blend *)order;
    lx__mix_sets_scratch *scratch = memory;
    lx_status status = lx__mix_sets_prepare(&self->sets, scratch, error);
    if (status != LX_OK)
        return status;
    for (size_t done = 0; done < count;)
        done += find_in_phase(self, places + done, count - done, scratch->of + done);
    return lx__mix_sets_read(&self->sets, scratch, places, count, error);
}

static void blend_clear(void *scratch)
{
    lx__mix_sets_clear(scratch);
}

/* ---- what it is */

static int blend_describe(const lx_order *order, json_t *object)
{
    const struct blend *self = (const struct blend *)order;
    int failed = lx__exhausted_describe(self->exhausted, object);
    failed |= json_object_set_new(object, "weightings", lx__weightings_to_json(&self->weightings));
    failed |= lx__mix_sets_describe(&self->sets, object);
    return failed;
}

static lx_status blend_count(const lx_order *order, uint64_t end, uint64_t *counts,
                             lx_error *error)
{
    const struct blend *self = (const struct blend *)order;
    uint64_t epoch = end / order->length;
    (void)error;
    lx__phases_count(&self->phases, end % order->length, counts);
    for (size_t i = 0; i < order->sets; i++)
        counts[i] += epoch * self->phases.totals[i];
    return LX_OK;
}

static void blend_dispose(lx_order *order)
{
    struct blend *self = (struct blend *)order;
    lx__weightings_free(&self->weightings);
    lx__phases_free(&self->phases);
    lx__mix_sets_free(&self->sets);
}

static const lx__order_class blend_class = {.kind = "blend",
                                            .formula = 1,
                                            .scratch_size = sizeof(lx__mix_sets_scratch),
                                            .clear_scratch = blend_clear,
                                            .read = blend_read,
                                            .describe = blend_describe,
                                            .count = blend_count,
                                            .dispose = blend_dispose};

/* ---- making it */

static lx_status fill(struct blend *self, const lx_mixture *mixture, lx_error *error)
{
    lx_status status = lx__phases_new(mixture, &self->phases, error);
    if (status == LX_OK)
        status = lx__weightings_new(mixture, &self->weightings, error);
    if (status == LX_OK)
        status = lx__mix_sets_new(mixture, &self->order, &self->sets, error);
    self->exhausted = mixture->exhausted;
    self->order.length = self->phases.length;
    return status;
}

lx_status lx_order_new_blend(const lx_mixture *mixture, lx_order **order, lx_error *error)
{
    if (order == NULL)
        return lx__fail_null(error, "order");
    *order = NULL;
    lx_status status = lx__mixture_check(mixture, error);
    if (status == LX_OK)
        status = lx__order_new(&blend_class, sizeof(struct blend), 0, 0, order, error);
    if (status != LX_OK)
        return status;
    status = fill((struct blend *)*order, mixture, error);
    return lx__order_finish(order, status);
}
