/* SPDX-License-Identifier: MIT */
/* Fields of tokens that are damaged, or no tokens, and calls that ask for what is not there:
 * lib/loader/tokens/token-field.c. */
#include "../../scarce.h"
#include "../../zrecord/files.h"
#include "token-fields.h"

START_TEST(a_record_that_ends_within_a_token)
{
    static const uint32_t lengths[] = {8, 4, 3, 1};
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_field("d", lengths, 4, 1, LX_RAW);
    lx_dataset *dataset = open_dataset("d", LX_PLACEMENT_MAPPED, LX_DAMAGE_RAISE);
    ck_assert_int_eq(lx_tokens_from_field(dataset, 0, LX_UINT32, &tokens, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message,
                                 "3 bytes is not a whole number of tokens of uint32"));
    ck_assert_str_eq(error.field, "text");
    ck_assert_str_eq(error.path, "d");
    ck_assert_uint_eq(error.record, 2);
    lx_error_clear(&error);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_token_that_does_not_fit_is_told_by_its_record)
{
    static const uint32_t lengths[] = {20, 0, 2000, 9};
    lx_error error = LX_ERROR_INIT;
    int64_t row[50];
    for (int compressed = 0; compressed < 2; compressed++) {
        char *scratch = scratch_make();
        write_field("d", lengths, 4, 4, compressed != 0 ? LX_FLATE : LX_RAW);
        lx_tokens *tokens = open_field("d", LX_UINT32);
        uint32_t limit = token_at(50), bad = 50; /* the first that is too large behind */
        lx_source *source;
        for (bad = 40; token_at(bad) < limit; bad++)
            continue;
        unit_ok(lx_source_from_token_blocks(tokens, 1, LX_INT64, limit, &source, &error));
        for (uint64_t i = 40; i <= bad; i++) {
            const lx_target target = {row, sizeof row};
            lx_status status = lx_source_fill(source, &i, 1, &target, &error);
            ck_assert_int_eq(status, i < bad ? LX_OK : LX_ERR_CORRUPT);
        }
        char expected[100];
        snprintf(expected, sizeof expected,
                 "token %u of the record is 0x%x, and has to be below %u", bad - 20, token_at(bad),
                 limit);
        ck_assert_ptr_nonnull(strstr(error.message, expected));
        ck_assert_str_eq(error.field, "text");
        ck_assert_uint_eq(error.record, 2);
        lx_error_clear(&error);
        lx_source_unref(source);
        lx_tokens_unref(tokens);
        scratch_remove(scratch);
    }
}
END_TEST

