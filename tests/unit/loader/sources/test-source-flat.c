/* SPDX-License-Identifier: MIT */
/* Files of bare records as sources: lib/loader/sources/source-flat.c. */
#include "loader/sources/source.h"

#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"

static const uint64_t pair[] = {2};
static const lx_column_info tokens = {
    .name = "tokens", .dtype = LX_UINT16, .ndim = 1, .shape = pair};

static void write_numbers(const char *path, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)i;
    write_bytes(path, bytes, size);
    free(bytes);
}

START_TEST(reads_consecutive_records)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    write_numbers("flat", 44);
    for (uint64_t offset = 0; offset <= 44; offset += 4) {
        lx_source *source;
        unit_ok(lx_source_open_flat("flat", &tokens, offset, &source, &error));
        uint64_t length = lx_source_get_length(source);
        ck_assert_uint_eq(length, (44 - offset) / 4);
        const lx_column_info *column = lx_source_get_column(source, 0);
        ck_assert_str_eq(column->name, "tokens");
        ck_assert_uint_eq(column->size, 4);
        for (uint64_t i = 0; i < length; i++) {
            uint8_t record[4];
            unit_ok(lx_source_fill(source, &i, 1, &(lx_target){record, 4}, &error));
            for (uint64_t k = 0; k < 4; k++)
                ck_assert_uint_eq(record[k], offset + 4 * i + k);
        }
        lx_source_unref(source);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_file_of_another_size)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_numbers("flat", 43);
    ck_assert_int_eq(lx_source_open_flat("flat", &tokens, 0, &source, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "3 bytes after the last whole record of 4"));
    ck_assert_str_eq(error.path, "flat");
    lx_error_clear(&error);
    unit_fails(lx_source_open_flat("flat", &tokens, 44, &source, &error), LX_ERR_CORRUPT);
    unit_ok(lx_source_open_flat("flat", &tokens, 43, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 0);
    lx_source_unref(source);
    unit_fails(lx_source_open_flat("none", &tokens, 0, &source, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_source_open_flat(".", &tokens, 0, &source, &error), LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const uint64_t none[] = {0}, many[] = {UINT64_MAX};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_numbers("flat", 44);
    const lx_column_info wrong[] = {{.name = "x", .dtype = LX_BYTES},
                                    {.name = "x", .dtype = (lx_dtype)99},
                                    {.name = "x", .dtype = LX_UINT8, .ndim = 1, .shape = none},
                                    {.name = "x", .dtype = LX_UINT16, .ndim = 1, .shape = many},
                                    {.name = "x", .dtype = LX_UINT16, .ndim = 1},
                                    {.name = "", .dtype = LX_UINT16},
                                    {.name = NULL, .dtype = LX_UINT16}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        unit_fails(lx_source_open_flat("flat", &wrong[i], 0, &source, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_source_open_flat(NULL, &tokens, 0, &source, &error), "path");
    unit_refuses_null(lx_source_open_flat("flat", NULL, 0, &source, &error), "column");
    unit_refuses_null(lx_source_open_flat("flat", &tokens, 0, NULL, &error), "source");
    for (int left = 0; left < 5; left++) {
        scarce_begin(left);
        unit_fails(lx_source_open_flat("flat", &tokens, 0, &source, &error), LX_ERR_NOMEM);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/source-flat", reads_consecutive_records, rejects_a_file_of_another_size,
          rejects_invalid_arguments)
