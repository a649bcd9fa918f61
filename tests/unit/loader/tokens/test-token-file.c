/* SPDX-License-Identifier: MIT */
/* Token files by their names: lib/loader/tokens/token-file.c. */
#include "loader/tokens/token-file.h"

#include "token-files.h"

START_TEST(reads_bare_tokens_of_each_dtype)
{
    static const lx_dtype dtypes[] = {LX_UINT8, LX_UINT16, LX_UINT32, LX_INT32, LX_INT64};
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        write_numbers("tokens.bin", lx_dtype_get_size(dtypes[i]), NULL, 100);
        lx_tokens *tokens = open_tokens("tokens.bin", dtypes[i]);
        ck_assert_uint_eq(lx_tokens_get_length(tokens), 100);
        ck_assert_int_eq(lx_tokens_get_dtype(tokens), dtypes[i]);
        ck_assert_uint_eq(lx_tokens_get_document_count(tokens), 1);
        expect_document(tokens, 0, 0, 100);
        expect_tokens(tokens, 0, 100, 0);
        expect_tokens(tokens, 37, 63, 37);
        lx_tokens_unref(tokens);
    }
    write_bytes("none", "", 0);
    lx_tokens *tokens = open_tokens("none", LX_UINT16);
    ck_assert_uint_eq(lx_tokens_get_length(tokens), 0);
    expect_tokens(tokens, 0, 0, 0);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_files_of_bare_tokens)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_bytes("tokens", "abcdefg", 7);
    unit_fails(lx_tokens_open("tokens", LX_BYTES, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_open("tokens", LX_FLOAT32, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_open("tokens", (lx_dtype)77, &tokens, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(lx_tokens_open("tokens", LX_UINT16, &tokens, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "1 bytes after the last whole token"));
    ck_assert_str_eq(error.path, "tokens");
    unit_fails(lx_tokens_open("nothing", LX_UINT16, &tokens, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_tokens_open(".", LX_UINT16, &tokens, &error), LX_ERR_CORRUPT);
    unit_refuses_null(lx_tokens_open(NULL, LX_UINT16, &tokens, &error), "path");
    unit_refuses_null(lx_tokens_open("tokens", LX_UINT16, NULL, &error), "tokens");
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_raw_tokens_whatever_the_name)
{
    static const char *const names[] = {"x.npy", "x.bin", "x.idx", "x.ds", "x"};
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_bytes(names[i], "\0\1\2\3\4\5", 6); /* files that another format would reject */
        unit_ok(lx_tokens_open_raw(names[i], LX_UINT8, &tokens, &error));
        ck_assert_uint_eq(lx_tokens_get_length(tokens), 6);
        ck_assert_uint_eq(lx_tokens_get_document_count(tokens), 1);
        expect_tokens(tokens, 0, 6, 0);
        lx_tokens_unref(tokens);
        ck_assert_int_eq(lx_tokens_open_raw(names[i], LX_UINT32, &tokens, &error), LX_ERR_CORRUPT);
        ck_assert_str_eq(error.path, names[i]);
        lx_error_clear(&error);
        unit_fails(lx_tokens_open_raw(names[i], LX_BYTES, &tokens, &error), LX_ERR_ARGUMENT);
    }
    unit_fails(lx_tokens_open_raw("nothing.npy", LX_UINT16, &tokens, &error), LX_ERR_NOT_FOUND);
    unit_refuses_null(lx_tokens_open_raw(NULL, LX_UINT16, &tokens, &error), "path");
    unit_refuses_null(lx_tokens_open_raw("x", LX_UINT16, NULL, &error), "tokens");
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_an_array_of_numpy)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (200,), }\n", 200);
    for (int i = 0; i < 2; i++) {
        tokens = open_tokens("a.npy", i == 0 ? LX_BYTES : LX_UINT8);
        ck_assert_uint_eq(lx_tokens_get_length(tokens), 200);
        expect_tokens(tokens, 5, 100, 5);
        lx_tokens_unref(tokens);
    }
    ck_assert_int_eq(lx_tokens_open("a.npy", LX_UINT16, &tokens, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(
        strstr(error.message, "uint16 tokens were requested, but the stored tokens are uint8"));
    lx_error_clear(&error);
    write_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (20, 2), }\n", 40);
    unit_fails(lx_tokens_open("a.npy", LX_BYTES, &tokens, &error), LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (20,), }\n", 80);
    unit_fails(lx_tokens_open("a.npy", LX_BYTES, &tokens, &error), LX_ERR_UNSUPPORTED);
    write_npy("a.npy", 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (20,), }\n", 39);
    unit_fails(lx_tokens_open("a.npy", LX_BYTES, &tokens, &error), LX_ERR_CORRUPT);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/token-file", reads_bare_tokens_of_each_dtype,
          rejects_invalid_files_of_bare_tokens, reads_raw_tokens_whatever_the_name,
          reads_an_array_of_numpy)
