/* SPDX-License-Identifier: MIT */
#include <loaderx/parity/megatron.h>

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/order-options.h"
#include "parity/greedy-plan.h"
#include "sampler/orders/mixture-sets.h"
#include "sampler/orders/mixture-weights.h"

struct greedy_blend {
    lx_order order;
    lx__mixture_sets sets;
    lx__saved_weights_list weightings; /* for saved states */
    lx__greedy_plan plan;
};

/* The most recent block. */
struct greedy_scratch {
    lx__mixture_sets_scratch sets;
    lx__greedy greedy;
    uint64_t block;       /* valid while given != NULL */
    uint16_t *of, *ranks; /* the set of each position of the block, and the position's rank among
                             those of its set */
    uint16_t *counts;     /* number of positions of each set in the block */
    uint64_t *given;      /* number of positions of each set before the block */
};

/* ---- reading */

static lx_status prepare(const struct greedy_blend *self, struct greedy_scratch *scratch,
                         lx_error *error)
{
    lx_status status = lx__mixture_sets_prepare(&self->sets, &scratch->sets, error);
    if (status != LX_OK || scratch->given != NULL)
        return status;
    if (scratch->of == NULL)
        scratch->of = lx__alloc_array(LX__GREEDY_BLOCK, sizeof *scratch->of);
    if (scratch->ranks == NULL)
        scratch->ranks = lx__alloc_array(LX__GREEDY_BLOCK, sizeof *scratch->ranks);
    if (scratch->counts == NULL)
        scratch->counts = lx__alloc_array(self->sets.count, sizeof *scratch->counts);
    if (scratch->of != NULL && scratch->ranks != NULL && scratch->counts != NULL)
        scratch->given = lx__alloc_array(self->sets.count, sizeof *scratch->given);
    scratch->block = UINT64_MAX;
    return scratch->given != NULL ? LX_OK : lx__fail_memory(error, "reading an order");
}

static lx_status assign_block(const struct greedy_blend *self, struct greedy_scratch *scratch,
                              uint64_t block, lx_error *error)
{
    size_t count = LX__GREEDY_BLOCK;
    scratch->block = UINT64_MAX;
    lx_status status = lx__greedy_plan_enter(&self->plan, block, &scratch->greedy, scratch->given,
                                             error);
    if (status == LX_OK)
        status = lx__greedy_plan_assign(&self->plan, block, &scratch->greedy, scratch->of, &count,
                                        error);
    if (status != LX_OK)
        return status;
    memset(scratch->counts, 0, self->sets.count * sizeof *scratch->counts);
    for (size_t i = 0; i < count; i++)
        scratch->ranks[i] = scratch->counts[scratch->of[i]]++;
    scratch->block = block;
    return LX_OK;
}

static inline lx_status enter_block(const struct greedy_blend *self, struct greedy_scratch *scratch,
                                    uint64_t block, lx_error *error)
{
    return scratch->block == block ? LX_OK : assign_block(self, scratch, block, error);
}

/** Reads offsets of an epoch: finds their sets, and the positions in the sets. */
static lx_status read_some(const lx_order *order, void *memory, uint64_t epoch, uint64_t *positions,
                           size_t count, size_t *here, lx_error *error)
{
    const struct greedy_blend *self = (const struct greedy_blend *)order;
    struct greedy_scratch *scratch = memory;
    *here = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t block = positions[i] / LX__GREEDY_BLOCK, at = positions[i] % LX__GREEDY_BLOCK;
        lx_status status = enter_block(self, scratch, block, error);
        if (status != LX_OK)
            return status;
        uint16_t set = scratch->of[at];
        scratch->sets.of[i] = set;
        positions[i] = lx__mixture_sets_place(&self->sets, self->plan.totals, epoch, set,
                                              scratch->given[set] + scratch->ranks[at]);
    }
    return lx__mixture_sets_read(&self->sets, &scratch->sets, positions, count, error);
}

static lx_status greedy_read(const lx_order *order, void *memory, uint64_t *positions, size_t count,
                             lx_error *error)
{
    const struct greedy_blend *self = (const struct greedy_blend *)order;
    struct greedy_scratch *scratch = memory;
    lx_status status = prepare(self, scratch, error);
    return status == LX_OK
               ? lx__order_read_pieces(order, scratch, positions, count, read_some, error)
               : status;
}

