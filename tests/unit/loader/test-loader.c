/* SPDX-License-Identifier: MIT */
/* What a loader delivers: positions, ranks, epochs, errors. test-pipeline.c tests threads and
 * timing. */
#include "loader/loader-private.h"

#include "../scarce.h"
#include "loaders.h"
#include "model.h"

/** Takes up to @p count batches from both, which must agree in everything that a caller sees. */
static void expect_batches(lx_loader *loader, struct model *model, int count)
{
    static uint64_t expected[MODEL_ROWS];
    for (int i = 0; i < count; i++) {
        uint64_t start, rows = model_next(model, &start, expected);
        lx_batch *batch = next_batch(loader);
        ck_assert_int_eq(batch != NULL, rows != 0);
        ck_assert_uint_eq(lx_loader_tell(loader), model->position);
        if (batch == NULL)
            return;
        ck_assert_uint_eq(lx_batch_get_position(batch), start);
        ck_assert_uint_eq(lx_batch_get_row_count(batch), rows);
        ck_assert_mem_eq(lx_batch_get_indices(batch), expected, rows * sizeof *expected);
        check_numbers(batch);
        lx_batch_unref(batch);
    }
}

static lx_order *random_order(uint64_t *state, uint64_t length)
{
    switch (random_next(state) % 3) {
    case 0:
        return make_order("sequential", length, random_next(state) % 9, random_next(state) % 9);
    case 1:
        return make_order("random", length, random_next(state), 0);
    default:
        return make_order("shuffle", length, random_next(state), 0);
    }
}

static struct setup random_setup(uint64_t *state, lx_order *order)
{
    uint64_t world = 1 + random_next(state) % 7, last = random_next(state) % 4;
    return (struct setup){.batch_size = 1 + random_next(state) % 13,
                          .world = world,
                          .rank = random_next(state) % world,
                          .epochs = random_next(state) % 4,
                          .endless = true, /* if epochs is 0 */
                          .drop_last = last == 1,
                          .uneven = last == 2,
                          .pad_last = last == 3,
                          .threads = (uint32_t)(random_next(state) % 3),
                          .order = order};
}

START_TEST(any_configuration_delivers_the_batches_of_its_positions)
{
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 300; round++) {
        uint64_t length = 1 + random_next(&state) % 60;
        struct numbers numbers = {.length = length + random_next(&state) % 3, .width = 3};
        lx_order *order = random_order(&state, length);
        struct setup setup = random_setup(&state, order);
        lx_loader *loader = open_numbers(&numbers, setup);
        struct model model = model_of(order, setup);
        ck_assert_uint_eq(batches_per_epoch(loader), model_epoch_batches(&model));
        for (int stage = 0; stage < 4; stage++) {
            expect_batches(loader, &model, (int)(random_next(&state) % 20));
            if (random_next(&state) % 2) {
                uint64_t position = random_next(&state) % (length * 5);
                lx_error error = LX_ERROR_INIT;
                unit_ok(lx_loader_seek(loader, position, &error));
                model_seek(&model, position);
            } else {
                lx_loader_next_epoch(loader); /* does nothing if batches remain */
                model_continue(&model);
            }
            ck_assert_uint_eq(lx_loader_tell(loader), model.position);
        }
        model_free(&model);
        lx_loader_close(loader);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(reports_the_end_until_the_next_epoch)
{
    struct numbers numbers = {.length = 10, .width = 1};
    lx_order *order = make_order("shuffle", 10, 3, 0);
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        struct setup setup = {.batch_size = 4, .epochs = 2, .threads = threads, .order = order};
        lx_loader *loader = open_numbers(&numbers, setup);
        struct model model = model_of(order, setup);
        expect_batches(loader, &model, 5);
        lx_loader_next_epoch(loader); /* a batch remains */
        expect_batches(loader, &model, 1);
        for (int i = 0; i < 3; i++)
            ck_assert_ptr_null(next_batch(loader));
        ck_assert_uint_eq(lx_loader_tell(loader), 20);
        lx_loader_next_epoch(loader);
        lx_loader_next_epoch(loader);
        model_seek(&model, 20);
        expect_batches(loader, &model, 6);
        lx_loader_next_epoch(loader); /* none remains, although the end was not reported yet */
        model_seek(&model, 40);
        expect_batches(loader, &model, 7);
        ck_assert_uint_eq(lx_loader_tell(loader), 60);
        model_free(&model);
        lx_loader_close(loader);
    }
    lx_order_unref(order);
}
END_TEST

