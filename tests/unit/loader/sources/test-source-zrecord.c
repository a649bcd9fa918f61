/* SPDX-License-Identifier: MIT */
/* Datasets as sources: lib/loader/sources/source-zrecord.c. */
#include "loader/sources/source.h"

#include <pthread.h>

#include "../../scratch.h"
#include "../../zrecord/changer.h"
#include "../loaders.h"

#define LENGTH 40

/** The dataset "d": labels, images of 2 x 5 bytes, and notes of any length. */
static void write_dataset(void)
{
    static const uint64_t shape[] = {2, 5};
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "note", LX_STR, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_schema_add_field(schema, "image", LX_UINT8, shape, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < LENGTH; i++) {
        uint8_t image[10];
        for (uint64_t k = 0; k < sizeof image; k++)
            image[k] = byte_of(i, k);
        const lx_value values[] = {{&i, 8}, {"some text", i % 9}, {image, sizeof image}};
        unit_ok(lx_writer_append(writer, values, sizeof values / sizeof *values, NULL, &error));
    }
    unit_ok(lx_writer_close(writer, &error));
}

/** A whole epoch of all fields except the notes. */
static void check_epoch(lx_source *source, uint32_t threads)
{
    static const char *const fields[] = {"image", "label"};
    lx_loader *loader = open_loader(
        source,
        (struct setup){.batch_size = 7, .threads = threads, .fields = fields, .field_count = 2});
    uint64_t seen = 0;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        ck_assert_str_eq(lx_batch_get_column(batch, 0)->name, "image");
        ck_assert_uint_eq(lx_batch_get_column(batch, 0)->ndim, 2);
        check_numbers(batch);
        seen += lx_batch_get_row_count(batch);
    }
    ck_assert_uint_eq(seen, LENGTH);
    lx_loader_close(loader);
}

START_TEST(opens_a_directory_as_a_dataset)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    write_dataset();
    unit_ok(lx_source_open("d", NULL, &source, &error));
    ck_assert_uint_eq(lx_source_get_length(source), LENGTH);
    ck_assert_uint_eq(lx_source_get_column_count(source), 3);
    ck_assert_str_eq(lx_source_get_column(source, 1)->name, "note");
    ck_assert_uint_eq(lx_source_get_column(source, 1)->size, LX_NONE);
    ck_assert_int_eq(lx_source_get_column(source, 1)->dtype, LX_STR);
    ck_assert_uint_eq(lx_source_get_column(source, 2)->size, 10);
    ck_assert_uint_eq(lx_source_get_column(source, 2)->shape[1], 5);
    check_epoch(source, 0);
    check_epoch(source, 2);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_after_the_caller_has_closed_its_dataset)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_dataset *dataset;
    lx_source *source;
    write_dataset();
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    unit_ok(lx_source_new_dataset(dataset, &source, &error));
    lx_dataset_close(dataset);
    check_epoch(source, 0);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_caller_keeps_its_dataset)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_dataset *dataset;
    lx_source *source;
    write_dataset();
    unit_ok(lx_dataset_open("d", NULL, &dataset, &error));
    unit_ok(lx_source_new_dataset(dataset, &source, &error));
    check_epoch(source, 0);
    lx_source_unref(source);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), LENGTH);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(batches_fields_whose_values_vary_in_size)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    static const char *const fields[] = {"note", "label"};
    lx_source *source;
    write_dataset();
    unit_ok(lx_source_open("d", NULL, &source, &error));
    for (uint32_t threads = 0; threads < 3; threads++) {
        lx_loader *loader = open_loader(
            source, (struct setup){
                        .batch_size = 7, .threads = threads, .fields = fields, .field_count = 2});
        uint64_t seen = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            const lx_column *notes = lx_batch_get_column(batch, 0);
            for (uint64_t i = 0; i < notes->rows; i++, seen++) {
                ck_assert_uint_eq(notes->offsets[i + 1] - notes->offsets[i], seen % 9);
                ck_assert_mem_eq((const char *)notes->data + notes->offsets[i], "some text",
                                 seen % 9);
            }
        }
        ck_assert_uint_eq(seen, LENGTH);
        lx_loader_close(loader);
    }
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_other_than_datasets)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    lx_source *source;
    unit_fails(lx_source_open("d", NULL, &source, &error), LX_ERR_NOT_FOUND);
    unit_fails(lx_source_open(".", NULL, &source, &error), LX_ERR_NOT_FOUND);
    write_dataset();
    ck_assert_int_eq(truncate("d/meta.json", 20), 0);
    ck_assert_int_eq(lx_source_open("d", NULL, &source, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.path, "d/meta.json"));
    scratch_remove(scratch);
}
END_TEST

