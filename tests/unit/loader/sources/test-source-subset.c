/* SPDX-License-Identifier: MIT */
/* Subsets of a source: lib/loader/sources/source-subset.c. */
#include "loader/sources/source.h"

#include "../../scarce.h"
#include "../loaders.h"

START_TEST(reads_records_through_the_table)
{
    enum { COUNT = 1300, WIDTH = 3 };
    lx_error error = LX_ERROR_INIT;
    static uint64_t table[COUNT], indices[COUNT], labels[COUNT];
    static uint8_t images[COUNT][WIDTH];
    for (uint64_t length = 100; length != 0; length = length == 100 ? UINT64_C(1) << 40 : 0) {
        struct numbers numbers = {.length = length, .width = WIDTH};
        lx_source *part = numbers_source(&numbers), *subset;
        for (uint64_t i = 0; i < COUNT; i++) {
            table[i] = i * 7919 * 7919 * 7919 % length;
            indices[i] = i * 31 % COUNT;
        }
        unit_ok(lx_source_new_subset(part, table, COUNT, &subset, &error));
        lx_source_unref(part);
        ck_assert_uint_eq(lx_source_get_length(subset), COUNT);
        ck_assert_str_eq(lx_source_get_column(subset, 1)->name, "image");
        const lx_target targets[] = {{labels, 8}, {images, WIDTH}};
        unit_ok(lx_source_fill(subset, indices, COUNT, targets, &error));
        for (uint64_t i = 0; i < COUNT; i++) {
            ck_assert_uint_eq(labels[i], table[indices[i]]);
            for (uint64_t k = 0; k < WIDTH; k++)
                ck_assert_uint_eq(images[i][k], byte_of(table[indices[i]], k));
        }
        const uint64_t beyond = COUNT;
        unit_fails(lx_source_fill(subset, &beyond, 1, targets, &error), LX_ERR_RANGE);
        ck_assert_uint_eq(numbers.released, 0);
        lx_source_unref(subset);
        ck_assert_uint_eq(numbers.released, 1);
    }
}
END_TEST

START_TEST(states_distinguish_tables)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 1};
    lx_source *part = numbers_source(&numbers), *one, *other;
    unit_ok(lx_source_new_subset(part, (uint64_t[]){1, 2}, 2, &one, &error));
    unit_ok(lx_source_new_subset(part, (uint64_t[]){2, 1}, 2, &other, &error));
    json_t *left = lx__source_to_json(one), *right = lx__source_to_json(other);
    ck_assert(!json_equal(left, right));
    json_decref(left);
    json_decref(right);
    lx_source_unref(one);
    lx_source_unref(other);
    lx_source_unref(part);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 10, .width = 1};
    const uint64_t table[] = {1, 10};
    lx_source *part = numbers_source(&numbers), *subset;
    ck_assert_int_eq(lx_source_new_subset(part, table, 2, &subset, &error), LX_ERR_RANGE);
    ck_assert_uint_eq(error.record, 10);
    lx_error_clear(&error);
    unit_refuses_null(lx_source_new_subset(NULL, table, 1, &subset, &error), "part");
    unit_refuses_null(lx_source_new_subset(part, NULL, 1, &subset, &error), "indices");
    unit_refuses_null(lx_source_new_subset(part, table, 1, NULL, &error), "source");
    unit_ok(lx_source_new_subset(part, NULL, 0, &subset, &error));
    lx_source_unref(subset);
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_source_new_subset(part, table, 1, &subset, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    ck_assert_int_gt(left, 5);
    lx_source_unref(subset);
    lx_source_unref(part);
}
END_TEST

UNIT_MAIN("loader/source-subset", reads_records_through_the_table, states_distinguish_tables,
          rejects_invalid_arguments)