/** The position at the end of the epoch to which the loader seeks, and the rows that it had of
 * it. */
static uint64_t end_epoch(lx_loader *loader, uint64_t *rows)
{
    lx_batch *batch;
    *rows = 0;
    lx_loader_next_epoch(loader);
    while ((batch = next_batch(loader)) != NULL) {
        *rows += lx_batch_get_row_count(batch);
        lx_batch_unref(batch);
    }
    return lx_loader_tell(loader);
}

START_TEST(all_ranks_end_the_epoch_of_a_seek)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 11, .width = 1};
    uint64_t rows, together = 0;
    for (uint64_t rank = 0; rank < 3; rank++) {
        struct setup setup = {.batch_size = 2, .world = 3, .rank = rank, .uneven = true};
        lx_loader *loader = open_numbers(&numbers, setup);
        unit_ok(lx_loader_seek(loader, 10, &error)); /* the last one is rank 1's */
        ck_assert_uint_eq(end_epoch(loader, &rows), 11);
        ck_assert_uint_eq(rows, rank == 1);
        ck_assert_uint_eq(end_epoch(loader, &rows), 22);
        together += rows;
        lx_loader_close(loader);
    }
    ck_assert_uint_eq(together, 11);
}
END_TEST

START_TEST(a_seek_after_the_end_restarts)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 1};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 10});
    lx_batch_unref(next_batch(loader));
    ck_assert_ptr_null(next_batch(loader));
    unit_ok(lx_loader_seek(loader, 7, &error));
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_row_count(batch), 3);
    ck_assert_uint_eq(lx_batch_get_indices(batch)[0], 7);
    lx_batch_unref(batch);
    ck_assert_ptr_null(next_batch(loader));
    unit_ok(lx_loader_seek(loader, UINT64_MAX, &error));
    ck_assert_ptr_null(next_batch(loader));
    ck_assert_uint_eq(lx_loader_tell(loader), UINT64_MAX);
    lx_loader_close(loader);
}
END_TEST

/** Runs the ranks of @p setup in lockstep from @p position for @p batches global batches, or to the
 * end of the epoch, and counts each record. Returns their last position. */
static uint64_t run_ranks(lx_source *source, struct setup setup, uint64_t position, int batches,
                          unsigned *seen)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t end = LX_NONE;
    for (setup.rank = 0; setup.rank < setup.world; setup.rank++) {
        lx_loader *loader = open_loader(source, setup);
        unit_ok(lx_loader_seek(loader, position, &error));
        int left = batches;
        for (lx_batch *batch; left-- > 0 && (batch = next_batch(loader)) != NULL;) {
            for (uint64_t i = 0; i < lx_batch_get_real_count(batch); i++)
                seen[lx_batch_get_indices(batch)[i]]++;
            check_numbers(batch);
            lx_batch_unref(batch);
        }
        ck_assert(end == LX_NONE || end == lx_loader_tell(loader));
        end = lx_loader_tell(loader);
        lx_loader_close(loader);
    }
    return end;
}

START_TEST(ranks_together_read_each_record_once_per_epoch)
{
    uint64_t state = 362436069u;
    for (int round = 0; round < 40; round++) {
        uint64_t length = 1 + random_next(&state) % 100;
        unsigned seen[100] = {0};
        struct numbers numbers = {.length = length, .width = 2};
        lx_source *source = numbers_source(&numbers);
        struct setup setup = {.batch_size = 1 + random_next(&state) % 9,
                              .world = 1 + random_next(&state) % 9,
                              .drop_last = round % 4 == 1,
                              .uneven = round % 4 == 2,
                              .pad_last = round % 4 == 3,
                              .order = make_order("shuffle", length, random_next(&state), 0)};
        uint64_t epoch = random_next(&state) % 3 * length, total = 0;
        ck_assert_uint_eq(run_ranks(source, setup, epoch, 1000, seen), epoch + length);
        for (uint64_t i = 0; i < length; i++) {
            ck_assert_uint_le(seen[i], 1);
            total += seen[i];
        }
        uint64_t global = setup.batch_size * setup.world;
        ck_assert_uint_eq(total, setup.drop_last ? length / global * global : length);
        lx_order_unref(setup.order);
        lx_source_unref(source);
    }
}
END_TEST

