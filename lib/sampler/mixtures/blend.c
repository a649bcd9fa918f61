/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "sampler/mixtures/phases.h"
#include "sampler/mixtures/weightings.h"
#include "sampler/order/part.h"
#include "sampler/order/state.h"

struct blend {
    lx_order order;
    lx_exhausted exhausted;
    lx__phases phases;
    lx__part *parts;           /* one a set */
    uint64_t *offsets;         /* likewise */
    lx__weightings weightings; /* for states */
};

/* The positions of a block, sorted by sets. */
struct blend_scratch {
    size_t count; /* of sets */
    lx__scratch **parts;
    uint16_t *starts; /* of each set in the sorted ones; 0 between blocks */
    uint16_t sets[LX__ORDER_BLOCK], ranks[LX__ORDER_BLOCK]; /* of each position */
    uint16_t present[LX__ORDER_BLOCK]; /* sets that have some */
    uint64_t sorted[LX__ORDER_BLOCK];
};

/* ---- reading */

static lx_status prepare(const struct blend *self, struct blend_scratch *scratch, lx_error *error)
{
    size_t count = self->phases.set_count;
    if (scratch->parts != NULL)
        return LX_OK;
    scratch->starts = lx__alloc_array(count, sizeof *scratch->starts);
    if (scratch->starts != NULL)
        scratch->parts = lx__alloc_array(count, sizeof *scratch->parts);
    if (scratch->parts == NULL) {
        lx__free(scratch->starts);
        scratch->starts = NULL;
        return lx__fail_memory(error, "reading an order");
    }
    scratch->count = count;
    return LX_OK;
}

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
            places[i] = lx__part_place(&self->parts[sets[i]], epoch,
                                       before[sets[i]] + places[i]);
    return n;
}

/** Sorts positions by their sets, stably; how many sets have some. */
static size_t sort_by_sets(struct blend_scratch *scratch, const uint64_t *places, size_t count)
{
    size_t present = 0;
    uint16_t *starts = scratch->starts, start = 0;
    for (size_t i = 0; i < count; i++) { /* starts are counts until all are counted */
        uint16_t set = scratch->sets[i], rank = starts[set]++;
        scratch->ranks[i] = rank;
        scratch->present[present] = set;
        present += rank == 0;
    }
    for (size_t i = 0; i < present; i++) {
        uint16_t *of_set = &starts[scratch->present[i]], n = *of_set;
        *of_set = start;
        start = (uint16_t)(start + n);
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t at = (uint16_t)(scratch->ranks[i] + starts[scratch->sets[i]]);
        scratch->ranks[i] = at;
        scratch->sorted[at] = places[i];
    }
    return present;
}

/** Reads what one set has of a block, up to the start of what the next one has. */
static lx_status read_set(const struct blend *self, struct blend_scratch *scratch, size_t set,
                          size_t end, lx_error *error)
{
    size_t start = scratch->starts[set];
    return lx__part_map(&self->parts[set], &scratch->parts[set], scratch->sorted + start,
                        end - start, error);
}

static lx_status blend_read(const lx_order *order, void *memory, uint64_t *places, size_t count,
                            lx_error *error)
{
    const struct blend *self = (const struct blend *)order;
    struct blend_scratch *scratch = memory;
    lx_status status = prepare(self, scratch, error);
    if (status != LX_OK)
        return status;
    for (size_t done = 0; done < count;)
        done += find_in_phase(self, places + done, count - done, scratch->sets + done);
    size_t present = sort_by_sets(scratch, places, count);
    for (size_t i = 0; i < present; i++) {
        size_t set = scratch->present[i];
        size_t end = i + 1 < present ? scratch->starts[scratch->present[i + 1]] : count;
        if (status == LX_OK)
            status = read_set(self, scratch, set, end, error);
        scratch->starts[set] = 0;
    }
    const uint64_t *offsets = self->offsets;
    for (size_t i = 0; i < count; i++)
        places[i] = scratch->sorted[scratch->ranks[i]] + offsets[scratch->sets[i]];
    return status;
}

static void blend_clear(void *memory)
{
    struct blend_scratch *scratch = memory;
    for (size_t i = 0; i < scratch->count; i++)
        lx__scratch_free(scratch->parts[i]);
    lx__free(scratch->parts);
    lx__free(scratch->starts);
}

/* ---- what it is */

static const char *const exhausted_words[] = {"repeat", "stop", "redistribute"};

static json_t *list_offsets(const struct blend *self)
{
    json_t *list = json_array();
    for (size_t i = 0; i < self->phases.set_count; i++)
        if (json_array_append_new(list, lx__state_number(self->offsets[i])) == -1) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static int blend_describe(const lx_order *order, json_t *object)
{
    const struct blend *self = (const struct blend *)order;
    int failed = json_object_set_new(object, "exhausted",
                                     json_string(exhausted_words[self->exhausted]));
    failed |= json_object_set_new(object, "weightings", lx__weightings_to_json(&self->weightings));
    failed |= json_object_set_new(object, "parts",
                                  lx__parts_to_json(self->parts, self->phases.set_count));
    failed |= json_object_set_new(object, "offsets", lx__state_shorten(list_offsets(self)));
    return failed;
}

static void blend_count(const lx_order *order, uint64_t end, uint64_t *counts)
{
    const struct blend *self = (const struct blend *)order;
    uint64_t epoch = end / order->length;
    lx__phases_count(&self->phases, end % order->length, counts);
    for (size_t i = 0; i < self->phases.set_count; i++)
        counts[i] += epoch * self->phases.totals[i];
}

static void blend_dispose(lx_order *order)
{
    struct blend *self = (struct blend *)order;
    for (size_t i = 0; self->parts != NULL && i < self->phases.set_count; i++)
        lx__part_clear(&self->parts[i]);
    lx__weightings_free(&self->weightings);
    lx__phases_free(&self->phases);
    lx__free(self->parts);
    lx__free(self->offsets);
}

static const lx__order_class blend_class = {.kind = "blend",
                                            .formula = 1,
                                            .scratch_size = sizeof(struct blend_scratch),
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
    if (status != LX_OK)
        return status;
    self->parts = lx__alloc_array(mixture->count, sizeof *self->parts);
    self->offsets = lx__alloc_array(mixture->count, sizeof *self->offsets);
    if (self->parts == NULL || self->offsets == NULL)
        return lx__fail_memory(error, "a mixture");
    for (size_t i = 0; i < mixture->count; i++) {
        const lx__mixed *set = &mixture->sets[i];
        lx__part_init(&self->parts[i], set->order, &self->order);
        self->offsets[i] = set->offset;
        if (set->order->bound + set->offset > self->order.bound)
            self->order.bound = set->order->bound + set->offset;
    }
    self->exhausted = mixture->exhausted;
    self->order.length = self->phases.length;
    self->order.sets = mixture->count;
    return LX_OK;
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
    if (status != LX_OK) {
        lx_order_unref(*order);
        *order = NULL;
    }
    return status;
}
