/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-phases.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/order.h"

/* Maximum number of counts that all phases together may store. */
#define NUMBERS_MAX ((size_t)16 << 20)

/** A plan in progress. */
typedef struct plan {
    const lx_mixture *mixture;
    lx__mixture_phases *phases;
    uint64_t limit;   /* upper limit of the epoch's length */
    uint64_t at;      /* end of the phases so far */
    size_t weighting; /* index of the weights in effect at this offset */
    double *weights;  /* the weights of the next phase */
    uint64_t *room;   /* positions left in each set */
} plan;

/* ---- length of the epoch */

/** Sums the lengths of all sets; false if the sum exceeds 2^64 - 1. */
static bool sum_lengths(const lx_mixture *mixture, uint64_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < mixture->count; i++)
        if (!lx__add_fits(*sum, mixture->sets[i].order->length, sum))
            return false;
    return true;
}

static lx_status find_limit(plan *p, lx_error *error)
{
    const lx_mixture *mixture = p->mixture;
    p->limit = mixture->length;
    if (p->limit == 0 && !sum_lengths(mixture, &p->limit))
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "the parts have more than 2^64 - 1 positions in total: set the length of an epoch");
    uint64_t last = mixture->weightings[mixture->weighting_count - 1].begin;
    if (last >= p->limit)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the weights begin at position %" PRIu64
                       ", after the end of an epoch of %" PRIu64
                       " positions: begin earlier, or increase the length",
                       last, p->limit);
    return LX_OK;
}

/* ---- phases */

/** Selects the current weights; with redistribution, an exhausted set has weight 0. False if all
 * weights are 0. */
static bool choose_weights(plan *p)
{
    const lx_mixture *mixture = p->mixture;
    bool any = false;
    for (size_t i = 0; i < mixture->count; i++) {
        bool is_left = mixture->exhausted != LX_EXHAUSTED_REDISTRIBUTE ||
                       p->phases->totals[i] < mixture->sets[i].order->length;
        p->weights[i] = is_left ? mixture->weightings[p->weighting].weights[i] : 0;
        any = any || p->weights[i] > 0;
    }
    return any;
}

static lx_status add_phase(plan *p, lx_error *error)
{
    lx__mixture_phases *phases = p->phases;
    if (phases->count >= NUMBERS_MAX / phases->set_count)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the weights of %zu parts change more than %zu times in an epoch: use fewer "
                       "parts or fewer changes",
                       phases->set_count, phases->count);
    lx__mixture_phase *list = lx__grow_array(phases->list, phases->count, &phases->capacity,
                                             sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a mixture");
    phases->list = list;
    lx__mixture_phase phase = {.begin = p->at,
                               .before = lx__alloc_array(phases->set_count, sizeof *phase.before)};
    if (phase.before == NULL)
        return lx__fail_memory(error, "a mixture");
    memcpy(phase.before, phases->totals, phases->set_count * sizeof *phase.before);
    lx_status status = lx__mixture_split_new(p->weights, phases->set_count, &phase.split, error);
    if (status != LX_OK) {
        lx__free(phase.before);
        return status;
    }
    list[phases->count++] = phase;
    return LX_OK;
}

/** Returns the number of positions in the last phase, which ends when the first set is exhausted,
 * but at most @p most. */
static uint64_t find_end(const plan *p, uint64_t most)
{
    const lx_mixture *mixture = p->mixture;
    const lx__mixture_phase *phase = &p->phases->list[p->phases->count - 1];
    if (mixture->exhausted == LX_EXHAUSTED_REPEAT)
        return most;
    for (size_t i = 0; i < mixture->count; i++)
        p->room[i] = mixture->sets[i].order->length - phase->before[i];
    uint64_t fit = lx__mixture_split_fit(&phase->split, p->room);
    return fit < most ? fit : most;
}

static void drop_last(lx__mixture_phases *phases)
{
    lx__mixture_phase *last = &phases->list[--phases->count];
    lx__mixture_split_free(&last->split);
    lx__free(last->before);
}

static lx_status make_plan(plan *p, lx_error *error)
{
    const lx_mixture *mixture = p->mixture;
    while (p->at < p->limit && choose_weights(p)) {
        bool is_last = p->weighting + 1 == mixture->weighting_count;
        uint64_t next = is_last ? p->limit : mixture->weightings[p->weighting + 1].begin;
        uint64_t end = next < p->limit ? next : p->limit;
        lx_status status = add_phase(p, error);
        if (status != LX_OK)
            return status;
        uint64_t positions = find_end(p, end - p->at);
        p->at += positions;
        if (positions != 0)
            lx__mixture_phases_count(p->phases, p->at, p->phases->totals);
        else
            drop_last(p->phases);
        if (!is_last && p->at == next)
            p->weighting++;
        else if (p->at < end && mixture->exhausted == LX_EXHAUSTED_STOP)
            break;
    }
    p->phases->length = p->at;
    return LX_OK;
}

lx_status lx__mixture_phases_new(const lx_mixture *mixture, lx__mixture_phases *phases,
                                 lx_error *error)
{
    plan p = {.mixture = mixture, .phases = phases};
    size_t count = mixture->count;
    *phases = (lx__mixture_phases){.set_count = count,
                                   .totals = lx__alloc_array(count, sizeof *phases->totals)};
    p.weights = lx__alloc_array(count, sizeof *p.weights);
    p.room = lx__alloc_array(count, sizeof *p.room);
    lx_status status = phases->totals != NULL && p.weights != NULL && p.room != NULL
                           ? find_limit(&p, error)
                           : lx__fail_memory(error, "a mixture");
    if (status == LX_OK)
        status = make_plan(&p, error);
    lx__free(p.weights);
    lx__free(p.room);
    if (status != LX_OK)
        lx__mixture_phases_free(phases);
    return status;
}

void lx__mixture_phases_free(lx__mixture_phases *phases)
{
    while (phases->count != 0)
        drop_last(phases);
    lx__free(phases->list);
    lx__free(phases->totals);
    *phases = (lx__mixture_phases){0};
}

/* ---- offsets */

size_t lx__mixture_phases_find(const lx__mixture_phases *phases, uint64_t offset)
{
    size_t low = 0, high = phases->count; /* list[low].begin <= offset < list[high].begin */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (phases->list[middle].begin <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void lx__mixture_phases_count(const lx__mixture_phases *phases, uint64_t end, uint64_t *counts)
{
    memset(counts, 0, phases->set_count * sizeof *counts);
    if (end == 0)
        return;
    const lx__mixture_phase *phase = &phases->list[lx__mixture_phases_find(phases, end - 1)];
    lx__mixture_split_count(&phase->split, end - phase->begin, counts);
    for (size_t i = 0; i < phases->set_count; i++)
        counts[i] += phase->before[i];
}
