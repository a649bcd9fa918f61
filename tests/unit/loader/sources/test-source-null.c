/* SPDX-License-Identifier: MIT */
/* Sources without data: lib/loader/sources/source-null.c. */
#include "loader/sources/dataset-state.h"
#include "loader/sources/source.h"

#include "../../sampler/orders.h"
#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"

static lx_source *null_of(lx_source *source)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *null;
    unit_ok(lx_source_new_null(source, &null, &error));
    ck_assert_uint_eq(lx_source_get_length(null), lx_source_get_length(source));
    ck_assert_uint_eq(lx_source_get_column_count(null), 0);
    ck_assert_ptr_null(lx_source_get_column(null, 0));
    return null;
}

/** The states of a loader over either source must be equal, and continue with the other. */
static void check_states(lx_loader *one, lx_loader *other)
{
    char text[2][4096];
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_loader_save(one, text[0], sizeof text[0], NULL, &error));
    unit_ok(lx_loader_save(other, text[1], sizeof text[1], NULL, &error));
    ck_assert_str_eq(text[0], text[1]);
    unit_ok(lx_loader_restore(one, text[1], &error));
    unit_ok(lx_loader_restore(other, text[0], &error));
}

/** Batches of a rank that reads, and of one that does not. */
static void check_in_step(lx_loader *reading, lx_loader *idle)
{
    uint64_t keys[2][2 * 7];
    for (int step = 0;; step++) {
        lx_batch *one = next_batch(reading), *other = next_batch(idle);
        ck_assert((one == NULL) == (other == NULL));
        if (one == NULL)
            break;
        check_numbers(one);
        uint64_t rows = lx_batch_get_row_count(one);
        ck_assert_uint_eq(lx_batch_get_row_count(other), rows);
        ck_assert_uint_eq(lx_batch_get_position(other), lx_batch_get_position(one));
        ck_assert_uint_eq(lx_batch_get_epoch(other), lx_batch_get_epoch(one));
        ck_assert_mem_eq(lx_batch_get_indices(other), lx_batch_get_indices(one), rows * 8);
        lx_batch_get_keys(one, 5, keys[0]);
        lx_batch_get_keys(other, 5, keys[1]);
        ck_assert_mem_eq(keys[1], keys[0], rows * 16);
        ck_assert_uint_eq(lx_batch_get_column_count(other), 0);
        ck_assert_ptr_null(lx_batch_get_column(other, 0));
        ck_assert_ptr_null(lx_batch_find_column(other, "label"));
        lx_batch_unref(one);
        lx_batch_unref(other);
        if (step % 3 == 1)
            check_states(reading, idle);
    }
}

START_TEST(a_rank_without_data_stays_in_step)
{
    for (uint32_t threads = 0; threads <= 2; threads += 2)
        for (uint64_t rank = 0; rank < 3; rank++) {
            struct numbers numbers = {.length = 100, .width = 30000, .identity = "v1"};
            lx_source *source = numbers_source(&numbers), *null = null_of(source);
            lx_order *order = make_order("shuffle", 100, 5, 0);
            struct setup setup = {.batch_size = 7,
                                  .rank = rank,
                                  .world = 3,
                                  .epochs = 2,
                                  .order = order,
                                  .threads = threads};
            lx_loader *reading = open_loader(source, setup), *idle = open_loader(null, setup);
            check_in_step(reading, idle);
            lx_loader_stats stats;
            lx_loader_get_stats(idle, &stats);
            ck_assert_uint_gt(stats.records, 0);
            ck_assert_uint_eq(stats.bytes, 0);
            lx_loader_close(reading);
            lx_loader_close(idle);
            lx_order_unref(order);
            lx_source_unref(null);
            lx_source_unref(source);
        }
}
END_TEST

START_TEST(holds_no_reference_to_the_original)
{
    char before[4096], after[4096];
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 1000, .width = 3, .identity = "v1"};
    lx_source *source = numbers_source(&numbers), *null = null_of(source);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 10});
    lx_batch_unref(next_batch(loader));
    unit_ok(lx_loader_save(loader, before, sizeof before, NULL, &error));
    lx_loader_close(loader);
    lx_source_unref(source);
    ck_assert_uint_eq(numbers.released, 1);

    unsigned fills = numbers.fills;
    loader = open_loader(null, (struct setup){.batch_size = 10});
    lx_source_unref(null);
    lx_batch_unref(next_batch(loader));
    unit_ok(lx_loader_save(loader, after, sizeof after, NULL, &error));
    ck_assert_str_eq(after, before);
    ck_assert_uint_eq(numbers.fills, fills);
    lx_loader_close(loader);
}
END_TEST