/** Flips a byte of the image of record @p index in the only chunk. */
static void damage(uint64_t index)
{
    uint8_t image[10], bytes[1 << 16];
    for (uint64_t k = 0; k < sizeof image; k++)
        image[k] = byte_of(index, k);
    FILE *file = NULL;
    char path[64];
    for (int i = 0; file == NULL && i < 10; i++) {
        snprintf(path, sizeof path, "d/chunk/%d.zr", i);
        file = fopen(path, "r+b");
    }
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    for (size_t at = 0; at + sizeof image <= size; at++) {
        if (memcmp(bytes + at, image, sizeof image) == 0) {
            fseek(file, (long)at, SEEK_SET);
            fputc(image[0] ^ 1, file);
            fclose(file);
            return;
        }
    }
    ck_abort_msg("record %d is not in %s", (int)index, path);
}

START_TEST(a_damaged_record_fails_only_its_batch)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    static const char *const fields[] = {"label", "image"};
    lx_source *source;
    write_dataset();
    damage(13);
    unit_ok(lx_source_open("d", NULL, &source, &error));
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        lx_loader *loader = open_loader(
            source, (struct setup){
                        .batch_size = 8, .threads = threads, .fields = fields, .field_count = 2});
        for (uint64_t position = 0; position < LENGTH; position += 8) {
            lx_batch *batch;
            lx_error_clear(&error);
            lx_status status = lx_loader_next(loader, &batch, &error);
            ck_assert_int_eq(status, position == 8 ? LX_ERR_CORRUPT : LX_OK);
            if (position != 8) {
                check_numbers(batch);
            } else {
                ck_assert_str_eq(error.field, "image");
                ck_assert_uint_eq(error.record, 13);
                ck_assert_ptr_null(batch);
            }
            ck_assert_uint_eq(lx_loader_tell(loader), position + 8);
            lx_batch_unref(batch);
        }
        ck_assert_ptr_null(next_batch(loader));
        lx_loader_close(loader);
    }
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/* ---- live datasets */

#define WIDE 3000 /* batches of several parts */

struct changing {
    struct changer *changer;
    atomic_bool stop;
};

static void *change(void *user)
{
    struct changing *self = user;
    while (!atomic_load(&self->stop) && self->changer->log.size < 200000000)
        changer_commit(self->changer, WIDE);
    return NULL;
}

/** All records and both columns of a batch must be of one version; returns it. */
static uint64_t check_version(const lx_batch *batch)
{
    const lx_column *a = lx_batch_find_column(batch, "a"), *b = lx_batch_find_column(batch, "b");
    const uint64_t *indices = lx_batch_get_indices(batch), *left = a->data, *right = b->data;
    uint64_t version = left[0] / CHANGER_STEP;
    for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++)
        if (left[i] != changer_value(version, 0, indices[i]) || right[i] != ~left[i])
            ck_abort_msg("record %d is of another state", (int)i);
    return version;
}

static lx_source *open_live_source(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    unit_ok(lx_source_open("d", options, &source, &error));
    lx_dataset_options_free(options);
    return source;
}

