/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include <loaderx/batching.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/order-options.h"
#include "sampler/core/batch-bounds.h"
#include "sampler/core/inner-order.h"
#include "sampler/core/saved-state.h"

/* Maximum number of positions in an epoch, as for all epoch tables. */
#define LENGTH_MAX UINT32_MAX

struct budgeted {
    lx_order order;
    lx__inner_order part;
    uint64_t budget, rows;
    bool padded;
    uint64_t count;   /* number of costs */
    uint32_t crc;     /* CRC-32C of the costs */
    uint32_t *narrow; /* one of these two is set, or neither if the count is 0 */
    uint64_t *wide;
};

static lx_status budgeted_read(const lx_order *order, void *scratch, uint64_t *positions,
                               size_t count, lx_error *error)
{
    const struct budgeted *self = (const struct budgeted *)order;
    return lx__inner_order_map(&self->part, scratch, positions, count, error);
}

static lx_status budgeted_find_block(const lx_order *order, void *scratch, uint64_t position,
                                     lx__index_block *block, lx_error *error)
{
    return lx__inner_order_find_block(&((const struct budgeted *)order)->part, scratch, position,
                                      block, error);
}

/* ---- cutting an epoch into batches */

/** The batch in progress. */
struct growing {
    uint64_t rows, most; /* number of samples, and its limit */
    uint64_t left;       /* for sums of costs: the rest of the budget */
    uint64_t largest;    /* for padded batches: the largest cost, and how many samples of that cost
                            fit the budget */
    uint64_t fit;
};

/** Adds a sample to a batch whose costs are summed; if it does not fit, starts the next batch and
 * returns false. */
static bool add_sum(struct growing *batch, uint64_t cost, uint64_t budget)
{
    bool fits = cost <= batch->left && batch->rows < batch->most;
    batch->left = (fits ? batch->left : budget) - cost;
    batch->rows = (fits ? batch->rows : 0) + 1;
    return fits;
}

/** Like add_sum(), for a padded batch, in which every sample costs as much as the largest. */
static bool add_padded(struct growing *batch, uint64_t cost, uint64_t budget)
{
    if (cost > batch->largest) {
        batch->largest = cost;
        batch->fit = budget / cost;
    }
    if (batch->rows < batch->fit && batch->rows < batch->most) {
        batch->rows++;
        return true;
    }
    if (cost != batch->largest) {
        batch->largest = cost;
        batch->fit = budget / cost;
    }
    batch->rows = 1;
    return false;
}

/** Replaces indices with their costs. */
static void look_up(const struct budgeted *self, uint64_t *positions, size_t count)
{
    if (self->narrow != NULL) {
        for (size_t i = 0; i < count; i++)
            positions[i] = self->narrow[positions[i]];
        return;
    }
    for (size_t i = 0; i < count; i++)
        positions[i] = self->wide[positions[i]];
}

static void cut_block(const struct budgeted *self, struct growing *batch, const uint64_t *costs,
                      size_t count, uint64_t offset, uint32_t *table)
{
    uint64_t budget = self->budget;
    for (size_t i = 0; i < count; i++) {
        bool fits = self->padded ? add_padded(batch, costs[i], budget)
                                 : add_sum(batch, costs[i], budget);
        if (!fits)
            lx__batch_bounds_mark(table, offset + i);
    }
}

static lx_status cut_epoch(const lx_order *order, uint64_t epoch, uint32_t *table, size_t size,
                           lx_error *error)
{
    (void)size;
    const struct budgeted *self = (const struct budgeted *)order;
    uint64_t start = epoch * order->length, length = order->length;
    uint64_t positions[LX__ORDER_BLOCK];
    /* This batch counts as full, so the first sample starts a new one. */
    struct growing batch = {UINT64_MAX, .most = self->rows != 0 ? self->rows : UINT64_MAX};
    lx__scratch *scratch;
    lx_status status = lx__scratch_new(self->part.order, &scratch, error);
    if (status != LX_OK)
        return status;
    if (length > LX__POSITION_END - start) /* the end of the positions truncates the last epoch */
        length = LX__POSITION_END - start;
    for (uint64_t at = 0, here; status == LX_OK && at < length; at += here) {
        here = length - at < LX__ORDER_BLOCK ? length - at : LX__ORDER_BLOCK;
        status = lx__order_read(self->part.order, scratch, start + at, 1, here, positions, error);
        if (status == LX_OK) {
            look_up(self, positions, (size_t)here);
            cut_block(self, &batch, positions, (size_t)here, at, table);
        }
    }
    lx__scratch_free(scratch);
    lx__batch_bounds_finish(table, order->length);
    return status;
}

/* ---- class */

static int budgeted_describe(const lx_order *order, json_t *object)
{
    const struct budgeted *self = (const struct budgeted *)order;
    int failed = json_object_set_new(object, "budget", lx__state_number(self->budget));
    failed |= json_object_set_new(object, "rows", lx__state_number(self->rows));
    failed |= json_object_set_new(object, "padded", json_boolean(self->padded));
    failed |= json_object_set_new(object, "count", lx__state_number(self->count));
    failed |= json_object_set_new(object, "costs", lx__state_crc(self->crc));
    failed |= json_object_set_new(object, "part", lx__inner_order_to_json(&self->part));
    return failed;
}