/* The same key for a position of the order, whichever process reads it. */
START_TEST(each_sample_has_random_numbers_of_its_own)
{
    enum { LENGTH = 100 };
    static uint64_t places[3][LENGTH];
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    struct numbers numbers = {.length = LENGTH, .width = 2};
    lx_source *source = numbers_source(&numbers);
    lx_order *order = make_order("shuffle", LENGTH, 5, 0);
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    for (uint64_t position = 0, index, taken; position < 3 * LENGTH; position++) {
        unit_ok(lx_sampler_take(sampler, 1, &index, &taken, &error));
        places[position / LENGTH][index] = position;
    }
    lx_sampler_free(sampler);
    for (uint64_t world = 1; world <= 3; world++) {
        struct setup setup = {.batch_size = 7,
                              .world = world,
                              .rank = world - 1,
                              .epochs = 3,
                              .first_epoch = 10 * world - 10,
                              .threads = (uint32_t)world - 1,
                              .order = order};
        lx_loader *loader = open_loader(source, setup);
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            uint64_t keys[7][2], right[2], epoch = lx_batch_get_position(batch) / LENGTH;
            ck_assert_uint_eq(lx_batch_get_epoch(batch), setup.first_epoch + epoch);
            lx_batch_get_keys(batch, 42, keys[0]);
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++) {
                lx_random_get_key(42, lx_batch_get_epoch(batch),
                                  places[epoch][lx_batch_get_indices(batch)[i]], right);
                ck_assert_mem_eq(keys[i], right, sizeof right);
            }
        }
        lx_loader_close(loader);
    }
    lx_order_unref(order);
    lx_source_unref(source);
}
END_TEST

START_TEST(continues_with_other_ranks_without_loss_or_repeat)
{
    uint64_t state = 521288629u;
    for (int round = 0; round < 40; round++) {
        uint64_t length = 50 + random_next(&state) % 200, position = 0;
        unsigned seen[250] = {0};
        struct numbers numbers = {.length = length, .width = 2};
        lx_source *source = numbers_source(&numbers);
        lx_order *order = make_order("shuffle", length, random_next(&state), 0);
        while (position < length) {
            struct setup setup = {.batch_size = 1 + random_next(&state) % 7,
                                  .world = 1 + random_next(&state) % 6,
                                  .threads = (uint32_t)(random_next(&state) % 3),
                                  .order = order};
            uint64_t global = setup.batch_size * setup.world;
            /* The ranks stop together before the uneven end; then they continue to the end. */
            int batches = (length - position) / global > 1 ? (int)(1 + random_next(&state) % 3)
                                                           : 1000;
            if ((uint64_t)batches * global > length - position)
                batches = 1000;
            position = run_ranks(source, setup, position, batches, seen);
        }
        ck_assert_uint_eq(position, length);
        for (uint64_t i = 0; i < length; i++)
            ck_assert_uint_eq(seen[i], 1);
        lx_order_unref(order);
        lx_source_unref(source);
    }
}
END_TEST

START_TEST(rank_2_of_4_continues_at_70_after_17_steps)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 1000, .width = 1};
    struct setup setup = {.world = 4, .rank = 2};
    lx_loader *loader = open_numbers(&numbers, setup);
    for (int i = 0; i < 17; i++)
        lx_batch_unref(next_batch(loader));
    uint64_t position = lx_loader_tell(loader);
    ck_assert_uint_eq(position, 68);
    lx_loader_close(loader);
    loader = open_numbers(&numbers, setup);
    unit_ok(lx_loader_seek(loader, position, &error));
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_indices(batch)[0], 70);
    lx_batch_unref(batch);
    lx_loader_close(loader);
}
END_TEST

