/* SPDX-License-Identifier: MIT */
/* Loaders over orders that are cut into batches: lib/loader/batch-schedule.c. */
#include "../sampler/cut-orders.h"
#include "../../new-orders.h"
#include "loader/loader-private.h"
#include "loaders.h"

#define STATE_SIZE 4096

static cut_order cut;
static struct numbers numbers = {.width = 3, .identity = "v1"};

/** Any order that is cut, and a source for it. */
static lx_source *make_any(uint64_t *state)
{
    make_any_cut(&cut, state);
    numbers.length = cut.length;
    return numbers_source(&numbers);
}

static void end_any(lx_source *source)
{
    lx_source_unref(source);
    lx_order_unref(cut.order);
}

/** A batch is one of the order's, or the rest of one. */
static void check_batch(const lx_batch *batch)
{
    check_numbers(batch);
    ck_assert_uint_le(lx_batch_get_row_count(batch), lx_order_get_max_batch_size(cut.order));
    ck_assert(cut_fits(&cut, lx_batch_get_indices(batch), lx_batch_get_row_count(batch)));
}

START_TEST(batches_follow_the_order)
{
    uint64_t state = 5, indices[300];
    for (int i = 0; i < 40; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_source *source = make_any(&state);
        lx_loader *loader = open_loader(
            source, (struct setup){.order = cut.order, .epochs = 2, .threads = (uint32_t)i % 3});
        lx_sampler *sampler;
        uint64_t taken, count, left = 0;
        unit_ok(lx_sampler_new(cut.order, 0, 1, &sampler, &error));
        for (uint64_t epoch = 0; epoch < 2; epoch++) {
            unit_ok(lx_order_get_batch_count(cut.order, epoch, &count, &error));
            ck_assert_uint_eq(batches_per_epoch(loader), count);
            for (left = count; left > 0; left--) {
                lx_batch *batch = next_batch(loader);
                check_batch(batch);
                ck_assert_uint_eq(lx_batch_get_position(batch), lx_sampler_tell(sampler));
                ck_assert_uint_eq(lx_batch_get_epoch(batch), epoch);
                unit_ok(lx_sampler_take_batch(sampler, indices, 300, &taken, &error));
                ck_assert_uint_eq(lx_batch_get_row_count(batch), taken);
                ck_assert_mem_eq(lx_batch_get_indices(batch), indices, taken * 8);
                ck_assert_uint_eq(lx_loader_tell(loader), lx_sampler_tell(sampler));
                lx_batch_unref(batch);
            }
        }
        ck_assert_ptr_null(next_batch(loader));
        lx_sampler_free(sampler);
        lx_loader_close(loader);
        end_any(source);
    }
}
END_TEST

/* A step of four ranks equals two of two ranks, and four of one. */
START_TEST(ranks_take_consecutive_batches)
{
    uint64_t state = 6;
    for (int i = 0; i < 20; i++) {
        static uint64_t positions[4][300 * 4]; /* of the first sample; and rows */
        lx_source *source = make_any(&state);
        for (uint64_t world = 1; world <= 4; world *= 2) {
            lx_loader *loaders[4];
            uint64_t total = 0;
            for (uint64_t rank = 0; rank < world; rank++)
                loaders[rank] = open_loader(
                    source, (struct setup){.order = cut.order, .rank = rank, .world = world});
            for (bool any = true; any;) {
                any = false;
                for (uint64_t rank = 0; rank < world; rank++) {
                    lx_batch *batch = next_batch(loaders[rank]);
                    if (batch == NULL || lx_batch_get_real_count(batch) == 0) {
                        lx_batch_unref(batch);
                        continue;
                    }
                    any = true;
                    check_batch(batch);
                    positions[world - 1][2 * total] = lx_batch_get_indices(batch)[0];
                    positions[world - 1][2 * total++ + 1] = lx_batch_get_row_count(batch);
                    lx_batch_unref(batch);
                }
            }
            ck_assert_mem_eq(positions[world - 1], positions[0], 16 * total);
            for (uint64_t rank = 0; rank < world; rank++) {
                ck_assert_uint_eq(lx_loader_tell(loaders[rank]), cut.length);
                lx_loader_close(loaders[rank]);
            }
        }
        end_any(source);
    }
}
END_TEST

