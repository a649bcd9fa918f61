/* SPDX-License-Identifier: MIT */
/* Megatron's samples: lib/parity/megatron-source.c, compared with a list of all tokens. */
#include <loaderx/parity/megatron.h>

#include <dirent.h>

#include "base/crc32c.h"
#include "loader/sources/source.h"
#include "parity/megatron-options.h"
#include "parity/mt19937.h"
#include "../loader/tokens/states.h"
#include "../loader/tokens/token-files.h"
#include "../../new-sources.h"

#define ALL (LX_MEGATRON_SEGMENTS | LX_MEGATRON_POSITIONS | LX_MEGATRON_LOSS_MASK)
#define MOST 40000

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

static lx_source *open_samples(lx_tokens *tokens, const lx_megatron_options *how)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(lx_source_new_megatron(tokens, how, &source, &error));
    return source;
}

/* ---- the list */

/** The expected samples. */
struct model {
    uint32_t documents[MOST]; /* of all epochs */
    uint32_t of[MOST];        /* each token's place among these */
    int32_t tokens[MOST];
    size_t places, count; /* of tokens */
    uint64_t order[MOST];
    size_t samples;
};

static uint64_t below(lx__mt19937 *generator, uint32_t most)
{
    uint32_t mask = 0, number;
    while (mask < most)
        mask = mask << 1 | 1;
    while ((number = lx__mt19937_next(generator) & mask) > most)
        ;
    return number;
}

/** RandomState.shuffle(). */
#define SHUFFLE(generator, numbers, size)                                                          \
    for (size_t i_ = (size); i_-- > 1;) {                                                          \
        size_t j_ = (size_t)below(generator, (uint32_t)i_);                                        \
        uint64_t number_ = (numbers)[i_];                                                          \
        (numbers)[i_] = (numbers)[j_];                                                             \
        (numbers)[j_] = (uint32_t)number_;                                                         \
    }

static void list_tokens(struct model *model, const uint32_t *lengths)
{
    uint32_t begins[200] = {0};
    model->count = 0;
    for (size_t i = 0; i + 1 < 200; i++)
        begins[i + 1] = begins[i] + lengths[i];
    for (size_t p = 0; p < model->places; p++)
        for (uint32_t k = 0; k < lengths[model->documents[p]]; k++) {
            ck_assert_uint_lt(model->count, MOST);
            model->of[model->count] = (uint32_t)p;
            model->tokens[model->count++] = (int32_t)(begins[model->documents[p]] + k);
        }
}

/** Epochs are added one by one, as Megatron does. */
static void make_model(struct model *model, const uint32_t *lengths, const lx_megatron_options *how)
{
    size_t tokens = 0, epochs = 1, n = (size_t)how->document_count;
    size_t length = (size_t)how->sequence_length, extra = how->extra_token;
    lx__mt19937 generator;
    lx__mt19937_seed(&generator, (uint32_t)how->seed);
    for (size_t i = 0; i < n; i++)
        tokens += lengths[how->first_document + i];
    while (how->num_samples != LX_NONE && epochs * tokens < how->num_samples * length + extra)
        epochs++;
    size_t before = ((epochs - 1) * tokens - (epochs > 1 ? extra : 0)) / length;
    bool separate = epochs > 1 &&
                    how->num_samples - before < (size_t)(.8 * (double)((tokens - extra) / length));
    size_t last = separate ? n : 0;
    model->places = epochs * n;
    for (size_t i = 0; i < model->places; i++)
        model->documents[i] = (uint32_t)(how->first_document + i % n);
    SHUFFLE(&generator, model->documents, model->places - last);
    uint32_t *last_ones = model->documents + model->places - last;
    SHUFFLE(&generator, last_ones, last);
    list_tokens(model, lengths);
    model->samples = (model->count - extra + (how->drop_last_partial ? 0 : length - 1)) / length;
    for (size_t i = 0; i < model->samples; i++)
        model->order[i] = i;
    size_t first = separate ? before : model->samples;
    SHUFFLE(&generator, model->order, first);
    uint64_t *rest = model->order + first;
    SHUFFLE(&generator, rest, model->samples - first);
}

