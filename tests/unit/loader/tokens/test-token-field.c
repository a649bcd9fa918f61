/* SPDX-License-Identifier: MIT */
/* Fields whose records are documents of tokens: lib/loader/tokens/token-field.c. The tests compare
 * them with a plain array of all tokens, and with the same documents in a file. */
#include <loaderx/parity/megatron.h>
#include <loaderx/packing.h>
#include <loaderx/maintenance.h>

#include "../../scarce.h"
#include "../../zrecord/files.h"
#include "../../../new-sources.h"
#include "parity/megatron-options.h"
#include "states.h"
#include "token-fields.h"

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/** All documents, and as many stretches. */
static void expect_all(const lx_tokens *tokens, const uint32_t *lengths, size_t count)
{
    uint64_t total = 0;
    ck_assert_uint_eq(lx_tokens_get_document_count(tokens), count);
    for (size_t i = 0; i < count; i++) {
        uint32_t length = lengths[i] == ABSENT ? 0 : lengths[i];
        expect_document(tokens, i, total, length);
        total += length;
    }
    ck_assert_uint_eq(lx_tokens_get_length(tokens), total);
    expect_field(tokens, 0, total);
    for (int i = 0; i < 50; i++) {
        uint64_t at = draw((uint32_t)total + 1), left = total - at;
        expect_field(tokens, at, i % 2 != 0 ? left : draw((uint32_t)left + 1));
    }
}

static size_t draw_lengths(uint32_t *lengths, size_t most, int kind)
{
    size_t count = 1 + draw((uint32_t)most);
    for (size_t i = 0; i < count; i++) {
        uint32_t way = draw(10);
        lengths[i] = way == 0   ? 0
                     : way == 1 ? ABSENT
                     : way == 2 ? draw(20000)
                                : draw(kind % 2 != 0 ? 4 : 300);
    }
    return count;
}

START_TEST(matches_one_array_of_all_tokens)
{
    static const lx_access access_modes[] = {LX_ACCESS_MMAP, LX_ACCESS_PREAD};
    uint32_t lengths[700];
    for (int kind = 0; kind < 12; kind++) {
        char *scratch = scratch_make();
        size_t count = draw_lengths(lengths, kind < 4 ? 700 : 40, kind);
        bool wide = kind / 2 % 2 != 0;
        lx_compression compression = kind % 3 == 0 ? LX_COMPRESSION_FLATE : LX_COMPRESSION_RAW;
        write_field("d", lengths, count, wide ? 4 : 2, compression);
        if (kind % 4 > 1) /* otherwise some rows are in the log */
            seal("d");
        for (size_t i = 0; i < sizeof access_modes / sizeof *access_modes; i++) {
            lx_tokens *tokens = open_field_by("d", wide ? LX_UINT32 : LX_UINT16, access_modes[i]);
            expect_all(tokens, lengths, count);
            lx_tokens_unref(tokens);
        }
        scratch_remove(scratch);
    }
}
END_TEST

/** Documents of two axes, or of none. Every @p missing-th document is missing; 0: none is. */
static void expect_dense(const uint64_t *shape, size_t ndim, lx_dtype dtype,
                         lx_compression compression, uint32_t missing)
{
    enum { COUNT = 600 };
    uint32_t lengths[COUNT];
    uint64_t each = 1;
    size_t width = lx_dtype_get_size(dtype);
    char *scratch = scratch_make();
    lx_writer *writer = create("d", dtype, shape, ndim, compression);
    for (size_t i = 0; i < ndim; i++)
        each *= shape[i];
    for (uint32_t i = 0; i < COUNT; i++)
        lengths[i] = missing != 0 && i % missing == 0 ? ABSENT : (uint32_t)each;
    write_documents(writer, lengths, COUNT, width);
    lx_tokens *tokens = open_field("d", LX_BYTES);
    ck_assert_int_eq(lx_tokens_get_dtype(tokens), dtype);
    expect_all(tokens, lengths, COUNT);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}