START_TEST(an_empty_source_is_at_its_end)
{
    struct numbers numbers = {.length = 0, .width = 1};
    for (int endless = 0; endless < 2; endless++) {
        lx_loader *loader = open_numbers(&numbers,
                                         (struct setup){.batch_size = 4, .endless = endless});
        ck_assert_uint_eq(batches_per_epoch(loader), 0);
        for (int i = 0; i < 2; i++) {
            ck_assert_ptr_null(next_batch(loader));
            ck_assert_uint_eq(lx_loader_tell(loader), 0);
            lx_loader_next_epoch(loader);
        }
        lx_loader_close(loader);
    }
}
END_TEST

START_TEST(one_record_is_an_epoch)
{
    struct numbers numbers = {.length = 1, .width = 1};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 4, .endless = true});
    for (uint64_t i = 0; i < 100; i++) {
        lx_batch *batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_row_count(batch), 1);
        ck_assert_uint_eq(lx_batch_get_position(batch), i);
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
}
END_TEST

START_TEST(a_rank_without_records_is_at_its_end)
{
    static const struct setup setups[] = {
        {.world = 8, .rank = 5, .uneven = true},
        {.world = 8, .rank = 3, .endless = true, .uneven = true},
        {.world = UINT64_MAX, .rank = UINT64_MAX - 1, .endless = true, .uneven = true},
        {.world = 8, .rank = 3, .epochs = UINT64_MAX / 8, .uneven = true},
        {.batch_size = 4, .drop_last = true, .endless = true},
        {.batch_size = 2, .world = 2, .drop_last = true, .endless = true, .threads = 2}};
    struct numbers numbers = {.length = 3, .width = 1};
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        lx_loader *loader = open_numbers(&numbers, setups[i]);
        ck_assert_uint_eq(batches_per_epoch(loader), 0);
        ck_assert_ptr_null(next_batch(loader));
        uint64_t epochs = setups[i].endless ? 0 : setups[i].epochs == 0 ? 1 : setups[i].epochs;
        ck_assert_uint_eq(lx_loader_tell(loader), 3 * epochs);
        lx_loader_close(loader);
    }
}
END_TEST

/* As many batches, of as many rows, on each rank: the epoch is padded to a multiple of world, from
 * its start. */
START_TEST(all_ranks_take_the_same_number_of_batches)
{
    struct numbers numbers = {.length = 1025, .width = 1};
    for (uint64_t rank = 0; rank < 4; rank++) {
        lx_loader *loader =
            open_numbers(&numbers, (struct setup){.batch_size = 32, .world = 4, .rank = rank});
        ck_assert_uint_eq(batches_per_epoch(loader), 9);
        for (uint64_t i = 0; i < 9; i++) {
            lx_batch *batch = next_batch(loader);
            ck_assert_uint_eq(lx_batch_get_row_count(batch), i < 8 ? 32 : 1);
            ck_assert_uint_eq(lx_batch_get_real_count(batch), i < 8 ? 32 : rank == 0);
            if (i == 8)
                ck_assert_uint_eq(lx_batch_get_indices(batch)[0], rank == 0 ? 1024 : rank - 1);
            check_numbers(batch);
            lx_batch_unref(batch);
        }
        ck_assert_ptr_null(next_batch(loader));
        ck_assert_uint_eq(lx_loader_tell(loader), 1025);
        lx_loader_close(loader);
    }
}
END_TEST

