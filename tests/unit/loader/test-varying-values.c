/* SPDX-License-Identifier: MIT */
/* Loaders over columns whose records vary in size: their offsets and values, in every batch. */
#include "loader/varying-values.h"

#include "../sampler/orders.h"
#include "../scratch.h"
#include "supply.h"

/** A note consists of items of three numbers of 2 bytes. */
#define ITEM 6

/** A source of "label", the index, of "text", whose records are byte strings, and of "note", whose
 * records are ragged arrays. */
struct texts {
    uint64_t length, most; /* most bytes of a text */
    uint64_t bad, bad_of;  /* texts whose index is bad modulo bad_of are damaged; 0: none */
    bool sizes_fail;       /* already when their size is read */
    bool decreasing;       /* offsets are wrong */
    bool partial;          /* a note ends within an item */
    bool huge;             /* each column has almost 2^64 bytes */
};

/** The size of a record: many are empty, and few are large. */
static uint64_t size_of(const struct texts *texts, size_t column, uint64_t index)
{
    uint8_t byte = byte_of(index, column + 7);
    uint64_t size = byte % 4 == 0 ? 0 : byte == 255 ? texts->most : byte % (texts->most / 8 + 1);
    return column == 2 ? size / ITEM * ITEM : size;
}

static bool is_bad(const struct texts *texts, size_t column, uint64_t index)
{
    return column == 1 && texts->bad_of != 0 && index % texts->bad_of == texts->bad;
}

static lx_status fail_at(uint64_t index, lx_error *error)
{
    error->status = LX_ERR_CORRUPT;
    error->record = index;
    return LX_ERR_CORRUPT;
}

static lx_status get_sizes(size_t column, const uint64_t *indices, size_t count, uint64_t *offsets,
                           void *user, lx_error *error)
{
    const struct texts *texts = user;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (texts->sizes_fail && is_bad(texts, column, indices[i]))
            return fail_at(indices[i], error);
        offsets[i + 1] = offsets[i] + size_of(texts, column, indices[i]);
    }
    if (texts->huge)
        offsets[count] = UINT64_MAX / ITEM * ITEM;
    if (texts->decreasing)
        offsets[count / 2] = UINT64_MAX;
    if (texts->partial && column == 2)
        offsets[count]++;
    return LX_OK;
}

static lx_status fill_bytes(size_t column, const uint64_t *indices, size_t count,
                            const uint64_t *offsets, void *out, void *user, lx_error *error)
{
    const struct texts *texts = user;
    for (size_t i = 0; i < count; i++) {
        /* a value whose size could not be read has no room */
        ck_assert(!texts->sizes_fail || !is_bad(texts, column, indices[i]));
        if (is_bad(user, column, indices[i]))
            return fail_at(indices[i], error);
        ck_assert_uint_eq(offsets[i + 1] - offsets[i], size_of(user, column, indices[i]));
        for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
            ((uint8_t *)out)[k] = byte_of(indices[i] + column, k - offsets[i]);
    }
    return LX_OK;
}

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    (void)user;
    (void)error;
    ck_assert_ptr_null(targets[1].data);
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)targets[0].data + i * targets[0].stride, &indices[i], 8);
    return LX_OK;
}

static lx_source *texts_source(struct texts *texts)
{
    static const source_functions functions = {
        .fill = fill, .sizes = get_sizes, .fill_bytes = fill_bytes};
    static const uint64_t shape[] = {LX_NONE, 3};
    static const lx_column_info columns[] = {
        {.name = "label", .dtype = LX_UINT64},
        {.name = "text", .dtype = LX_BYTES},
        {.name = "note", .dtype = LX_UINT16, .ndim = 2, .shape = shape}};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(new_source(&functions, texts, texts->length, columns, 3, NULL, &source, &error));
    return source;
}

/** Checks a column that varies in size: its values follow each other, in memory aligned to 64 bytes. */
static void check_column(const struct texts *texts, const lx_batch *batch, size_t position)
{
    const lx_column *column = lx_batch_get_column(batch, position);
    const uint64_t *indices = lx_batch_get_indices(batch);
    size_t number = strcmp(column->name, "text") == 0 ? 1 : 2;
    ck_assert_uint_eq(column->size, LX_NONE);
    ck_assert_uint_eq(column->item_size, number == 1 ? 1 : ITEM);
    ck_assert_uint_eq(column->ndim, number == 1 ? 0 : 2);
    ck_assert(number == 1 || (column->shape[0] == LX_NONE && column->shape[1] == 3));
    ck_assert_uint_eq((uintptr_t)column->data % 64, 0);
    ck_assert_uint_eq((uintptr_t)column->offsets % 64, 0);
    ck_assert_uint_eq(column->offsets[0], 0);
    for (uint64_t i = 0; i < column->rows; i++) {
        const uint8_t *value = (const uint8_t *)column->data + column->offsets[i];
        uint64_t size = column->offsets[i + 1] - column->offsets[i];
        bool bad = is_bad(texts, number, indices[i]);
        ck_assert_uint_eq(size, bad ? 0 : size_of(texts, number, indices[i]));
        for (uint64_t k = 0; k < size; k++)
            if (value[k] != byte_of(indices[i] + number, k))
                ck_abort_msg("byte %d of row %d is wrong", (int)k, (int)i);
    }
}

