/* SPDX-License-Identifier: MIT */
#include "loader/batch-schedule.h"

#include <loaderx/budgeted.h>

#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/order.h"

static bool is_cut(const lx__steps *steps)
{
    return steps->batch_size == 0;
}

lx_status lx__steps_init(lx__steps *steps, lx_order *order, const lx_loader_options *options,
                         lx_error *error)
{
    bool cut = lx_order_get_max_batch_size(order) != 0;
    *steps = (lx__steps){.order = order,
                         .shard = {options->rank, options->world},
                         .batch_size = cut ? 0 : options->batch_size,
                         .epochs = options->epochs,
                         .drop_last = options->drop_last};
    if (cut && options->batch_size_set)
        return lx__fail(error, LX_ERR_ARGUMENT,
                        "the order is cut into batches already: do not set batch_size, or pass "
                        "the order that it was made from");
    if (!lx__multiply_fits(steps->batch_size, options->world, &steps->global_batch))
        return lx__fail(error, LX_ERR_ARGUMENT,
                        "batch_size times world exceeds 2^64: lower "
                        "batch_size");
    lx__steps_seek(steps, 0);
    return LX_OK;
}

void lx__steps_clear(lx__steps *steps)
{
    lx__epoch_clear_scratch(&steps->cuts);
}

/** Finds the epochs that contain the position. They depend on the position alone, so a resumed run
 * ends where an uninterrupted run ends. */
void lx__steps_seek(lx__steps *steps, uint64_t position)
{
    uint64_t length = lx_order_get_length(steps->order), run, end;
    steps->position = steps->entered = position;
    steps->run_begin = 0;
    steps->run_end = LX__POSITION_END;
    if (steps->epochs == 0 || length == 0 || !lx__multiply_fits(length, steps->epochs, &run))
        return;
    steps->run_begin = position / run * run;
    if (lx__add_fits(steps->run_begin, run, &end))
        steps->run_end = end;
}

/** Moves to the end at once: if no epoch has a batch, a search for one would not terminate. */
static lx_status end(lx__steps *steps)
{
    if (steps->run_end != LX__POSITION_END)
        steps->position = steps->run_end;
    return LX_END;
}

static lx_status next_samples(lx__steps *steps, lx__step *step)
{
    uint64_t length = lx_order_get_length(steps->order);
    if (lx__steps_count(steps, 0) == 0)
        return end(steps);
    while (steps->position < steps->run_end) {
        uint64_t begin = steps->position;
        lx__share share = lx__shard_share(steps->shard, length, begin, steps->global_batch);
        bool full = share.end - begin == steps->global_batch;
        steps->position = share.end;
        if (share.count != 0 && (full || !steps->drop_last)) {
            *step = (lx__step){begin, share.end, share.first, steps->shard.world, share.count};
            return LX_OK;
        }
    }
    return LX_END;
}

static lx_status next_cut(lx__steps *steps, lx__step *step, lx_error *error)
{
    lx__share share;
    uint64_t begin = steps->position;
    lx_status status = lx__deal_next(steps->order, &steps->cuts, steps->shard, steps->drop_last,
                                     &begin, steps->run_end, &share, error);
    if (status == LX_END) {
        steps->position = begin;
        return end(steps);
    }
    if (status != LX_OK)
        return status;
    steps->position = share.end;
    *step = (lx__step){begin, share.end, share.first, 1, share.count};
    return LX_OK;
}

lx_status lx__steps_next(lx__steps *steps, lx__step *step, lx_error *error)
{
    return is_cut(steps) ? next_cut(steps, step, error) : next_samples(steps, step);
}

bool lx__steps_begin(const lx__steps *steps)
{
    /* Unless drop_last is set, any remaining positions hold a batch of some rank. */
    return steps->position == steps->entered &&
           (steps->position == steps->run_begin ||
            (!steps->drop_last && steps->position < steps->run_end));
}

uint64_t lx__steps_rows(const lx__steps *steps)
{
    uint64_t length = lx_order_get_length(steps->order), world = steps->shard.world;
    uint64_t share = length / world + (length % world != 0);
    if (is_cut(steps))
        return lx_order_get_max_batch_size(steps->order);
    return steps->batch_size < share ? steps->batch_size : share;
}

uint64_t lx__steps_count(const lx__steps *steps, uint64_t position)
{
    uint64_t all = lx_order_get_length(steps->order), step = steps->global_batch;
    if (is_cut(steps) && all != 0) {
        step = steps->shard.world;
        (void)lx_order_get_batch_count(steps->order, position / all, &all, NULL);
    }
    if (all == 0)
        return 0;
    return all / step + (all % step > steps->shard.rank && !steps->drop_last);
}