/* Whatever the epoch, the ranks and the place, a batch is full, and what fills it is not real. */
START_TEST(all_batches_have_one_size)
{
    static const uint64_t lengths[] = {1, 2, 31, 32, 33, 127, 128, 129, 1025};
    for (size_t i = 0; i < 4 * sizeof lengths / sizeof *lengths; i++) {
        struct numbers numbers = {.length = lengths[i / 4], .width = 1};
        uint64_t rank = i % 4, all = (numbers.length + 127) / 128, real = 0;
        lx_loader *loader = open_numbers(
            &numbers, (struct setup){.batch_size = 32, .world = 4, .rank = rank, .pad_last = true});
        ck_assert_uint_eq(batches_per_epoch(loader), all);
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            ck_assert_uint_eq(lx_batch_get_row_count(batch), 32);
            for (uint64_t row = 0; row < 32; row++)
                ck_assert_uint_eq(lx_batch_get_indices(batch)[row],
                                  (lx_batch_get_position(batch) + rank + 4 * row) % numbers.length);
            check_numbers(batch);
            real += lx_batch_get_real_count(batch);
        }
        ck_assert_uint_eq(real, (numbers.length + 3 - rank) / 4);
        ck_assert_uint_eq(lx_loader_tell(loader), numbers.length);
        lx_loader_close(loader);
    }
}
END_TEST

START_TEST(more_ranks_than_records_share_the_records)
{
    struct numbers numbers = {.length = 3, .width = 1};
    lx_source *source = numbers_source(&numbers);
    unsigned seen[3] = {0};
    struct setup setup = {.batch_size = 2, .world = 8};
    ck_assert_uint_eq(run_ranks(source, setup, 0, 10, seen), 3);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(seen[i], 1);
    lx_source_unref(source);
}
END_TEST

START_TEST(returns_fields_in_the_requested_order)
{
    static const char *const turned[] = {"image", "label"}, *const one[] = {"image"};
    struct numbers numbers = {.length = 20, .width = 5};
    for (size_t count = 1; count <= 2; count++) {
        lx_loader *loader = open_numbers(&numbers,
                                         (struct setup){.batch_size = 8,
                                                        .fields = count == 2 ? turned : one,
                                                        .field_count = count});
        lx_batch *batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_column_count(batch), count);
        ck_assert_str_eq(lx_batch_get_column(batch, 0)->name, "image");
        ck_assert_ptr_null(lx_batch_get_column(batch, count));
        ck_assert_int_eq(lx_batch_find_column(batch, "label") != NULL, count == 2);
        ck_assert_ptr_null(lx_batch_find_column(batch, "none"));
        check_numbers(batch);
        lx_batch_unref(batch);
        lx_loader_close(loader);
    }
}
END_TEST

/** Opening must fail with that status, and keep no memory. */
static void expect_refusal(struct setup setup, lx_status status, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20, .width = 5};
    lx_source *source = numbers_source(&numbers);
    lx_loader_options *options = make_options(setup);
    lx_loader *loader;
    ck_assert_int_eq(lx_loader_open(source, options, &loader, &error), status);
    ck_assert_int_eq(error.status, status);
    char text[1200];
    lx_error_describe(&error, text, sizeof text);
    ck_assert_msg(strstr(text, part) != NULL, "%s", text);
    lx_loader_options_free(options);
    lx_source_unref(source);
    ck_assert_uint_eq(numbers.released, 1);
}

START_TEST(a_batch_larger_than_the_source_allocates_no_more_than_it)
{
    static const uint64_t sizes[] = {1ull << 40, UINT64_MAX / 3}, lengths[] = {100, 1, 0};
    for (int i = 0; i < 2 * 3 * 3 * 3; i++) {
        uint64_t length = lengths[i / 2 % 3], world = 1 + (uint64_t)(i / 6 % 3);
        struct numbers numbers = {.length = length, .width = 20};
        for (uint64_t rank = 0; rank < world; rank++) {
            lx_loader *loader = open_numbers(&numbers,
                                             (struct setup){.batch_size = sizes[i % 2],
                                                            .world = world,
                                                            .rank = rank,
                                                            .epochs = 2,
                                                            .threads = (uint32_t)(i / 18)});
            uint64_t share = length / world + (length % world != 0);
            for (int epoch = 0; epoch < 2 && share != 0; epoch++) {
                lx_batch *batch = next_batch(loader);
                ck_assert_uint_eq(lx_batch_get_row_count(batch), share);
                check_numbers(batch);
                lx_batch_unref(batch);
            }
            ck_assert_ptr_null(next_batch(loader));
            lx_loader_stats stats;
            lx_loader_get_stats(loader, &stats);
            ck_assert_uint_le(stats.block_bytes, 1 << 20);
            lx_loader_close(loader);
        }
    }
}
END_TEST

