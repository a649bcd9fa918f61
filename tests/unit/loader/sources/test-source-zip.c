/* SPDX-License-Identifier: MIT */
/* Several sources as one with all columns: lib/loader/sources/source-zip.c. */
#include "loader/sources/source.h"

#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"
#include "../../../new-sources.h"

/** An .npy file of @p length bytes as a source. */
static lx_source *bytes_source(const char *path, unsigned length)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char header[100];
    snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': (%u,)}",
             length);
    write_npy(path, 1, header, length);
    unit_ok(lx_source_open(path, NULL, &source, &error));
    return source;
}

static void expect_names(const lx_source *source, const char *const *names, size_t count)
{
    ck_assert_uint_eq(lx_source_get_column_count(source), count);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(lx_source_get_column(source, i)->name, names[i]);
}

START_TEST(joins_columns_under_their_names)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers numbers = {.length = 20, .width = 3};
    lx_source *parts[3] = {bytes_source("a.npy", 20), numbers_source(&numbers),
                           bytes_source("b.npy", 20)};
    lx_source *zip;
    const char *const names[] = {"first", NULL, NULL};
    unit_ok(lx_source_new_zip(parts, names, 3, &zip, &error));
    for (int i = 0; i < 3; i++)
        lx_source_unref(parts[i]); /* the zip has its own references */
    ck_assert_uint_eq(lx_source_get_length(zip), 20);
    expect_names(zip, (const char *const[]){"first", "label", "image", "data"}, 4);

    const uint64_t indices[] = {19, 0, 7};
    uint8_t first[3], image[3][3], data[3];
    uint64_t label[3];
    const lx_target targets[] = {{first, 1}, {label, 8}, {image, 3}, {data, 1}};
    unit_ok(lx_source_fill(zip, indices, 3, targets, &error));
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(first[i], indices[i]);
        ck_assert_uint_eq(data[i], indices[i]);
        ck_assert_uint_eq(label[i], indices[i]);
        for (uint64_t k = 0; k < 3; k++)
            ck_assert_uint_eq(image[i][k], byte_of(indices[i], k));
    }
    lx_source_unref(zip);
    ck_assert_uint_eq(numbers.released, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_only_parts_with_requested_columns)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers one = {.length = 5, .width = 1}, other = {.length = 5, .width = 1};
    lx_source *inner = numbers_source(&one), *plain = numbers_source(&other), *named, *zip;
    /* Two sources of two columns each have the same names; the zip names them differently. */
    unit_fails(lx_source_new_zip((lx_source *[]){inner, plain}, NULL, 2, &zip, &error),
               LX_ERR_ARGUMENT);
    static const source_functions functions = {.fill = numbers_fill};
    const lx_column_info columns[] = {{.name = "x", .dtype = LX_UINT64},
                                      {.name = "y", .dtype = LX_UINT8}};
    unit_ok(new_source(&functions, &other, 5, columns, 2, "", &named, &error));
    unit_ok(lx_source_new_zip((lx_source *[]){inner, named}, NULL, 2, &zip, &error));
    lx_source_unref(plain);

    const uint64_t index = 3;
    uint64_t label = 0;
    const lx_target only_first[] = {{&label, 8}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    unit_ok(lx_source_fill(zip, &index, 1, only_first, &error));
    ck_assert_uint_eq(label, 3);
    ck_assert_uint_eq(one.fills, 1);
    ck_assert_uint_eq(other.fills, 0);
    const lx_target nothing[4] = {{NULL, 0}};
    unit_ok(lx_source_fill(zip, &index, 1, nothing, &error));
    ck_assert_uint_eq(one.fills, 1);
    lx_source_unref(inner);
    lx_source_unref(named);
    lx_source_unref(zip);
}
END_TEST

