/* SPDX-License-Identifier: MIT */
#include <loaderx/sampler.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/order-json.h"
#include "sampler/core/order.h"
#include "sampler/core/rank-assignment.h"
#include "sampler/core/rank-slice.h"
#include "sampler/core/saved-state.h"

/* Version of saved states, raised if a reader of the old version could not read the new one. */
#define STATE_VERSION 1

struct lx_sampler {
    lx_order *order;
    lx__scratch *scratch;
    lx__epoch_table *batch_bounds; /* the bounds of the current epoch, if the order is cut into
                                      batches */
    lx__shard shard;
    uint64_t position;
};

lx_status lx_sampler_new(lx_order *order, uint64_t rank, uint64_t world, lx_sampler **sampler,
                         lx_error *error)
{
    LX__CLEAR(sampler);
    if (sampler == NULL)
        return lx__fail_null(error, "sampler");
    if (order == NULL)
        return lx__fail_null(error, "order");
    lx__shard shard = {rank, world};
    lx_status status = lx__shard_check(shard, error);
    if (status != LX_OK)
        return status;

    lx_sampler *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a sampler");
    made->order = lx_order_ref(order);
    made->shard = shard;
    status = lx__scratch_new(order, &made->scratch, error);
    if (status == LX_OK)
        *sampler = made;
    else
        lx_sampler_free(made);
    return status;
}

void lx_sampler_free(lx_sampler *sampler)
{
    if (sampler == NULL)
        return;
    lx__epoch_table_clear_scratch(&sampler->batch_bounds);
    lx__scratch_free(sampler->scratch);
    lx_order_unref(sampler->order);
    lx__free(sampler);
}

/** Whether the rank owns no position in any epoch. */
static bool has_no_samples(const lx_sampler *sampler)
{
    return sampler->shard.rank >= sampler->order->length;
}

/** Returns count * world, the minimum number of positions that @p count indices of one rank
 * span. */
static uint64_t span_of(const lx_sampler *sampler, uint64_t count)
{
    uint64_t span;
    return lx__multiply_fits(count, sampler->shard.world, &span) ? span : UINT64_MAX;
}

lx_status lx_sampler_take(lx_sampler *sampler, uint64_t count, uint64_t *indices, uint64_t *taken,
                          lx_error *error)
{
    if (taken == NULL)
        return lx__fail_null(error, "taken");
    *taken = 0;
    if (sampler == NULL)
        return lx__fail_null(error, "sampler");
    if (indices == NULL && count != 0)
        return lx__fail_null(error, "indices");
    if (count != 0 && has_no_samples(sampler))
        return LX_END;

    uint64_t position = sampler->position, done = 0;
    while (done < count && position < LX__POSITION_END) {
        /* Reads the rest of this epoch at once. Only the last round of an epoch can lack an index
         * for this rank. */
        lx__rank_slice slice = lx__shard_slice(sampler->shard, sampler->order->length, position,
                                               span_of(sampler, count - done));
        lx_status status = lx__order_read(sampler->order, sampler->scratch, slice.first,
                                          sampler->shard.world, slice.count, indices + done, error);
        if (status != LX_OK)
            return status;
        done += slice.count;
        position = slice.end;
    }
    sampler->position = position;
    *taken = done;
    return done != 0 || count == 0 ? LX_OK : LX_END;
}

lx_status lx_sampler_take_batch(lx_sampler *sampler, uint64_t *indices, uint64_t capacity,
                                uint64_t *taken, lx_error *error)
{
    lx__rank_batch batch;
    if (taken == NULL)
        return lx__fail_null(error, "taken");
    *taken = 0;
    if (sampler == NULL)
        return lx__fail_null(error, "sampler");
    if (indices == NULL && capacity != 0)
        return lx__fail_null(error, "indices");
    if (sampler->order->batch_bounds == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the order is not cut into batches: pass a "
                       "budgeted order");
    uint64_t position = sampler->position;
    lx_status status = lx__rank_assignment_next(sampler->order, &sampler->batch_bounds,
                                                sampler->shard, LX__LAST_UNEVEN, &position,
                                                LX__POSITION_END, &batch, error);
    if (status == LX_END)
        sampler->position = position;
    if (status != LX_OK)
        return status;
    if (batch.count > capacity) {
        *taken = batch.count;
        return lx_fail(error, LX_ERR_LIMIT,
                       "the batch has %" PRIu64
                       " samples, but the buffer has room for only %" PRIu64,
                       batch.count, capacity);
    }
    status = lx__order_read(sampler->order, sampler->scratch, batch.first, 1, batch.count, indices,
                            error);
    if (status != LX_OK)
        return status;
    sampler->position = batch.step_end;
    *taken = batch.count;
    return LX_OK;
}

lx_status lx_sampler_seek(lx_sampler *sampler, uint64_t position, lx_error *error)
{
    if (sampler == NULL)
        return lx__fail_null(error, "sampler");
    sampler->position = position;
    return LX_OK;
}

uint64_t lx_sampler_tell(const lx_sampler *sampler)
{
    return sampler->position;
}

lx_status lx_sampler_save(const lx_sampler *sampler, char *text, size_t size, size_t *length,
                          lx_error *error)
{
    if (sampler == NULL)
        return lx__fail_null(error, "sampler");
    if (text == NULL && size != 0)
        return lx__fail_null(error, "text");

    json_t *state = lx__state_new("sampler", STATE_VERSION);
    int failed = json_object_set_new(state, "position", lx__state_number(sampler->position));
    failed |= json_object_set_new(state, "rank", lx__state_number(sampler->shard.rank));
    failed |= json_object_set_new(state, "world", lx__state_number(sampler->shard.world));
    failed |= json_object_set_new(state, "order", lx__order_to_json(sampler->order));
    lx_status status = failed == 0 ? lx__state_write(state, text, size, length, error)
                                   : lx__fail_memory(error, "a state");
    json_decref(state);
    return status;
}

lx_status lx_sampler_restore(lx_sampler *sampler, const char *text, lx_error *error)
{
    if (sampler == NULL)
        return lx__fail_null(error, "sampler");
    if (text == NULL)
        return lx__fail_null(error, "text");

    json_t *state, *order;
    uint64_t position = 0;
    lx_status status = lx__state_parse(text, "sampler", STATE_VERSION, &state, error);
    if (status != LX_OK)
        return status;
    status = lx__json_get(state, "order", JSON_OBJECT, &order, error);
    if (status == LX_OK)
        status = lx__order_match_json(sampler->order, order, error);
    if (status == LX_OK)
        status = lx__state_get_number(state, "position", &position, error);
    if (status == LX_OK)
        status = lx__state_check(state, error);
    if (status == LX_OK)
        sampler->position = position;
    json_decref(state);
    return status;
}