START_TEST(reports_why_opening_fails)
{
    static const char *const unknown[] = {"label", "lable"}, *const twice[] = {"label", "label"};
    expect_refusal((struct setup){.fields = unknown, .field_count = 2}, LX_ERR_NOT_FOUND, "lable");
    expect_refusal((struct setup){.fields = twice, .field_count = 2}, LX_ERR_ARGUMENT, "label");
    for (int i = 1; i < 8; i++)
        if (i != 1 && i != 2 && i != 4)
            expect_refusal((struct setup){.drop_last = i & 1, .uneven = i & 2, .pad_last = i & 4},
                           LX_ERR_ARGUMENT, "uneven");
    expect_refusal((struct setup){.batch_size = 1ull << 40, .world = 1ull << 30}, LX_ERR_ARGUMENT,
                   "world");
    lx_order *order = make_order("shuffle", 21, 1, 0);
    expect_refusal((struct setup){.order = order}, LX_ERR_MISMATCH, "21");
    lx_order_unref(order);

    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20, .width = 5};
    lx_source *source = numbers_source(&numbers);
    lx_executor *executor = open_executor(1, 1);
    lx_loader_options *options = make_options((struct setup){.executor = executor});
    lx_loader *loader;
    unit_ok(lx_loader_options_set_reader_count(options, 2, &error));
    unit_fails(lx_loader_open(source, options, &loader, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_loader_open(NULL, NULL, &loader, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_loader_open(source, NULL, NULL, &error), LX_ERR_ARGUMENT);
    struct numbers endless = {.length = 1ull << 62, .width = 5};
    lx_source *large = numbers_source(&endless);
    unit_ok(lx_loader_options_set_executor(options, NULL, &error));
    unit_ok(lx_loader_options_set_batch_size(options, 1ull << 62, &error));
    unit_fails(lx_loader_open(large, options, &loader, &error), LX_ERR_LIMIT);
    lx_source_unref(large);
    lx_loader_options_free(options);
    lx_executor_unref(executor);
    lx_source_unref(source);
}
END_TEST

START_TEST(the_length_of_the_order_is_that_of_an_epoch)
{
    struct numbers numbers = {.length = 20, .width = 5};
    lx_order *order = make_order("shuffle", 6, 1, 0);
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 4, .order = order});
    lx_order_unref(order); /* the loader has its own reference */
    ck_assert_uint_eq(batches_per_epoch(loader), 2);
    for (uint64_t rows = 4; rows >= 2; rows -= 2) {
        lx_batch *batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_row_count(batch), rows);
        lx_batch_unref(batch);
    }
    ck_assert_ptr_null(next_batch(loader));
    lx_loader_close(loader);
}
END_TEST

START_TEST(retries_after_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20, .width = 5};
    lx_order *order = make_order("shuffle", 20, 1, 0);
    lx_source *source = numbers_source(&numbers);
    lx_loader_options *options =
        make_options((struct setup){.batch_size = 5, .order = order, .threads = 0});
    lx_loader *loader;
    lx_status status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_loader_open(source, options, &loader, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    status = LX_ERR_NOMEM;
    lx_batch *batch;
    for (int left = 0; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_loader_next(loader, &batch, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert_uint_eq(lx_loader_tell(loader), status == LX_OK ? 5 : 0);
    }
    check_numbers(batch);
    lx_batch_unref(batch);
    scarce_left = 1000;
    unsigned seen = 0;
    for (; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        seen++;
    ck_assert_uint_eq(seen, 3);
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
    lx_order_unref(order);
}
END_TEST

START_TEST(statistics_count_delivered_batches)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20,
                              .width = 5,
                              .failing = true,
                              .bad = 9,
                              .bad_of = 20,
                              .status = LX_ERR_CORRUPT};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 8});
    lx_batch *batch = next_batch(loader);
    lx_batch_unref(batch);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_null(batch);
    lx_batch_unref(next_batch(loader));
    lx_loader_stats stats;
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_eq(stats.batches, 2);
    ck_assert_uint_eq(stats.records, 12);
    ck_assert_uint_eq(stats.bytes, 12 * 13);
    ck_assert_uint_eq(stats.failures, 1);
    ck_assert_uint_eq(stats.transform_ns, 0);
    ck_assert_uint_gt(stats.fill_ns, 0);
    ck_assert_uint_eq(stats.reserved[0], 0);
    lx_loader_close(loader);
    lx_loader_close(NULL);
}
END_TEST

