/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-sets.h"

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/saved-state.h"

lx_status lx__mixture_sets_new(const lx_mixture *mixture, lx_order *order, lx__mixture_sets *sets,
                               lx_error *error)
{
    *sets = (lx__mixture_sets){.count = mixture->count, .exhausted = mixture->exhausted};
    sets->parts = lx__alloc_array(mixture->count, sizeof *sets->parts);
    sets->offsets = lx__alloc_array(mixture->count, sizeof *sets->offsets);
    if (sets->parts == NULL || sets->offsets == NULL)
        return lx__fail_memory(error, "a mixture");
    for (size_t i = 0; i < mixture->count; i++) {
        const lx__mixture_set *set = &mixture->sets[i];
        lx__inner_order_init(&sets->parts[i], set->order, order);
        sets->offsets[i] = set->offset;
        if (set->order->bound + set->offset > order->bound)
            order->bound = set->order->bound + set->offset;
    }
    order->sets = mixture->count;
    return LX_OK;
}

void lx__mixture_sets_free(lx__mixture_sets *sets)
{
    for (size_t i = 0; sets->parts != NULL && i < sets->count; i++)
        lx__inner_order_clear(&sets->parts[i]);
    lx__free(sets->parts);
    lx__free(sets->offsets);
    *sets = (lx__mixture_sets){0};
}

static json_t *list_offsets(const lx__mixture_sets *sets)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sets->count; i++)
        if (json_array_append_new(list, lx__state_number(sets->offsets[i])) == -1) {
            json_decref(list);
            return NULL;
        }
    return list;
}

int lx__mixture_sets_describe(const lx__mixture_sets *sets, json_t *object)
{
    int failed = json_object_set_new(object, "parts",
                                     lx__inner_orders_to_json(sets->parts, sets->count));
    failed |= json_object_set_new(object, "offsets", lx__state_shorten(list_offsets(sets)));
    return failed;
}

/* ---- reading */

lx_status lx__mixture_sets_prepare(const lx__mixture_sets *sets, lx__mixture_sets_scratch *scratch,
                                   lx_error *error)
{
    if (scratch->parts != NULL)
        return LX_OK;
    scratch->starts = lx__alloc_array(sets->count, sizeof *scratch->starts);
    if (scratch->starts != NULL)
        scratch->parts = lx__alloc_array(sets->count, sizeof *scratch->parts);
    if (scratch->parts == NULL) {
        lx__mixture_sets_clear(scratch);
        return lx__fail_memory(error, "reading an order");
    }
    scratch->count = sets->count;
    return LX_OK;
}

void lx__mixture_sets_clear(lx__mixture_sets_scratch *scratch)
{
    for (size_t i = 0; i < scratch->count; i++)
        lx__scratch_free(scratch->parts[i]);
    lx__free(scratch->parts);
    lx__free(scratch->starts);
    *scratch = (lx__mixture_sets_scratch){0};
}

/** Sorts positions by set, stably. Returns the number of different sets. */
static size_t sort_by_sets(lx__mixture_sets_scratch *scratch, const uint64_t *positions,
                           size_t count)
{
    size_t present = 0;
    uint16_t *starts = scratch->starts, start = 0;
    for (size_t i = 0; i < count; i++) { /* in this loop, starts contains counts */
        uint16_t set = scratch->of[i], rank = starts[set]++;
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
        uint16_t set = scratch->of[i], at = (uint16_t)(scratch->ranks[i] + starts[set]);
        scratch->ranks[i] = at;
        scratch->sorted[at] = positions[i];
    }
    return present;
}

/** Reads the sorted positions of @p present sets. */
static lx_status read_sorted(const lx__mixture_sets *sets, lx__mixture_sets_scratch *scratch,
                             size_t present, size_t count, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; i < present; i++) {
        size_t set = scratch->present[i], start = scratch->starts[set];
        size_t end = i + 1 < present ? scratch->starts[scratch->present[i + 1]] : count;
        scratch->starts[set] = 0;
        if (status == LX_OK)
            status = lx__inner_order_map(&sets->parts[set], &scratch->parts[set],
                                         scratch->sorted + start, end - start, error);
    }
    return status;
}

lx_status lx__mixture_sets_read(const lx__mixture_sets *sets, lx__mixture_sets_scratch *scratch,
                                uint64_t *positions, size_t count, lx_error *error)
{
    size_t present = sort_by_sets(scratch, positions, count);
    lx_status status = read_sorted(sets, scratch, present, count, error);
    const uint64_t *offsets = sets->offsets;
    for (size_t i = 0; i < count; i++)
        positions[i] = scratch->sorted[scratch->ranks[i]] + offsets[scratch->of[i]];
    return status;
}
