/* SPDX-License-Identifier: MIT */
/* Loaders over damaged records: they raise, skip or fill zeros, the same for any number of
 * threads. */
#include "loader/damaged-records.h"

#include "../scarce.h"
#include "../scratch.h"
#include "../zrecord/files.h"
#include "loaders.h"

/** Records of 4 KiB, so that batches have several parts; @p bad of every seven are damaged. */
static struct numbers damaged_numbers(uint64_t length, uint64_t bad, uint64_t bad_of)
{
    return (struct numbers){.length = length,
                            .width = 4096,
                            .failing = true,
                            .bad = bad,
                            .bad_of = bad_of,
                            .status = LX_ERR_CORRUPT};
}

static uint64_t damaged_of(lx_loader *loader)
{
    lx_loader_stats stats;
    lx_loader_get_stats(loader, &stats);
    ck_assert_uint_eq(stats.failures, 0);
    return stats.damaged;
}

START_TEST(rejects_invalid_options)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader_options *options = lx_loader_options_new();
    unit_ok(lx_loader_options_set_damage_policy(options, LX_DAMAGE_SKIP, &error));
    unit_ok(lx_loader_options_set_damage_policy(options, LX_DAMAGE_ZEROS, &error));
    unit_ok(lx_loader_options_set_damage_policy(options, LX_DAMAGE_RAISE, &error));
    unit_fails(lx_loader_options_set_damage_policy(options, (lx_damage_policy)3, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_loader_options_set_damage_policy(NULL, LX_DAMAGE_SKIP, &error), "options");
    lx_loader_options_free(options);
}
END_TEST

START_TEST(batches_lack_skipped_records)
{
    enum { LENGTH = 1000, BATCH = 64 };
    uint64_t digests[3];
    static const uint32_t threads[] = {0, 1, 3};
    for (size_t t = 0; t < 3; t++) {
        struct numbers numbers = damaged_numbers(LENGTH, 3, 7);
        lx_loader *loader = open_numbers(
            &numbers,
            (struct setup){.batch_size = BATCH, .threads = threads[t], .damage = LX_DAMAGE_SKIP});
        uint64_t wanted = 0, skipped = 0, position = 0;
        digests[t] = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            const uint64_t *indices = lx_batch_get_indices(batch);
            uint64_t keys[BATCH][2], key[2];
            lx_batch_get_keys(batch, 1, keys[0]);
            ck_assert_uint_eq(lx_batch_get_position(batch), position);
            position = position + BATCH < LENGTH ? position + BATCH : LENGTH;
            ck_assert_uint_eq(lx_loader_tell(loader), position);
            for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, wanted++) {
                for (; wanted % 7 == 3; wanted++)
                    skipped++;
                ck_assert_uint_eq(indices[i], wanted);
                lx_random_get_key(1, 0, wanted, key);
                ck_assert_mem_eq(keys[i], key, sizeof key);
            }
            check_numbers(batch);
            digests[t] = add_digest(digests[t], batch);
        }
        ck_assert_uint_eq(wanted, LENGTH);
        ck_assert_uint_eq(damaged_of(loader), skipped);
        lx_loader_close(loader);
    }
    ck_assert(digests[0] == digests[1] && digests[0] == digests[2]);
}
END_TEST

START_TEST(zeros_replace_damaged_records)
{
    static const uint32_t threads[] = {0, 2};
    static const uint8_t zeros[4096];
    for (size_t t = 0; t < 2; t++) {
        struct numbers numbers = damaged_numbers(200, 0, 5);
        lx_loader *loader = open_numbers(
            &numbers,
            (struct setup){.batch_size = 50, .threads = threads[t], .damage = LX_DAMAGE_ZEROS});
        uint64_t seen = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            ck_assert_uint_eq(lx_batch_get_row_count(batch), 50);
            const uint64_t *labels = lx_batch_find_column(batch, "label")->data;
            const uint8_t *images = lx_batch_find_column(batch, "image")->data;
            for (uint64_t i = 0; i < 50; i++, seen++) {
                ck_assert_uint_eq(lx_batch_get_indices(batch)[i], seen);
                ck_assert_uint_eq(labels[i], seen % 5 == 0 ? 0 : seen);
                if (seen % 5 == 0)
                    ck_assert_mem_eq(images + i * 4096, zeros, 4096);
                else
                    ck_assert_uint_eq(images[i * 4096 + 9], byte_of(seen, 9));
            }
        }
        ck_assert_uint_eq(seen, 200);
        ck_assert_uint_eq(damaged_of(loader), 40);
        lx_loader_close(loader);
    }
}
END_TEST

/** A transform that counts batches, and must not see one without records. */
static lx_status count_batches(lx_batch *batch, void *user, lx_error *error)
{
    (void)error;
    ck_assert_uint_ne(lx_batch_get_row_count(batch), 0);
    atomic_fetch_add((atomic_uint *)user, 1);
    return LX_OK;
}