START_TEST(a_status_of_its_own_from_a_callback_is_a_failed_batch)
{
    static const lx_status statuses[] = {LX_END, LX_ERR_TIMEOUT, LX_ERR_CANCELED, LX_ERR_FORKED};
    for (size_t i = 0; i < 8; i++) {
        lx_error error = LX_ERROR_INIT;
        struct numbers numbers = {.length = 20,
                                  .width = 5,
                                  .failing = true,
                                  .bad = 3,
                                  .bad_of = 20,
                                  .status = statuses[i / 2],
                                  .silent = true};
        lx_loader *loader = open_numbers(&numbers,
                                         (struct setup){.batch_size = 8, .threads = i % 2});
        lx_batch *batch;
        ck_assert_int_eq(lx_loader_next_timed(loader, LX_NONE, &batch, &error), LX_ERR_CALLBACK);
        ck_assert_int_eq(error.status, LX_ERR_CALLBACK);
        ck_assert_uint_eq(lx_loader_tell(loader), 8);
        batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_position(batch), 8);
        lx_batch_unref(batch);
        lx_loader_close(loader);
    }
}
END_TEST

START_TEST(rejects_null_by_name)
{
    struct numbers numbers = {.length = 20, .width = 5};
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 4});
    lx_error error = LX_ERROR_INIT;
    char text[100];
    lx_batch *batch = (lx_batch *)(void *)text; /* any pointer except NULL */
    unit_refuses_null(lx_loader_next(NULL, &batch, &error), "loader");
    ck_assert_ptr_null(batch);
    unit_refuses_null(lx_loader_next(loader, NULL, &error), "batch");
    unit_refuses_null(lx_loader_next_timed(NULL, 1, &batch, &error), "loader");
    unit_refuses_null(lx_loader_next_timed(loader, 1, NULL, &error), "batch");
    unit_refuses_null(lx_loader_seek(NULL, 1, &error), "loader");
    unit_refuses_null(lx_loader_save(NULL, text, sizeof text, NULL, &error), "loader");
    unit_refuses_null(lx_loader_save_at(NULL, 0, text, sizeof text, NULL, &error), "loader");
    unit_refuses_null(lx_loader_save(loader, NULL, 1, NULL, &error), "text");
    unit_refuses_null(lx_loader_restore(NULL, "{}", &error), "loader");
    unit_refuses_null(lx_loader_restore(loader, NULL, &error), "text");
    batch = next_batch(loader); /* nothing was skipped */
    ck_assert_uint_eq(lx_batch_get_position(batch), 0);
    lx_batch_unref(batch);
    lx_batch_unref(NULL);
    lx_loader_close(loader);
    lx_loader_close(NULL);
}
END_TEST

UNIT_MAIN("loader/loader", any_configuration_delivers_the_batches_of_its_positions,
          reports_the_end_until_the_next_epoch, all_ranks_end_the_epoch_of_a_seek,
          a_seek_after_the_end_restarts, ranks_together_read_each_record_once_per_epoch,
          each_sample_has_random_numbers_of_its_own,
          continues_with_other_ranks_without_loss_or_repeat,
          rank_2_of_4_continues_at_70_after_17_steps, an_empty_source_is_at_its_end,
          one_record_is_an_epoch, a_rank_without_records_is_at_its_end,
          all_ranks_take_the_same_number_of_batches, all_batches_have_one_size,
          more_ranks_than_records_share_the_records, returns_fields_in_the_requested_order,
          a_batch_larger_than_the_source_allocates_no_more_than_it, rejects_null_by_name,
          reports_why_opening_fails, the_length_of_the_order_is_that_of_an_epoch,
          retries_after_failed_allocations, statistics_count_delivered_batches,
          a_status_of_its_own_from_a_callback_is_a_failed_batch)
