/* SPDX-License-Identifier: MIT */
/* Concatenations of sources: lib/loader/sources/source-concat.c. */
#include "loader/sources/source.h"

#include "../../scarce.h"
#include "../../scratch.h"
#include "../loaders.h"
#include "../npy-file.h"
#include "../../../new-sources.h"

enum { PARTS_MOST = 700 };

/** Sources whose labels are their own indices, and their beginnings. */
struct row {
    size_t count;
    struct numbers numbers[PARTS_MOST];
    lx_source *parts[PARTS_MOST];
    uint64_t begins[PARTS_MOST + 1];
    lx_source *all;
};

static void make_row(struct row *row, size_t count, uint64_t width, uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    memset(row, 0, sizeof *row);
    row->count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t length = (*state = *state * 6364136223846793005u + 1) >> 40;
        row->numbers[i] = (struct numbers){.length = i % 5 == 3 ? 0 : length % 90 + 1,
                                           .width = width};
        row->parts[i] = numbers_source(&row->numbers[i]);
        row->begins[i + 1] = row->begins[i] + row->numbers[i].length;
    }
    unit_ok(lx_source_new_concat(row->parts, count, &row->all, &error));
    ck_assert_uint_eq(lx_source_get_length(row->all), row->begins[count]);
}

static void free_row(struct row *row)
{
    lx_source_unref(row->all);
    for (size_t i = 0; i < row->count; i++) {
        ck_assert_uint_eq(row->numbers[i].released, 0); /* only our references remain */
        lx_source_unref(row->parts[i]);
        ck_assert_uint_eq(row->numbers[i].released, 1);
    }
}

/** Reads both columns, with gaps between the records, and checks each record. */
static void expect_records(const struct row *row, const uint64_t *indices, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t width = row->numbers[0].width;
    uint64_t *labels = calloc(2 * count, sizeof *labels);
    uint8_t *images = malloc(count * (width + 3));
    memset(images, 0xee, count * (width + 3));
    const lx_target targets[] = {{labels, 16}, {images, width + 3}};
    unit_ok(lx_source_fill(row->all, indices, count, targets, &error));
    for (size_t i = 0; i < count; i++) {
        size_t part = 0;
        while (row->begins[part + 1] <= indices[i])
            part++;
        uint64_t index = indices[i] - row->begins[part];
        ck_assert_uint_eq(labels[2 * i], index);
        ck_assert_uint_eq(labels[2 * i + 1], 0);
        for (uint64_t k = 0; k < width + 3; k++)
            ck_assert_uint_eq(images[i * (width + 3) + k], k < width ? byte_of(index, k) : 0xee);
    }
    free(labels);
    free(images);
}

START_TEST(each_index_reads_its_record)
{
    static struct row row;
    static const size_t counts[] = {1, 2, 7, 257, PARTS_MOST};
    static const uint64_t widths[] = {1, 5, 700, 20000}; /* read together, or each at once */
    uint64_t state = 1, indices[1000];
    for (size_t c = 0; c < 5; c++)
        for (size_t w = 0; w < (c < 3 ? 4 : 2); w++) {
            make_row(&row, counts[c], widths[w], &state);
            uint64_t length = lx_source_get_length(row.all);
            for (int round = 0; round < 3; round++) {
                size_t count = widths[w] > 1000 ? 40 : 1000;
                for (size_t i = 0; i < count; i++) {
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    indices[i] = round == 0 ? i % length : (state >> 30) % length;
                    if (round == 2 && i % 3 != 0) /* runs */
                        indices[i] = indices[i - 1] + 1 < length ? indices[i - 1] + 1 : 0;
                }
                expect_records(&row, indices, count);
            }
            free_row(&row);
        }
}
END_TEST