/* Batches of one record: a damaged one is replaced by the next, and the last by the first. */
START_TEST(a_batch_without_readable_records_repeats_one)
{
    static const uint32_t threads[] = {0, 2};
    for (size_t t = 0; t < 2; t++) {
        atomic_uint transformed = 0;
        struct numbers numbers = damaged_numbers(40, 9, 10);
        struct setup setup = {.batch_size = 1,
                              .threads = threads[t],
                              .transform = count_batches,
                              .user = &transformed,
                              .damage = LX_DAMAGE_SKIP};
        lx_source *source = numbers_source(&numbers);
        lx_loader *loader = open_loader(source, setup);
        uint64_t batches = 0;
        for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
            bool damaged = batches % 10 == 9;
            check_numbers(batch);
            ck_assert_uint_eq(lx_batch_get_row_count(batch), 1);
            ck_assert_uint_eq(lx_batch_get_indices(batch)[0], (batches + damaged) % 40);
            ck_assert_uint_eq(lx_batch_get_real_count(batch), !damaged);
            ck_assert_uint_eq(lx_batch_get_position(batch), batches);
            batches++;
        }
        lx_loader_stats stats;
        lx_loader_get_stats(loader, &stats);
        ck_assert_uint_eq(batches, 40);
        ck_assert_uint_eq(stats.damaged, 4);
        ck_assert_uint_eq(stats.records, batches);
        ck_assert_uint_eq(stats.batches, batches);
        ck_assert_uint_eq(transformed, batches);
        ck_assert_uint_eq(lx_loader_tell(loader), 40);
        lx_loader_close(loader);
        lx_source_unref(source);
    }
}
END_TEST

/* Of rank 1, every third, seventh or each record is damaged. All batches still have one size, and
 * each readable record counts once. */
START_TEST(other_records_take_the_place_of_damaged_ones)
{
    enum { LENGTH = 45, BATCH = 4 };
    static const uint64_t bad_of[] = {3, 7, 2};
    for (uint32_t i = 0; i < 2 * 3; i++) {
        struct numbers numbers = damaged_numbers(LENGTH, 1, bad_of[i % 3]);
        uint64_t damaged = 0, batches = 0, seen[LENGTH] = {0};
        for (uint64_t rank = 0; rank < 2; rank++) {
            lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = BATCH,
                                                                      .world = 2,
                                                                      .rank = rank,
                                                                      .threads = i / 3 * 2,
                                                                      .pad_last = true,
                                                                      .damage = LX_DAMAGE_SKIP});
            for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
                ck_assert_uint_eq(lx_batch_get_row_count(batch), BATCH);
                check_numbers(batch);
                for (uint64_t row = 0; row < lx_batch_get_real_count(batch); row++)
                    seen[lx_batch_get_indices(batch)[row]]++;
                batches++;
            }
            damaged += damaged_of(loader);
            lx_loader_close(loader);
        }
        ck_assert_uint_eq(batches, 2 * 6);
        for (uint64_t index = 0; index < LENGTH; index++)
            ck_assert_uint_eq(seen[index], index % bad_of[i % 3] != 1);
        ck_assert_uint_ge(damaged, (LENGTH + bad_of[i % 3] - 2) / bad_of[i % 3]);
    }
}
END_TEST

START_TEST(reports_a_source_damaged_completely)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    struct numbers numbers = damaged_numbers(20, 0, 1);
    lx_loader *loader = open_numbers(&numbers, (struct setup){.batch_size = 6,
                                                              .endless = true,
                                                              .first_epoch = 3,
                                                              .damage = LX_DAMAGE_SKIP});
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_CORRUPT);
    ck_assert_ptr_null(batch);
    numbers.failing = false;
    batch = next_batch(loader);
    check_numbers(batch);
    lx_batch_unref(batch);
    lx_loader_close(loader);
}
END_TEST

START_TEST(a_state_continues_where_it_was_saved)
{
    lx_error error = LX_ERROR_INIT;
    struct numbers numbers = damaged_numbers(300, 2, 3);
    struct setup setup = {.batch_size = 10, .damage = LX_DAMAGE_SKIP};
    char text[4096];
    uint64_t whole = 0, parts = 0;
    lx_loader *loader = open_numbers(&numbers, setup), *other = open_numbers(&numbers, setup);
    for (int i = 0; i < 30; i++) {
        lx_batch *batch = next_batch(loader);
        whole = add_digest(whole, batch);
        lx_batch_unref(batch);
        if (i == 11)
            unit_ok(lx_loader_save(loader, text, sizeof text, NULL, &error));
        if (i == 11)
            parts = whole;
    }
    unit_ok(lx_loader_restore(other, text, &error));
    ck_assert_uint_eq(lx_loader_tell(other), 120);
    for (lx_batch *batch; (batch = next_batch(other)) != NULL; lx_batch_unref(batch))
        parts = add_digest(parts, batch);
    ck_assert_uint_eq(parts, whole);
    lx_loader_close(other);
    lx_loader_close(loader);
}
END_TEST

