/* SPDX-License-Identifier: MIT */
/* Loaders over datasets with missing values: they refuse, mark or replace them. */
#include "loader/missing-values.h"

#include "../scratch.h"
#include "../zrecord/placed.h"
#include "loaders.h"

#define LENGTH 3000
#define WIDTH 3

/** What the labels of record @p index lack, and its images. */
static bool lacks_label(uint64_t index)
{
    return index % 7 == 3;
}

static bool lacks_image(uint64_t index)
{
    return index % 5 == 0 && index >= 100;
}

static void append(lx_writer *writer, uint64_t index, bool label, bool image)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t bytes[WIDTH];
    for (uint64_t k = 0; k < WIDTH; k++)
        bytes[k] = byte_of(index, k);
    const lx_value values[] = {{&index, label ? 8 : LX_NONE}, {bytes, image ? WIDTH : LX_NONE}};
    unit_ok(lx_writer_append(writer, values, 2, NULL, &error));
}

/** Creates the dataset "d" with one commit. */
static lx_writer *create(uint64_t length, bool labels, bool images)
{
    static const uint64_t shape[] = {WIDTH};
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    unit_ok(lx_schema_add_field(schema, "label", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "image", LX_UINT8, shape, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < length; i++)
        append(writer, i, labels || !lacks_label(i), images || !lacks_image(i));
    unit_ok(lx_writer_commit(writer, &error));
    return writer;
}

static void write_dataset(uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_writer_close(create(length, false, false), &error));
}

static lx_source *open_source(struct placed how)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_dataset *dataset = open_placed("d", how);
    unit_ok(lx_source_new_dataset(dataset, &source, &error));
    lx_dataset_close(dataset);
    return source;
}

/** The options for @p column alone, or for both columns if it is NULL. */
static lx_loader_options *options_for(const char *column, uint32_t threads)
{
    return make_options((struct setup){
        .batch_size = 64, .threads = threads, .fields = &column, .field_count = column != NULL});
}

/** The loader must be refused because of a value. */
static void check_refused(lx_source *source, const lx_loader_options *options, const char *field,
                          uint64_t record)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    ck_assert_int_eq(lx_loader_open(source, options, &loader, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_null(loader);
    ck_assert_str_eq(error.field, field);
    ck_assert_uint_eq(error.record, record);
    ck_assert_ptr_nonnull(strstr(error.message, "missing"));
}

START_TEST(a_missing_value_is_refused_by_default)
{
    static const uint64_t lengths[] = {40, LENGTH}; /* in the log, and in tables */
    for (size_t at = 0; at < 2; at++) {
        char *scratch = scratch_make();
        write_dataset(lengths[at]);
        for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
            lx_source *source = open_source((struct placed){.access = access_modes[mode]});
            lx_loader_options *options = options_for(NULL, 0), *image = options_for("image", 0);
            check_refused(source, options, "label", 3);
            if (lengths[at] > 100)
                check_refused(source, image, "image", 100);
            else
                lx_loader_close(open_loader(
                    source, (struct setup){.fields = (const char *[]){"image"}, .field_count = 1}));
            lx_loader_options_free(options);
            lx_loader_options_free(image);
            lx_source_unref(source);
        }
        scratch_remove(scratch);
    }
}
END_TEST

/** Checks a whole epoch: labels are marked, and missing images are replaced. */
static void check_marked(lx_source *source, uint32_t threads)
{
    static const uint8_t instead[WIDTH] = {7, 8, 9};
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    uint64_t seen = 0;
    lx_loader_options *options = options_for(NULL, threads);
    unit_ok(lx_loader_options_set_missing(options, NULL, LX_MISSING_MASK, &error));
    unit_ok(lx_loader_options_set_missing_value(options, "image", instead, WIDTH, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    lx_loader_options_free(options);
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        const uint64_t *labels = lx_batch_get_column(batch, 0)->data;
        const uint8_t *images = lx_batch_get_column(batch, 1)->data;
        const uint8_t *present = lx_batch_get_present(batch, 0);
        ck_assert_ptr_null(lx_batch_get_present(batch, 1));
        ck_assert_ptr_null(lx_batch_get_present(batch, 2));
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, seen++) {
            uint64_t index = lx_batch_get_indices(batch)[i];
            ck_assert_uint_eq(present[i], !lacks_label(index));
            ck_assert_uint_eq(labels[i], lacks_label(index) ? 0 : index);
            for (uint64_t k = 0; k < WIDTH; k++)
                ck_assert_uint_eq(images[i * WIDTH + k],
                                  lacks_image(index) ? instead[k] : byte_of(index, k));
        }
    }
    ck_assert_uint_eq(seen, LENGTH);
    lx_loader_close(loader);
}

