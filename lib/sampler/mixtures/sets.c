/* SPDX-License-Identifier: MIT */
#include "sampler/mixtures/sets.h"

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/order/state.h"

lx_status lx__mix_sets_new(const lx_mixture *mixture, lx_order *order, lx__mix_sets *sets,
                           lx_error *error)
{
    *sets = (lx__mix_sets){.count = mixture->count};
    sets->parts = lx__alloc_array(mixture->count, sizeof *sets->parts);
    sets->offsets = lx__alloc_array(mixture->count, sizeof *sets->offsets);
    if (sets->parts == NULL || sets->offsets == NULL)
        return lx__fail_memory(error, "a mixture");
    for (size_t i = 0; i < mixture->count; i++) {
        const lx__mixed *set = &mixture->sets[i];
        lx__part_init(&sets->parts[i], set->order, order);
        sets->offsets[i] = set->offset;
        if (set->order->bound + set->offset > order->bound)
            order->bound = set->order->bound + set->offset;
    }
    order->sets = mixture->count;
    return LX_OK;
}

void lx__mix_sets_free(lx__mix_sets *sets)
{
    for (size_t i = 0; sets->parts != NULL && i < sets->count; i++)
        lx__part_clear(&sets->parts[i]);
    lx__free(sets->parts);
    lx__free(sets->offsets);
    *sets = (lx__mix_sets){0};
}

static json_t *list_offsets(const lx__mix_sets *sets)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sets->count; i++)
        if (json_array_append_new(list, lx__state_number(sets->offsets[i])) == -1) {
            json_decref(list);
            return NULL;
        }
    return list;
}

int lx__mix_sets_describe(const lx__mix_sets *sets, json_t *object)
{
    int failed =
        json_object_set_new(object, "parts", lx__parts_to_json(sets->parts, sets->count));
    failed |= json_object_set_new(object, "offsets", lx__state_shorten(list_offsets(sets)));
    return failed;
}

/* ---- reading */

lx_status lx__mix_sets_prepare(const lx__mix_sets *sets, lx__mix_sets_scratch *scratch,
                               lx_error *error)
{
    if (scratch->parts != NULL)
        return LX_OK;
    scratch->starts = lx__alloc_array(sets->count, sizeof *scratch->starts);
    if (scratch->starts != NULL)
        scratch->parts = lx__alloc_array(sets->count, sizeof *scratch->parts);
    if (scratch->parts == NULL) {
        lx__free(scratch->starts);
        scratch->starts = NULL;
        return lx__fail_memory(error, "reading an order");
    }
    scratch->count = sets->count;
    return LX_OK;
}

void lx__mix_sets_clear(lx__mix_sets_scratch *scratch)
{
    for (size_t i = 0; i < scratch->count; i++)
        lx__scratch_free(scratch->parts[i]);
    lx__free(scratch->parts);
    lx__free(scratch->starts);
}

/** Sorts positions by their sets, stably; how many sets have some. */
static size_t sort_by_sets(lx__mix_sets_scratch *scratch, const uint64_t *places, size_t count)
{
    size_t present = 0;
    uint16_t *starts = scratch->starts, start = 0;
    for (size_t i = 0; i < count; i++) { /* starts are counts until all are counted */
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
        uint16_t at = (uint16_t)(scratch->ranks[i] + starts[scratch->of[i]]);
        scratch->ranks[i] = at;
        scratch->sorted[at] = places[i];
    }
    return present;
}

/** Reads what one set has of a block, up to the start of what the next one has. */
static lx_status read_set(const lx__mix_sets *sets, lx__mix_sets_scratch *scratch, size_t set,
                          size_t end, lx_error *error)
{
    size_t start = scratch->starts[set];
    return lx__part_map(&sets->parts[set], &scratch->parts[set], scratch->sorted + start,
                        end - start, error);
}

lx_status lx__mix_sets_read(const lx__mix_sets *sets, lx__mix_sets_scratch *scratch,
                            uint64_t *places, size_t count, lx_error *error)
{
    lx_status status = LX_OK;
    size_t present = sort_by_sets(scratch, places, count);
    for (size_t i = 0; i < present; i++) {
        size_t set = scratch->present[i];
        size_t end = i + 1 < present ? scratch->starts[scratch->present[i + 1]] : count;
        if (status == LX_OK)
            status = read_set(sets, scratch, set, end, error);
        scratch->starts[set] = 0;
    }
    const uint64_t *offsets = sets->offsets;
    for (size_t i = 0; i < count; i++)
        places[i] = scratch->sorted[scratch->ranks[i]] + offsets[scratch->of[i]];
    return status;
}