START_TEST(other_errors_still_fail)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    struct numbers numbers = damaged_numbers(20, 7, 10);
    numbers.status = LX_ERR_IO;
    lx_loader *loader = open_numbers(&numbers,
                                     (struct setup){.batch_size = 6, .damage = LX_DAMAGE_SKIP});
    lx_batch_unref(next_batch(loader));
    lx_error_clear(&error);
    ck_assert_int_eq(lx_loader_next(loader, &batch, &error), LX_ERR_IO);
    ck_assert_uint_eq(error.record, 7);
    lx_loader_close(loader);
    /* A failed allocation during the search for damage is not damage, either. */
    numbers.status = LX_ERR_CORRUPT;
    loader = open_numbers(&numbers, (struct setup){.batch_size = 6, .damage = LX_DAMAGE_SKIP});
    lx_batch_unref(next_batch(loader));
    scarce_begin(0);
    unit_fails(lx_loader_next(loader, &batch, &error), LX_ERR_NOMEM);
    scarce_begin(1000000);
    lx_loader_close(loader);
}
END_TEST

/** Makes the dataset @p path of 40 labels and images of 10 bytes, with image @p bad damaged; the
 * names of fields begin with @p path. */
static lx_source *open_damaged(const char *path, uint64_t bad)
{
    static const uint64_t shape[] = {10};
    lx_error error = LX_ERROR_INIT;
    char label[16], image[16];
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    lx_source *source;
    snprintf(label, sizeof label, "%slabel", path);
    snprintf(image, sizeof image, "%simage", path);
    unit_ok(lx_schema_add_field(schema, label, LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, image, LX_UINT8, shape, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < 40; i++) {
        uint8_t bytes[10];
        for (uint64_t k = 0; k < sizeof bytes; k++)
            bytes[k] = byte_of(i, k);
        const lx_value values[] = {{&i, 8}, {bytes, sizeof bytes}};
        unit_ok(lx_writer_append(writer, values, sizeof values / sizeof *values, NULL, &error));
    }
    unit_ok(lx_writer_seal(writer, &error)); /* so that no record is only in the log */
    unit_ok(lx_writer_close(writer, &error));
    lx_dataset *dataset;
    lx_slice slice;
    lx_view *view;
    unit_ok(lx_dataset_open(path, NULL, &dataset, &error));
    unit_ok(lx_dataset_view(dataset, 1, &bad, 1, &slice, &view, &error));
    const uint64_t first = 0;
    lx_slice start;
    lx_view *other;
    unit_ok(lx_dataset_view(dataset, 1, &first, 1, &start, &other, &error));
    file_flip(in(path, "chunk/0.zr"),
              8 * (uint64_t)((const uint8_t *)slice.data - (const uint8_t *)start.data) + 4);
    lx_view_free(other);
    lx_view_free(view);
    lx_dataset_close(dataset);
    unit_ok(lx_source_open(path, NULL, &source, &error));
    return source;
}

START_TEST(a_dataset_loses_only_the_damaged_column)
{
    char *scratch = scratch_make();
    lx_source *source = open_damaged("a", 9);
    lx_loader *loader = open_loader(source,
                                    (struct setup){.batch_size = 8, .damage = LX_DAMAGE_ZEROS});
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        const uint64_t *labels = lx_batch_find_column(batch, "alabel")->data;
        const uint8_t *images = lx_batch_find_column(batch, "aimage")->data;
        for (uint64_t i = 0; i < 8; i++) {
            ck_assert_uint_eq(labels[i], lx_batch_get_indices(batch)[i]);
            ck_assert_uint_eq(images[10 * i], labels[i] == 9 ? 0 : byte_of(labels[i], 0));
        }
    }
    ck_assert_uint_eq(damaged_of(loader), 1);
    lx_loader_close(loader);
    lx_source_unref(source);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_zip_of_datasets_skips_the_damaged_records_of_each)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_source *zip, *parts[2] = {open_damaged("a", 9), open_damaged("b", 23)};
    unit_ok(lx_source_new_zip(parts, NULL, 2, &zip, &error));
    lx_loader *loader = open_loader(zip,
                                    (struct setup){.batch_size = 16, .damage = LX_DAMAGE_SKIP});
    uint64_t wanted = 0;
    for (lx_batch *batch; (batch = next_batch(loader)) != NULL; lx_batch_unref(batch)) {
        const uint64_t *labels = lx_batch_find_column(batch, "blabel")->data;
        const uint8_t *images = lx_batch_find_column(batch, "aimage")->data;
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, wanted++) {
            wanted += wanted == 9 || wanted == 23;
            ck_assert_uint_eq(labels[i], wanted);
            ck_assert_uint_eq(images[10 * i + 1], byte_of(wanted, 1));
        }
    }
    ck_assert_uint_eq(wanted, 40);
    ck_assert_uint_eq(damaged_of(loader), 2);
    lx_loader_close(loader);
    lx_source_unref(zip);
    lx_source_unref(parts[0]);
    lx_source_unref(parts[1]);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/damaged-records", rejects_invalid_options, batches_lack_skipped_records,
          zeros_replace_damaged_records, a_batch_without_readable_records_repeats_one,
          other_records_take_the_place_of_damaged_ones, reports_a_source_damaged_completely,
          a_state_continues_where_it_was_saved, other_errors_still_fail,
          a_dataset_loses_only_the_damaged_column,
          a_zip_of_datasets_skips_the_damaged_records_of_each)