/** Changes byte @p at of the first chunk. */
static void damage(const char *dataset, long at)
{
    char path[64];
    snprintf(path, sizeof path, "%s/chunk/0.zr", dataset);
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, at, SEEK_SET), 0);
    int byte = fgetc(file);
    ck_assert_int_eq(fseek(file, at, SEEK_SET), 0);
    ck_assert_int_ne(fputc(byte ^ 0x55, file), EOF);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(damage_is_told_with_its_record_and_others_are_read)
{
    static const uint32_t lengths[] = {100, 200, 300};
    static const lx_placement placements[] = {LX_PLACEMENT_MAPPED, LX_PLACEMENT_PREAD};
    uint32_t row[601];
    for (int i = 0; i < 4; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_tokens *tokens;
        char *scratch = scratch_make();
        write_field("d", lengths, 3, 2, LX_RAW);
        lx_damage policy = i < 2 ? LX_DAMAGE_RAISE : LX_DAMAGE_ZEROS;
        lx_dataset *dataset = open_dataset("d", placements[i % 2], policy);
        unit_ok(lx_tokens_from_field(dataset, 0, LX_UINT16, &tokens, &error));
        damage("d", 250); /* of the second document */
        lx_status status = lx_tokens_read(tokens, 0, 600, LX_INT32, row, &error);
        if (policy == LX_DAMAGE_RAISE) {
            ck_assert_int_eq(status, LX_ERR_CORRUPT);
            ck_assert_str_eq(error.field, "text");
            ck_assert_uint_eq(error.record, 1);
            ck_assert_ptr_nonnull(strstr(error.path, "chunk"));
            lx_error_clear(&error);
        } else {
            unit_ok(status);
            for (uint32_t k = 0; k < 600; k++)
                ck_assert_uint_eq(LX__LE32(row[k]), k < 100 || k >= 300 ? token_at(k) : 0);
        }
        expect_field(tokens, 0, 100);
        expect_field(tokens, 300, 300);
        lx_tokens_unref(tokens);
        if (policy == LX_DAMAGE_ZEROS) { /* known at the opening it is no document */
            unit_ok(lx_tokens_from_field(dataset, 0, LX_UINT16, &tokens, &error));
            expect_document(tokens, 1, 100, 0);
            ck_assert_uint_eq(lx_tokens_get_length(tokens), 400);
            lx_tokens_unref(tokens);
        }
        lx_dataset_close(dataset);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_table_that_is_written_to_does_no_harm)
{
    enum { WORDS = 2 * 3 }; /* of the rows of three records: chunk and size, then the offset */
    static const uint32_t lengths[] = {100, 200, 300};
    static const uint64_t sizes[] = {0, 1, 200, 400, 0xffffffff}, places[] = {0, 8, 1200, 1u << 30,
                                                                              UINT64_MAX - 7};
    static uint32_t row[601];
    for (int verified = 0; verified < 2; verified++) {
        char *scratch = scratch_make();
        write_field("d", lengths, 3, 2, LX_RAW);
        seal("d");
        for (size_t i = 0; i < 25; i++) {
            lx_error error = LX_ERROR_INIT;
            lx_tokens *tokens;
            lx_dataset *dataset;
            unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
            unit_ok(lx_tokens_from_field(dataset, 0, LX_UINT16, &tokens, &error));
            lx_dataset_close(dataset);
            if (verified != 0)
                expect_field(tokens, 0, 600);
            size_t size;
            uint8_t *before = file_bytes("d/text.offset", &size);
            ck_assert_uint_ge(size, 8 * WORDS);
            uint64_t rows[WORDS];
            for (size_t k = 0; k < WORDS; k++)
                rows[k] = lx__load_le64(before + 8 * k);
            rows[2] = sizes[i % 5] << 32;
            rows[3] = places[i / 5];
            overwrite("d/text.offset", rows, WORDS);
            lx_status status = lx_tokens_read(tokens, 0, 600, LX_INT32, row, &error);
            ck_assert(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_MISMATCH);
            lx_error_clear(&error);
            expect_field(tokens, 300, 300);
            file_patch("d/text.offset", 0, before, 8 * WORDS);
            free(before);
            lx_tokens_unref(tokens);
        }
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(wrong_arguments)
{
    static const uint32_t lengths[] = {8};
    static const uint64_t shape[] = {4};
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_field("d", lengths, 1, 2, LX_RAW);
    unit_ok(lx_writer_close(create("e", LX_UINT16, shape, 1, LX_RAW), &error));
    unit_ok(lx_writer_close(create("f", LX_FLOAT32, shape, 1, LX_RAW), &error));
    lx_dataset *bytes = open_dataset("d", LX_PLACEMENT_AUTO, LX_DAMAGE_RAISE);
    lx_dataset *dense = open_dataset("e", LX_PLACEMENT_AUTO, LX_DAMAGE_RAISE);
    lx_dataset *floats = open_dataset("f", LX_PLACEMENT_AUTO, LX_DAMAGE_RAISE);
    unit_fails(lx_tokens_from_field(bytes, 1, LX_UINT16, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_from_field(bytes, 0, LX_BYTES, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_from_field(bytes, 0, LX_FLOAT16, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_from_field(bytes, 0, (lx_dtype)99, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_from_field(dense, 0, LX_UINT32, &tokens, &error), LX_ERR_MISMATCH);
    unit_fails(lx_tokens_from_field(floats, 0, LX_BYTES, &tokens, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_tokens_from_field(NULL, 0, LX_UINT16, &tokens, &error), "dataset");
    unit_refuses_null(lx_tokens_from_field(bytes, 0, LX_UINT16, NULL, &error), "tokens");
    lx_dataset_close(floats);
    lx_dataset_close(dense);
    lx_dataset_close(bytes);
    scratch_remove(scratch);
}
END_TEST

START_TEST(out_of_memory)
{
    static const uint32_t lengths[] = {8, 30000, 5};
    static uint32_t row[30013];
    char *scratch = scratch_make();
    write_field("d", lengths, 3, 2, LX_FLATE);
    lx_dataset *dataset = open_dataset("d", LX_PLACEMENT_AUTO, LX_DAMAGE_RAISE);
    lx_tokens *tokens = NULL;
    lx_status status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) {
        ck_assert_int_lt(left, 50);
        scarce_begin(left);
        status = lx_tokens_from_field(dataset, 0, LX_UINT16, &tokens, NULL);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) {
        ck_assert_int_lt(left, 50);
        scarce_begin(left);
        status = lx_tokens_read(tokens, 0, 30013, LX_INT32, row, NULL);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    lx_dataset_close(dataset);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/token-field-wrong", a_record_that_ends_within_a_token,
          a_token_that_does_not_fit_is_told_by_its_record,
          damage_is_told_with_its_record_and_others_are_read,
          a_table_that_is_written_to_does_no_harm, wrong_arguments, out_of_memory)