START_TEST(batches_of_an_order_cannot_be_filled)
{
    uint64_t state = 9;
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_source *source = make_any(&state);
    lx_loader_options *options = make_options((struct setup){.order = cut.order, .pad_last = true});
    unit_fails(lx_loader_open(source, options, &loader, &error), LX_ERR_ARGUMENT);
    lx_loader_options_free(options);
    end_any(source);
}
END_TEST

START_TEST(all_ranks_pad_or_drop_incomplete_steps)
{
    uint64_t state = 7;
    for (int i = 0; i < 40; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_source *source = make_any(&state);
        uint64_t world = next_choice(&state) % 4 + 1, count;
        unit_ok(lx_order_get_batch_count(cut.order, 0, &count, &error));
        for (int last = 0; last < 3; last++)
            for (uint64_t rank = 0; rank < world; rank++) {
                lx_loader *loader = open_loader(source, (struct setup){.order = cut.order,
                                                                       .rank = rank,
                                                                       .world = world,
                                                                       .drop_last = last == 1,
                                                                       .uneven = last == 2});
                uint64_t batches = 0, all = batches_per_epoch(loader);
                uint64_t rest = last == 0 ? count % world != 0 : last == 2 && rank < count % world;
                ck_assert_uint_eq(all, count / world + rest);
                for (lx_batch *batch; (batch = next_batch(loader)) != NULL; batches++) {
                    check_batch(batch);
                    lx_batch_unref(batch);
                }
                ck_assert_uint_eq(batches, all);
                lx_loader_close(loader);
            }
        end_any(source);
    }
}
END_TEST

/** Continues from a state, or the beginning, for a number of batches; updates the state. */
static uint64_t run_rank(lx_source *source, struct setup setup, uint64_t steps, char *text,
                         uint8_t *seen)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader = open_loader(source, setup);
    if (text[0] != '\0')
        unit_ok(lx_loader_restore(loader, text, &error));
    for (lx_batch *batch; steps > 0 && (batch = next_batch(loader)) != NULL; steps--) {
        for (uint64_t i = 0; i < lx_batch_get_real_count(batch); i++)
            seen[lx_batch_get_indices(batch)[i]]++;
        lx_batch_unref(batch);
    }
    unit_ok(lx_loader_save(loader, text, STATE_SIZE, NULL, &error));
    uint64_t position = lx_loader_tell(loader);
    lx_loader_close(loader);
    return position;
}

/** The same for all ranks of a world; returns their position. */
static uint64_t run_world(lx_source *source, uint64_t world, uint32_t threads, uint64_t steps,
                          char *text, uint8_t *seen)
{
    char after[STATE_SIZE];
    uint64_t position = 0;
    for (uint64_t rank = 0; rank < world; rank++) {
        memcpy(after, text, STATE_SIZE);
        uint64_t here = run_rank(
            source,
            (struct setup){.order = cut.order, .rank = rank, .world = world, .threads = threads},
            steps, after, seen);
        ck_assert(rank == 0 || here == position);
        position = here;
    }
    memcpy(text, after, STATE_SIZE);
    return position;
}

START_TEST(changing_worlds_and_threads_see_each_sample_once)
{
    uint64_t state = 8;
    for (int i = 0; i < 40; i++) {
        static uint8_t seen[300];
        uint64_t indices[300], at = 0;
        char text[STATE_SIZE] = "";
        lx_source *source = make_any(&state);
        memset(seen, 0, sizeof seen);
        for (int change = 0; at < cut.length; change++)
            at = run_world(source, next_choice(&state) % 4 + 1, (uint32_t)change % 3,
                           change < 5 ? next_choice(&state) % 4 : UINT64_MAX, text, seen);
        ck_assert_uint_eq(at, cut.length);
        read_order(cut.order, 0, 1, cut.length, indices);
        for (uint64_t k = 0; k < cut.length; k++)
            seen[indices[k]]--;
        for (uint64_t k = 0; k < cut.length; k++)
            ck_assert_uint_eq(seen[k], 0);
        end_any(source);
    }
}
END_TEST

static bool is_skipped(const struct setup *setup, uint64_t begin, uint64_t end)
{
    for (int i = 0; i < 2; i++)
        if (setup->skipped[i][0] < end && begin < setup->skipped[i][1])
            return true;
    return false;
}

