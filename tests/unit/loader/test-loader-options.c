/* SPDX-License-Identifier: MIT */
#include "loader/loader-options.h"

#include "../scarce.h"
#include "supply.h"
#include "sampler/core/order.h"

START_TEST(the_defaults_are_those_of_the_header)
{
    struct numbers numbers = {.length = 3, .width = 2};
    lx_source *source = numbers_source(&numbers);
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    unit_ok(lx_loader_open(source, NULL, &loader, &error));
    for (uint64_t i = 0; i < 3; i++) { /* one by one, in sequence, all columns */
        lx_batch *batch = next_batch(loader);
        ck_assert_uint_eq(lx_batch_get_row_count(batch), 1);
        ck_assert_uint_eq(lx_batch_get_indices(batch)[0], i);
        ck_assert_uint_eq(lx_batch_get_column_count(batch), 2);
        lx_batch_unref(batch);
    }
    ck_assert_ptr_null(next_batch(loader)); /* one epoch */
    lx_loader_close(loader);
    lx_source_unref(source);

    lx_loader_options *options = lx_loader_options_new();
    ck_assert_uint_eq(options->prefetch_bytes, 256 << 20);
    ck_assert(!options->drop_last && !options->uneven);
    lx_loader_options_free(options);
    lx_loader_options_free(NULL);
}
END_TEST

