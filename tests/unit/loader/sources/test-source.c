/* SPDX-License-Identifier: MIT */
#include "loader/sources/dataset-state.h"
#include "loader/sources/source.h"

#include <sys/stat.h>

#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"

START_TEST(rejects_indices_beyond_the_length)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 1};
    lx_source *source = numbers_source(&numbers);
    static const uint64_t bad[] = {10, 11, 1ull << 63, UINT64_MAX};
    uint64_t labels[3];
    const lx_target targets[] = {{labels, 8}, {NULL, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const uint64_t indices[] = {0, 9, bad[i]};
        unit_ok(lx_source_fill(source, indices, 2, targets, &error));
        lx_error_clear(&error);
        ck_assert_int_eq(lx_source_fill(source, indices, 3, targets, &error), LX_ERR_RANGE);
        ck_assert_uint_eq(error.record, bad[i]);
        lx_error_clear(&error);
    }
    ck_assert_uint_eq(numbers.fills, 4);
    unit_ok(lx_source_fill(source, NULL, 0, targets, &error));
    lx_source_unref(source);
}
END_TEST

START_TEST(records_do_not_overlap)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers numbers = {.length = 10, .width = 4};
    lx_source *source = numbers_source(&numbers), *file;
    const uint64_t indices[] = {0, 1};
    uint8_t labels[16], images[8], pairs[32];
    for (size_t stride = 0; stride < 8; stride++) {
        const lx_target targets[] = {{labels, stride}, {images, 4}};
        unit_fails(lx_source_fill(source, indices, 2, targets, &error), LX_ERR_ARGUMENT);
    }
    ck_assert_int_eq(
        lx_source_fill(source, indices, 2, (const lx_target[]){{NULL, 0}, {images, 3}}, &error),
        LX_ERR_ARGUMENT);
    ck_assert_str_eq(error.field, "image");
    lx_error_clear(&error);
    ck_assert_uint_eq(numbers.fills, 0);
    lx_source_unref(source);
    write_npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", 32);
    unit_ok(lx_source_open("a.npy", NULL, &file, &error));
    unit_fails(lx_source_fill(file, indices, 2, &(const lx_target){pairs, 15}, &error),
               LX_ERR_ARGUMENT);
    unit_ok(lx_source_fill(file, indices, 2, &(const lx_target){pairs, 16}, &error));
    lx_source_unref(file);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reading_no_columns_does_nothing)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 1};
    lx_source *source = numbers_source(&numbers);
    const uint64_t index = 3;
    unit_ok(lx_source_fill(source, &index, 1, (const lx_target[2]){{NULL, 0}}, &error));
    ck_assert_uint_eq(numbers.fills, 0);
    lx_source_unref(source);
}
END_TEST

START_TEST(an_empty_source_has_no_records)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 0, .width = 1};
    lx_source *source = numbers_source(&numbers);
    uint64_t label;
    const uint64_t index = 0;
    const lx_target targets[] = {{&label, 8}, {NULL, 0}};
    ck_assert_uint_eq(lx_source_get_length(source), 0);
    unit_fails(lx_source_fill(source, &index, 1, targets, &error), LX_ERR_RANGE);
    lx_source_unref(source);
}
END_TEST

static void check_json(const lx_source *source, const char *expected)
{
    json_t *json = lx__source_to_json(source);
    char *text = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT);
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(json);
}

START_TEST(states_identify_the_data)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers numbers = {.length = UINT64_MAX, .width = 4, .identity = "mine"};
    lx_source *source = numbers_source(&numbers), *file, *zip;
    check_json(source, "{\"columns\":[{\"dtype\":\"uint64\",\"name\":\"label\",\"shape\":[]},"
                       "{\"dtype\":\"uint8\",\"name\":\"image\",\"shape\":[4]}],"
                       "\"identity\":\"mine\",\"kind\":\"own\","
                       "\"length\":\"18446744073709551615\"}");
    lx_source_unref(source);
    write_npy("a.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}", 16);
    unit_ok(lx_source_open("a.npy", NULL, &file, &error));
    unit_ok(lx_source_new_zip(&file, NULL, 1, &zip, &error));
    check_json(zip, "{\"kind\":\"zip\",\"length\":2,\"sources\":[{\"columns\":[{\"dtype\":"
                    "\"float64\",\"name\":\"data\",\"shape\":[1]}],\"kind\":\"npy\",\"length\":2}"
                    "]}");
    json_t *datasets;
    unit_ok(lx__dataset_states_new(zip, &datasets, &error));
    ck_assert(json_is_array(datasets) && json_array_size(datasets) == 0);
    json_decref(datasets);
    lx_source_unref(file);
    lx_source_unref(zip);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    struct numbers numbers = {.length = 4, .width = 2};
    lx_source *source = numbers_source(&numbers), *other;
    lx_target targets[2] = {{NULL, 0}, {NULL, 0}};
    lx_error error = LX_ERROR_INIT;
    unit_refuses_null(lx_source_open(NULL, NULL, &other, &error), "path");
    unit_refuses_null(lx_source_open("x", NULL, NULL, &error), "source");
    unit_refuses_null(lx_source_fill(NULL, NULL, 0, targets, &error), "source");
    unit_refuses_null(lx_source_fill(source, NULL, 1, targets, &error), "indices");
    unit_refuses_null(lx_source_fill(source, NULL, 0, NULL, &error), "targets");
    unit_ok(lx_source_fill(source, NULL, 0, targets, &error));
    lx_source_unref(source);
    lx_source_unref(NULL);
}
END_TEST

UNIT_MAIN("loader/source", rejects_indices_beyond_the_length, records_do_not_overlap,
          reading_no_columns_does_nothing, an_empty_source_has_no_records, states_identify_the_data,
          rejects_null_by_name)
