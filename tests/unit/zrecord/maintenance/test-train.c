/* SPDX-License-Identifier: MIT */
/* Dictionaries that are trained on the values of a dataset. */
#include "../../scarce.h"
#include "../texts.h"

START_TEST(a_dictionary_is_trained_on_stored_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 0, 0);
    texts_append(writer, 0, 1000);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    uint64_t before = texts_stored("d");
    unit_ok(lx_writer_train_dictionary(writer, "text", dataset, &error));
    ck_assert_uint_eq(lx_schema_get_field(lx_writer_get_schema(writer), 0)->dictionary,
                      LX_DEFAULT_DICTIONARY);
    texts_append(writer, 1000, 1000);
    commit(writer);
    ck_assert_uint_lt(texts_stored("d") - before, before * 3 / 4);
    unit_fails(lx_writer_train_dictionary(writer, "text", dataset, &error), LX_ERR_STATE);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    texts_expect(dataset, 2000);
    /* A copy with a dictionary from the start. */
    lx_writer *copy = texts_create("copy", NULL, 0, 4096);
    unit_ok(lx_writer_train_dictionary(copy, "text", dataset, &error));
    unit_ok(lx_writer_copy(copy, dataset, NULL, 0, NULL, LX_NONE, NULL, &error));
    close_writer(copy);
    ck_assert_uint_lt(texts_stored("copy"), texts_stored("d"));
    close_writer(writer);
    lx_dataset_close(dataset);
    dataset = open_dataset("copy");
    texts_expect(dataset, 2000);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_writer_trains_on_its_own_records)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 3, 4096);
    texts_append(writer, 0, 600);
    unit_ok(lx_writer_train_dictionary(writer, "text", NULL, &error)); /* commits them */
    texts_append(writer, 600, 600);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    texts_expect(dataset, 1200);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(maintenance_keeps_the_dictionary)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 0, 2048);
    texts_append(writer, 0, 2000);
    unit_ok(lx_writer_checkpoint(writer, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    texts_expect(dataset, 2000);
    unit_ok(lx_dataset_backup(dataset, "backup", NULL, NULL, &error));
    lx_dataset_close(dataset);
    unit_ok(lx_dataset_recover("d", "recovered", NULL, NULL, &error));
    static const char *const paths[] = {"backup", "recovered"};
    for (size_t i = 0; i < 2; i++) {
        dataset = open_dataset(paths[i]);
        texts_expect(dataset, 2000);
        lx_dataset_close(dataset);
    }
    unit_ok(lx_dataset_remove("d", &error));
    ck_assert(!file_exists("d"));
    scratch_remove(scratch);
}
END_TEST

/** Whichever sync fails, the dataset is as before or has the dictionary, and can be trained. */
START_TEST(a_failed_sync_leaves_the_dataset_intact)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    for (unsigned fails_at = 1;; fails_at++) {
        lx_writer *writer = texts_create("d", NULL, 0, 2048);
        texts_append(writer, 0, 600);
        commit(writer);
        lx_dataset *dataset = open_dataset("d");
        atomic_store(&syncs, 0);
        atomic_store(&sync_fails_at, fails_at);
        lx_status status = lx_writer_train_dictionary(writer, "text", dataset, &error);
        bool all = atomic_load(&syncs) < fails_at;
        atomic_store(&sync_fails_at, 0);
        ck_assert_int_eq(status, all ? LX_OK : LX_ERR_POISONED);
        lx_error_clear(&error);
        ck_assert_int_eq(lx_writer_close(writer, NULL), all ? LX_OK : LX_ERR_POISONED);
        writer = records_reopen("d", NULL);
        status = lx_writer_train_dictionary(writer, "text", dataset, &error);
        ck_assert(status == LX_OK || (status == LX_ERR_STATE && file_exists("d/text.dict")));
        lx_error_clear(&error);
        texts_append(writer, 600, 100);
        close_writer(writer);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        texts_expect(dataset, 700);
        lx_dataset_close(dataset);
        unit_ok(lx_dataset_remove("d", &error));
        if (all)
            break;
    }
    scratch_remove(scratch);
}
END_TEST

