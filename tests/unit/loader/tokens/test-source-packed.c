/* SPDX-License-Identifier: MIT */
/* Documents in bins: lib/loader/tokens/source-packed.c. */
#include "loader/sources/source.h"

#include <loaderx/packing.h>

#include "states.h"
#include "token-files.h"
#include "../../../new-sources.h"

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

static lx_source *pack(lx_tokens *tokens, uint64_t capacity, unsigned columns)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(new_packed_tokens(tokens, capacity, LX_INT32, 0, -7, columns, &source, &error));
    return source;
}

/** The document of token @p token, and its beginning. */
static size_t document_of(const uint32_t *lengths, uint64_t token, uint64_t *first)
{
    size_t document = 0;
    for (*first = 0; token - *first >= lengths[document]; document++)
        *first += lengths[document];
    return document;
}

/** Checks that a sample is whole pieces followed by padding, and marks its tokens. */
static uint64_t check_sample(const uint32_t *sample, const uint32_t *segments,
                             const uint32_t *positions, const uint32_t *lengths, uint32_t capacity,
                             uint8_t *seen)
{
    uint32_t at = 0;
    for (uint32_t piece = 1; at < capacity && LX__LE32(segments[at]) != 0; piece++) {
        uint64_t token = LX__LE32(sample[at]), first;
        size_t document = document_of(lengths, token, &first);
        ck_assert_uint_eq((token - first) % capacity, 0);
        uint64_t left = lengths[document] - (token - first);
        uint32_t length = left < capacity ? (uint32_t)left : capacity;
        ck_assert_uint_le(at + length, capacity);
        for (uint32_t i = 0; i < length; i++, at++) {
            ck_assert_uint_eq(LX__LE32(sample[at]), token + i);
            ck_assert_uint_eq(LX__LE32(segments[at]), piece);
            ck_assert_uint_eq(LX__LE32(positions[at]), i);
            ck_assert_uint_eq(seen[token + i]++, 0);
        }
    }
    for (uint32_t i = at; i < capacity; i++) {
        ck_assert_int_eq((int32_t)LX__LE32(sample[i]), -7);
        ck_assert_uint_eq(segments[i], 0);
        ck_assert_uint_eq(positions[i], 0);
    }
    return capacity - at;
}

static void expect_all_once(const uint32_t *lengths, size_t count, uint32_t capacity)
{
    lx_error error = LX_ERROR_INIT;
    lx_tokens *tokens = make_documents("d", lengths, count);
    lx_source *source = pack(tokens, capacity, LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS);
    uint64_t all = lx_tokens_get_length(tokens), pads = 0, padding, total;
    uint64_t rows = lx_source_get_length(source);
    uint8_t *seen = calloc(all + 1, 1);
    uint32_t *data = malloc(3 * (rows * capacity + 1) * sizeof *data);
    uint64_t *indices = malloc((rows + 1) * sizeof *indices);
    for (uint64_t i = 0; i < rows; i++)
        indices[i] = i * 7919 % rows; /* any order: sample i is bin i */
    const lx_target targets[] = {{data, 12 * capacity},
                                 {data + capacity, 12 * capacity},
                                 {data + 2 * capacity, 12 * capacity}};
    unit_ok(lx_source_fill(source, indices, rows, targets, &error));
    for (uint64_t i = 0; i < rows; i++) {
        const uint32_t *row = data + 3 * i * capacity;
        pads += check_sample(row, row + capacity, row + 2 * capacity, lengths, capacity, seen);
    }
    if (rows != 0 && rows % 7919 != 0)
        for (uint64_t i = 0; i < all; i++)
            ck_assert_uint_eq(seen[i], 1);
    unit_ok(lx_source_get_padding(source, &padding, &total, &error));
    ck_assert_uint_eq(padding, pads);
    ck_assert_uint_eq(total, rows * capacity);
    ck_assert_uint_eq(total - padding, all);
    free(indices);
    free(data);
    free(seen);
    lx_source_unref(source);
    lx_tokens_unref(tokens);
}

START_TEST(each_token_is_packed_once)
{
    uint32_t lengths[300];
    char *scratch = scratch_make();
    for (uint32_t capacity = 1; capacity < 300; capacity = capacity * 2 + 1)
        for (uint32_t kind = 0; kind < 3; kind++) {
            size_t count = 1 + draw(kind == 0 ? 10 : 300);
            for (size_t i = 0; i < count; i++)
                lengths[i] = draw(kind == 1 ? capacity + 1 : 100) * (draw(5) != 0);
            expect_all_once(lengths, count, capacity);
        }
    scratch_remove(scratch);
}
END_TEST