/** Checks that @p skipping returns the batches of @p loader that are not skipped. */
static void expect_the_others(lx_loader *loader, lx_loader *skipping, const struct setup *setup)
{
    lx_batch *batch, *other;
    while ((batch = next_batch(loader)) != NULL) {
        if (!is_skipped(setup, lx_batch_get_position(batch), lx_loader_tell(loader))) {
            other = next_batch(skipping);
            ck_assert_ptr_nonnull(other);
            ck_assert_uint_eq(add_digest(0, batch), add_digest(0, other));
            ck_assert_uint_eq(lx_batch_get_real_count(batch), lx_batch_get_real_count(other));
            ck_assert_uint_eq(lx_loader_tell(loader), lx_loader_tell(skipping));
            lx_batch_unref(other);
        }
        lx_batch_unref(batch);
    }
    ck_assert_ptr_null(next_batch(skipping));
    ck_assert_uint_eq(lx_loader_tell(loader), lx_loader_tell(skipping));
}

/** Counts the batches of the epoch at a position, one by one. */
static uint64_t count_epoch(lx_source *source, struct setup setup, uint64_t epoch_begin)
{
    lx_error error = LX_ERROR_INIT;
    setup.epochs = 1;
    lx_loader *loader = open_loader(source, setup);
    uint64_t count = 0;
    unit_ok(lx_loader_seek(loader, epoch_begin, &error));
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; count++)
        lx_batch_unref(batch);
    lx_loader_close(loader);
    return count;
}

/** A source whose order is cut into batches in half of the cases. */
static lx_source *make_any_setup(uint64_t *state, struct setup *setup)
{
    lx_source *source = make_any(state);
    uint64_t length = lx_order_get_length(cut.order), last = random_next(state) % 3;
    *setup = (struct setup){.order = cut.order,
                            .world = 1 + random_next(state) % 3,
                            .epochs = 1 + random_next(state) % 3,
                            .drop_last = last == 1,
                            .uneven = last == 2,
                            .threads = (uint32_t)(random_next(state) % 2)};
    if (random_next(state) % 2) {
        setup->order = NULL; /* sequential */
        setup->batch_size = 1 + random_next(state) % 9;
    }
    setup->rank = random_next(state) % setup->world;
    for (int i = 0; i < 2; i++) {
        uint64_t first = random_next(state) % (length * 3);
        setup->skipped[i][0] = first;
        setup->skipped[i][1] = first + 1 + random_next(state) % (length * 2);
    }
    return source;
}

START_TEST(skipped_batches_do_not_change_the_others)
{
    uint64_t state = 31;
    for (int i = 0; i < 200; i++) {
        lx_error error = LX_ERROR_INIT;
        struct setup setup;
        lx_source *source = make_any_setup(&state, &setup);
        uint64_t length = lx_order_get_length(cut.order);
        uint64_t begin = random_next(&state) % (length * 2);
        lx_loader *skipping = open_loader(source, setup);
        struct setup plain = setup;
        memset(plain.skipped, 0, sizeof plain.skipped);
        lx_loader *loader = open_loader(source, plain);
        unit_ok(lx_loader_seek(loader, begin, &error));
        unit_ok(lx_loader_seek(skipping, begin, &error));
        ck_assert_uint_eq(batches_per_epoch(skipping),
                          count_epoch(source, setup, begin / length * length));
        expect_the_others(loader, skipping, &setup);
        lx_loader_close(loader);
        lx_loader_close(skipping);
        end_any(source);
    }
}
END_TEST

/* A loop over the batches would not end in this test's time. */
START_TEST(skips_any_number_of_batches_at_once)
{
    struct numbers many = {.length = (uint64_t)1 << 40, .width = 1};
    lx_source *source = numbers_source(&many);
    struct setup setup = {.endless = true, .batch_size = 1, .skipped = {{5, UINT64_MAX - 10}}};
    lx_loader *loader = open_loader(source, setup);
    for (uint64_t at = 0; at < 6; at++) {
        lx_batch *batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_position(batch), at < 5 ? at : UINT64_MAX - 10);
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

START_TEST(a_seek_to_a_skipped_end_continues_with_the_next_run)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers few = {.length = 12, .width = 1};
    lx_source *source = numbers_source(&few);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 4, .skipped = {{8, 12}}});
    unit_ok(lx_loader_seek(loader, 8, &error));
    lx_loader_next_epoch(loader); /* no rank has a batch left */
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_position(batch), 12);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