START_TEST(each_batch_of_a_live_dataset_is_of_one_snapshot)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pthread_t thread;
    struct changer changer = changer_new("d", WIDE);
    struct changing changing = {.changer = &changer};
    static uint64_t indices[WIDE];
    lx_source *live = open_live_source(), *sources[4] = {live};
    static const char *const names[] = {"a", "b"};
    for (uint64_t i = 0; i < WIDE; i++)
        indices[i] = i;
    unit_ok(lx_source_new_zip(&live, NULL, 1, &sources[1], &error));
    unit_ok(lx_source_new_concat(&live, 1, &sources[2], &error));
    unit_ok(lx_source_new_subset(live, indices, WIDE, &sources[3], &error));
    changer_commit(&changer, WIDE);
    ck_assert_int_eq(pthread_create(&thread, NULL, change, &changing), 0);
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        for (int made_of = 0; made_of < 4; made_of++) {
            /* Small batches are filled by the caller, large ones by threads, in parts. */
            lx_loader *loader = open_loader(sources[made_of],
                                            (struct setup){.batch_size = threads == 0 ? 100 : 20000,
                                                           .threads = threads,
                                                           .endless = true,
                                                           .fields = names,
                                                           .field_count = 2});
            uint64_t last = 0;
            for (int i = 0; i < (SANITIZED ? 20 : 100); i++) {
                lx_batch *batch = next_batch(loader);
                uint64_t version = check_version(batch);
                ck_assert_uint_ge(version, last);
                last = version;
                lx_batch_unref(batch);
            }
            ck_assert_uint_gt(last, 0);
            lx_loader_close(loader);
        }
    }
    atomic_store(&changing.stop, true);
    pthread_join(thread, NULL);
    for (int i = 0; i < 4; i++)
        lx_source_unref(sources[i]);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_length_of_a_live_source_is_constant)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", 40);
    lx_source *source = open_live_source();
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 10, .endless = true});
    lx_batch *batch;
    changer_commit(&changer, 45);
    ck_assert_uint_eq(lx_source_get_length(source), 40);
    for (int i = 0; i < 4; i++) {
        batch = next_batch(loader);
        ck_assert_uint_eq(check_version(batch), 1);
        lx_batch_unref(batch);
    }
    /* The dataset shrinks: a batch with deleted records fails, and is skipped. */
    changer_commit(&changer, 35);
    for (int i = 0; i < 8; i++) {
        lx_error_clear(&error);
        lx_status status = lx_loader_next(loader, &batch, &error);
        ck_assert_int_eq(status, i % 4 == 3 ? LX_ERR_RANGE : LX_OK);
        if (status == LX_OK) {
            ck_assert_uint_eq(check_version(batch), 2);
            lx_batch_unref(batch);
        } else {
            ck_assert_uint_eq(error.record, 35);
        }
    }
    /* Also with a direct call. */
    uint64_t index = 3, value;
    const lx_target targets[] = {{&value, 8}, {NULL, 0}};
    changer_commit(&changer, 40);
    unit_ok(lx_source_fill(source, &index, 1, targets, &error));
    ck_assert_uint_eq(value, changer_value(3, 0, 3));
    lx_loader_close(loader);
    lx_source_unref(source);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_live_dataset_that_cannot_refresh)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", 40);
    lx_source *source = open_live_source();
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        lx_loader *loader = open_loader(
            source, (struct setup){.batch_size = 10, .threads = threads, .endless = true});
        lx_batch *batch = next_batch(loader);
        lx_batch_unref(batch);
        ck_assert_int_eq(rename("d/meta.json", "d/away"), 0);
        lx_status status = LX_OK;
        for (int i = 0; status == LX_OK && i < 1000; i++) { /* some may be ready */
            status = lx_loader_next(loader, &batch, &error);
            if (status == LX_OK)
                lx_batch_unref(batch);
        }
        ck_assert_int_eq(status, LX_ERR_IO);
        lx_error_clear(&error);
        ck_assert_int_eq(rename("d/away", "d/meta.json"), 0);
        batch = next_batch(loader);
        ck_assert_uint_eq(check_version(batch), changer.version);
        lx_batch_unref(batch);
        lx_loader_close(loader);
    }
    lx_source_unref(source);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    unit_refuses_null(lx_source_new_dataset(NULL, &source, &error), "dataset");
}
END_TEST

UNIT_MAIN("loader/source-zrecord", opens_a_directory_as_a_dataset, the_caller_keeps_its_dataset,
          reads_after_the_caller_has_closed_its_dataset, batches_fields_whose_values_vary_in_size,
          rejects_other_than_datasets, a_damaged_record_fails_only_its_batch,
          each_batch_of_a_live_dataset_is_of_one_snapshot, the_length_of_a_live_source_is_constant,
          reports_a_live_dataset_that_cannot_refresh, rejects_null_by_name)
