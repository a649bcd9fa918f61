/* SPDX-License-Identifier: MIT */
#include "sampler/core/rank-assignment.h"

#include <loaderx/sampler.h>

#include "../../scarce.h"
#include "../cut-orders.h"

enum { EPOCHS = 3, MOST = 300 * EPOCHS };

static cut_order cut;
static uint64_t all[MOST];     /* the first positions */
static uint64_t numbers[MOST]; /* of the batch at each, in its epoch */
static uint64_t counts[EPOCHS];

static void make_any(uint64_t *state)
{
    uint64_t ends[300];
    make_any_cut(&cut, state);
    read_order(cut.order, 0, 1, EPOCHS * cut.length, all);
    for (uint64_t e = 0; e < EPOCHS; e++) {
        counts[e] = find_batches(&cut, all + e * cut.length, ends);
        for (uint64_t i = 0, k = 0; i < cut.length; i++) {
            k += i == ends[k];
            numbers[e * cut.length + i] = k;
        }
    }
}

/** Sets the batch to the one of this number in the epoch that begins at @p begin. */
static void repeat_by_hand(uint64_t begin, uint64_t number, lx__rank_batch *batch)
{
    for (uint64_t at = begin; at < begin + cut.length; at++)
        if (numbers[at] == number && batch->count++ == 0)
            batch->first = at;
    batch->repeated = true;
}

/** The positions by definition; false if the rank has none in the step. */
static bool step_by_hand(lx__shard shard, lx__last_step last, uint64_t position,
                         lx__rank_batch *batch)
{
    uint64_t epoch = position / cut.length, first = numbers[position], at = position;
    *batch = (lx__rank_batch){0};
    for (; at < (epoch + 1) * cut.length && numbers[at] - first < shard.world; at++)
        if (numbers[at] % shard.world == shard.rank && batch->count++ == 0)
            batch->first = at;
    batch->step_end = at;
    if (batch->count == 0 && last == LX__LAST_PADDED) {
        uint64_t number = counts[epoch];
        while (number % shard.world != shard.rank)
            number++;
        repeat_by_hand(epoch * cut.length, number % counts[epoch], batch);
    }
    return batch->count != 0 && (last != LX__LAST_DROPPED || counts[epoch] - first >= shard.world);
}

START_TEST(a_step_has_one_batch_for_each_rank)
{
    uint64_t state = 3;
    for (int i = 0; i < 2000; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__epoch_table *held = NULL;
        lx__rank_batch batch, expected;
        lx__last_step last = (lx__last_step)(i % 3);
        make_any(&state);
        uint64_t world = next_choice(&state) % 6 + 1, until = EPOCHS * cut.length;
        lx__shard shard = {next_choice(&state) % world, world};
        uint64_t at = next_choice(&state) % until, found = at;
        while (at < until && !step_by_hand(shard, last, at, &expected))
            at = expected.step_end;
        lx_status status = lx__rank_assignment_next(cut.order, &held, shard, last, &found, until,
                                                    &batch, &error);
        if (cut.length >= (last == LX__LAST_DROPPED ? world : shard.rank + 1))
            ck_assert_uint_eq(found, at);
        ck_assert_int_eq(status, at < until ? LX_OK : LX_END);
        if (status == LX_OK)
            ck_assert(batch.first == expected.first && batch.count == expected.count &&
                      batch.step_end == expected.step_end && batch.repeated == expected.repeated);
        lx__epoch_table_clear_scratch(&held);
        lx_order_unref(cut.order);
    }
}
END_TEST