START_TEST(skips_to_the_last_position)
{
    struct numbers many = {.length = ((uint64_t)1 << 40) - 1, .width = 1};
    lx_source *source = numbers_source(&many);
    lx_loader *loader = open_loader(
        source, (struct setup){.endless = true, .batch_size = 7, .skipped = {{7, UINT64_MAX}}});
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_position(batch), 0);
    lx_batch_unref(batch);
    ck_assert_ptr_null(next_batch(loader));
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

START_TEST(a_seek_into_a_batch_returns_its_rest)
{
    uint64_t state = 9;
    for (int i = 0; i < 20; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_source *source = make_any(&state);
        lx_loader *loader = open_loader(source, (struct setup){.order = cut.order});
        for (int k = 0; k < 10; k++) {
            uint64_t position = next_choice(&state) % (5 * cut.length), begin, end;
            unit_ok(lx_order_find_batch(cut.order, position, NULL, &begin, &end, &error));
            unit_ok(lx_loader_seek(loader, position, &error));
            lx_batch *batch = next_batch(loader);
            check_batch(batch);
            ck_assert_uint_eq(lx_batch_get_position(batch), position);
            ck_assert_uint_eq(lx_batch_get_row_count(batch), end - position);
            ck_assert_uint_eq(lx_loader_tell(loader), end);
            lx_batch_unref(batch);
        }
        lx_loader_close(loader);
        end_any(source);
    }
}
END_TEST

START_TEST(reports_a_rank_that_gets_no_batches)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    uint64_t state = 10;
    cut = (cut_order){.budget = 1000};
    make_cut(&cut, "shuffle", 20, 100, &state); /* one or two batches */
    numbers.length = 20;
    lx_source *source = numbers_source(&numbers);
    struct setup setup = {
        .order = cut.order, .rank = 4, .world = 5, .endless = true, .uneven = true};
    lx_loader *loader = open_loader(source, setup);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_LIMIT);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_LIMIT);
    lx_loader_next_epoch(loader); /* without a position to continue from */
    ck_assert_uint_eq(lx_loader_tell(loader), 0);
    ck_assert_uint_eq(batches_per_epoch(loader), 0);
    lx_loader_close(loader);
    setup.endless = false;
    loader = open_loader(source, setup); /* with some epochs it ends like others */
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        lx_loader_next_epoch(loader);
        ck_assert_uint_eq(lx_loader_tell(loader), epoch * 20);
        ck_assert_ptr_null(next_batch(loader));
        ck_assert_uint_eq(lx_loader_tell(loader), (epoch + 1) * 20);
    }
    lx_loader_close(loader);
    setup.world = setup.rank = 30;
    setup.world++;
    setup.endless = true;
    loader = open_loader(source, setup); /* no epoch can have a batch */
    ck_assert_ptr_null(next_batch(loader));
    lx_loader_close(loader);
    end_any(source);
}
END_TEST

START_TEST(rejects_a_batch_size_with_batches_of_the_order)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t state = 11;
    lx_source *source = make_any(&state);
    lx_loader *loader;
    lx_loader_options *options = make_options((struct setup){.order = cut.order});
    unit_ok(lx_loader_options_set_batch_size(options, 1, &error));
    ck_assert_int_eq(lx_loader_open(source, options, &loader, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "leave batch_size unset"));
    lx_loader_options_free(options);
    end_any(source);
}
END_TEST

START_TEST(accepts_an_order_without_samples)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order, *part = make_order("shuffle", 0, 1, 0);
    numbers.length = 0;
    unit_ok(new_budgeted(part, NULL, 0, 5, 0, false, &order, &error));
    lx_loader *loader = open_numbers(&numbers, (struct setup){.order = order, .endless = true});
    ck_assert_ptr_null(next_batch(loader));
    ck_assert_uint_eq(batches_per_epoch(loader), 0);
    lx_loader_close(loader);
    lx_order_unref(order);
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("loader/batch-schedule", batches_follow_the_order, ranks_take_consecutive_batches,
          batches_of_an_order_cannot_be_filled, all_ranks_pad_or_drop_incomplete_steps,
          changing_worlds_and_threads_see_each_sample_once,
          skipped_batches_do_not_change_the_others, skips_any_number_of_batches_at_once,
          a_seek_to_a_skipped_end_continues_with_the_next_run, skips_to_the_last_position,
          a_seek_into_a_batch_returns_its_rest, reports_a_rank_that_gets_no_batches,
          rejects_a_batch_size_with_batches_of_the_order, accepts_an_order_without_samples)