START_TEST(accepts_a_zip_of_zips)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *a = bytes_source("a.npy", 9), *b = bytes_source("b.npy", 9), *inner, *outer;
    unit_ok(lx_source_new_zip((lx_source *[]){a, b}, (const char *const[]){"a", "b"}, 2, &inner,
                              &error));
    unit_ok(lx_source_new_zip((lx_source *[]){inner, a}, NULL, 2, &outer, &error));
    expect_names(outer, (const char *const[]){"a", "b", "data"}, 3);
    const uint64_t index = 8;
    uint8_t out[3] = {0};
    const lx_target targets[] = {{&out[0], 1}, {&out[1], 1}, {&out[2], 1}};
    unit_ok(lx_source_fill(outer, &index, 1, targets, &error));
    ck_assert_mem_eq(out, "\10\10\10", 3);
    lx_source_unref(a);
    lx_source_unref(b);
    lx_source_unref(inner);
    lx_source_unref(outer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(puts_a_name_before_those_of_several_columns)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make(), longest[59], longer[60];
    struct numbers numbers = {.length = 20, .width = 3};
    lx_source *n = numbers_source(&numbers), *zip;
    unit_ok(lx_source_new_zip((lx_source *[]){n, n, n}, (const char *const[]){"a", NULL, "b"}, 3,
                              &zip, &error));
    expect_names(
        zip, (const char *const[]){"a.label", "a.image", "label", "image", "b.label", "b.image"},
        6);
    const uint64_t index = 9;
    uint8_t image[3];
    const lx_target targets[6] = {[5] = {image, 3}};
    unit_ok(lx_source_fill(zip, &index, 1, targets, &error));
    for (uint64_t k = 0; k < 3; k++)
        ck_assert_uint_eq(image[k], byte_of(9, k));
    lx_source_unref(zip);

    memset(longest, 'x', 58); /* and a dot, and five letters */
    memset(longer, 'x', 59);
    longest[58] = longer[59] = '\0';
    unit_ok(lx_source_new_zip(&n, (const char *const[]){longest}, 1, &zip, &error));
    lx_source_unref(zip);
    ck_assert_int_eq(lx_source_new_zip(&n, (const char *const[]){longer}, 1, &zip, &error),
                     LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "shorter name"));
    lx_error_clear(&error);
    unit_fails(lx_source_new_zip(&n, (const char *const[]){""}, 1, &zip, &error), LX_ERR_ARGUMENT);
    unit_fails(
        lx_source_new_zip((lx_source *[]){n, n}, (const char *const[]){"a", "a"}, 2, &zip, &error),
        LX_ERR_ARGUMENT);
    lx_source_unref(n);
    ck_assert_uint_eq(numbers.released, 1);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_parts_of_different_lengths_or_names)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers numbers = {.length = 20, .width = 3};
    lx_source *a = bytes_source("a.npy", 20), *b = bytes_source("b.npy", 21);
    lx_source *n = numbers_source(&numbers), *zip;
    ck_assert_int_eq(lx_source_new_zip((lx_source *[]){a, b}, NULL, 2, &zip, &error),
                     LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "20"));
    ck_assert_ptr_nonnull(strstr(error.message, "21"));
    lx_error_clear(&error);
    ck_assert_int_eq(lx_source_new_zip((lx_source *[]){a, a}, NULL, 2, &zip, &error),
                     LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "'data'"));
    unit_fails(lx_source_new_zip((lx_source *[]){a, n}, (const char *const[]){"label", NULL}, 2,
                                 &zip, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_zip((lx_source *[]){a}, (const char *const[]){""}, 1, &zip, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_source_new_zip(NULL, NULL, 0, &zip, &error), LX_ERR_ARGUMENT);
    lx_source_unref(a);
    lx_source_unref(b);
    lx_source_unref(n);
    ck_assert_uint_eq(numbers.released, 1); /* a failure keeps no memory */
    scratch_remove(scratch);
}
END_TEST

START_TEST(passes_on_failures_of_a_part)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers numbers = {.length = 20,
                              .width = 3,
                              .failing = true,
                              .bad = 4,
                              .bad_of = 20,
                              .status = LX_ERR_CORRUPT};
    lx_source *parts[] = {bytes_source("a.npy", 20), numbers_source(&numbers)}, *zip;
    unit_ok(lx_source_new_zip(parts, NULL, 2, &zip, &error));
    const uint64_t index = 4, beyond = 20;
    uint8_t data;
    uint64_t label;
    const lx_target targets[] = {{&data, 1}, {&label, 8}, {NULL, 0}};
    ck_assert_int_eq(lx_source_fill(zip, &index, 1, targets, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.message, "a bad record");
    lx_error_clear(&error);
    unit_fails(lx_source_fill(zip, &beyond, 1, targets, &error), LX_ERR_RANGE);
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
    lx_source_unref(zip);
    scratch_remove(scratch);
}
END_TEST

START_TEST(leaks_nothing_after_a_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20, .width = 3};
    lx_source *part = numbers_source(&numbers), *zip;
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_source_new_zip(&part, NULL, 1, &zip, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    ck_assert_int_gt(left, 4);
    lx_source_unref(part);
    ck_assert_uint_eq(numbers.released, 0);
    lx_source_unref(zip);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    struct numbers numbers = {.length = 4, .width = 2};
    lx_source *parts[2] = {numbers_source(&numbers), NULL}, *zip;
    lx_error error = LX_ERROR_INIT;
    unit_refuses_null(lx_source_new_zip(NULL, NULL, 1, &zip, &error), "source");
    unit_refuses_null(lx_source_new_zip(parts, NULL, 2, &zip, &error), "source");
    unit_refuses_null(lx_source_new_zip(parts, NULL, 1, NULL, &error), "source");
    lx_source_unref(parts[0]);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

UNIT_MAIN("loader/source-zip", joins_columns_under_their_names,
          reads_only_parts_with_requested_columns, accepts_a_zip_of_zips,
          puts_a_name_before_those_of_several_columns, rejects_parts_of_different_lengths_or_names,
          passes_on_failures_of_a_part, leaks_nothing_after_a_failed_allocation,
          rejects_null_by_name)