START_TEST(reports_a_rank_that_gets_no_batches)
{
    lx_error error = LX_ERROR_INIT;
    lx__epoch_table *held = NULL;
    lx__rank_batch batch;
    uint64_t state = 3, position = 0;
    cut = (cut_order){.budget = 1000};
    make_cut(&cut, "shuffle", 20, 100, &state); /* one or two batches */
    ck_assert_int_eq(lx__rank_assignment_next(cut.order, &held, (lx__shard){4, 5}, LX__LAST_UNEVEN,
                                              &position, UINT64_MAX, &batch, &error),
                     LX_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.message, "rank 4 of 5 has no batch in 100 epochs"));
    ck_assert_uint_eq(position, 0);
    lx_error_clear(&error);
    /* If there are fewer samples than ranks, that is known at once. */
    ck_assert_int_eq(lx__rank_assignment_next(cut.order, &held, (lx__shard){20, 21},
                                              LX__LAST_UNEVEN, &position, UINT64_MAX, &batch,
                                              &error),
                     LX_END);
    ck_assert_int_eq(lx__rank_assignment_next(cut.order, &held, (lx__shard){0, 21},
                                              LX__LAST_DROPPED, &position, UINT64_MAX, &batch,
                                              &error),
                     LX_END);
    lx__epoch_table_clear_scratch(&held);
    lx_order_unref(cut.order);
}
END_TEST

/* ---- samplers */

/** Takes a step of every rank from @p position on, and marks the indices. Returns their
 * position. */
static uint64_t take_step(uint64_t world, uint64_t position, uint8_t *seen)
{
    uint64_t indices[300], taken, end = 0;
    uint64_t epoch_end = (position / cut.length + 1) * cut.length;
    for (uint64_t rank = 0; rank < world; rank++) {
        lx_error error = LX_ERROR_INIT;
        lx_sampler *sampler;
        unit_ok(lx_sampler_new(cut.order, rank, world, &sampler, &error));
        unit_ok(lx_sampler_seek(sampler, position, &error));
        lx_status status = lx_sampler_take_batch(sampler, indices, 300, &taken, &error);
        uint64_t reached = lx_sampler_tell(sampler);
        if (status == LX_OK && reached <= epoch_end) {
            ck_assert(cut_fits(&cut, indices, taken));
            for (uint64_t i = 0; i < taken; i++)
                seen[indices[i]]++;
            ck_assert(end == 0 || end == reached);
            end = reached;
        } else { /* a rank without indices in the last step */
            ck_assert(status == LX_OK || status == LX_END || status == LX_ERR_LIMIT);
        }
        lx_sampler_free(sampler);
    }
    return end;
}

/* With any number of ranks in each step, an epoch is complete, and each index comes once. */
START_TEST(changing_world_sizes_see_each_sample_once)
{
    uint64_t state = 77;
    for (int i = 0; i < 60; i++) {
        static uint8_t seen[300];
        make_any_cut(&cut, &state);
        uint64_t all_indices[300], epoch = next_choice(&state) % 4, at = epoch * cut.length;
        memset(seen, 0, sizeof seen);
        while (at < (epoch + 1) * cut.length)
            at = take_step(next_choice(&state) % 5 + 1, at, seen);
        ck_assert_uint_eq(at, (epoch + 1) * cut.length);
        read_order(cut.order, epoch * cut.length, 1, cut.length, all_indices);
        for (uint64_t k = 0; k < cut.length; k++)
            seen[all_indices[k]]--;
        for (uint64_t k = 0; k < cut.length; k++)
            ck_assert_uint_eq(seen[k], 0);
        lx_order_unref(cut.order);
    }
}
END_TEST