START_TEST(rejects_values_out_of_range_without_change)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_batch_size(options, 7, &error));
    unit_ok(lx_loader_options_set_rank(options, 1, 2, &error));
    unit_ok(lx_loader_options_set_reader_count(options, 64, &error));
    unit_fails(lx_loader_options_set_batch_size(options, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_loader_options_set_rank(options, 2, 2, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(lx_loader_options_set_rank(options, 0, 0, &error), LX_ERR_ARGUMENT);
    ck_assert_msg(strstr(error.message, "world must be at least 1") != NULL, "%s", error.message);
    lx_error_clear(&error);
    unit_fails(lx_loader_options_set_reader_count(options, 65, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_loader_options_add_skipped(options, 7, 7, &error), LX_ERR_ARGUMENT);
    ck_assert_uint_eq(options->skipped_count, 0);
    ck_assert_uint_eq(options->batch_size, 7);
    ck_assert_uint_eq(options->rank, 1);
    ck_assert_uint_eq(options->world, 2);
    ck_assert_uint_eq(options->threads, 64);
    lx_loader_options_free(options);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    static const char *const names[] = {"label", NULL};
    lx_error error = LX_ERROR_INIT;
    unit_refuses_null(lx_loader_options_set_batch_size(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_order(NULL, NULL, &error), "options");
    unit_refuses_null(lx_loader_options_set_shuffle(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_rank(NULL, 0, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_epoch_count(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_first_epoch(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_start(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_drop_last(NULL, true, &error), "options");
    unit_refuses_null(lx_loader_options_set_uneven(NULL, true, &error), "options");
    unit_refuses_null(lx_loader_options_set_pad_last(NULL, true, &error), "options");
    unit_refuses_null(lx_loader_options_add_skipped(NULL, 0, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_columns(NULL, names, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_reader_count(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_executor(NULL, NULL, &error), "options");
    unit_refuses_null(lx_loader_options_set_prefetch_bytes(NULL, 1, &error), "options");
    unit_refuses_null(lx_loader_options_set_transform(NULL, NULL, NULL, &error), "options");
    unit_refuses_null(lx_loader_options_set_memory(NULL, NULL, NULL, NULL, true, &error),
                      "options");
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_columns(options, names, 1, &error));
    unit_refuses_null(lx_loader_options_set_columns(options, names, 2, &error), "name");
    unit_refuses_null(lx_loader_options_set_columns(options, NULL, 1, &error), "name");
    ck_assert_uint_eq(options->field_count, 1);
    unit_ok(lx_loader_options_set_columns(options, NULL, 0, &error));
    unit_refuses_null(
        lx_loader_options_set_memory(options, NULL, supply_release, NULL, true, &error),
        "allocate");
    unit_refuses_null(
        lx_loader_options_set_memory(options, supply_allocate, NULL, NULL, true, &error),
        "release");
    unit_ok(lx_loader_options_set_memory(options, supply_allocate, supply_release, NULL, false,
                                         &error));
    unit_ok(lx_loader_options_set_memory(options, NULL, NULL, NULL, false, &error));
    ck_assert(options->memory.allocate == NULL && options->memory.keep);
    lx_loader_options_free(options);
}
END_TEST

/** A loader with a start position behaves like one that seeks there. */
static void check_start(lx_source *source, uint64_t position, uint64_t world)
{
    lx_error error = LX_ERROR_INIT;
    struct setup setup = {.batch_size = 4, .rank = world - 1, .world = world, .epochs = 2};
    lx_loader *sent = open_loader(source, setup), *begun;
    unit_ok(lx_loader_seek(sent, position, &error));
    lx_loader_options *options = make_options(setup);
    unit_ok(lx_loader_options_set_start(options, position, &error));
    unit_ok(lx_loader_open(source, options, &begun, &error));
    lx_loader_options_free(options);
    ck_assert_uint_eq(lx_loader_tell(begun), position);
    for (int ends = 0; ends < 2;) {
        lx_batch *one = next_batch(sent), *other = next_batch(begun);
        ck_assert((one == NULL) == (other == NULL));
        if (one == NULL) {
            ends++;
            lx_loader_next_epoch(sent);
            lx_loader_next_epoch(begun);
            continue;
        }
        ck_assert_uint_eq(add_digest(0, other), add_digest(0, one));
        lx_batch_unref(one);
        lx_batch_unref(other);
    }
    ck_assert_uint_eq(lx_loader_tell(begun), lx_loader_tell(sent));
    lx_loader_close(sent);
    lx_loader_close(begun);
}

START_TEST(a_start_equals_a_seek)
{
    static const uint64_t positions[] = {0,  1,   8,   49,  50,         51,
                                         99, 100, 101, 250, 1000000007, UINT64_MAX};
    struct numbers numbers = {.length = 50, .width = 1};
    lx_source *source = numbers_source(&numbers);
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
        for (uint64_t world = 1; world <= 3; world++)
            check_start(source, positions[i], world);
    lx_source_unref(source);
}
END_TEST

START_TEST(the_last_of_order_and_shuffle_applies)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_random(9, 1, &order, &error));
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_shuffle(options, 5, &error));
    unit_ok(lx_loader_options_set_order(options, order, &error));
    ck_assert_ptr_eq(options->order, order);
    ck_assert(!options->shuffle);
    unit_ok(lx_loader_options_set_shuffle(options, 6, &error));
    ck_assert_ptr_null(options->order);
    ck_assert(options->shuffle && options->seed == 6);
    unit_ok(lx_loader_options_set_order(options, NULL, &error));
    ck_assert(!options->shuffle);
    unit_ok(lx_loader_options_set_order(options, order, &error));
    lx_order_unref(order); /* the options have their own reference */
    ck_assert_uint_eq(lx_order_get_length(options->order), 9);
    lx_loader_options_free(options);
}
END_TEST

START_TEST(shuffle_has_the_length_of_the_source)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 50, .width = 1};
    lx_source *source = numbers_source(&numbers);
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_shuffle(options, 42, &error));
    unit_ok(lx_loader_options_set_batch_size(options, 50, &error));
    lx_loader *loader;
    unit_ok(lx_loader_open(source, options, &loader, &error));
    lx_loader_options_free(options);
    lx_batch *batch = next_batch(loader);

    lx_order *order;
    lx_sampler *sampler;
    uint64_t expected[50], taken;
    unit_ok(lx_order_new_shuffle(50, 42, &order, &error));
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_take(sampler, 50, expected, &taken, &error));
    ck_assert_mem_eq(lx_batch_get_indices(batch), expected, sizeof expected);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

START_TEST(copies_names_and_accepts_others_later)
{
    lx_error error = LX_ERROR_INIT;
    char name[] = "label";
    const char *names[] = {name, "image"};
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_columns(options, names, 2, &error));
    name[0] = 'x';
    ck_assert_str_eq(options->fields[0], "label");
    ck_assert_str_eq(options->fields[1], "image");
    unit_ok(lx_loader_options_set_columns(options, names, 1, &error));
    ck_assert_uint_eq(options->field_count, 1);
    unit_ok(lx_loader_options_set_columns(options, NULL, 0, &error));
    ck_assert_ptr_null(options->fields);
    lx_loader_options_free(options);
}
END_TEST

START_TEST(a_failed_allocation_leaves_names_unchanged)
{
    lx_error error = LX_ERROR_INIT;
    const char *const old[] = {"old"}, *const names[] = {"a", "b", "c"};
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_columns(options, old, 1, &error));
    for (int left = 0; left < 4; left++) {
        scarce_begin(left);
        unit_fails(lx_loader_options_set_columns(options, names, 3, &error), LX_ERR_NOMEM);
        ck_assert_uint_eq(options->field_count, 1);
        ck_assert_str_eq(options->fields[0], "old");
    }
    scarce_begin(0);
    ck_assert_ptr_null(lx_loader_options_new());
    scarce_begin(4);
    unit_ok(lx_loader_options_set_columns(options, names, 3, &error));
    lx_loader_options_free(options);
}
END_TEST

UNIT_MAIN("loader/loader-options", the_defaults_are_those_of_the_header,
          rejects_values_out_of_range_without_change, rejects_null_by_name, a_start_equals_a_seek,
          the_last_of_order_and_shuffle_applies, shuffle_has_the_length_of_the_source,
          copies_names_and_accepts_others_later, a_failed_allocation_leaves_names_unchanged)
