/* SPDX-License-Identifier: MIT */
#include "loader/batch-schedule.h"

#include <string.h>

#include <loaderx/batching.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/order.h"

static bool has_own_batches(const lx__batch_schedule *schedule)
{
    return schedule->batch_size == 0;
}

static lx_status copy_skipped(lx__batch_schedule *schedule, const lx_loader_options *options,
                              lx_error *error)
{
    size_t count = options->skipped_count;
    if (count == 0)
        return LX_OK;
    schedule->skipped = lx__alloc_array(count, sizeof *schedule->skipped);
    if (schedule->skipped == NULL)
        return lx__fail_memory(error, "ranges of skipped batches");
    memcpy(schedule->skipped, options->skipped, count * sizeof *schedule->skipped);
    schedule->skipped_count = count;
    return LX_OK;
}

lx_status lx__batch_schedule_init(lx__batch_schedule *schedule, lx_order *order,
                                  const lx_loader_options *options, lx_error *error)
{
    bool has_own = lx_order_get_max_batch_size(order) != 0;
    *schedule = (lx__batch_schedule){.order = order,
                                     .shard = {options->rank, options->world},
                                     .batch_size = has_own ? 0 : options->batch_size,
                                     .epochs = options->epochs,
                                     .last = options->drop_last ? LX__LAST_DROPPED
                                             : options->uneven  ? LX__LAST_UNEVEN
                                                                : LX__LAST_PADDED,
                                     .fills = options->pad_last};
    if (options->drop_last + options->uneven + options->pad_last > 1)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "more than one of drop_last, uneven and pad_last is set: set only one of "
                       "them");
    if (has_own && options->pad_last)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "pad_last is set, but the order is already cut into batches, whose sizes "
                       "differ: leave pad_last unset, or pass the order from which this one was "
                       "created");
    if (has_own && options->batch_size_set)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the order is already cut into batches: leave batch_size unset, or pass the "
                       "order from which this one was created");
    if (!lx__multiply_fits(schedule->batch_size, options->world, &schedule->global_batch))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "batch_size times world exceeds 2^64 - 1: use a smaller batch_size");
    lx__batch_schedule_seek(schedule, 0);
    return copy_skipped(schedule, options, error);
}

void lx__batch_schedule_clear(lx__batch_schedule *schedule)
{
    lx__free(schedule->skipped);
    schedule->skipped = NULL;
    schedule->skipped_count = 0;
    lx__epoch_table_clear_scratch(&schedule->bounds);
}

void lx__batch_schedule_copy(const lx__batch_schedule *schedule, lx__batch_schedule *copy)
{
    /* Only members that never change, since another thread may use the schedule. */
    *copy = (lx__batch_schedule){.order = schedule->order,
                                 .shard = schedule->shard,
                                 .batch_size = schedule->batch_size,
                                 .global_batch = schedule->global_batch,
                                 .epochs = schedule->epochs,
                                 .last = schedule->last,
                                 .fills = schedule->fills,
                                 .skipped = schedule->skipped,
                                 .skipped_count = schedule->skipped_count};
}

void lx__batch_schedule_clear_copy(lx__batch_schedule *copy)
{
    lx__epoch_table_clear_scratch(&copy->bounds);
}

/** Finds the run of epochs that contains the position. The run depends only on the position, so a
 * resumed loader ends where an uninterrupted one does. */
void lx__batch_schedule_seek(lx__batch_schedule *schedule, uint64_t position)
{
    uint64_t length = lx_order_get_length(schedule->order), run, end;
    schedule->position = schedule->seek_position = position;
    schedule->run_begin = 0;
    schedule->run_end = LX__POSITION_END;
    if (schedule->epochs == 0 || length == 0 || !lx__multiply_fits(length, schedule->epochs, &run))
        return;
    schedule->run_begin = position / run * run;
    if (lx__add_fits(schedule->run_begin, run, &end))
        schedule->run_end = end;
}