START_TEST(reads_dense_records_as_documents_of_one_length)
{
    static const uint64_t small[] = {3, 4}, large[] = {300}, nothing[] = {2, 0};
    expect_dense(small, 2, LX_UINT16, LX_COMPRESSION_RAW, 0);
    expect_dense(small, 2, LX_INT64, LX_COMPRESSION_FLATE, 7);
    expect_dense(large, 1, LX_UINT32, LX_COMPRESSION_RAW, 0);
    expect_dense(large, 1, LX_UINT16, LX_COMPRESSION_RAW, 3);
    expect_dense(large, 1, LX_INT32, LX_COMPRESSION_FLATE, 0);
    expect_dense(NULL, 0, LX_UINT32, LX_COMPRESSION_RAW, 0);
    expect_dense(nothing, 2, LX_UINT16, LX_COMPRESSION_RAW, 0);
    expect_dense(small, 2, LX_UINT16, LX_COMPRESSION_RAW, 1);
}
END_TEST

START_TEST(reads_ragged_records_as_documents)
{
    static const uint64_t shape[] = {LX_NONE, 2};
    uint32_t lengths[300];
    for (int kind = 0; kind < 4; kind++) {
        char *scratch = scratch_make();
        size_t count = draw_lengths(lengths, 300, kind);
        lx_dtype dtype = kind % 2 != 0 ? LX_UINT16 : LX_INT32;
        for (size_t i = 0; i < count; i++)
            lengths[i] -= lengths[i] != ABSENT && kind > 1 ? lengths[i] % 2 : 0;
        lx_writer *writer = create("d", dtype, shape, kind > 1 ? 2 : 1, LX_COMPRESSION_RAW);
        write_documents(writer, lengths, count, lx_dtype_get_size(dtype));
        lx_tokens *tokens = open_field("d", LX_BYTES);
        ck_assert_int_eq(lx_tokens_get_dtype(tokens), dtype);
        expect_all(tokens, lengths, count);
        lx_tokens_unref(tokens);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(a_field_without_records_has_no_tokens)
{
    char *scratch = scratch_make();
    write_field("d", NULL, 0, 2, LX_COMPRESSION_RAW);
    lx_tokens *tokens = open_field("d", LX_UINT16);
    expect_all(tokens, NULL, 0);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

/* ---- sources */

#define KINDS 5

/** One of each kind of source over tokens. */
static lx_source *make_source(lx_tokens *tokens, int kind)
{
    enum { ALL = LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS };
    lx_megatron_options megatron = LX__MEGATRON_DEFAULTS;
    lx_error error = LX_ERROR_INIT;
    lx_source *source = NULL;
    switch (kind) {
    case 0:
        unit_ok(new_tokens(tokens, 37, LX_INT32, 0, &source, &error));
        break;
    case 1:
        unit_ok(new_token_blocks(tokens, 100, LX_INT32, 65521, &source, &error));
        break;
    case 2:
        unit_ok(new_joined_tokens(tokens, 50, LX_INT32, 0, 65530, ALL, &source, &error));
        break;
    case 3:
        megatron.sequence_length = 40;
        megatron.num_samples = 5;
        unit_ok(lx_source_new_megatron(tokens, &megatron, &source, &error));
        break;
    default:
        unit_ok(new_packed_tokens(tokens, 64, LX_INT32, 0, -1, ALL, &source, &error));
    }
    return source;
}

/** All samples must be the same, read forward and backward. */
static void expect_same(lx_source *one, lx_source *other)
{
    lx_error error = LX_ERROR_INIT;
    static uint8_t rows[2][3][400][4 * 101];
    uint64_t indices[400], length = lx_source_get_length(one);
    ck_assert_uint_eq(lx_source_get_length(other), length);
    size_t count = length < 400 ? (size_t)length : 400;
    for (size_t i = 0; i < count; i++)
        indices[i] = draw((uint32_t)length);
    memset(rows, 0, sizeof rows);
    for (int k = 0; k < 2; k++) {
        lx_target targets[3];
        for (int i = 0; i < 3; i++)
            targets[i] = (lx_target){rows[k][i], sizeof rows[k][i][0]};
        unit_ok(lx_source_fill(k == 0 ? one : other, indices, count, targets, &error));
    }
    ck_assert_mem_eq(rows[0], rows[1], sizeof rows[0]);
}

/** The same documents as an x.ds. */
static lx_tokens *make_file(const uint32_t *lengths, size_t count)
{
    uint64_t total = 0, ends[700];
    for (size_t i = 0; i < count; i++)
        ends[i] = total += lengths[i] == ABSENT ? 0 : lengths[i];
    uint64_t *numbers = malloc(8 * total + 8);
    for (uint64_t i = 0; i < total; i++)
        numbers[i] = token_at(i);
    write_numbers("f.ds", 2, numbers, total);
    write_numbers("f.ds.index", 8, ends, count);
    free(numbers);
    return open_tokens("f.ds", LX_UINT16);
}

START_TEST(samples_match_a_file_of_the_same_documents)
{
    uint32_t lengths[700];
    for (int kind = 0; kind < 6; kind++) {
        lx_error error = LX_ERROR_INIT;
        char *scratch = scratch_make();
        size_t count = draw_lengths(lengths, 700, kind);
        write_field("d", lengths, count, 2,
                    kind % 3 == 0 ? LX_COMPRESSION_FLATE : LX_COMPRESSION_RAW);
        lx_tokens *field = open_field("d", LX_UINT16), *file = make_file(lengths, count);
        lx_tokens *mixed, *twice;
        unit_ok(lx_tokens_new_concat((lx_tokens *[]){file, field}, 2, &mixed, &error));
        unit_ok(lx_tokens_new_concat((lx_tokens *[]){file, file}, 2, &twice, &error));
        for (int way = 0; way < KINDS; way++) {
            lx_source *sources[] = {make_source(field, way), make_source(file, way),
                                    make_source(mixed, way), make_source(twice, way)};
            expect_same(sources[0], sources[1]);
            expect_same(sources[2], sources[3]);
            for (int i = 0; i < 4; i++)
                lx_source_unref(sources[i]);
        }
        lx_tokens_unref(twice);
        lx_tokens_unref(mixed);
        lx_tokens_unref(file);
        lx_tokens_unref(field);
        scratch_remove(scratch);
    }
}
END_TEST

/* ---- concurrent writers */

START_TEST(later_writes_move_no_token)
{
    static const uint32_t lengths[] = {30, 0, 500, 7};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    char *scratch = scratch_make();
    write_field("d", lengths, 4, 2, LX_COMPRESSION_RAW);
    lx_dataset *live;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    unit_ok(lx_dataset_open("d", options, &live, &error));
    lx_dataset_options_free(options);
    lx_tokens *before, *after;
    unit_ok(lx_tokens_new_field(live, 0, LX_UINT16, &before, &error));
    unit_ok(lx_writer_open("d", NULL, &writer, &error));
    append_document(writer, 537, 11, 2);
    unit_ok(lx_writer_delete(writer, 0, NULL, &error));
    unit_ok(lx_writer_commit(writer, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
    expect_all(before, lengths, 4);
    unit_ok(lx_tokens_new_field(live, 0, LX_UINT16, &after, &error));
    ck_assert_uint_eq(lx_tokens_get_length(after), 518);
    lx_dataset_close(live);
    expect_all(before, lengths, 4);
    expect_document(after, 0, 0, 11); /* the last one took the place of the first */
    lx_tokens_unref(after);
    lx_tokens_unref(before);
    scratch_remove(scratch);
}
END_TEST

/* ---- states */

START_TEST(a_state_identifies_the_documents_of_its_dataset)
{
    static const uint32_t lengths[] = {300, 5, 500};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    char states[KINDS][4096], *scratch = scratch_make();
    write_field("d", lengths, 3, 2, LX_COMPRESSION_RAW);
    write_field("e", lengths, 3, 2, LX_COMPRESSION_RAW);
    lx_tokens *tokens = open_field("d", LX_UINT16), *other = open_field("e", LX_UINT16);
    for (int kind = 0; kind < KINDS; kind++) {
        save_state(make_source(tokens, kind), states[kind], sizeof states[kind]);
        ck_assert_int_eq(restore(make_source(tokens, kind), states[kind]), LX_OK);
        ck_assert_int_eq(restore(make_source(other, kind), states[kind]), LX_ERR_MISMATCH);
    }
    /* The same number of tokens, in other documents. */
    unit_ok(lx_writer_open("d", NULL, &writer, &error));
    unit_ok(lx_writer_delete(writer, 0, NULL, &error));
    append_document(writer, 0, 300, 2);
    unit_ok(lx_writer_close(writer, &error));
    lx_tokens *changed = open_field("d", LX_UINT16);
    ck_assert_uint_eq(lx_tokens_get_length(changed), lx_tokens_get_length(tokens));
    for (int kind = 0; kind < KINDS; kind++)
        ck_assert_int_eq(restore(make_source(changed, kind), states[kind]), LX_ERR_MISMATCH);
    lx_tokens_unref(changed);
    lx_tokens_unref(other);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

/* ---- damage and invalid arguments */

START_TEST(rejects_a_record_that_ends_within_a_token)
{
    static const uint32_t lengths[] = {8, 4, 3, 1};
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_field("d", lengths, 4, 1, LX_COMPRESSION_RAW);
    lx_dataset *dataset = open_dataset("d", LX_ACCESS_MMAP, LX_DAMAGE_RAISE);
    ck_assert_int_eq(lx_tokens_new_field(dataset, 0, LX_UINT32, &tokens, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(
        strstr(error.message, "3 bytes does not contain a whole number of uint32 tokens"));
    ck_assert_str_eq(error.field, "text");
    ck_assert_str_eq(error.path, "d");
    ck_assert_uint_eq(error.record, 2);
    lx_error_clear(&error);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_the_record_of_a_token_out_of_range)
{
    static const uint32_t lengths[] = {20, 0, 2000, 9};
    lx_error error = LX_ERROR_INIT;
    int64_t row[50];
    for (int compressed = 0; compressed < 2; compressed++) {
        char *scratch = scratch_make();
        write_field("d", lengths, 4, 4,
                    compressed != 0 ? LX_COMPRESSION_FLATE : LX_COMPRESSION_RAW);
        lx_tokens *tokens = open_field("d", LX_UINT32);
        uint32_t limit = token_at(50), bad = 50; /* the first value that is too large is at the
                                                  * end */
        lx_source *source;
        for (bad = 40; token_at(bad) < limit; bad++)
            continue;
        unit_ok(new_token_blocks(tokens, 1, LX_INT64, limit, &source, &error));
        for (uint64_t i = 40; i <= bad; i++) {
            const lx_target target = {row, sizeof row};
            lx_status status = lx_source_fill(source, &i, 1, &target, &error);
            ck_assert_int_eq(status, i < bad ? LX_OK : LX_ERR_CORRUPT);
        }
        char expected[100];
        snprintf(expected, sizeof expected,
                 "token %u of the record is 0x%x, but must be less than %u", bad - 20,
                 token_at(bad), limit);
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

START_TEST(reports_damaged_records_and_reads_others)
{
    static const uint32_t lengths[] = {100, 200, 300};
    static const lx_access access_modes[] = {LX_ACCESS_MMAP, LX_ACCESS_PREAD};
    uint32_t row[601];
    for (int i = 0; i < 4; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_tokens *tokens;
        char *scratch = scratch_make();
        write_field("d", lengths, 3, 2, LX_COMPRESSION_RAW);
        lx_damage_policy policy = i < 2 ? LX_DAMAGE_RAISE : LX_DAMAGE_ZEROS;
        lx_dataset *dataset = open_dataset("d", access_modes[i % 2], policy);
        unit_ok(lx_tokens_new_field(dataset, 0, LX_UINT16, &tokens, &error));
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
        if (policy == LX_DAMAGE_ZEROS) { /* if it is known at the opening, it is not a document */
            unit_ok(lx_tokens_new_field(dataset, 0, LX_UINT16, &tokens, &error));
            expect_document(tokens, 1, 100, 0);
            ck_assert_uint_eq(lx_tokens_get_length(tokens), 400);
            lx_tokens_unref(tokens);
        }
        lx_dataset_close(dataset);
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(tolerates_writes_to_its_table)
{
    enum { WORDS = 2 * 3 }; /* of the rows of three records: chunk and size, then the offset */
    static const uint32_t lengths[] = {100, 200, 300};
    static const uint64_t sizes[] = {0, 1, 200, 400, 0xffffffff},
                          places[] = {0, 8, 1200, 1u << 30, UINT64_MAX - 7};
    static uint32_t row[601];
    for (int verified = 0; verified < 2; verified++) {
        char *scratch = scratch_make();
        write_field("d", lengths, 3, 2, LX_COMPRESSION_RAW);
        seal("d");
        for (size_t i = 0; i < 25; i++) {
            lx_error error = LX_ERROR_INIT;
            lx_tokens *tokens;
            lx_dataset *dataset;
            unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
            unit_ok(lx_tokens_new_field(dataset, 0, LX_UINT16, &tokens, &error));
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

START_TEST(rejects_invalid_arguments)
{
    static const uint32_t lengths[] = {8};
    static const uint64_t shape[] = {4};
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens;
    char *scratch = scratch_make();
    write_field("d", lengths, 1, 2, LX_COMPRESSION_RAW);
    unit_ok(lx_writer_close(create("e", LX_UINT16, shape, 1, LX_COMPRESSION_RAW), &error));
    unit_ok(lx_writer_close(create("f", LX_FLOAT32, shape, 1, LX_COMPRESSION_RAW), &error));
    lx_dataset *bytes = open_dataset("d", LX_ACCESS_AUTO, LX_DAMAGE_RAISE);
    lx_dataset *dense = open_dataset("e", LX_ACCESS_AUTO, LX_DAMAGE_RAISE);
    lx_dataset *floats = open_dataset("f", LX_ACCESS_AUTO, LX_DAMAGE_RAISE);
    unit_fails(lx_tokens_new_field(bytes, 1, LX_UINT16, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_new_field(bytes, 0, LX_BYTES, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_new_field(bytes, 0, LX_FLOAT16, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_new_field(bytes, 0, (lx_dtype)99, &tokens, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_tokens_new_field(dense, 0, LX_UINT32, &tokens, &error), LX_ERR_MISMATCH);
    unit_fails(lx_tokens_new_field(floats, 0, LX_BYTES, &tokens, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_tokens_new_field(NULL, 0, LX_UINT16, &tokens, &error), "dataset");
    unit_refuses_null(lx_tokens_new_field(bytes, 0, LX_UINT16, NULL, &error), "tokens");
    lx_dataset_close(floats);
    lx_dataset_close(dense);
    lx_dataset_close(bytes);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    static const uint32_t lengths[] = {8, 30000, 5};
    static uint32_t row[30013];
    char *scratch = scratch_make();
    write_field("d", lengths, 3, 2, LX_COMPRESSION_FLATE);
    lx_dataset *dataset = open_dataset("d", LX_ACCESS_AUTO, LX_DAMAGE_RAISE);
    lx_tokens *tokens = NULL;
    lx_status status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) {
        ck_assert_int_lt(left, 50);
        scarce_begin(left);
        status = lx_tokens_new_field(dataset, 0, LX_UINT16, &tokens, NULL);
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

UNIT_MAIN("loader/token-field", matches_one_array_of_all_tokens,
          reads_dense_records_as_documents_of_one_length, reads_ragged_records_as_documents,
          a_field_without_records_has_no_tokens, samples_match_a_file_of_the_same_documents,
          later_writes_move_no_token, a_state_identifies_the_documents_of_its_dataset,
          rejects_a_record_that_ends_within_a_token, reports_the_record_of_a_token_out_of_range,
          reports_damaged_records_and_reads_others, tolerates_writes_to_its_table,
          rejects_invalid_arguments, reports_failed_allocations)
