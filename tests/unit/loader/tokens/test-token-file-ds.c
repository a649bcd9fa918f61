/* SPDX-License-Identifier: MIT */
/* Nanotron's token files: lib/loader/tokens/token-file-ds.c. */
#include "loader/tokens/token-file.h"

#include "token-files.h"

static const uint64_t ends[] = {4, 4, 19, 30};

START_TEST(defaults_to_two_bytes_and_one_document)
{
    char *scratch = scratch_make();
    write_numbers("x.ds", 2, NULL, 30);
    lx_tokens *tokens = open_tokens("x.ds", LX_BYTES);
    ck_assert_int_eq(lx_tokens_get_dtype(tokens), LX_UINT16);
    ck_assert_uint_eq(lx_tokens_get_length(tokens), 30);
    expect_document(tokens, 0, 0, 30);
    expect_tokens(tokens, 0, 30, 0);
    lx_tokens_unref(tokens);
    write_numbers("x.ds", 4, NULL, 30);
    tokens = open_tokens("x.ds", LX_UINT32);
    expect_tokens(tokens, 0, 30, 0);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_ends_of_documents_from_the_index)
{
    char *scratch = scratch_make();
    write_numbers("x.ds", 2, NULL, 30);
    write_numbers("x.ds.index", 8, ends, 4);
    lx_tokens *tokens = open_tokens("x.ds", LX_BYTES);
    ck_assert_uint_eq(lx_tokens_get_document_count(tokens), 4);
    for (uint64_t i = 0, first = 0; i < 4; first = ends[i++])
        expect_document(tokens, i, first, ends[i] - first);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_the_width_of_tokens_from_the_metadata)
{
    static const char four[] = "a/tokenizer|4\n30\n30 tokens\n", odd[] = "a/tokenizer|3\n",
                      none[] = "nothing that is known\n";
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_numbers("x.ds", 4, NULL, 30);
    write_bytes("x.ds.metadata", four, strlen(four));
    tokens = open_tokens("x.ds", LX_BYTES);
    ck_assert_int_eq(lx_tokens_get_dtype(tokens), LX_UINT32);
    expect_tokens(tokens, 0, 30, 0);
    lx_tokens_unref(tokens);
    unit_fails(lx_tokens_open("x.ds", LX_UINT16, &tokens, &error), LX_ERR_MISMATCH);
    write_bytes("x.ds.metadata", odd, strlen(odd));
    ck_assert_int_eq(lx_tokens_open("x.ds", LX_BYTES, &tokens, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.path, "x.ds.metadata");
    lx_error_clear(&error);
    write_bytes("x.ds.metadata", none, strlen(none));
    tokens = open_tokens("x.ds", LX_UINT32);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_an_index_of_another_file)
{
    static const uint64_t back[] = {4, 19, 4, 30}, beyond[] = {4, 31, 20, 30};
    lx_error error = LX_ERROR_INIT;
    uint64_t first, length;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_numbers("x.ds", 2, NULL, 30);
    for (size_t cut = 0; cut < 32; cut++) {
        write_numbers("x.ds.index", 8, ends, 4);
        ck_assert_int_eq(truncate("x.ds.index", (off_t)cut), 0);
        ck_assert_int_eq(lx_tokens_open("x.ds", LX_BYTES, &tokens, &error), LX_ERR_CORRUPT);
        ck_assert_str_eq(error.path, "x.ds.index");
        lx_error_clear(&error);
    }
    for (int i = 0; i < 2; i++) {
        write_numbers("x.ds.index", 8, i == 0 ? back : beyond, 4);
        tokens = open_tokens("x.ds", LX_BYTES);
        uint64_t bad = i == 0 ? 2 : 1;
        ck_assert_int_eq(lx_tokens_get_document(tokens, bad, &first, &length, &error),
                         LX_ERR_CORRUPT);
        ck_assert_str_eq(error.path, "x.ds.index");
        ck_assert_uint_eq(error.offset, 8 * bad);
        lx_error_clear(&error);
        expect_document(tokens, 0, 0, 4);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/token-file-ds", defaults_to_two_bytes_and_one_document,
          reads_ends_of_documents_from_the_index, reads_the_width_of_tokens_from_the_metadata,
          rejects_an_index_of_another_file)
