/* SPDX-License-Identifier: MIT */
/* Dictionaries that a writer trains on the values that are being appended. */
#include <loaderx/hooks.h>

#include "../texts.h"

/* The dictionary is trained on 100 times its size. */
enum { SIZE = 2048, ENOUGH = 1000 };

static bool has_dictionary(const char *path)
{
    return file_exists(in(path, "text.dict"));
}

START_TEST(a_writer_trains_when_it_has_enough_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    close_writer(texts_create("plain", NULL, 0, 0));
    lx_writer *plain = records_reopen("plain", NULL);
    lx_writer *writer = texts_create("d", NULL, 0, SIZE);
    texts_append(writer, 0, 100);
    commit(writer);
    ck_assert(!has_dictionary("d"));
    lx_dataset *before = open_dataset("d");
    texts_append(writer, 100, 3 * ENOUGH);
    ck_assert(has_dictionary("d"));
    commit(writer);
    /* A reader that was open before follows. */
    texts_expect(before, 100);
    unit_ok(lx_dataset_refresh(before, NULL, &error));
    texts_expect(before, 100 + 3 * ENOUGH);
    unit_ok(lx_dataset_verify(before, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(before);
    close_writer(writer);
    texts_append(plain, 0, 100 + 3 * ENOUGH);
    close_writer(plain);
    ck_assert_uint_lt(texts_stored("d"), texts_stored("plain") * 3 / 4);
    /* Later writers use the dictionary, and train no other. */
    writer = records_reopen("d", NULL);
    uint64_t stored = texts_stored("d");
    texts_append(writer, 100 + 3 * ENOUGH, ENOUGH);
    close_writer(writer);
    ck_assert_uint_lt(texts_stored("d") - stored, stored / 3);
    lx_dataset *after = open_dataset("d");
    texts_expect(after, 100 + 4 * ENOUGH);
    lx_dataset_close(after);
    scratch_remove(scratch);
}
END_TEST

/** The bytes of a dataset of texts that was written by so many writer threads in one call, with as
 * many more that help to compress. */
static uint8_t *write_by(size_t threads, uint32_t dictionary, size_t *size, uint32_t *sum)
{
    lx_error error = LX_ERROR_INIT;
    static char all[5 * ENOUGH * TEXT_MAX];
    static uint64_t offsets[5 * ENOUGH + 1];
    lx_executor *executor;
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_writer_count(options, (uint32_t)threads, &error));
    unit_ok(lx_executor_options_set_reader_count(options, (uint32_t)threads - 1, &error));
    unit_ok(lx_executor_open(options, &executor, &error));
    lx_executor_options_free(options);
    lx_writer *writer = texts_create("d", executor, 4, dictionary);
    for (uint64_t i = 0; i < 5 * ENOUGH; i++)
        offsets[i + 1] = offsets[i] + text_of(i, all + offsets[i]);
    const lx_values column = {.data = all, .offsets = offsets};
    unit_ok(lx_writer_extend(writer, 5 * ENOUGH, &column, 1, NULL, &error));
    unit_ok(lx_writer_close(writer, &error));
    lx_executor_close(executor);
    /* The payloads, in the order of the records. */
    lx_writer *again = records_reopen("d", NULL);
    unit_ok(lx_writer_rebalance(again, NULL, NULL, NULL, &error));
    close_writer(again);
    lx_dataset *dataset = open_dataset("d");
    texts_expect(dataset, 5 * ENOUGH);
    lx_chunk_stats chunk;
    ck_assert(chunk_at(dataset, 0, &chunk));
    lx_dataset_close(dataset);
    char name[40];
    snprintf(name, sizeof name, "d/chunk/%u.zr", (unsigned)chunk.id);
    uint8_t *bytes = file_bytes(name, size);
    *sum = 0;
    if (dictionary != 0) {
        size_t length;
        uint8_t *trained = file_bytes("d/text.dict", &length);
        *sum = lx__crc32c(0, trained, length);
        free(trained);
    }
    unit_ok(lx_dataset_remove("d", &error));
    return bytes;
}

START_TEST(any_number_of_threads_stores_the_same_bytes)
{
    char *scratch = scratch_make();
    for (uint32_t dictionary = 0; dictionary <= SIZE; dictionary += SIZE) {
        size_t size, other_size;
        uint32_t sum, other_sum;
        uint8_t *one = write_by(1, dictionary, &size, &sum);
        for (size_t threads = 2; threads <= 4; threads++) {
            uint8_t *other = write_by(threads, dictionary, &other_size, &other_sum);
            ck_assert_uint_eq(size, other_size);
            ck_assert_uint_eq(sum, other_sum);
            ck_assert_mem_eq(one, other, size);
            free(other);
        }
        free(one);
    }
    scratch_remove(scratch);
}
END_TEST

/** A writer with one writer thread stores the same files, however many threads help to compress. */
START_TEST(any_number_of_readers_writes_the_same_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t *first = NULL;
    size_t first_size = 0;
    for (uint32_t readers = 0; readers <= 5; readers++) {
        lx_executor *executor;
        lx_executor_options *options = lx_executor_options_new();
        unit_ok(lx_executor_options_set_reader_count(options, readers, &error));
        unit_ok(lx_executor_open(options, &executor, &error));
        lx_executor_options_free(options);
        lx_writer *writer = texts_create("d", executor, 0, SIZE);
        texts_append(writer, 0, 5 * ENOUGH);
        close_writer(writer);
        lx_executor_close(executor);
        size_t size;
        uint8_t *bytes = file_bytes("d/chunk/0.zr", &size);
        ck_assert(first == NULL || (size == first_size && memcmp(bytes, first, size) == 0));
        free(first);
        first = bytes;
        first_size = size;
        unit_ok(lx_dataset_remove("d", &error));
    }
    free(first);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_rollback_keeps_the_dictionary)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 0, SIZE);
    unit_ok(lx_writer_begin_transaction(writer, &error));
    texts_append(writer, 0, 2 * ENOUGH);
    ck_assert(has_dictionary("d"));
    unit_ok(lx_writer_rollback(writer, &error));
    ck_assert_uint_eq(lx_writer_get_length(writer), 0);
    texts_append(writer, 0, ENOUGH);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    texts_expect(dataset, ENOUGH);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(values_without_anything_in_common_are_stored_without_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t noise[4000];
    lx_writer *writer = texts_create("d", NULL, 0, 1024);
    for (uint64_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < sizeof noise; k += 8) {
            uint64_t eight = mix(i * 999 + k);
            memcpy(noise + k, &eight, 8);
        }
        lx_value value = {noise, sizeof noise};
        for (int again = 0; again < 10; again++)
            unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 40);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_damaged_dictionary_does_not_lock_out_writers)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t got[VALUE_MAX];
    uint64_t size;
    bool there;
    lx_writer *writer = texts_create("d", NULL, 0, SIZE);
    texts_append(writer, 0, 2 * ENOUGH);
    close_writer(writer);
    file_flip("d/text.dict", 4000);
    writer = records_reopen("d", NULL);
    texts_append(writer, 2 * ENOUGH, 10);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    lx_status status = read_value(dataset, 0, 2 * ENOUGH - 1, got, &size, &there, &error);
    expect_error(status, LX_ERR_CORRUPT, "dictionary checksum mismatch", "d/text.dict");
    unit_ok(read_value(dataset, 0, 2 * ENOUGH, got, &size, &there, &error));
    unit_ok(read_value(dataset, 0, 0, got, &size, &there, &error));
    lx_dataset_close(dataset);
    file_flip("d/text.dict", 4000);
    dataset = open_dataset("d");
    texts_expect(dataset, 2 * ENOUGH + 10);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

