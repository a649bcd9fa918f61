/* SPDX-License-Identifier: MIT */
/* .npy files as sources: lib/loader/sources/source-npy.c. */
#include "loader/sources/source.h"

#include <sys/stat.h>

#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"

#define HEADER(descr, shape)                                                                       \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

START_TEST(the_first_axis_counts_the_records)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_npy("a.npy", 1, HEADER("<u2", "(5, 3, 2)"), 60);
    unit_ok(lx_source_open("a.npy", NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 5);
    ck_assert_uint_eq(lx_source_get_column_count(source), 1);
    const lx_column_info *column = lx_source_get_column(source, 0);
    ck_assert_str_eq(column->name, "data");
    ck_assert_int_eq(column->dtype, LX_UINT16);
    ck_assert_uint_eq(column->ndim, 2);
    ck_assert_uint_eq(column->shape[0], 3);
    ck_assert_uint_eq(column->shape[1], 2);
    ck_assert_uint_eq(column->size, 12);

    const uint64_t indices[] = {4, 0, 4, 2, 1, 3};
    uint8_t out[6][16];
    memset(out, 0xee, sizeof out);
    unit_ok(lx_source_fill(source, indices, 6, &(lx_target){out, 16}, &error));
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 16; k++)
            ck_assert_uint_eq(out[i][k], k < 12 ? indices[i] * 12 + k : 0xee);
    const uint64_t beyond[] = {1, 5};
    ck_assert_int_eq(lx_source_fill(source, beyond, 2, &(lx_target){out, 16}, &error),
                     LX_ERR_RANGE);
    ck_assert_uint_eq(error.record, 5);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(leaves_out_columns_that_are_not_requested)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    const uint64_t index = 2;
    write_npy("a.npy", 1, HEADER("|u1", "(5, 3)"), 15);
    unit_ok(lx_source_open("a.npy", NULL, &source, &error));
    unit_ok(lx_source_fill(source, &index, 1, &(lx_target){NULL, 0}, &error));
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(scalars_and_empty_arrays_are_sources)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_npy("a.npy", 2, HEADER("<i8", "(2,)"), 16);
    unit_ok(lx_source_open("a.npy", NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_column(source, 0)->ndim, 0);
    ck_assert_uint_eq(lx_source_get_column(source, 0)->size, 8);
    lx_source_unref(source);

    write_npy("a.npy", 1, HEADER("<f4", "(0, 28, 28)"), 0);
    unit_ok(lx_source_open("a.npy", NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 0);
    ck_assert_uint_eq(lx_source_get_column(source, 0)->size, 28 * 28 * 4);
    lx_source_unref(source);

    write_npy("a.npy", 1, HEADER("<f4", "(7, 0)"), 0);
    unit_ok(lx_source_open("a.npy", NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 7);
    ck_assert_uint_eq(lx_source_get_column(source, 0)->size, 0);
    const uint64_t index = 6;
    uint8_t byte;
    unit_ok(lx_source_fill(source, &index, 1, &(lx_target){&byte, 0}, &error));
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/** Opening "a.npy" must fail with that status, and name the file. */
static void expect_refusal(lx_status status)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    ck_assert_int_eq(lx_source_open("a.npy", NULL, &source, &error), status);
    ck_assert_str_eq(error.path, "a.npy");
    ck_assert_int_ne(error.message[0], '\0');
    ck_assert_int_eq(lx_source_open("a.npy", NULL, &source, NULL), status);
}

START_TEST(rejects_invalid_arrays_with_their_path)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_npy("a.npy", 1, HEADER("<f4", "()"), 4);
    expect_refusal(LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 1, HEADER("<f4", "(5,)"), 19);
    expect_refusal(LX_ERR_CORRUPT);
    write_npy("a.npy", 4, HEADER("<f4", "(5,)"), 20);
    expect_refusal(LX_ERR_UNSUPPORTED);
    write_bytes("a.npy", "hello, world", 12);
    expect_refusal(LX_ERR_UNSUPPORTED);
    unit_fails(lx_source_open("none.npy", NULL, &source, &error), LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_records_larger_than_memory_as_corrupt)
{
    char *scratch = scratch_make();
    write_npy("a.npy", 1, HEADER("<f4", "(0, 9223372036854775808, 9223372036854775808)"), 0);
    expect_refusal(LX_ERR_CORRUPT);
    write_npy("a.npy", 1, HEADER("<f4", "(0, 4611686018427387904)"), 0);
    expect_refusal(LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

/** Opens "a.npy", which may be damaged, and reads all of it if that succeeds. */
static void read_hostile(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_status status = lx_source_open("a.npy", NULL, &source, &error);
    ck_assert_msg(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED,
                  "%s: %s", lx_status_get_name(status), error.message);
    if (status != LX_OK)
        return;
    uint64_t length = lx_source_get_length(source), size = lx_source_get_column(source, 0)->size;
    if (length != 0 && size < 1 << 16) {
        uint8_t *out = malloc(size + 1);
        const uint64_t ends[] = {0, length - 1};
        for (int i = 0; i < 2; i++)
            unit_ok(lx_source_fill(source, &ends[i], 1, &(lx_target){out, size}, &error));
        free(out);
    }
    lx_source_unref(source);
}

START_TEST(survives_any_mutation_of_a_file)
{
    char *scratch = scratch_make();
    uint64_t state = 2463534242u;
    static const char header[] = HEADER("<u2", "(5, 3, 2)");
    size_t size = write_npy("a.npy", 1, header, 60) + 60;
    uint8_t good[256], bytes[256];
    FILE *file = fopen("a.npy", "rb");
    ck_assert_uint_eq(fread(good, 1, size, file), size);
    fclose(file);
    for (int round = 0; round < 3000; round++) {
        memcpy(bytes, good, size);
        for (uint64_t n = 1 + random_next(&state) % 4; n > 0; n--) {
            size_t at = random_next(&state) % (10 + sizeof header);
            bytes[at] = random_next(&state) % 2 ? (uint8_t)random_next(&state)
                                                : (uint8_t) "0123456789(),<>|' "[n * 4];
        }
        write_bytes("a.npy", bytes, random_next(&state) % 8 ? size : random_next(&state) % size);
        read_hostile();
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_refuses_null(lx_source_open(NULL, NULL, &source, &error), "path");
    unit_refuses_null(lx_source_open("x.npy", NULL, NULL, &error), "source");
}
END_TEST

UNIT_MAIN("loader/source-npy", the_first_axis_counts_the_records,
          leaves_out_columns_that_are_not_requested, scalars_and_empty_arrays_are_sources,
          rejects_invalid_arrays_with_their_path, reports_records_larger_than_memory_as_corrupt,
          survives_any_mutation_of_a_file, rejects_null_by_name)