START_TEST(matches_a_worked_example)
{
    static const uint32_t lengths[] = {3, 12, 0, 2, 5, 4};
    /* the example of doc/packing.md */
    static const int32_t expected[][5] = {{3, 4, 5, 6, 7},      {8, 9, 10, 11, 12},
                                          {17, 18, 19, 20, 21}, {22, 23, 24, 25, -1},
                                          {0, 1, 2, 13, 14},    {15, 16, -1, -1, -1}};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    int64_t sample[5];
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 6);
    unit_ok(new_packed_tokens(tokens, 5, LX_INT64, 0, -1, 0, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), 6);
    ck_assert_uint_eq(lx_source_get_column_count(source), 1);
    ck_assert_int_eq(lx_source_get_column(source, 0)->dtype, LX_INT64);
    ck_assert_uint_eq(lx_source_get_column(source, 0)->shape[0], 5);
    for (uint64_t i = 0; i < 6; i++) {
        const lx_target target = {sample, sizeof sample};
        unit_ok(lx_source_fill(source, &i, 1, &target, &error));
        for (int k = 0; k < 5; k++)
            ck_assert_int_eq((int64_t)LX__LE64((uint64_t)sample[k]), expected[i][k]);
    }
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(returns_the_requested_columns)
{
    static const uint32_t lengths[] = {3, 2};
    static const char *const names[][3] = {{"tokens"},
                                           {"tokens", "segments"},
                                           {"tokens", "positions"},
                                           {"tokens", "segments", "positions"}};
    static const uint32_t segments[] = {1, 1, 1, 2, 2, 0}, positions[] = {0, 1, 2, 0, 1, 0};
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 2);
    for (unsigned columns = 0; columns < 4; columns++) {
        lx_error error = LX_ERROR_INIT;
        lx_source *source = pack(tokens, 6, columns);
        size_t count = lx_source_get_column_count(source);
        ck_assert_uint_eq(count, 1 + (columns & 1) + (columns >> 1));
        for (size_t i = 0; i < count; i++) {
            uint32_t row[6];
            const uint64_t zero = 0;
            lx_target targets[3] = {{NULL, 0}};
            const lx_column_info *column = lx_source_get_column(source, i);
            ck_assert_str_eq(column->name, names[columns][i]);
            ck_assert_int_eq(column->dtype, LX_INT32);
            ck_assert_uint_eq(column->size, sizeof row);
            targets[i] = (lx_target){row, sizeof row};
            unit_ok(lx_source_fill(source, &zero, 1, targets, &error));
            const uint32_t *expected = column->name[0] == 's' ? segments : positions;
            for (int k = 0; i > 0 && k < 6; k++)
                ck_assert_uint_eq(LX__LE32(row[k]), expected[k]);
        }
        lx_source_unref(source);
    }
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(packs_empty_input)
{
    static const uint32_t none[4];
    lx_error error = LX_ERROR_INIT;
    uint64_t padding, total;
    char *scratch = scratch_make();
    for (size_t count = 0; count <= 4; count += 4) {
        lx_tokens *tokens = make_documents("d", none, count);
        lx_source *source = pack(tokens, 10, LX_PACKED_SEGMENTS);
        ck_assert_uint_eq(lx_source_get_length(source), 0);
        unit_ok(lx_source_get_padding(source, &padding, &total, &error));
        ck_assert_uint_eq(padding, 0);
        ck_assert_uint_eq(total, 0);
        lx_source_unref(source);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_an_inconsistent_index_at_opening)
{
    static const uint64_t ends[] = {10, 7, 20};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char *scratch = scratch_make();
    write_numbers("d.ds", 2, NULL, 20);
    write_numbers("d.ds.index", 8, ends, 3);
    lx_tokens *tokens = open_tokens("d.ds", LX_BYTES);
    ck_assert_int_eq(new_packed_tokens(tokens, 8, LX_INT32, 0, 0, 0, &source, &error),
                     LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "document 1 has an invalid end"));
    ck_assert_str_eq(error.path, "d.ds.index");
    ck_assert_uint_eq(error.offset, 8);
    lx_error_clear(&error);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(tolerates_writes_to_its_index)
{
    const uint64_t good[] = {4, 6, 100}, other[] = {90, 95, 100};
    lx_error error = LX_ERROR_INIT;
    uint32_t sample[3][8];
    char *scratch = scratch_make();
    write_numbers("d.ds", 2, NULL, 100);
    write_numbers("d.ds.index", 8, good, 3);
    lx_tokens *tokens = open_tokens("d.ds", LX_BYTES);
    lx_source *source = pack(tokens, 8, LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS);
    overwrite("d.ds.index", other, 3);
    for (uint64_t i = 0; i < lx_source_get_length(source); i++) {
        const lx_target targets[] = {{sample[0], 32}, {sample[1], 32}, {sample[2], 32}};
        lx_status status = lx_source_fill(source, &i, 1, targets, &error);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT);
        lx_error_clear(&error);
    }
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_tokens_outside_the_vocabulary)
{
    static const uint32_t lengths[] = {6, 6, 6};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    uint32_t sample[6];
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3);
    unit_ok(new_packed_tokens(tokens, 6, LX_INT32, 8, 9, 0, &source, &error));
    for (uint64_t i = 0; i < 3; i++) {
        const lx_target target = {sample, sizeof sample};
        lx_status status = lx_source_fill(source, &i, 1, &target, &error);
        ck_assert_int_eq(status, i == 0 ? LX_OK : LX_ERR_CORRUPT);
        if (i == 1) {
            ck_assert_uint_eq(error.record, 1);
            ck_assert_uint_eq(error.offset, 32);
            ck_assert_str_eq(error.path, "d.ds");
        }
        lx_error_clear(&error);
    }
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