static char warned[600];

static void keep_warning(lx_log_level level, const char *message, void *user)
{
    (void)user;
    if (level >= LX_LOG_WARNING)
        snprintf(warned, sizeof warned, "%s", message);
}

START_TEST(a_writer_warns_if_it_had_too_few_values)
{
    char *scratch = scratch_make();
    lx_set_log_hook(keep_warning, NULL);
    close_writer(texts_create("d", NULL, 0, SIZE));
    ck_assert_str_eq(warned, ""); /* there were no values */
    lx_writer *writer = records_reopen("d", NULL);
    texts_append(writer, 0, 10);
    close_writer(writer);
    ck_assert_msg(strncmp(warned, "d: field 'text' has no dictionary yet", 37) == 0, "%s", warned);
    ck_assert_ptr_nonnull(strstr(warned, " 204800 bytes"));
    warned[0] = '\0';
    writer = records_reopen("d", NULL);
    texts_append(writer, 10, 2 * ENOUGH);
    close_writer(writer);
    ck_assert(has_dictionary("d"));
    ck_assert_str_eq(warned, "");
    lx_set_log_hook(NULL, NULL);
    scratch_remove(scratch);
}
END_TEST

START_TEST(settings_can_be_changed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = texts_create("d", NULL, 1, 0);
    texts_append(writer, 0, 100);
    unit_ok(lx_writer_set_compression(writer, "text", 19, 0, &error));
    unit_fails(lx_writer_set_compression(writer, "text", 23, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_set_compression(writer, "none", 1, 0, &error), LX_ERR_NOT_FOUND);
    unit_refuses_null(lx_writer_set_compression(writer, NULL, 1, 0, &error), "name");
    unit_refuses_null(lx_writer_set_compression(NULL, "text", 1, 0, &error), "writer");
    close_writer(writer);
    writer = records_reopen("d", NULL);
    ck_assert_int_eq(lx_schema_get_field(lx_writer_get_schema(writer), 0)->level, 19);
    unit_ok(lx_writer_set_compression(writer, "text", 0, SIZE, &error));
    texts_append(writer, 100, 2 * ENOUGH);
    ck_assert(has_dictionary("d"));
    unit_ok(lx_writer_set_compression(writer, "text", 5, SIZE, &error));
    unit_fails(lx_writer_set_compression(writer, "text", 5, 0, &error), LX_ERR_STATE);
    unit_fails(lx_writer_set_compression(writer, "text", 5, 2 * SIZE, &error), LX_ERR_STATE);
    texts_append(writer, 100 + 2 * ENOUGH, ENOUGH);
    unit_ok(lx_writer_rename_field(writer, "text", "words", &error));
    texts_append(writer, 100 + 3 * ENOUGH, ENOUGH);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    texts_expect(dataset, 100 + 4 * ENOUGH);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/training", a_writer_trains_when_it_has_enough_values,
          a_writer_warns_if_it_had_too_few_values, any_number_of_threads_stores_the_same_bytes,
          any_number_of_readers_writes_the_same_chunk, a_rollback_keeps_the_dictionary,
          values_without_anything_in_common_are_stored_without_it,
          a_damaged_dictionary_does_not_lock_out_writers, settings_can_be_changed)