/** Whichever allocation fails, the dataset is as before or has the dictionary. */
START_TEST(a_failed_allocation_leaves_the_dataset_intact)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int failures = 0;
    lx_status status = LX_ERR_NOMEM;
    lx_writer *writer = texts_create("d", NULL, 0, 2048);
    texts_append(writer, 0, 600);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    for (int left = 0; status == LX_ERR_NOMEM; left++) {
        ck_assert(!file_exists("d/text.dict"));
        scarce_begin(left);
        status = lx_writer_train_dictionary(writer, "text", dataset, &error);
        lx_set_allocator(NULL, NULL);
        failures += status == LX_ERR_NOMEM;
        ck_assert_int_eq(error.status, status);
        lx_error_clear(&error);
    }
    ck_assert_int_eq(status, LX_OK);
    ck_assert_int_gt(failures, 5);
    texts_append(writer, 600, 100);
    close_writer(writer);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    texts_expect(dataset, 700);
    lx_dataset_close(dataset);
    /* The same when the dictionary is loaded. */
    for (int left = 0;; left++) {
        uint8_t got[VALUE_MAX];
        uint64_t size;
        bool there;
        dataset = open_dataset("d");
        scarce_begin(left);
        status = read_value(dataset, 0, 699, got, &size, &there, &error);
        lx_set_allocator(NULL, NULL);
        lx_error_clear(&error);
        lx_dataset_close(dataset);
        if (status == LX_OK)
            break;
        ck_assert_int_eq(status, LX_ERR_NOMEM);
    }
    scratch_remove(scratch);
}
END_TEST

/** A writer that was killed before it named the dictionary in meta.json leaves the file behind. */
START_TEST(a_leftover_of_an_interrupted_training_is_replaced)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 0, 2048);
    texts_append(writer, 0, 600);
    close_writer(writer);
    file_put("d/text.dict", "left", 4);
    lx_dataset *reader = open_dataset("d"); /* its lock keeps the file from being removed */
    writer = records_reopen("d", NULL);
    unit_ok(lx_writer_train_dictionary(writer, "text", reader, &error));
    texts_append(writer, 600, 100);
    close_writer(writer);
    lx_dataset_close(reader);
    writer = records_reopen("d", NULL); /* does not take the dictionary for an obsolete file */
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    texts_expect(dataset, 700);
    lx_dataset_close(dataset);
    close_writer(texts_create("e", NULL, 0, 2048));
    file_put("e/text.dict", "left", 4);
    close_writer(records_reopen("e", NULL));
    ck_assert(!file_exists("e/text.dict"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_what_it_cannot_train_on)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 0, 0);
    texts_append(writer, 0, 3);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_fails(lx_writer_train_dictionary(writer, "text", dataset, &error), LX_ERR_STATE);
    ck_assert(!file_exists("d/text.dict"));
    unit_fails(lx_writer_train_dictionary(writer, "none", dataset, &error), LX_ERR_NOT_FOUND);
    unit_refuses_null(lx_writer_train_dictionary(writer, NULL, dataset, &error), "name");
    unit_refuses_null(lx_writer_train_dictionary(NULL, "text", dataset, &error), "writer");
    /* A file of another program is left alone. */
    texts_append(writer, 3, 600);
    commit(writer);
    ck_assert_int_eq(mkdir("d/text.dict", 0700), 0);
    lx_dataset_close(dataset);
    dataset = open_dataset("d");
    ck_assert_int_ne(lx_writer_train_dictionary(writer, "text", dataset, &error), LX_OK);
    lx_error_clear(&error);
    ck_assert_int_eq(rmdir("d/text.dict"), 0);
    texts_append(writer, 603, 100);
    unit_ok(lx_writer_add_field(writer, "more", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_fails(lx_writer_train_dictionary(writer, "more", dataset, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_writer_add_field(writer, "late", LX_BYTES, NULL, 0, LX_COMPRESSION_ZSTD, &error));
    unit_fails(lx_writer_train_dictionary(writer, "late", dataset, &error), LX_ERR_NOT_FOUND);
    for (size_t i = 0; i < 3; i++) /* a failure leaves the fields as they were */
        ck_assert_uint_eq(lx_schema_get_field(lx_writer_get_schema(writer), i)->dictionary, 0);
    lx_dataset_close(dataset);
    dataset = open_dataset("d");
    unit_fails(lx_writer_train_dictionary(writer, "more", dataset, &error), LX_ERR_ARGUMENT);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/train", a_dictionary_is_trained_on_stored_values,
          a_writer_trains_on_its_own_records, maintenance_keeps_the_dictionary,
          a_failed_sync_leaves_the_dataset_intact, a_failed_allocation_leaves_the_dataset_intact,
          a_leftover_of_an_interrupted_training_is_replaced, reports_what_it_cannot_train_on)