static void check_batch(const struct texts *texts, const lx_batch *batch)
{
    const lx_column *label = lx_batch_find_column(batch, "label");
    if (label != NULL)
        ck_assert_mem_eq(label->data, lx_batch_get_indices(batch),
                         lx_batch_get_row_count(batch) * 8);
    for (size_t i = 0; i < lx_batch_get_column_count(batch); i++)
        if (lx_batch_get_column(batch, i)->size == LX_NONE)
            check_column(texts, batch, i);
        else
            ck_assert_ptr_null(lx_batch_get_column(batch, i)->offsets);
}

static struct setup any_setup(uint64_t *state, lx_order *order)
{
    static const char *const fields[] = {"note", "label", "text"};
    uint64_t world = 1 + random_next(state) % 3;
    return (struct setup){.batch_size = 1 + random_next(state) % 70,
                          .world = world,
                          .rank = random_next(state) % world,
                          .epochs = 2,
                          .threads = (uint32_t)(random_next(state) % 3),
                          .prefetch_bytes = random_next(state) % 2 ? 1 : 0,
                          .order = order,
                          .fields = fields,
                          .field_count = random_next(state) % 4};
}

static bool all_supplied(const lx_batch *batch)
{
    uint64_t rows = lx_batch_get_row_count(batch);
    bool all = true;
    for (size_t i = 0; i < lx_batch_get_column_count(batch); i++) {
        const lx_column *column = lx_batch_get_column(batch, i);
        bool varies = column->offsets != NULL;
        all = all && is_supplied(batch, i, varies ? column->offsets[rows] : rows * column->size);
    }
    return all;
}

START_TEST(any_configuration_returns_the_bytes_of_its_records)
{
    uint64_t state = 3;
    for (int round = 0; round < 100; round++) {
        struct texts texts = {.length = 1 + random_next(&state) % 300,
                              .most = random_next(&state) % 3000};
        lx_order *order = make_order("shuffle", texts.length, 1, 0);
        lx_source *source = texts_source(&texts);
        struct supply supply = {0}; /* of the memory of every other loader */
        struct setup setup = any_setup(&state, order);
        lx_loader *loader = round % 2 == 0 ? open_loader(source, setup)
                                           : open_supplied(source, setup, &supply, round % 4 == 1);
        lx_loader_stats stats;
        uint64_t rows = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            check_batch(&texts, batch);
            ck_assert(round % 2 == 0 || all_supplied(batch));
            rows += lx_batch_get_row_count(batch);
        }
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_eq(stats.records, rows);
        lx_loader_close(loader);
        ck_assert_uint_eq(supply.released, supply.allocated);
        lx_source_unref(source);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(statistics_count_the_bytes_of_varying_records)
{
    static const char *const fields[] = {"text"};
    struct texts texts = {.length = 50, .most = 1000};
    lx_source *source = texts_source(&texts);
    lx_loader *loader =
        open_loader(source, (struct setup){.batch_size = 8, .fields = fields, .field_count = 1});
    uint64_t bytes = 0;
    lx_loader_stats stats;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        bytes += lx_batch_get_column(batch, 0)->offsets[lx_batch_get_row_count(batch)];
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_ne(bytes, 0);
    ck_assert_uint_eq(stats.bytes, bytes);
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

/* Damaged texts are left out with their record, or empty; other columns and records are intact. */
START_TEST(damaged_records_are_skipped_or_empty)
{
    for (int i = 0; i < 8; i++) {
        struct texts texts = {
            .length = 200, .most = 500, .bad = 2, .bad_of = 5, .sizes_fail = i % 2};
        bool skip = i / 2 % 2;
        lx_source *source = texts_source(&texts);
        lx_loader *loader =
            open_loader(source, (struct setup){.batch_size = 16,
                                               .threads = (uint32_t)i / 4,
                                               .damage = skip ? LX_DAMAGE_SKIP : LX_DAMAGE_ZEROS});
        uint64_t rows = 0;
        lx_loader_stats stats;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            check_batch(&texts, batch);
            for (uint64_t k = 0; skip && k < lx_batch_get_row_count(batch); k++)
                ck_assert(!is_bad(&texts, 1, lx_batch_get_indices(batch)[k]));
            rows += lx_batch_get_row_count(batch);
        }
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_eq(rows, skip ? 160 : 200);
        ck_assert_uint_eq(stats.damaged, 40);
        lx_loader_close(loader);
        lx_source_unref(source);
    }
}
END_TEST

START_TEST(a_batch_without_readable_records_repeats_one)
{
    struct texts texts = {.length = 20, .most = 500, .bad = 1, .bad_of = 2};
    lx_source *source = texts_source(&texts);
    lx_loader *loader = open_loader(source, (struct setup){.damage = LX_DAMAGE_SKIP});
    uint64_t batches = 0;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch), batches++) {
        check_batch(&texts, batch);
        ck_assert_uint_eq(lx_batch_get_indices(batch)[0], (batches + 1) / 2 * 2 % 20);
        ck_assert_uint_eq(lx_batch_get_real_count(batch), batches % 2 == 0);
    }
    ck_assert_uint_eq(batches, 20);
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