/** Moves to the end at once: if no epoch has a batch, a search for one would not terminate. */
static lx_status end(lx__batch_schedule *schedule)
{
    if (schedule->run_end != LX__POSITION_END)
        schedule->position = schedule->run_end;
    return LX_END;
}

/** Counts the rank's batches in an epoch of @p all samples or batches, where each step takes
 * @p step of them. */
static uint64_t count_steps(const lx__batch_schedule *schedule, uint64_t all, uint64_t step)
{
    uint64_t rest = all % step;
    bool has_last = schedule->last == LX__LAST_PADDED   ? rest != 0
                    : schedule->last == LX__LAST_UNEVEN ? rest > schedule->shard.rank
                                                        : false;
    return all / step + has_last;
}

/** Adds the samples that the rank repeats: one, if the last step of an epoch leaves it one short,
 * or as many as fill the batch. */
static void pad(const lx__batch_schedule *schedule, lx__batch_slice *slice)
{
    uint64_t samples = slice->end - slice->begin, world = schedule->shard.world;
    uint64_t offset = slice->begin % lx_order_get_length(schedule->order);
    uint64_t epoch = slice->begin - offset;
    uint64_t all = schedule->fills ? schedule->batch_size
                                   : samples / world + (samples % world != 0);
    if (slice->count == all)
        return;
    slice->repeated = epoch + lx__shard_padding(schedule->shard, offset + samples);
    slice->padding = all - slice->count;
}

static lx_status next_samples(lx__batch_schedule *schedule, lx__batch_slice *slice)
{
    uint64_t length = lx_order_get_length(schedule->order);
    if (count_steps(schedule, length, schedule->global_batch) == 0)
        return end(schedule);
    while (schedule->position < schedule->run_end) {
        uint64_t begin = schedule->position;
        lx__rank_slice rank_slice = lx__shard_slice(schedule->shard, length, begin,
                                                    schedule->global_batch);
        bool full = rank_slice.end - begin == schedule->global_batch;
        schedule->position = rank_slice.end;
        *slice = (lx__batch_slice){.begin = begin,
                                   .end = rank_slice.end,
                                   .first = rank_slice.first,
                                   .stride = schedule->shard.world,
                                   .count = rank_slice.count};
        if (schedule->last == LX__LAST_PADDED)
            pad(schedule, slice);
        if (slice->count + slice->padding != 0 && (full || schedule->last != LX__LAST_DROPPED))
            return LX_OK;
    }
    return LX_END;
}

static lx_status next_batch(lx__batch_schedule *schedule, lx__batch_slice *slice, lx_error *error)
{
    lx__rank_batch batch;
    uint64_t begin = schedule->position;
    lx_status status = lx__rank_assignment_next(schedule->order, &schedule->bounds, schedule->shard,
                                                schedule->last, &begin, schedule->run_end, &batch,
                                                error);
    if (status == LX_END) {
        schedule->position = begin;
        return end(schedule);
    }
    if (status != LX_OK)
        return status;
    schedule->position = batch.step_end;
    *slice = (lx__batch_slice){.begin = begin,
                               .end = batch.step_end,
                               .first = batch.first,
                               .stride = 1,
                               .count = batch.repeated ? 0 : batch.count,
                               .repeated = batch.first,
                               .padding = batch.repeated ? batch.count : 0};
    return LX_OK;
}

/** Returns the end of a skipped range that has positions of a batch, or 0 if there is none. */
static uint64_t skipped_end(const lx__batch_schedule *schedule, const lx__batch_slice *slice)
{
    for (size_t i = 0; i < schedule->skipped_count; i++)
        if (schedule->skipped[i].first < slice->end && slice->begin < schedule->skipped[i].end)
            return schedule->skipped[i].end;
    return 0;
}

/** Moves from the end of a skipped batch, which begins at @p begin, towards the first batch that
 * begins at @p end or later. A range may contain billions of batches, so this does not visit each
 * of them, unless the order determines their bounds. */