START_TEST(a_seek_continues_as_an_uninterrupted_run)
{
    uint64_t state = 78;
    for (int i = 0; i < 60; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_sampler *sampler, *other;
        uint64_t ours[300], theirs[300], taken, their_count, number, begin, end;
        make_any_cut(&cut, &state);
        unit_ok(lx_sampler_new(cut.order, 0, 1, &sampler, &error));
        unit_ok(lx_sampler_new(cut.order, 0, 1, &other, &error));
        for (int k = 0; k < 30; k++) {
            uint64_t within = next_choice(&state);
            unit_ok(lx_order_find_batch(cut.order, lx_sampler_tell(sampler), &number, &begin, &end,
                                        &error));
            within = begin + within % (end - begin);
            unit_ok(lx_sampler_seek(other, within, &error));
            unit_ok(lx_sampler_take_batch(sampler, ours, 300, &taken, &error));
            unit_ok(lx_sampler_take_batch(other, theirs, 300, &their_count, &error));
            ck_assert_uint_eq(taken, end - begin);
            ck_assert_uint_eq(their_count, end - within); /* the rest of it */
            ck_assert_mem_eq(ours + (within - begin), theirs, their_count * sizeof *theirs);
            ck_assert_uint_eq(lx_sampler_tell(sampler), end);
            ck_assert_uint_eq(lx_sampler_tell(other), end);
        }
        lx_sampler_free(sampler);
        lx_sampler_free(other);
        lx_order_unref(cut.order);
    }
}
END_TEST

START_TEST(a_state_continues_with_another_world_size)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *one, *other;
    char text[LX_MAX_SAMPLER_STATE];
    uint64_t state = 79, indices[300], taken;
    cut = (cut_order){.budget = 300};
    make_cut(&cut, "shuffle", 300, 100, &state);
    unit_ok(lx_sampler_new(cut.order, 1, 3, &one, &error));
    unit_ok(lx_sampler_new(cut.order, 0, 2, &other, &error));
    unit_ok(lx_sampler_take_batch(one, indices, 300, &taken, &error));
    unit_ok(lx_sampler_save(one, text, sizeof text, NULL, &error));
    unit_ok(lx_sampler_restore(other, text, &error));
    ck_assert_uint_eq(lx_sampler_tell(one), lx_sampler_tell(other));
    lx_sampler_free(one);
    lx_sampler_free(other);
    lx_order_unref(cut.order);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler, *uncut;
    uint64_t state = 80, indices[300], taken = 5, wanted;
    lx_order *order = make_order("shuffle", 10, 1, 0);
    cut = (cut_order){.budget = 3000};
    make_cut(&cut, "shuffle", 300, 100, &state);
    unit_ok(lx_sampler_new(cut.order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_new(order, 0, 1, &uncut, &error));
    unit_fails(lx_sampler_take_batch(NULL, indices, 300, &taken, &error), LX_ERR_ARGUMENT);
    ck_assert_uint_eq(taken, 0);
    unit_fails(lx_sampler_take_batch(sampler, NULL, 300, &taken, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_take_batch(sampler, indices, 300, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_take_batch(uncut, indices, 300, &taken, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_take_batch(sampler, indices, 2, &taken, &error), LX_ERR_LIMIT);
    ck_assert_uint_eq(lx_sampler_tell(sampler), 0);
    wanted = taken;
    unit_fails(lx_sampler_take_batch(sampler, NULL, 0, &taken, &error), LX_ERR_LIMIT);
    ck_assert_uint_eq(taken, wanted);
    scarce_begin(0);
    unit_fails(lx_sampler_take_batch(sampler, indices, 300, &taken, &error), LX_ERR_NOMEM);
    ck_assert_uint_eq(lx_sampler_tell(sampler), 0);
    ck_assert_uint_eq(taken, 0);
    scarce_begin(1000);
    unit_ok(lx_sampler_take_batch(sampler, indices, wanted, &taken, &error));
    ck_assert_uint_eq(taken, wanted);
    unit_ok(lx_sampler_seek(sampler, UINT64_MAX, &error));
    ck_assert_int_eq(lx_sampler_take_batch(sampler, indices, 300, &taken, &error), LX_END);
    lx_sampler_free(uncut);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    lx_order_unref(cut.order);
}
END_TEST

UNIT_MAIN("sampler/rank-assignment", a_step_has_one_batch_for_each_rank,
          reports_a_rank_that_gets_no_batches, changing_world_sizes_see_each_sample_once,
          a_seek_continues_as_an_uninterrupted_run, a_state_continues_with_another_world_size,
          rejects_invalid_arguments)