/* What takes the place of damaged texts can be longer than all that was read before. */
START_TEST(other_texts_take_the_place_of_damaged_ones)
{
    for (uint32_t i = 0; i < 8; i++) {
        struct texts texts = {
            .length = 97, .most = 500, .bad = 1, .bad_of = 2 + i % 2, .sizes_fail = i / 2 % 2};
        lx_source *source = texts_source(&texts);
        lx_loader *loader = open_loader(source, (struct setup){.batch_size = 1 + 15 * (i / 4),
                                                               .threads = i % 3,
                                                               .pad_last = true,
                                                               .damage = LX_DAMAGE_SKIP});
        uint64_t real = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            ck_assert_uint_eq(lx_batch_get_row_count(batch), 1 + 15 * (i / 4));
            check_batch(&texts, batch);
            for (uint64_t k = 0; k < lx_batch_get_row_count(batch); k++)
                ck_assert(!is_bad(&texts, 1, lx_batch_get_indices(batch)[k]));
            real += lx_batch_get_real_count(batch);
        }
        ck_assert_uint_eq(real, i % 2 == 0 ? 49 : 65);
        lx_loader_close(loader);
        lx_source_unref(source);
    }
}
END_TEST

/** The first batch of four records must fail with @p status. */
static lx_error first_failure(struct texts *texts, lx_status status)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = texts_source(texts);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 4});
    lx_batch *batch;
    ck_assert_int_eq(lx_loader_next(loader, &batch, &error), status);
    lx_loader_close(loader);
    lx_source_unref(source);
    return error;
}

START_TEST(damage_is_an_error_by_default)
{
    struct texts texts = {.length = 9, .most = 500, .bad = 2, .bad_of = 5};
    ck_assert_uint_eq(first_failure(&texts, LX_ERR_CORRUPT).record, 2);
}
END_TEST

START_TEST(wrong_offsets_of_a_callback_are_an_error)
{
    struct texts texts = {.length = 9, .most = 500, .decreasing = true};
    first_failure(&texts, LX_ERR_CALLBACK);
}
END_TEST

START_TEST(a_value_that_ends_within_an_item_is_an_error)
{
    struct texts texts = {.length = 9, .most = 500, .partial = true};
    first_failure(&texts, LX_ERR_CALLBACK);
}
END_TEST

START_TEST(a_batch_of_too_many_bytes_is_an_error)
{
    struct texts texts = {.length = 9, .most = 500, .huge = true};
    first_failure(&texts, LX_ERR_LIMIT);
}
END_TEST

/* As many batches are prepared as fit into the limit, however much their sizes differ from the
 * first one. */
START_TEST(prefetching_stays_within_its_limit)
{
    static const char *const fields[] = {"text"};
    struct texts texts = {.length = 2000, .most = 100000};
    lx_source *source = texts_source(&texts);
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 20,
                                                           .threads = 2,
                                                           .prefetch_bytes = 2000000,
                                                           .fields = fields,
                                                           .field_count = 1});
    uint64_t largest = 0, most = 0;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        uint64_t bytes = lx_batch_get_column(batch, 0)->offsets[lx_batch_get_row_count(batch)];
        lx_loader_stats stats;
        lx_loader_get_stats(loader, &stats);
        largest = bytes > largest ? bytes : largest;
        most = stats.block_bytes > most ? stats.block_bytes : most;
    }
    /* those in preparation, one that is being returned, and idle ones */
    ck_assert_uint_le(most, 2000000 + 4 * (largest + 65536));
    lx_loader_close(loader);
    lx_source_unref(source);
}
END_TEST