static void budgeted_dispose(lx_order *order)
{
    struct budgeted *self = (struct budgeted *)order;
    lx__epoch_tables_free(order->batch_bounds);
    lx__inner_order_clear(&self->part);
    lx__free(self->narrow);
    lx__free(self->wide);
}

static const lx__order_class budgeted_class = {.kind = "budgeted",
                                               .formula = 1,
                                               .scratch_size = sizeof(lx__scratch *),
                                               .clear_scratch = lx__inner_order_clear_scratch,
                                               .read = budgeted_read,
                                               .find_block = budgeted_find_block,
                                               .describe = budgeted_describe,
                                               .dispose = budgeted_dispose};

/* ---- construction */

/** The smallest and the largest cost, and the checksum of all costs. */
struct range {
    uint64_t least, most;
    uint32_t crc;
};

static lx_status check_costs(const uint64_t *costs, uint64_t count, uint64_t budget,
                             struct range *range, lx_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        if (costs[i] == 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the cost of index %" PRIu64 " is 0: a cost must be at least 1", i);
        if (costs[i] > budget)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the cost of index %" PRIu64 " is %" PRIu64
                           ", which exceeds the budget of %" PRIu64
                           ": increase the budget, shorten the sample, or remove it from the "
                           "source and the costs",
                           i, costs[i], budget);
        range->least = costs[i] < range->least ? costs[i] : range->least;
        range->most = costs[i] > range->most ? costs[i] : range->most;
        range->crc = lx__state_add(range->crc, costs[i]);
    }
    return LX_OK;
}

static lx_status check(const lx_order *part, const uint64_t *costs, uint64_t count, uint64_t budget,
                       struct range *range, lx_error *error)
{
    if (costs == NULL && count != 0)
        return lx__fail_null(error, "costs");
    if (part->length > LENGTH_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an epoch has %" PRIu64 " positions, but at most 2^32 - 1 can be cut into "
                       "batches",
                       part->length);
    if (part->bound > count)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the order needs at least %" PRIu64
                       " costs, one for each index, but only %" PRIu64 " were passed",
                       part->bound, count);
    if (budget == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "budget must be at least 1");
    return check_costs(costs, count, budget, range, error);
}

static lx_status copy_costs(struct budgeted *self, const uint64_t *costs, uint64_t most,
                            lx_error *error)
{
    bool narrow = most <= UINT32_MAX;
    size_t size = narrow ? sizeof *self->narrow : sizeof *self->wide;
    if (self->count == 0)
        return LX_OK;
    void *memory = self->count <= SIZE_MAX / size ? lx__alloc_array((size_t)self->count, size)
                                                  : NULL;
    if (memory == NULL)
        return lx__fail_memory(error, "a table of costs");
    self->narrow = narrow ? memory : NULL;
    self->wide = narrow ? NULL : memory;
    for (uint64_t i = 0; i < self->count; i++) {
        if (narrow)
            self->narrow[i] = (uint32_t)costs[i];
        else
            self->wide[i] = costs[i];
    }
    return LX_OK;
}

/** The maximum number of samples in a batch: as many of the cheapest as fit. */
static uint64_t most_rows(const struct budgeted *self, uint64_t least)
{
    uint64_t fit = self->budget / least, length = self->order.length;
    uint64_t most = self->rows != 0 && self->rows < fit ? self->rows : fit;
    most = most < length ? most : length;
    return most != 0 ? most : 1; /* 0 would mean that the order is not cut into batches */
}

lx_status lx_order_new_budgeted(lx_order *part, const uint64_t *costs, uint64_t count,
                                uint64_t budget, const lx_order_options *options, lx_order **order,
                                lx_error *error)
{
    LX__CLEAR(order);
    lx_order_options how;
    struct range range = {.least = UINT64_MAX};
    lx_status status = lx__order_options_take(options, LX__ORDER_BATCH | LX__ORDER_PADDED, &how,
                                              error);
    if (status == LX_OK)
        status = lx__inner_order_check(part, order, error);
    if (status == LX_OK)
        status = check(part, costs, count, budget, &range, error);
    if (status == LX_OK)
        status = lx__order_new(&budgeted_class, sizeof(struct budgeted), part->length, part->bound,
                               order, error);
    if (status != LX_OK)
        return status;
    struct budgeted *self = (struct budgeted *)*order;
    self->budget = budget;
    self->rows = how.max_batch_size;
    self->padded = how.padded;
    self->count = count;
    self->crc = range.crc;
    self->order.batch_rows = most_rows(self, range.least);
    lx__inner_order_init(&self->part, part, *order);
    lx__inner_order_keep_blocks(&self->part, *order);
    status = lx__epoch_tables_new(cut_epoch, lx__batch_bounds_size(part->length), NULL,
                                  &self->order.batch_bounds, error);
    if (status == LX_OK)
        status = copy_costs(self, costs, range.most, error);
    return lx__order_finish(order, status);
}