static bool is(const lx_megatron_options *how, int32_t token)
{
    return token == how->eod;
}

/** A row must be the tokens from @p from on. */
static void expect_row(const struct model *model, const lx_megatron_options *how, size_t from,
                       uint32_t *const rows[4])
{
    size_t width = (size_t)how->sequence_length + how->extra_token;
    uint32_t segment = 1, position = 0;
    for (size_t k = 0; k < width; k++, position++) {
        size_t at = from + k;
        bool there = at < model->count;
        int32_t before = k == 0 ? -7 : (int32_t)LX__LE32(rows[0][k - 1]);
        /* The last token of all, before padding, is no piece of its own if it is the extra one. */
        bool merged = how->extra_token && at + 1 == model->count && k + 1 < width;
        bool begins = k != 0 && there && model->of[at] != model->of[at - 1] && !merged;
        if (how->split_at_eod ? k != 0 && is(how, before) : begins) {
            segment++;
            position = 0;
        }
        ck_assert_int_eq((int32_t)LX__LE32(rows[0][k]), there ? model->tokens[at] : how->pad);
        ck_assert_uint_eq(LX__LE32(rows[1][k]), segment);
        ck_assert_uint_eq(LX__LE32(rows[2][k]), position);
    }
    for (size_t k = 0; k < how->sequence_length; k++) {
        bool padding = k + 1 == width || (int32_t)LX__LE32(rows[0][k + 1]) == how->pad;
        bool end = how->mask_eod && is(how, (int32_t)LX__LE32(rows[0][k]));
        ck_assert_uint_eq(LX__LE32(rows[3][k]), padding || end ? 0 : 0x3f800000);
    }
}

static void expect_tables(const struct model *model, lx_source *source)
{
    lx_error error = LX_ERROR_INIT;
    static uint64_t numbers[MOST];
    uint64_t length;
    unit_ok(lx_source_read_megatron_index(source, LX_MEGATRON_DOCUMENTS, 0, model->places, numbers,
                                          &length, &error));
    ck_assert_uint_eq(length, model->places);
    for (size_t i = 0; i < length; i++)
        ck_assert_uint_eq(numbers[i], model->documents[i]);
    unit_ok(lx_source_read_megatron_index(source, LX_MEGATRON_SHUFFLE, 0, model->samples, numbers,
                                          &length, &error));
    ck_assert_uint_eq(length, model->samples);
    ck_assert_mem_eq(numbers, model->order, length * sizeof *numbers);
    unit_ok(
        lx_source_read_megatron_index(source, LX_MEGATRON_SAMPLES, 0, 0, NULL, &length, &error));
    ck_assert_uint_eq(length, 2 * (model->samples + 1));
}

static void expect_samples(const uint32_t *lengths, lx_tokens *tokens,
                           const lx_megatron_options *how)
{
    static struct model model;
    lx_error error = LX_ERROR_INIT;
    size_t width = (size_t)how->sequence_length + how->extra_token;
    make_model(&model, lengths, how);
    lx_source *source = open_samples(tokens, how);
    ck_assert_uint_eq(lx_source_get_length(source), model.samples);
    expect_tables(&model, source);
    uint32_t *data = malloc(8 * width * sizeof *data);
    for (size_t i = 0; i < model.samples; i++) {
        const uint64_t both[] = {i, draw((uint32_t)model.samples)};
        const lx_target targets[] = {{data, 4 * width},
                                     {data + 2 * width, 4 * width},
                                     {data + 4 * width, 4 * width},
                                     {data + 6 * width, 4 * width}};
        unit_ok(lx_source_fill(source, both, 2, targets, &error));
        for (size_t k = 0; k < 2; k++) {
            uint32_t *const rows[] = {data + k * width, data + (2 + k) * width,
                                      data + (4 + k) * width, data + (6 + k) * width};
            expect_row(&model, how, (size_t)(model.order[both[k]] * how->sequence_length), rows);
        }
    }
    free(data);
    lx_source_unref(source);
}

