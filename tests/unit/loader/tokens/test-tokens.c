/* SPDX-License-Identifier: MIT */
/* A sequence of tokens over several files: lib/loader/tokens/tokens.c. */
#include "loader/tokens/tokens.h"

#include "../../scarce.h"
#include "token-files.h"

#define PARTS 5

/** Files a, b .. of 7, 0, 1, 20 and 2 tokens, numbered through all files. */
static void make(lx_tokens *parts[PARTS])
{
    static const size_t counts[PARTS] = {7, 0, 1, 20, 2};
    uint64_t numbers[20], next = 0;
    for (int i = 0; i < PARTS; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        for (size_t k = 0; k < counts[i]; k++)
            numbers[k] = next++;
        write_numbers(name, 2, numbers, counts[i]);
        parts[i] = open_tokens(name, LX_UINT16);
    }
}

static void end(lx_tokens *parts[PARTS])
{
    for (int i = 0; i < PARTS; i++)
        lx_tokens_unref(parts[i]);
}

START_TEST(reads_across_files)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *parts[PARTS], *all, *twice;
    char *scratch = scratch_make();
    make(parts);
    unit_ok(lx_tokens_new_concat(parts, PARTS, &all, &error));
    end(parts);
    ck_assert_uint_eq(lx_tokens_get_length(all), 30);
    for (uint64_t first = 0; first <= 30; first++)
        for (uint64_t count = 0; count <= 30 - first; count++)
            expect_tokens(all, first, count, (uint32_t)first);
    ck_assert_uint_eq(lx_tokens_get_document_count(all), PARTS);
    expect_document(all, 0, 0, 7);
    expect_document(all, 1, 7, 0);
    expect_document(all, 3, 8, 20);
    expect_document(all, 4, 28, 2);
    unit_ok(lx_tokens_new_concat((lx_tokens *[]){all, all}, 2, &twice, &error));
    lx_tokens_unref(all);
    ck_assert_uint_eq(lx_tokens_get_length(twice), 60);
    expect_tokens(twice, 30, 30, 0);
    expect_document(twice, 9, 58, 2);
    lx_tokens_unref(lx_tokens_ref(twice));
    lx_tokens_unref(twice);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_files_of_different_dtypes)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *parts[PARTS], *all;
    char *scratch = scratch_make();
    make(parts);
    lx_tokens *wide = open_tokens("d", LX_UINT32);
    ck_assert_int_eq(lx_tokens_new_concat((lx_tokens *[]){parts[0], wide}, 2, &all, &error),
                     LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "part 1 has uint32 tokens, but part 0 "
                                                "has uint16 tokens"));
    lx_error_clear(&error);
    unit_fails(lx_tokens_new_concat(parts, 0, &all, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_new_concat(NULL, 1, &all, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_tokens_new_concat((lx_tokens *[]){NULL}, 1, &all, &error), "parts");
    unit_refuses_null(lx_tokens_new_concat(parts, 1, NULL, &error), "tokens");
    lx_tokens_unref(wide);
    end(parts);
    ck_assert_ptr_null(lx_tokens_ref(NULL));
    lx_tokens_unref(NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_reads_beyond_the_end)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t first, length;
    uint32_t wide[8];
    char *scratch = scratch_make();
    write_numbers("x", 2, NULL, 8);
    lx_tokens *tokens = open_tokens("x", LX_UINT16);
    unit_fails(lx_tokens_read(tokens, 0, 9, LX_INT32, wide, &error), LX_ERR_RANGE);
    unit_fails(lx_tokens_read(tokens, 9, 0, LX_INT32, wide, &error), LX_ERR_RANGE);
    unit_fails(lx_tokens_read(tokens, 1, UINT64_MAX, LX_INT32, wide, &error), LX_ERR_RANGE);
    unit_fails(lx_tokens_read(tokens, 0, 1, LX_UINT16, wide, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_tokens_read(NULL, 0, 1, LX_INT32, wide, &error), "tokens");
    unit_refuses_null(lx_tokens_read(tokens, 0, 1, LX_INT32, NULL, &error), "data");
    unit_fails(lx_tokens_get_document(tokens, 1, &first, &length, &error), LX_ERR_RANGE);
    unit_refuses_null(lx_tokens_get_document(tokens, 0, NULL, &length, &error), "first");
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_the_position_of_a_token_out_of_range)
{
    static const uint64_t numbers[] = {1, 2, 0x80000001u, 4};
    lx_error error = LX_ERROR_INIT;
    uint64_t wide[4];
    char *scratch = scratch_make();
    write_numbers("x", 4, numbers, 4);
    for (int i = 0; i < 2; i++) {
        lx_tokens *tokens = open_tokens("x", i == 0 ? LX_UINT32 : LX_INT32);
        ck_assert_int_eq(lx_tokens_read(tokens, 1, 3, LX_INT32, wide, &error), LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "token 2 of the file is 0x80000001"));
        ck_assert_uint_eq(error.offset, 8);
        ck_assert_str_eq(error.path, "x");
        lx_error_clear(&error);
        /* A negative value does not fit int64, either. */
        ck_assert_int_eq(lx_tokens_read(tokens, 0, 4, LX_INT64, wide, &error),
                         i == 0 ? LX_OK : LX_ERR_CORRUPT);
        lx_error_clear(&error);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    char *scratch = scratch_make();
    lx_tokens *parts[PARTS], *tokens = NULL;
    make(parts);
    write_numbers("x.ds", 2, NULL, 30);
    write_numbers("x.ds.index", 8, (const uint64_t[]){30}, 1);
    lx_status status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) {
        ck_assert_int_lt(left, 50);
        scarce_begin(left);
        status = lx_tokens_open("x.ds", LX_BYTES, &tokens, NULL);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    lx_tokens_unref(tokens);
    status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) {
        scarce_begin(left);
        status = lx_tokens_new_concat(parts, PARTS, &tokens, NULL);
    }
    lx_tokens_unref(tokens);
    end(parts);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/tokens", reads_across_files, rejects_files_of_different_dtypes,
          rejects_reads_beyond_the_end, reports_the_position_of_a_token_out_of_range,
          reports_failed_allocations)