static void skip(lx__batch_schedule *schedule, uint64_t begin, uint64_t end)
{
    uint64_t length = lx_order_get_length(schedule->order), target = schedule->position;
    uint64_t left = length - begin % length, distance = end - begin;
    if (distance >= left) { /* each epoch begins with a new batch */
        target = end - end % length;
    } else if (!has_own_batches(schedule)) {
        uint64_t step = schedule->global_batch, steps = distance / step + (distance % step != 0);
        target = begin + (steps > left / step ? left : steps * step);
    }
    if (target < begin || target > schedule->run_end) /* beyond 2^64 - 1, or the run */
        target = schedule->run_end;
    if (target > schedule->position)
        schedule->position = target;
}

lx_status lx__batch_schedule_next(lx__batch_schedule *schedule, lx__batch_slice *slice,
                                  lx_error *error)
{
    for (;;) {
        lx_status status = has_own_batches(schedule) ? next_batch(schedule, slice, error)
                                                     : next_samples(schedule, slice);
        uint64_t end = status == LX_OK ? skipped_end(schedule, slice) : 0;
        if (end == 0)
            return status;
        skip(schedule, slice->begin, end);
    }
}

/** Whether a skipped range covers the rest of the run. */
static bool skips_rest(const lx__batch_schedule *schedule)
{
    for (size_t i = 0; i < schedule->skipped_count; i++)
        if (schedule->skipped[i].first <= schedule->position &&
            schedule->skipped[i].end >= schedule->run_end)
            return true;
    return false;
}

bool lx__batch_schedule_at_start(const lx__batch_schedule *schedule)
{
    /* Unless the last step is dropped, or all are skipped, any remaining positions contain a batch
     * for some rank. */
    return schedule->position == schedule->seek_position &&
           (schedule->position == schedule->run_begin ||
            (schedule->last != LX__LAST_DROPPED && schedule->position < schedule->run_end &&
             !skips_rest(schedule)));
}

uint64_t lx__batch_schedule_max_rows(const lx__batch_schedule *schedule)
{
    uint64_t length = lx_order_get_length(schedule->order), world = schedule->shard.world;
    uint64_t rank_slice = length / world + (length % world != 0);
    if (has_own_batches(schedule))
        return lx_order_get_max_batch_size(schedule->order);
    return schedule->batch_size < rank_slice || schedule->fills ? schedule->batch_size : rank_slice;
}

static bool skips_in(const lx__batch_schedule *schedule, uint64_t epoch_begin)
{
    uint64_t length = lx_order_get_length(schedule->order);
    for (size_t i = 0; i < schedule->skipped_count; i++) {
        const lx__skipped_range *range = &schedule->skipped[i];
        if (range->end > epoch_begin &&
            (range->first <= epoch_begin || range->first - epoch_begin < length))
            return true;
    }
    return false;
}

/** Counts the batches of an epoch by visiting them. */
static lx_status count_visited(const lx__batch_schedule *schedule, uint64_t epoch_begin,
                               uint64_t *count, lx_error *error)
{
    lx__batch_schedule visited;
    lx__batch_slice slice;
    uint64_t found = 0;
    lx__batch_schedule_copy(schedule, &visited);
    visited.epochs = 1;
    lx__batch_schedule_seek(&visited, epoch_begin);
    lx_status status;
    while ((status = lx__batch_schedule_next(&visited, &slice, error)) == LX_OK)
        found++;
    lx__batch_schedule_clear_copy(&visited);
    if (status != LX_END)
        return status;
    *count = found;
    return LX_OK;
}

lx_status lx__batch_schedule_count(const lx__batch_schedule *schedule, uint64_t position,
                                   uint64_t *count, lx_error *error)
{
    uint64_t all = lx_order_get_length(schedule->order), step = schedule->global_batch;
    lx_status status = LX_OK;
    if (all != 0 && skips_in(schedule, position - position % all))
        return count_visited(schedule, position - position % all, count, error);
    if (has_own_batches(schedule) && all != 0) {
        step = schedule->shard.world;
        status = lx_order_get_batch_count(schedule->order, position / all, &all, error);
    }
    if (status == LX_OK)
        *count = all != 0 ? count_steps(schedule, all, step) : 0;
    return status;
}