static void greedy_clear(void *memory)
{
    struct greedy_scratch *scratch = memory;
    lx__mixture_sets_clear(&scratch->sets);
    lx__greedy_free(&scratch->greedy);
    lx__free(scratch->of);
    lx__free(scratch->ranks);
    lx__free(scratch->counts);
    lx__free(scratch->given);
}

/* ---- class */

static int greedy_describe(const lx_order *order, json_t *object)
{
    const struct greedy_blend *self = (const struct greedy_blend *)order;
    int failed = lx__exhausted_describe(self->plan.exhausted, object);
    failed |= json_object_set_new(object, "weightings",
                                  lx__saved_weights_list_to_json(&self->weightings));
    failed |= lx__mixture_sets_describe(&self->sets, object);
    return failed;
}

/** Adds the first @p count positions of a block to the counts of their sets. */
static lx_status count_in_block(const lx__greedy_plan *plan, uint64_t block, size_t count,
                                lx__greedy *greedy, uint64_t *counts, lx_error *error)
{
    uint16_t *of = lx__alloc_array(LX__GREEDY_BLOCK, sizeof *of);
    lx_status status = of != NULL ? lx__greedy_plan_assign(plan, block, greedy, of, &count, error)
                                  : lx__fail_memory(error, "counting");
    for (size_t i = 0; status == LX_OK && i < count; i++)
        counts[of[i]]++;
    lx__free(of);
    return status;
}

static lx_status greedy_count(const lx_order *order, uint64_t end, uint64_t *counts,
                              lx_error *error)
{
    const lx__greedy_plan *plan = &((const struct greedy_blend *)order)->plan;
    uint64_t epoch = end / order->length, offset = end % order->length;
    uint64_t block = offset / LX__GREEDY_BLOCK;
    lx__greedy greedy = {0};
    lx_status status = lx__greedy_plan_enter(plan, block, &greedy, counts, error);
    for (size_t i = 0; status == LX_OK && i < plan->count; i++) {
        if (counts[i] == LX__GREEDY_REMOVED)
            counts[i] = plan->totals[i];
        counts[i] += epoch * plan->totals[i];
    }
    if (status == LX_OK)
        status = count_in_block(plan, block, (size_t)(offset % LX__GREEDY_BLOCK), &greedy, counts,
                                error);
    lx__greedy_free(&greedy);
    return status;
}

static void greedy_dispose(lx_order *order)
{
    struct greedy_blend *self = (struct greedy_blend *)order;
    lx__saved_weights_list_free(&self->weightings);
    lx__mixture_sets_free(&self->sets);
    lx__greedy_plan_free(&self->plan);
}

static const lx__order_class greedy_class = {.kind = "greedy",
                                             .formula = 1,
                                             .scratch_size = sizeof(struct greedy_scratch),
                                             .clear_scratch = greedy_clear,
                                             .read = greedy_read,
                                             .describe = greedy_describe,
                                             .count = greedy_count,
                                             .dispose = greedy_dispose};

/* ---- construction */

static lx_status fill(struct greedy_blend *self, const lx_mixture *mixture, const char *tables,
                      lx_error *error)
{
    lx_status status = lx__mixture_sets_new(mixture, &self->order, &self->sets, error);
    if (status == LX_OK)
        status = lx__saved_weights_list_new(mixture, &self->weightings, error);
    if (status == LX_OK)
        status = lx__greedy_plan_new(mixture, tables, &self->plan, error);
    self->order.length = self->plan.length;
    return status;
}

lx_status lx_order_new_greedy(const lx_mixture *mixture, const lx_order_options *options,
                              lx_order **order, lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    if (order == NULL)
        return lx__fail_null(error, "order");
    lx_status status = lx__order_options_take(options, LX__ORDER_TABLES, &how, error);
    if (status == LX_OK)
        status = lx__mixture_check(mixture, error);
    if (status == LX_OK && mixture->weighting_count != 1)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the weights of a greedy mixture must not change: use "
                         "lx_order_new_blend() for weights that change");
    if (status == LX_OK)
        status = lx__order_new(&greedy_class, sizeof(struct greedy_blend), 0, 0, order, error);
    if (status != LX_OK)
        return status;
    status = fill((struct greedy_blend *)*order, mixture, how.tables, error);
    return lx__order_finish(order, status);
}