START_TEST(missing_values_are_marked_or_replaced)
{
    char *scratch = scratch_make();
    write_dataset(LENGTH);
    for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
        lx_source *source = open_source((struct placed){.access = access_modes[mode]});
        check_marked(source, 0);
        check_marked(source, 2);
        lx_source_unref(source);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(zeros_are_read_only_if_they_are_asked_for)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    write_dataset(LENGTH);
    lx_source *source = open_source((struct placed){.access = LX_ACCESS_MMAP});
    lx_loader_options *options = options_for(NULL, 0);
    lx_loader *loader;
    unit_ok(lx_loader_options_set_missing(options, "label", LX_MISSING_ZEROS, &error));
    check_refused(source, options, "image", 100);
    unit_ok(lx_loader_options_set_missing(options, NULL, LX_MISSING_ZEROS, &error));
    unit_ok(lx_loader_options_set_missing(options, "label", LX_MISSING_RAISE, &error));
    check_refused(source, options, "label", 3);
    unit_ok(lx_loader_options_set_missing(options, "label", LX_MISSING_ZEROS, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    lx_batch *batch = next_batch(loader);
    const uint64_t *labels = lx_batch_get_column(batch, 0)->data;
    for (uint64_t i = 0; i < 64; i++)
        ck_assert_uint_eq(labels[i], lacks_label(i) ? 0 : i);
    ck_assert_ptr_null(lx_batch_get_present(batch, 0));
    lx_batch_unref(batch);
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(options_must_fit_the_columns)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint64_t value = 5;
    lx_loader *loader;
    write_dataset(LENGTH);
    lx_source *source = open_source((struct placed){.access = LX_ACCESS_MMAP});
    lx_loader_options *options = options_for("label", 0);
    unit_ok(lx_loader_options_set_missing(options, "image", LX_MISSING_MASK, &error));
    unit_fails(lx_loader_open(source, options, &loader, &error), LX_ERR_NOT_FOUND);
    lx_loader_options_free(options);
    options = options_for("label", 0);
    unit_ok(lx_loader_options_set_missing_value(options, "label", &value, 4, &error));
    unit_fails(lx_loader_open(source, options, &loader, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_loader_options_set_missing(options, NULL, (lx_missing_policy)3, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_loader_options_set_missing(NULL, NULL, LX_MISSING_MASK, &error),
                      "options");
    unit_refuses_null(lx_loader_options_set_missing_value(NULL, "label", &value, 8, &error),
                      "options");
    unit_refuses_null(lx_loader_options_set_missing_value(options, NULL, &value, 8, &error),
                      "column");
    unit_refuses_null(lx_loader_options_set_missing_value(options, "label", NULL, 8, &error),
                      "value");
    lx_loader_options_free(options);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

/** Opens a loader over a source made of others, and checks the marks of its labels. */
static void check_marks(lx_source *source, const uint64_t *records, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = options_for("label", 0);
    uint64_t seen = 0;
    unit_ok(lx_loader_options_set_missing(options, "label", LX_MISSING_MASK, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch))
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, seen++)
            ck_assert_uint_eq(lx_batch_get_present(batch, 0)[i],
                              records[seen] == LX_NONE || !lacks_label(records[seen]));
    ck_assert_uint_eq(seen, count);
    lx_loader_close(loader);
    lx_loader_options_free(options);
}

START_TEST(combined_sources_know_what_is_missing)
{
    enum { COUNT = 600 };
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = {.length = COUNT, .width = WIDTH};
    uint64_t some[COUNT], all[2 * COUNT];
    lx_source *subset, *zip, *concat, *complete;
    write_dataset(LENGTH);
    lx_source *source = open_source((struct placed){.access = LX_ACCESS_MMAP});
    lx_source *other = numbers_source(&numbers);
    for (uint64_t i = 0; i < COUNT; i++) {
        some[i] = (i * 31 + 7) % LENGTH;
        all[i] = LX_NONE; /* never missing */
        all[COUNT + i] = some[i];
    }
    unit_ok(lx_source_new_subset(source, some, COUNT, &subset, &error));
    unit_ok(lx_source_new_zip(&subset, NULL, 1, &zip, &error));
    unit_ok(lx_source_new_concat((lx_source *[]){other, zip}, 2, &concat, &error));
    check_marks(subset, some, COUNT);
    check_marks(zip, some, COUNT);
    check_marks(concat, all, 2 * COUNT);
    lx_loader_options *options = options_for("label", 0);
    uint64_t first = 0;
    while (!lacks_label(some[first]))
        first++;
    check_refused(subset, options, "label", first);
    check_refused(concat, options, "label", COUNT + first);
    lx_loader_close(open_loader(other, (struct setup){.batch_size = 8}));

    /* A subset without the records that lack a value is complete. */
    uint64_t kept = 0;
    for (uint64_t i = 0; i < COUNT; i++)
        if (!lacks_label(i) && !lacks_image(i))
            some[kept++] = i;
    unit_ok(lx_source_new_subset(source, some, kept, &complete, &error));
    lx_loader_close(open_loader(complete, (struct setup){.batch_size = 8}));
    lx_loader_options_free(options);
    lx_source *const opened[] = {complete, concat, zip, subset, other, source};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        lx_source_unref(opened[i]);
    scratch_remove(scratch);
}
END_TEST

START_TEST(records_are_read_with_their_marks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint64_t indices[] = {3, 100, 4}, beyond = LENGTH;
    const lx_samples samples = {.count = 3, .indices = indices, .positions = indices};
    const lx_samples wrong = {.count = 1, .indices = &beyond, .positions = &beyond};
    uint64_t labels[3];
    uint8_t images[3][WIDTH], marks[2][3];
    const lx_target targets[] = {{labels, 8}, {images, WIDTH}};
    uint8_t *const present[] = {marks[0], marks[1]}, *const none[] = {NULL, NULL};
    write_dataset(LENGTH);
    for (int live = 0; live < 2; live++) {
        lx_source *source = open_source((struct placed){.access = LX_ACCESS_MMAP, .live = live});
        unit_ok(lx_source_fill_present(source, &samples, targets, present, &error));
        ck_assert_mem_eq(marks[0], "\0\1\1", 3);
        ck_assert_mem_eq(marks[1], "\1\0\1", 3);
        ck_assert_uint_eq(labels[2], 4);
        unit_ok(lx_source_fill_present(source, &samples, targets, none, &error));
        unit_fails(lx_source_fill_present(source, &wrong, targets, present, &error), LX_ERR_RANGE);
        unit_refuses_null(lx_source_fill_present(NULL, &samples, targets, present, &error),
                          "source");
        unit_refuses_null(lx_source_fill_present(source, NULL, targets, present, &error),
                          "samples");
        unit_refuses_null(lx_source_fill_present(source, &samples, targets, NULL, &error),
                          "present");
        lx_source_unref(source);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_batch_fails_if_a_value_of_a_live_dataset_becomes_missing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create(200, true, true);
    lx_source *source = open_source((struct placed){.access = LX_ACCESS_MMAP, .live = true});
    lx_loader *loader = open_loader(source, (struct setup){.batch_size = 50, .endless = true});
    const lx_value none = {NULL, LX_NONE};
    const size_t label = 0;
    lx_batch *batch;
    lx_batch_unref(next_batch(loader));
    unit_ok(lx_writer_modify(writer, 120, &label, &none, 1, &error));
    unit_ok(lx_writer_commit(writer, &error));
    for (int i = 1; i < 8; i++) {
        lx_error_clear(&error);
        lx_status status = lx_loader_next(loader, &batch, &error);
        ck_assert_int_eq(status, i % 4 == 2 ? LX_ERR_MISMATCH : LX_OK);
        if (status != LX_OK) {
            ck_assert_str_eq(error.field, "label");
            ck_assert_uint_eq(error.record, 120);
        }
        lx_batch_unref(batch);
    }
    lx_loader_options *options = options_for("label", 0);
    check_refused(source, options, "label", 120);
    lx_loader_options_free(options);
    lx_loader_close(loader);
    lx_source_unref(source);
    unit_ok(lx_writer_close(writer, &error));
    scratch_remove(scratch);
}
END_TEST

START_TEST(skipped_records_are_not_marked)
{
    /* The records of numbers.h are never missing, but damaged ones are left out of the batch. */
    struct numbers numbers = {.length = 100,
                              .width = WIDTH,
                              .failing = true,
                              .bad = 3,
                              .bad_of = 7,
                              .status = LX_ERR_CORRUPT};
    lx_error error = LX_ERROR_INIT;
    lx_source *source = numbers_source(&numbers);
    lx_loader_options *options =
        make_options((struct setup){.batch_size = 50, .damage = LX_DAMAGE_SKIP});
    lx_loader *loader;
    unit_ok(lx_loader_options_set_missing(options, NULL, LX_MISSING_MASK, &error));
    unit_ok(lx_loader_open(source, options, &loader, &error));
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        ck_assert_uint_eq(lx_batch_get_row_count(batch), 43);
        for (uint64_t i = 0; i < 43; i++)
            ck_assert_uint_eq(lx_batch_get_present(batch, 1)[i], 1);
        check_numbers(batch);
    }
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
}
END_TEST

UNIT_MAIN("loader/missing-values", a_missing_value_is_refused_by_default,
          missing_values_are_marked_or_replaced, zeros_are_read_only_if_they_are_asked_for,
          options_must_fit_the_columns, combined_sources_know_what_is_missing,
          records_are_read_with_their_marks,
          a_batch_fails_if_a_value_of_a_live_dataset_becomes_missing,
          skipped_records_are_not_marked)