/** The batches of an epoch with a number of threads, concatenated. */
static size_t read_epoch(lx_source *source, unsigned threads, uint8_t *data, size_t room)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_batch *batch;
    size_t size = 0;
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_batch_size(options, 8, &error));
    unit_ok(lx_loader_options_set_shuffle(options, 3, &error));
    unit_ok(lx_loader_options_set_epoch_count(options, 1, &error));
    unit_ok(lx_loader_options_set_reader_count(options, threads, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    while (lx_loader_next(loader, &batch, &error) == LX_OK) {
        for (size_t i = 0; i < 3; i++) {
            const lx_column *column = lx_batch_get_column(batch, i);
            ck_assert_uint_le(size + column->rows * 400, room);
            memcpy(data + size, column->data, column->rows * 400);
            size += column->rows * 400;
        }
        lx_batch_unref(batch);
    }
    lx_error_clear(&error);
    lx_loader_close(loader);
    lx_loader_options_free(options);
    return size;
}

START_TEST(gives_the_same_result_with_any_number_of_threads)
{
    enum { ROOM = 1 << 20 };
    static uint8_t one[ROOM], four[ROOM];
    uint32_t lengths[400];
    char *scratch = scratch_make();
    for (size_t i = 0; i < 400; i++)
        lengths[i] = draw(150);
    lx_tokens *tokens = make_documents("d", lengths, 400);
    lx_source *source = pack(tokens, 100, 3), *again = pack(tokens, 100, 3);
    size_t size = read_epoch(source, 1, one, ROOM);
    ck_assert_uint_gt(size, 300 * 400);
    ck_assert_uint_eq(read_epoch(again, 4, four, ROOM), size);
    ck_assert_mem_eq(one, four, size);
    lx_source_unref(again);
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_state_identifies_the_packed_tokens)
{
    static const uint32_t lengths[] = {3, 5, 7, 2, 9, 4}, others[] = {3, 5, 2, 7, 9, 4};
    lx_error error = LX_ERROR_INIT;
    char state[4096], *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 6), *other = make_documents("e", others, 6);
    lx_source *changed;
    save_state(pack(tokens, 10, 1), state, sizeof state);
    ck_assert_int_eq(restore(pack(tokens, 10, 1), state), LX_OK);
    ck_assert_int_eq(restore(pack(other, 10, 1), state), LX_ERR_MISMATCH);
    ck_assert_int_eq(restore(pack(tokens, 11, 1), state), LX_ERR_MISMATCH);
    /* The same pieces in the same bins, in another form. */
    ck_assert_int_eq(restore(pack(tokens, 10, 0), state), LX_OK);
    unit_ok(new_packed_tokens(tokens, 10, LX_INT64, 90, 5, 3, &changed, &error));
    ck_assert_int_eq(restore(changed, state), LX_OK);
    lx_tokens_unref(other);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const uint32_t lengths[] = {3};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    uint64_t padding, total;
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 1);
    unit_fails(new_packed_tokens(tokens, 0, LX_INT32, 0, 0, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_packed_tokens(tokens, (1 << 24) + 1, LX_INT32, 0, 0, 0, &source, &error),
               LX_ERR_ARGUMENT);
    unit_fails(new_packed_tokens(tokens, UINT64_MAX, LX_INT32, 0, 0, 0, &source, &error),
               LX_ERR_ARGUMENT);
    unit_fails(new_packed_tokens(tokens, 4, LX_UINT16, 0, 0, 0, &source, &error), LX_ERR_ARGUMENT);
    unit_fails(new_packed_tokens(tokens, 4, LX_INT32, 0, INT64_C(1) << 31, 0, &source, &error),
               LX_ERR_ARGUMENT);
    unit_fails(new_packed_tokens(tokens, 4, LX_INT32, 0, 0, 4, &source, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(new_packed_tokens(NULL, 4, LX_INT32, 0, 0, 0, &source, &error), "tokens");
    unit_refuses_null(new_packed_tokens(tokens, 4, LX_INT32, 0, 0, 0, NULL, &error), "source");
    unit_ok(new_tokens(tokens, 1, LX_INT32, 0, &source, &error));
    unit_fails(lx_source_get_padding(source, &padding, &total, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_source_get_padding(NULL, &padding, &total, &error), "source");
    unit_refuses_null(lx_source_get_padding(source, NULL, &total, &error), "padding");
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/source-packed", each_token_is_packed_once, matches_a_worked_example,
          returns_the_requested_columns, packs_empty_input,
          reports_an_inconsistent_index_at_opening, tolerates_writes_to_its_index,
          rejects_tokens_outside_the_vocabulary, gives_the_same_result_with_any_number_of_threads,
          a_state_identifies_the_packed_tokens, rejects_invalid_arguments)
