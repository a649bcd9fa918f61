/* SPDX-License-Identifier: MIT */
/* Samples of tokens: lib/loader/tokens/source-tokens.c. */
#include "loader/sources/source.h"

#include "token-files.h"
#include "../../../new-sources.h"

/** Tokens 0, 1 .. in files of these lengths. */
static lx_tokens *make(const size_t *counts, size_t files)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *parts[4], *all;
    uint64_t numbers[10000], next = 0;
    for (size_t i = 0; i < files; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        for (size_t k = 0; k < counts[i]; k++)
            numbers[k] = next++;
        write_numbers(name, 2, numbers, counts[i]);
        parts[i] = open_tokens(name, LX_UINT16);
    }
    unit_ok(lx_tokens_new_concat(parts, files, &all, &error));
    for (size_t i = 0; i < files; i++)
        lx_tokens_unref(parts[i]);
    return all;
}

START_TEST(samples_overlap_by_one_token_and_drop_the_rest)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char *scratch = scratch_make();
    for (size_t count = 0; count <= 40; count++) {
        lx_tokens *tokens = make(&count, 1);
        for (uint64_t sequence = 1; sequence <= 41; sequence += 4) {
            uint32_t sample[64];
            unit_ok(new_tokens(tokens, sequence, LX_INT32, 0, &source, &error));
            uint64_t length = lx_source_get_length(source);
            ck_assert_uint_eq(length, count == 0 ? 0 : (count - 1) / sequence);
            const lx_column_info *column = lx_source_get_column(source, 0);
            ck_assert_str_eq(column->name, "tokens");
            ck_assert_int_eq(column->dtype, LX_INT32);
            ck_assert_uint_eq(column->shape[0], sequence + 1);
            for (uint64_t i = 0; i < length; i++) {
                lx_target target = {sample, sizeof sample};
                unit_ok(lx_source_fill(source, &i, 1, &target, &error));
                for (uint64_t k = 0; k <= sequence; k++)
                    ck_assert_uint_eq(LX__LE32(sample[k]), i * sequence + k);
            }
            lx_source_unref(source);
        }
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(blocks_are_disjoint_and_drop_the_rest)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char *scratch = scratch_make();
    for (size_t count = 0; count <= 40; count++) {
        lx_tokens *tokens = make(&count, 1);
        for (uint64_t size = 1; size <= 41; size += 4) {
            uint64_t block[64];
            unit_ok(new_token_blocks(tokens, size, LX_INT64, 0, &source, &error));
            uint64_t length = lx_source_get_length(source);
            ck_assert_uint_eq(length, count / size);
            ck_assert_uint_eq(lx_source_get_column(source, 0)->shape[0], size);
            for (uint64_t i = 0; i < length; i++) {
                lx_target target = {block, sizeof block};
                unit_ok(lx_source_fill(source, &i, 1, &target, &error));
                for (uint64_t k = 0; k < size; k++)
                    ck_assert_uint_eq(LX__LE64(block[k]), i * size + k);
            }
            lx_source_unref(source);
        }
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_many_samples_from_several_files)
{
    static const size_t counts[] = {5000, 1, 9000, 777};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char *scratch = scratch_make();
    lx_tokens *tokens = make(counts, 4);
    unit_ok(new_tokens(tokens, 1000, LX_INT64, 0, &source, &error));
    lx_tokens_unref(tokens); /* the source has a reference */
    const uint64_t indices[] = {13, 0, 4, 5, 8, 13, 9};
    uint64_t(*samples)[1002] = malloc(7 * sizeof *samples);
    lx_target target = {samples, sizeof *samples};
    unit_ok(lx_source_fill(source, indices, 7, &target, &error));
    for (size_t i = 0; i < 7; i++)
        for (uint64_t k = 0; k <= 1000; k++)
            ck_assert_uint_eq(LX__LE64(samples[i][k]), indices[i] * 1000 + k);
    const uint64_t beyond = 14;
    unit_fails(lx_source_fill(source, &beyond, 1, &target, &error), LX_ERR_RANGE);
    free(samples);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_tokens_outside_the_vocabulary)
{
    const size_t count = 101;
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    uint32_t sample[11];
    char *scratch = scratch_make();
    lx_tokens *tokens = make(&count, 1);
    unit_ok(new_tokens(tokens, 10, LX_INT32, 75, &source, &error));
    for (uint64_t i = 0; i < 10; i++) {
        lx_status status = lx_source_fill(source, &i, 1, &(lx_target){sample, sizeof sample},
                                          &error);
        ck_assert_int_eq(status, i < 7 ? LX_OK : LX_ERR_CORRUPT);
        if (i == 7) {
            ck_assert_ptr_nonnull(strstr(error.message, "token 75 of the file is 0x4b, but must "
                                                        "be less than 75"));
            ck_assert_uint_eq(error.record, 7);
            ck_assert_uint_eq(error.offset, 150);
            ck_assert_str_eq(error.path, "a");
        }
        lx_error_clear(&error);
    }
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_loader_reads_and_recognizes_them)
{
    const size_t count = 9001;
    lx_error error = LX_ERROR_INIT;
    lx_source *source, *others[2];
    lx_loader *loader, *resumed;
    lx_batch *batch;
    char state[4096], *scratch = scratch_make();
    lx_tokens *tokens = make(&count, 1);
    unit_ok(new_tokens(tokens, 100, LX_INT32, 0, &source, &error));
    unit_ok(new_tokens(tokens, 90, LX_INT32, 0, &others[0], &error));
    unit_ok(new_token_blocks(tokens, 101, LX_INT32, 0, &others[1], &error));
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_batch_size(options, 8, &error));
    unit_ok(lx_loader_options_set_shuffle(options, 3, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    unit_ok(lx_loader_next(loader, &batch, &error));
    const uint64_t *indices = lx_batch_get_indices(batch);
    const uint32_t *data = lx_batch_find_column(batch, "tokens")->data;
    for (size_t i = 0; i < 8; i++)
        for (uint64_t k = 0; k <= 100; k++)
            ck_assert_uint_eq(LX__LE32(data[i * 101 + k]), indices[i] * 100 + k);
    lx_batch_unref(batch);
    unit_ok(lx_loader_save(loader, state, sizeof state, NULL, &error));
    unit_ok(lx_loader_open(source, options, &resumed, &error));
    unit_ok(lx_loader_restore(resumed, state, &error));
    ck_assert_uint_eq(lx_loader_tell(resumed), 8);
    lx_loader_close(resumed);
    for (size_t i = 0; i < 2; i++) {
        unit_ok(lx_loader_open(others[i], options, &resumed, &error));
        ck_assert_int_eq(lx_loader_restore(resumed, state, &error), LX_ERR_MISMATCH);
        lx_error_clear(&error);
        lx_loader_close(resumed);
        lx_source_unref(others[i]);
    }
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    const size_t count = 10;
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char *scratch = scratch_make();
    lx_tokens *tokens = make(&count, 1);
    unit_fails(new_tokens(tokens, 0, LX_INT32, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_tokens(tokens, UINT64_MAX, LX_INT32, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_tokens(tokens, UINT64_MAX / 4, LX_INT32, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_tokens(tokens, 4, LX_UINT16, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_token_blocks(tokens, 0, LX_INT32, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_token_blocks(tokens, UINT64_MAX, LX_INT32, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_token_blocks(tokens, 4, LX_BYTES, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(new_token_blocks(NULL, 4, LX_INT32, 0, &source, &error), "tokens");
    unit_refuses_null(new_tokens(NULL, 4, LX_INT32, 0, &source, &error), "tokens");
    unit_refuses_null(new_tokens(tokens, 4, LX_INT32, 0, NULL, &error), "source");
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/source-tokens", samples_overlap_by_one_token_and_drop_the_rest,
          blocks_are_disjoint_and_drop_the_rest, reads_many_samples_from_several_files,
          rejects_tokens_outside_the_vocabulary, a_loader_reads_and_recognizes_them,
          rejects_invalid_arguments)
