/* SPDX-License-Identifier: MIT */
/* Concatenated documents: lib/loader/tokens/source-joined.c. */
#include "loader/sources/source.h"

#include <loaderx/packing.h>

#include "states.h"
#include "token-files.h"
#include "../../../new-sources.h"

#define ALL (LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS)

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

static lx_source *join(lx_tokens *tokens, uint64_t sequence_length, int64_t separator,
                       unsigned columns)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(new_joined_tokens(tokens, sequence_length, LX_INT32, 0, separator, columns, &source,
                              &error));
    return source;
}

/** All tokens, and their documents. */
static size_t list_places(const uint32_t *lengths, size_t count, int64_t separator, int32_t *tokens,
                          uint32_t *documents)
{
    size_t places = 0;
    int32_t token = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < lengths[i] + (separator >= 0); k++) {
            documents[places] = i;
            tokens[places++] = k < lengths[i] ? token++ : (int32_t)separator;
        }
    }
    return places;
}

static void expect_samples(const uint32_t *lengths, size_t count, uint32_t sequence,
                           int64_t separator)
{
    enum { MOST = 20000 };
    static int32_t tokens[MOST];
    static uint32_t documents[MOST];
    lx_error error = LX_ERROR_INIT;
    size_t places = list_places(lengths, count, separator, tokens, documents), width = sequence + 1;
    lx_tokens *opened = make_documents("d", lengths, count);
    lx_source *source = join(opened, sequence, separator, ALL);
    uint64_t rows = lx_source_get_length(source);
    ck_assert_uint_eq(rows, places == 0 ? 0 : (places - 1) / sequence);
    uint64_t *indices = malloc((rows + 1) * sizeof *indices);
    uint32_t *data = malloc(3 * (rows + 1) * width * sizeof *data);
    for (uint64_t i = 0; i < rows; i++)
        indices[i] = draw((uint32_t)rows);
    const lx_target targets[] = {
        {data, 12 * width}, {data + width, 12 * width}, {data + 2 * width, 12 * width}};
    unit_ok(lx_source_fill(source, indices, rows, targets, &error));
    for (uint64_t i = 0; i < rows; i++) {
        const uint32_t *row = data + 3 * i * width;
        uint32_t segment = 1, position = 0;
        for (size_t k = 0; k < width; k++, position++) {
            size_t place = indices[i] * sequence + k;
            if (k != 0 && documents[place] != documents[place - 1]) {
                segment++;
                position = 0;
            }
            ck_assert_int_eq((int32_t)LX__LE32(row[k]), tokens[place]);
            ck_assert_uint_eq(LX__LE32(row[width + k]), segment);
            ck_assert_uint_eq(LX__LE32(row[2 * width + k]), position);
        }
    }
    free(data);
    free(indices);
    lx_source_unref(source);
    lx_tokens_unref(opened);
}

START_TEST(matches_a_list_of_all_positions)
{
    uint32_t lengths[100];
    char *scratch = scratch_make();
    for (uint32_t sequence = 1; sequence < 600; sequence = sequence * 3 + 1)
        for (int kind = 0; kind < 4; kind++) {
            size_t count = draw(100);
            for (size_t i = 0; i < count; i++)
                lengths[i] = draw(kind % 2 != 0 ? 4 : 180) * (draw(4) != 0);
            expect_samples(lengths, count, sequence, kind < 2 ? 777777 : LX_SEPARATOR_NONE);
        }
    scratch_remove(scratch);
}
END_TEST