START_TEST(a_loader_reads_the_source)
{
    static struct row row;
    uint64_t state = 3, seen = 0;
    make_row(&row, 7, 5, &state);
    lx_loader *loader = open_loader(row.all,
                                    (struct setup){.batch_size = 13, .threads = 3, .epochs = 1});
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        const uint64_t *labels = lx_batch_find_column(batch, "label")->data;
        const uint64_t *indices = lx_batch_get_indices(batch);
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, seen++) {
            size_t part = 0;
            while (row.begins[part + 1] <= indices[i])
                part++;
            ck_assert_uint_eq(labels[i], indices[i] - row.begins[part]);
        }
    }
    ck_assert_uint_eq(seen, row.begins[7]);
    lx_loader_close(loader);
    free_row(&row);
}
END_TEST

START_TEST(rejects_parts_with_different_columns)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct numbers one = {.length = 5, .width = 3}, other = {.length = 5, .width = 4};
    lx_source *parts[] = {numbers_source(&one), numbers_source(&other)}, *all;
    ck_assert_int_eq(lx_source_new_concat(parts, 2, &all, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "column 1 of source 1, 'image', differs"));
    ck_assert_str_eq(error.field, "image");
    lx_error_clear(&error);
    write_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,)}", 5);
    lx_source *npy;
    unit_ok(lx_source_open("a.npy", NULL, &npy, &error));
    unit_fails(lx_source_new_concat((lx_source *[]){parts[0], npy}, 2, &all, &error),
               LX_ERR_MISMATCH);
    unit_fails(lx_source_new_concat(parts, 0, &all, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_source_new_concat(NULL, 1, &all, &error), "source");
    unit_refuses_null(lx_source_new_concat(parts, 1, NULL, &error), "source");
    lx_source_unref(npy);
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
    ck_assert_uint_eq(one.released, 1);
    scratch_remove(scratch);
}
END_TEST

static lx_source *endless(void *user, uint64_t length)
{
    static const source_functions functions = {.fill = numbers_fill};
    const lx_column_info columns[] = {{.name = "x", .dtype = LX_UINT8}};
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_ok(new_source(&functions, user, length, columns, 1, "", &source, &error));
    return source;
}

START_TEST(rejects_more_records_than_fit)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {0};
    lx_source *parts[] = {endless(&numbers, UINT64_MAX - 5), endless(&numbers, 6)}, *all;
    unit_fails(lx_source_new_concat(parts, 2, &all, &error), LX_ERR_LIMIT);
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
}
END_TEST

START_TEST(reports_failures_with_their_part)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers good = {.length = 20, .width = 3};
    struct numbers bad = {.length = 20,
                          .width = 3,
                          .failing = true,
                          .bad = 4,
                          .bad_of = 20,
                          .status = LX_ERR_CORRUPT};
    lx_source *parts[] = {numbers_source(&good), numbers_source(&bad)}, *all;
    unit_ok(lx_source_new_concat(parts, 2, &all, &error));
    const uint64_t fine = 4, broken = 24, beyond = 40;
    uint64_t label;
    const lx_target targets[] = {{&label, 8}, {NULL, 0}};
    unit_ok(lx_source_fill(all, &fine, 1, targets, &error));
    ck_assert_int_eq(lx_source_fill(all, &broken, 1, targets, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.message, "a bad record");
    lx_error_clear(&error);
    unit_fails(lx_source_fill(all, &beyond, 1, targets, &error), LX_ERR_RANGE);
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
    lx_source_unref(all);
}
END_TEST

START_TEST(leaks_nothing_after_a_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = 20, .width = 3};
    lx_source *part = numbers_source(&numbers), *all;
    lx_status status = LX_ERR_NOMEM;
    int left = 0;
    for (; status != LX_OK; left++) {
        lx_error_clear(&error);
        scarce_begin(left);
        status = lx_source_new_concat(&part, 1, &all, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
    }
    ck_assert_int_gt(left, 5);
    lx_source_unref(part);
    ck_assert_uint_eq(numbers.released, 0);
    lx_source_unref(all);
    ck_assert_uint_eq(numbers.released, 1);
}
END_TEST

UNIT_MAIN("loader/source-concat", each_index_reads_its_record, a_loader_reads_the_source,
          rejects_parts_with_different_columns, rejects_more_records_than_fit,
          reports_failures_with_their_part, leaks_nothing_after_a_failed_allocation)