static lx_megatron_options draw_how(size_t documents, uint64_t tokens)
{
    static const uint32_t sequences[] = {1, 2, 3, 8, 40, 300};
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    how.first_document = documents > 8 ? draw(4) : 0;
    how.document_count = documents - how.first_document - (documents > 8 ? draw(4) : 0);
    how.sequence_length = sequences[draw(6)];
    how.num_samples = LX_NONE;
    if (draw(5) != 0)
        how.num_samples = draw((uint32_t)(4 * tokens / how.sequence_length) + 3);
    how.seed = draw(2) ? draw(1000) : UINT32_MAX - draw(1000);
    how.extra_token = draw(3) != 0;
    how.drop_last_partial = draw(3) != 0;
    how.pad = draw(2) ? -1 : 5;
    how.eod = draw(4);
    how.split_at_eod = draw(2);
    how.mask_eod = draw(2);
    how.columns = ALL;
    return how;
}

START_TEST(matches_a_list_of_all_tokens)
{
    char *scratch = scratch_make();
    for (int round = 0; round < 120; round++) {
        uint32_t lengths[200] = {0}, kind = draw(3);
        size_t count = 1 + draw(30);
        uint64_t total = 0;
        for (size_t i = 0; i < count; i++)
            total += lengths[i] = 1 + draw(kind == 0 ? 3 : 60) * (draw(4) != 0);
        for (size_t i = 0; i + 1 < count; i++)
            lengths[i] = kind == 1 && draw(5) == 0 ? 0 : lengths[i];
        lx_tokens *tokens = make_documents("d", lengths, count);
        lx_megatron_options how = draw_how(count, total);
        if (how.num_samples == LX_NONE || how.num_samples == 0)
            how.sequence_length = 1;
        uint64_t in_range = 0;
        for (uint64_t i = 0; i < how.document_count; i++)
            in_range += lengths[how.first_document + i];
        if (in_range > how.extra_token)
            expect_samples(lengths, tokens, &how);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(matches_a_worked_example)
{
    static const uint32_t lengths[] = {3, 5, 2}; /* the example of doc/packing.md */
    static const uint64_t tables[3][12] = {
        {2, 1, 2, 0, 1, 0}, {0, 0, 1, 2, 2, 1, 4, 0, 4, 4, 5, 2}, {2, 0, 4, 3, 1}};
    static const int32_t expected[5][5] = {
        {9, 0, 1, 2, 3}, {8, 9, 3, 4, 5}, {7, 0, 1, 2, -1}, {3, 4, 5, 6, 7}, {5, 6, 7, 8, 9}};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3);
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    how.sequence_length = 4;
    how.num_samples = 3;
    how.drop_last_partial = false;
    lx_source *source = open_samples(tokens, &how);
    for (int i = 0; i < 3; i++) {
        uint64_t numbers[12], length, all = i == 0 ? 6 : i == 1 ? 12 : 5;
        unit_ok(lx_source_read_megatron_index(source, (lx_megatron_index)i, 0, all, numbers,
                                              &length, &error));
        ck_assert_uint_eq(length, all);
        ck_assert_mem_eq(numbers, tables[i], all * sizeof *numbers);
    }
    ck_assert_uint_eq(lx_source_get_length(source), 5);
    for (uint64_t i = 0; i < 5; i++) {
        uint32_t row[5];
        const lx_target target = {row, sizeof row};
        unit_ok(lx_source_fill(source, &i, 1, &target, &error));
        for (int k = 0; k < 5; k++)
            ck_assert_int_eq((int32_t)LX__LE32(row[k]), expected[i][k]);
    }
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

/* ---- one column alone, and 8 bytes */

START_TEST(reads_each_column_alone)
{
    static const uint32_t lengths[] = {30, 50, 20};
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3);
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    how.sequence_length = 20;
    how.columns = ALL;
    how.dtype = LX_INT64;
    how.eod = 41;
    how.mask_eod = true;
    for (int split = 0; split < 2; split++) {
        uint32_t all[4][42], alone[42];
        how.split_at_eod = split != 0;
        lx_source *source = open_samples(tokens, &how);
        for (uint64_t i = 0; i < lx_source_get_length(source); i++) {
            lx_target targets[4];
            for (int k = 0; k < 4; k++)
                targets[k] = (lx_target){all[k], sizeof all[k]};
            unit_ok(lx_source_fill(source, &i, 1, targets, &error));
            for (size_t k = 0; k < 4; k++) {
                lx_target one[4] = {{NULL, 0}};
                one[k] = (lx_target){alone, sizeof alone};
                unit_ok(lx_source_fill(source, &i, 1, one, &error));
                ck_assert_mem_eq(alone, all[k], k == 0 ? 168 : k == 3 ? 80 : 84);
                /* segments and positions depend on the tokens only if they are split */
                bool wanted[4] = {false};
                wanted[k] = true;
                ck_assert_int_eq(lx__source_read_ahead(source, wanted, &i, 1),
                                 split != 0 || k == 0 || k == 3);
            }
        }
        lx_source_unref(source);
    }
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

/* ---- tables in files */

static size_t read_table(uint8_t *bytes, size_t room, char name[300])
{
    DIR *listed = opendir("tables");
    ck_assert_ptr_nonnull(listed);
    for (struct dirent *entry; (entry = readdir(listed)) != NULL;)
        if (entry->d_name[0] != '.')
            snprintf(name, 300, "tables/%s", entry->d_name);
    closedir(listed);
    FILE *file = fopen(name, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, room, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_uint_lt(size, room);
    return size;
}

static void put_table(const char *name, const uint8_t *bytes, size_t size)
{
    ck_assert_int_eq(remove(name), 0);
    write_bytes(name, bytes, size);
}

/** Whether all samples can be read; if so, they are stored in @p rows. */
static lx_status read_all(lx_tokens *tokens, const lx_megatron_options *how, int32_t *rows)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    uint64_t indices[50];
    lx_status status = lx_source_new_megatron(tokens, how, &source, &error);
    if (status == LX_OK) {
        size_t count = (size_t)lx_source_get_length(source);
        const lx_target target = {rows, 4 * (size_t)(how->sequence_length + 1)};
        ck_assert_uint_le(count, 50);
        for (size_t i = 0; i < count; i++)
            indices[i] = i;
        status = lx_source_fill(source, indices, count, &target, &error);
        lx_source_unref(source);
    }
    lx_error_clear(&error);
    return status;
}

START_TEST(reads_tables_in_files_and_rejects_hostile_ones)
{
    enum { DATA = 4096, ROOM = 20000 };
    static const uint32_t lengths[] = {30, 0, 50, 20, 10};
    static uint8_t bytes[ROOM], hostile[ROOM];
    static int32_t right[2000], rows[2000];
    char name[300], *scratch = scratch_make();
    int refused = 0;
    lx_tokens *tokens = make_documents("d", lengths, 5);
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    how.sequence_length = 20;
    how.num_samples = 20;
    ck_assert_int_eq(read_all(tokens, &how, right), LX_OK);
    how.tables = "tables";
    for (int i = 0; i < 2; i++) {
        memset(rows, 0, sizeof rows);
        ck_assert_int_eq(read_all(tokens, &how, rows), LX_OK);
        ck_assert_mem_eq(rows, right, sizeof rows);
    }
    size_t size = read_table(bytes, ROOM, name);
    for (int round = 0; round < 200; round++) {
        memcpy(hostile, bytes, size);
        for (size_t i = DATA; i + 4 < size; i++)
            if (round < 3 || draw(40) == 0)
                hostile[i] = (uint8_t)(round == 0   ? 0xff
                                       : round == 1 ? 0
                                                    : draw(round % 2 != 0 ? 7 : 256));
        lx__store_le32(hostile + size - 4, lx__crc32c(0, hostile + DATA, size - 4 - DATA));
        put_table(name, hostile, size);
        lx_status status = read_all(tokens, &how, rows);
        ck_assert(status == LX_OK || status == LX_ERR_CORRUPT);
        refused += status != LX_OK;
    }
    ck_assert_int_gt(refused, 100);
    for (size_t at = 0; at < size; at += 37) {
        memcpy(hostile, bytes, size);
        hostile[at] ^= 4;
        put_table(name, hostile, size);
        lx_status status = read_all(tokens, &how, rows);
        ck_assert(status == LX_ERR_CORRUPT || (at < 16 && status == LX_ERR_UNSUPPORTED));
        put_table(name, bytes, at);
        ck_assert_int_eq(read_all(tokens, &how, rows), LX_ERR_CORRUPT);
    }
    put_table(name, bytes, size);
    ck_assert_int_eq(read_all(tokens, &how, rows), LX_OK);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

START_TEST(tolerates_writes_to_its_index)
{
    static const uint64_t good[] = {4, 30, 100};
    int32_t rows[9];
    char *scratch = scratch_make();
    write_numbers("d.ds", 2, NULL, 100);
    for (size_t k = 0; k < sizeof liars / sizeof *liars; k++) {
        lx_error error = LX_ERROR_INIT;
        lx_megatron_options how = LX__MEGATRON_DEFAULTS;
        how.sequence_length = 8;
        write_numbers("d.ds.index", 8, good, 3);
        lx_tokens *tokens = open_tokens("d.ds", LX_BYTES);
        lx_source *source = open_samples(tokens, &how);
        overwrite("d.ds.index", liars[k], 3);
        for (uint64_t i = 0; i < lx_source_get_length(source); i++) {
            const lx_target target = {rows, sizeof rows};
            if (lx_source_fill(source, &i, 1, &target, &error) != LX_OK)
                ck_assert_int_eq(error.status, LX_ERR_CORRUPT);
            lx_error_clear(&error);
        }
        lx_source_unref(source);
        lx_tokens_unref(tokens);
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- states */

START_TEST(a_state_identifies_its_source)
{
    static const uint32_t lengths[] = {30, 50, 20}, others[] = {30, 20, 50};
    char state[4096], *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3), *other = make_documents("e", others, 3);
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    how.sequence_length = 7;
    how.num_samples = 15;
    save_state(open_samples(tokens, &how), state, sizeof state);
    ck_assert_int_eq(restore(open_samples(other, &how), state), LX_ERR_MISMATCH);
    lx_megatron_options changed = how;
    changed.columns = ALL;
    changed.num_samples = 16; /* the same number of epochs */
    ck_assert_int_eq(restore(open_samples(tokens, &changed), state), LX_OK);
    changed.seed++;
    ck_assert_int_eq(restore(open_samples(tokens, &changed), state), LX_ERR_MISMATCH);
    changed = how;
    changed.num_samples = 28; /* the same number, but the last one is not separate */
    ck_assert_int_eq(restore(open_samples(tokens, &changed), state), LX_ERR_MISMATCH);
    changed = how;
    changed.extra_token = false;
    ck_assert_int_eq(restore(open_samples(tokens, &changed), state), LX_ERR_MISMATCH);
    lx_tokens_unref(other);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

static void refuse(lx_tokens *tokens, lx_megatron_options how, lx_status status, const char *what)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    ck_assert_int_eq(lx_source_new_megatron(tokens, &how, &source, &error), status);
    ck_assert_msg(strstr(error.message, what) != NULL, "%s", error.message);
    lx_error_clear(&error);
}

/** The source must reject the value of one option. */
#define REFUSE(member, value, status)                                                              \
    do {                                                                                           \
        lx_megatron_options how_ = how;                                                            \
        how_.member = value;                                                                       \
        refuse(tokens, how_, status, #member);                                                     \
    } while (0)

START_TEST(rejects_invalid_arguments)
{
    static const uint32_t lengths[] = {30, 0, 50};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    uint64_t number;
    char *scratch = scratch_make();
    lx_tokens *tokens = make_documents("d", lengths, 3);
    lx_megatron_options how = LX__MEGATRON_DEFAULTS;
    how.sequence_length = 7;
    REFUSE(sequence_length, 0, LX_ERR_ARGUMENT);
    REFUSE(sequence_length, 80, LX_ERR_ARGUMENT);
    REFUSE(sequence_length, INT32_MAX, LX_ERR_ARGUMENT);
    REFUSE(first_document, 4, LX_ERR_RANGE);
    REFUSE(document_count, 4, LX_ERR_RANGE);
    REFUSE(seed, UINT64_C(1) << 32, LX_ERR_ARGUMENT);
    REFUSE(num_samples, UINT64_C(1) << 62, LX_ERR_LIMIT);
    REFUSE(pad, INT64_C(1) << 31, LX_ERR_ARGUMENT);
    REFUSE(eod, -2, LX_ERR_ARGUMENT);
    REFUSE(eod, INT64_C(1) << 31, LX_ERR_ARGUMENT);
    REFUSE(split_at_eod, true, LX_ERR_ARGUMENT);
    REFUSE(mask_eod, true, LX_ERR_ARGUMENT);
    REFUSE(columns, 8, LX_ERR_ARGUMENT);
    how.first_document = 1;
    how.document_count = 1;
    refuse(tokens, how, LX_ERR_ARGUMENT, "have no token");
    how.document_count = 0;
    refuse(tokens, how, LX_ERR_ARGUMENT, "have no token");
    how = (lx_megatron_options)LX__MEGATRON_DEFAULTS;
    how.sequence_length = 7;
    how.dtype = LX_FLOAT32;
    refuse(tokens, how, LX_ERR_ARGUMENT, "int32 or int64");
    how.dtype = LX_INT32;
    unit_refuses_null(lx_source_new_megatron(NULL, &how, &source, &error), "tokens");
    unit_refuses_null(lx_source_new_megatron(tokens, NULL, &source, &error), "options");
    unit_refuses_null(lx_source_new_megatron(tokens, &how, NULL, &error), "source");
    source = open_samples(tokens, &how);
    unit_fails(
        lx_source_read_megatron_index(source, (lx_megatron_index)3, 0, 1, &number, NULL, &error),
        LX_ERR_ARGUMENT);
    unit_fails(
        lx_source_read_megatron_index(source, LX_MEGATRON_SHUFFLE, 11, 1, &number, NULL, &error),
        LX_ERR_RANGE);
    unit_refuses_null(
        lx_source_read_megatron_index(NULL, LX_MEGATRON_SHUFFLE, 0, 0, NULL, NULL, &error),
        "source");
    unit_refuses_null(
        lx_source_read_megatron_index(source, LX_MEGATRON_SHUFFLE, 0, 1, NULL, NULL, &error),
        "numbers");
    lx_source_unref(source);
    unit_ok(new_tokens(tokens, 4, LX_INT32, 0, &source, &error));
    unit_fails(
        lx_source_read_megatron_index(source, LX_MEGATRON_SHUFFLE, 0, 1, &number, NULL, &error),
        LX_ERR_ARGUMENT);
    lx_source_unref(source);
    lx_tokens_unref(tokens);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("parity/megatron-source", matches_a_list_of_all_tokens, matches_a_worked_example,
          reads_each_column_alone, reads_tables_in_files_and_rejects_hostile_ones,
          tolerates_writes_to_its_index, a_state_identifies_its_source, rejects_invalid_arguments)