START_TEST(matches_a_worked_example)
{
    static const uint32_t lengths[] = {2, 0, 4}; /* the example of doc/packing.md */
    static const uint32_t expected[2][3][5] = {{{0, 1, 9, 9, 2}, {1, 1, 1, 2, 3}, {0, 1, 2, 0, 0}},
                                               {{2, 3, 4, 5, 9}, {1, 1, 1, 1, 1}, {0, 1, 2, 3, 4}}};
    lx_error error = LX_ERROR_INIT;
    uint32_t rows[3][5];
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3);
    lx_source *source = join(tokens, 4, 9, ALL);
    ck_assert_uint_eq(lx_source_get_length(source), 2);
    for (uint64_t i = 0; i < 2; i++) {
        const lx_target targets[] = {{rows[0], 20}, {rows[1], 20}, {rows[2], 20}};
        unit_ok(lx_source_fill(source, &i, 1, targets, &error));
        for (size_t k = 0; k < 15; k++)
            ck_assert_uint_eq(LX__LE32(rows[k / 5][k % 5]), expected[i][k / 5][k % 5]);
    }
    lx_source_unref(source);
    lx_tokens_unref(tokens);
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
    ck_assert_int_eq(new_joined_tokens(tokens, 8, LX_INT32, 0, 0, 0, &source, &error),
                     LX_ERR_CORRUPT);
    ck_assert_str_eq(error.path, "d.ds.index");
    ck_assert_uint_eq(error.offset, 8);
    lx_error_clear(&error);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(tolerates_writes_to_its_index)
{
    static const uint64_t good[] = {4, 6, 100};
    uint32_t rows[3][9];
    char *scratch = scratch_make();
    write_numbers("d.ds", 2, NULL, 100);
    for (size_t k = 0; k < sizeof liars / sizeof *liars; k++) {
        lx_error error = LX_ERROR_INIT;
        write_numbers("d.ds.index", 8, good, 3);
        lx_tokens *tokens = open_tokens("d.ds", LX_BYTES);
        lx_source *source = join(tokens, 8, 5, ALL);
        overwrite("d.ds.index", liars[k], 3);
        for (uint64_t i = 0; i < lx_source_get_length(source); i++) {
            const lx_target targets[] = {{rows[0], 36}, {rows[1], 36}, {rows[2], 36}};
            if (lx_source_fill(source, &i, 1, targets, &error) != LX_OK)
                ck_assert(error.status == LX_ERR_CORRUPT || error.status == LX_ERR_RANGE);
            lx_error_clear(&error);
        }
        lx_source_unref(source);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_state_identifies_the_joined_tokens)
{
    static const uint32_t lengths[] = {3, 5, 7}, others[] = {3, 7, 5};
    char state[4096], *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3), *other = make_documents("e", others, 3);
    save_state(join(tokens, 4, 1, 0), state, sizeof state);
    ck_assert_int_eq(restore(join(tokens, 4, 1, 0), state), LX_OK);
    ck_assert_int_eq(restore(join(tokens, 4, 1, ALL), state), LX_OK);
    ck_assert_int_eq(restore(join(other, 4, 1, 0), state), LX_ERR_MISMATCH);
    ck_assert_int_eq(restore(join(tokens, 4, 2, 0), state), LX_ERR_MISMATCH);
    ck_assert_int_eq(restore(join(tokens, 3, 1, 0), state), LX_ERR_MISMATCH);
    lx_tokens_unref(other);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const uint32_t lengths[] = {3};
    static const struct {
        uint64_t length, vocabulary;
        int64_t separator;
        lx_dtype dtype;
        unsigned columns;
    } cases[] = {{0, 0, 0, LX_INT32, 0},          {INT32_MAX, 0, 0, LX_INT32, 0},
                 {UINT64_MAX, 0, 0, LX_INT32, 0}, {4, 0, -2, LX_INT32, 0},
                 {4, 10, 10, LX_INT32, 0},        {4, 0, INT64_C(1) << 31, LX_INT32, 0},
                 {4, 0, 0, LX_FLOAT32, 0},        {4, 0, 0, LX_INT32, 8}};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        unit_fails(new_joined_tokens(tokens, cases[i].length, cases[i].dtype, cases[i].vocabulary,
                                     cases[i].separator, cases[i].columns, &source, &error),
                   LX_ERR_ARGUMENT);
    unit_refuses_null(new_joined_tokens(NULL, 4, LX_INT32, 0, 0, 0, &source, &error), "tokens");
    unit_refuses_null(new_joined_tokens(tokens, 4, LX_INT32, 0, 0, 0, NULL, &error), "source");
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/source-joined", matches_a_list_of_all_positions, matches_a_worked_example,
          reports_an_inconsistent_index_at_opening, tolerates_writes_to_its_index,
          a_state_identifies_the_joined_tokens, rejects_invalid_arguments)