/* ---- sources made of others */

/** Compares the bytes of records, read through @p source, with those at @p places of @p texts. */
static void expect_bytes(lx_source *source, size_t column, const uint64_t *indices,
                         const uint64_t *places, size_t count, const struct texts *texts)
{
    static uint8_t out[1 << 20];
    static uint64_t offsets[1001];
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_source_get_sizes(source, column, indices, count, offsets, &error));
    ck_assert_uint_le(offsets[count], sizeof out);
    unit_ok(lx_source_fill_bytes(source, column, indices, count, offsets, out, &error));
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(offsets[i + 1] - offsets[i], size_of(texts, column, places[i]));
        for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
            ck_assert_uint_eq(out[k], byte_of(places[i] + column, k - offsets[i]));
    }
}

START_TEST(combined_sources_read_the_bytes_of_their_parts)
{
    enum { COUNT = 1000, PARTS = 40, LENGTH = 50 };
    uint64_t state = 8;
    uint64_t indices[COUNT], places[COUNT], chosen[COUNT];
    lx_error error = LX_ERROR_INIT;
    struct texts texts = {.length = LENGTH, .most = 9000};
    lx_source *part = texts_source(&texts), *parts[PARTS], *all, *some;
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = part;
    unit_ok(lx_source_new_concat(parts, PARTS, &all, &error));
    for (size_t i = 0; i < COUNT; i++)
        chosen[i] = random_next(&state) % (PARTS * LENGTH);
    unit_ok(lx_source_new_subset(all, chosen, COUNT, &some, &error));
    for (size_t column = 1; column < 3; column++) {
        for (size_t i = 0; i < COUNT; i++)
            places[i] = chosen[i] % LENGTH;
        expect_bytes(all, column, chosen, places, COUNT, &texts);
        for (size_t i = 0; i < COUNT; i++) {
            indices[i] = random_next(&state) % COUNT;
            places[i] = chosen[indices[i]] % LENGTH;
        }
        expect_bytes(some, column, indices, places, COUNT, &texts);
    }
    lx_source_unref(some);
    lx_source_unref(all);
    lx_source_unref(part);
}
END_TEST

START_TEST(refuses_columns_and_arguments_of_the_wrong_kind)
{
    lx_error error = LX_ERROR_INIT;
    struct texts texts = {.length = 9, .most = 500};
    lx_source *source = texts_source(&texts);
    uint64_t index = 0, offsets[2], wrong = 9;
    uint8_t out[600];
    const lx_target targets[] = {{NULL, 0}, {out, 8}, {NULL, 0}};
    unit_fails(lx_source_fill(source, &index, 1, targets, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_get_sizes(source, 0, &index, 1, offsets, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_get_sizes(source, 3, &index, 1, offsets, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_source_get_sizes(source, 1, &wrong, 1, offsets, &error), LX_ERR_RANGE);
    unit_refuses_null(lx_source_get_sizes(NULL, 1, &index, 1, offsets, &error), "source");
    unit_refuses_null(lx_source_get_sizes(source, 1, NULL, 1, offsets, &error), "indices");
    unit_refuses_null(lx_source_get_sizes(source, 1, &index, 1, NULL, &error), "offsets");
    unit_refuses_null(lx_source_fill_bytes(source, 1, &index, 1, NULL, out, &error), "offsets");
    const uint64_t sizes[2] = {0, 8};
    lx_samples samples = {.count = 1, .indices = &index};
    unit_refuses_null(lx_source_fill_bytes(source, 1, NULL, 1, sizes, out, &error), "indices");
    unit_refuses_null(lx_source_fill_bytes(source, 1, &index, 1, sizes, NULL, &error), "out");
    unit_refuses_null(lx_source_fill_sample_bytes(source, 1, NULL, sizes, out, &error), "samples");
    unit_refuses_null(lx_source_fill_sample_bytes(source, 1, &samples, sizes, out, &error),
                      "positions");
    samples.positions = &wrong;
    unit_refuses_null(lx_source_fill_sample_bytes(NULL, 1, &samples, sizes, out, &error), "source");
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/varying-values", any_configuration_returns_the_bytes_of_its_records,
          statistics_count_the_bytes_of_varying_records, damaged_records_are_skipped_or_empty,
          a_batch_without_readable_records_repeats_one, other_texts_take_the_place_of_damaged_ones,
          damage_is_an_error_by_default, wrong_offsets_of_a_callback_are_an_error,
          a_value_that_ends_within_an_item_is_an_error, a_batch_of_too_many_bytes_is_an_error,
          prefetching_stays_within_its_limit, combined_sources_read_the_bytes_of_their_parts,
          refuses_columns_and_arguments_of_the_wrong_kind)