static void write_dataset(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "note", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (int i = 0; i < 9; i++)
        unit_ok(lx_writer_append(writer, &(lx_value){"text", 4}, 1, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
}

START_TEST(works_without_the_files_of_the_dataset)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_dataset();
    unit_ok(lx_source_open("d", NULL, &source, &error));
    lx_source *null = null_of(source);
    json_t *state = lx__source_to_json(source), *datasets, *kept[2];
    unit_ok(lx__dataset_states_new(source, &datasets, &error));
    lx_source_unref(source);
    unit_ok(lx_dataset_remove("d", &error));
    kept[0] = lx__source_to_json(null);
    unit_ok(lx__dataset_states_new(null, &kept[1], &error));
    ck_assert(json_equal(kept[0], state));
    ck_assert(json_equal(kept[1], datasets) && json_array_size(datasets) == 1);
    json_decref(kept[0]);
    json_decref(kept[1]);
    json_decref(state);
    json_decref(datasets);
    /* Its records vary in length, which a loader without columns ignores. */
    lx_loader *loader = open_loader(null, (struct setup){.batch_size = 5});
    lx_batch *batch = next_batch(loader);
    ck_assert_uint_eq(lx_batch_get_row_count(batch), 5);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_source_unref(null);
    scratch_remove(scratch);
}
END_TEST

static void check_alike(lx_source *one, lx_source *other)
{
    lx_error error = LX_ERROR_INIT;
    json_t *left = lx__source_to_json(one), *right = lx__source_to_json(other);
    ck_assert(json_equal(left, right));
    json_decref(left);
    json_decref(right);
    unit_ok(lx__dataset_states_new(one, &left, &error));
    unit_ok(lx__dataset_states_new(other, &right, &error));
    ck_assert(json_equal(left, right));
    json_decref(left);
    json_decref(right);
    lx_source_unref(one);
    lx_source_unref(other);
}

START_TEST(accepts_parts_without_data)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers[2] = {{.length = 20, .width = 3, .identity = "a"},
                                 {.length = 20, .width = 3, .identity = "b"}};
    lx_source *parts[4], *whole, *lacking;
    for (int i = 0; i < 2; i++) {
        parts[i] = numbers_source(&numbers[i]);
        parts[2 + i] = null_of(parts[i]);
    }
    unit_ok(lx_source_new_concat(parts, 2, &whole, &error));
    unit_ok(lx_source_new_concat(parts + 2, 2, &lacking, &error));
    check_alike(whole, lacking);
    unit_ok(lx_source_new_subset(parts[0], (uint64_t[]){3, 1}, 2, &whole, &error));
    unit_ok(lx_source_new_subset(parts[2], (uint64_t[]){3, 1}, 2, &lacking, &error));
    ck_assert_uint_eq(lx_source_get_column_count(lacking), 0);
    unit_ok(lx_source_fill(lacking, (uint64_t[]){1}, 1, &(lx_target){NULL, 0}, &error));
    check_alike(whole, lacking);
    check_alike(lx_source_ref(parts[2]), null_of(parts[2]));

    /* Only the second one is read. */
    lx_source *both[] = {parts[2], parts[1]};
    unit_ok(lx_source_new_zip(both, NULL, 2, &lacking, &error));
    ck_assert_uint_eq(lx_source_get_column_count(lacking), 2);
    lx_loader *loader = open_loader(lacking, (struct setup){.batch_size = 6});
    lx_batch *batch = next_batch(loader);
    check_numbers(batch);
    lx_batch_unref(batch);
    lx_loader_close(loader);
    ck_assert_uint_eq(numbers[0].fills, 0);
    json_t *state = lx__source_to_json(lacking), *first = lx__source_to_json(parts[0]);
    ck_assert(json_equal(json_array_get(json_object_get(state, "sources"), 0), first));
    json_decref(state);
    json_decref(first);
    lx_source_unref(lacking);
    for (int i = 0; i < 4; i++)
        lx_source_unref(parts[i]);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 1};
    lx_source *source = numbers_source(&numbers), *null;
    unit_refuses_null(lx_source_new_null(NULL, &null, &error), "source");
    unit_refuses_null(lx_source_new_null(source, NULL, &error), "null");
    null = null_of(source);
    static const char *const names[] = {"label"};
    lx_loader_options *options = make_options((struct setup){.fields = names, .field_count = 1});
    lx_loader *loader;
    unit_fails(lx_loader_open(null, options, &loader, &error), LX_ERR_NOT_FOUND);
    lx_loader_options_free(options);
    unit_fails(lx_source_fill(null, (uint64_t[]){10}, 1, &(lx_target){NULL, 0}, &error),
               LX_ERR_RANGE);
    lx_source_unref(null);
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_source_new_null(source, &null, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    ck_assert_int_gt(left, 1);
    lx_source_unref(null);
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/source-null", a_rank_without_data_stays_in_step,
          holds_no_reference_to_the_original, works_without_the_files_of_the_dataset,
          accepts_parts_without_data, rejects_invalid_arguments)
