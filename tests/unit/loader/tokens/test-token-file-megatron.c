/* SPDX-License-Identifier: MIT */
/* Megatron's two files: lib/loader/tokens/token-file-megatron.c. */
#include "loader/tokens/token-file.h"

#include "token-files.h"

static const uint32_t lengths[] = {5, 0, 12, 3};
#define TOKENS 20

/** x.bin and x.idx of uint16; returns the size of the latter. */
static size_t make(void)
{
    write_numbers("x.bin", 2, NULL, TOKENS);
    return write_idx("x.idx", 8, 2, lengths, 4);
}

static void patch(size_t offset, const void *bytes, size_t size)
{
    FILE *file = fopen("x.idx", "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, (long)offset, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(opens_both_files_by_either_path)
{
    static const char *const names[] = {"x.bin", "x.idx"};
    char *scratch = scratch_make();
    make();
    for (int i = 0; i < 2; i++) {
        lx_tokens *tokens = open_tokens(names[i], i == 0 ? LX_BYTES : LX_UINT16);
        ck_assert_int_eq(lx_tokens_get_dtype(tokens), LX_UINT16);
        ck_assert_uint_eq(lx_tokens_get_length(tokens), TOKENS);
        ck_assert_uint_eq(lx_tokens_get_document_count(tokens), 4);
        uint64_t first = 0;
        for (uint64_t k = 0; k < 4; k++) {
            expect_document(tokens, k, first, lengths[k]);
            first += lengths[k];
        }
        expect_tokens(tokens, 0, TOKENS, 0);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_each_dtype)
{
    static const lx_dtype dtypes[] = {0,        LX_UINT8, LX_INT8, LX_INT16, LX_INT32,
                                      LX_INT64, 0,        0,       LX_UINT16};
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    for (int code = 0; code < 12; code++) {
        lx_dtype dtype = code < 9 ? dtypes[code] : 0;
        size_t width = dtype != 0 ? lx_dtype_get_size(dtype) : 4;
        write_numbers("x.bin", width, NULL, TOKENS);
        write_idx("x.idx", code, width, lengths, 4);
        lx_status status = lx_tokens_open("x.bin", LX_BYTES, &tokens, &error);
        if (dtype != 0) {
            ck_assert_int_eq(status, LX_OK);
            expect_tokens(tokens, 0, TOKENS, 0);
            lx_tokens_unref(tokens);
            continue;
        }
        ck_assert_int_eq(status, code == 6 || code == 7 ? LX_ERR_UNSUPPORTED : LX_ERR_CORRUPT);
        ck_assert_str_eq(error.path, "x.idx");
        ck_assert_uint_eq(error.offset, 17);
        lx_error_clear(&error);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_files_that_do_not_match)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    make();
    write_numbers("x.bin", 2, NULL, TOKENS - 1);
    ck_assert_int_eq(lx_tokens_open("x.idx", LX_BYTES, &tokens, &error), LX_ERR_CORRUPT);
    lx_error_clear(&error);
    write_numbers("x.bin", 2, NULL, TOKENS + 1);
    ck_assert_int_eq(lx_tokens_open("x.idx", LX_BYTES, &tokens, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "21 tokens, but the index ends at token 20"));
    ck_assert_str_eq(error.path, "x.bin");
    lx_error_clear(&error);
    unit_fails(lx_tokens_open("x.idx", LX_UINT32, &tokens, &error), LX_ERR_MISMATCH);
    remove("x.bin");
    unit_fails(lx_tokens_open("x.idx", LX_BYTES, &tokens, &error), LX_ERR_NOT_FOUND);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_an_index_truncated_or_changed_anywhere)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    uint64_t first, length;
    uint32_t wide[TOKENS];
    char *scratch = scratch_make();
    size_t size = make();
    for (size_t cut = 0; cut < size; cut++) {
        make();
        ck_assert_int_eq(truncate("x.idx", (off_t)cut), 0);
        ck_assert_int_ne(lx_tokens_open("x.bin", LX_BYTES, &tokens, &error), LX_OK);
        ck_assert_str_eq(error.path, "x.idx");
        lx_error_clear(&error);
    }
    for (size_t at = 0; at < size; at++) {
        for (int to = 0; to < 3; to++) {
            const uint8_t byte = (uint8_t)(to == 0 ? 0xff : to == 1 ? 0x80 : 7);
            make();
            patch(at, &byte, 1);
            if (lx_tokens_open("x.bin", LX_BYTES, &tokens, &error) == LX_OK) {
                /* The data that it describes exists. */
                for (uint64_t i = 0; i < lx_tokens_get_document_count(tokens); i++)
                    if (lx_tokens_get_document(tokens, i, &first, &length, &error) == LX_OK)
                        unit_ok(lx_tokens_read(tokens, first, length, LX_INT32, wide, &error));
                    else
                        ck_assert_int_eq(error.status, LX_ERR_CORRUPT);
                lx_error_clear(&error);
                lx_tokens_unref(tokens);
            }
            lx_error_clear(&error);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_headers)
{
    const uint64_t many = UINT64_MAX, two = 2;
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    make();
    patch(9, &two, 8);
    unit_fails(lx_tokens_open("x.bin", LX_BYTES, &tokens, &error), LX_ERR_UNSUPPORTED);
    make();
    patch(0, "LMIDIDX", 7);
    unit_fails(lx_tokens_open("x.bin", LX_BYTES, &tokens, &error), LX_ERR_UNSUPPORTED);
    for (size_t at = 18; at <= 26; at += 8) {
        make();
        patch(at, &many, 8);
        ck_assert_int_eq(lx_tokens_open("x.bin", LX_BYTES, &tokens, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(error.offset, 18);
        lx_error_clear(&error);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(names_an_index_of_a_multimodal_dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    size_t size = make();
    for (size_t extra = 3; extra <= 5; extra++) { /* a byte for each of 4 sequences, or not */
        make();
        ck_assert_int_eq(truncate("x.idx", (off_t)(size + extra)), 0);
        ck_assert_int_eq(lx_tokens_open("x.bin", LX_BYTES, &tokens, &error),
                         extra == 4 ? LX_ERR_UNSUPPORTED : LX_ERR_CORRUPT);
        ck_assert(extra != 4 || strstr(error.message, "multimodal") != NULL);
        ck_assert_str_eq(error.path, "x.idx");
        lx_error_clear(&error);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/token-file-megatron", opens_both_files_by_either_path, reads_each_dtype,
          rejects_files_that_do_not_match, rejects_an_index_truncated_or_changed_anywhere,
          rejects_invalid_headers, names_an_index_of_a_multimodal_dataset)
