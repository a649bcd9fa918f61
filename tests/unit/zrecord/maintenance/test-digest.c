/* SPDX-License-Identifier: MIT */
/* The digest of the contents: doc/zrecord-format.md, 9.10. */
#include "../harm.h"
#include "../numbers.h"

static uint64_t digest_with(const char *path, lx_executor *executor, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    uint64_t digest = 0;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_executor(options, executor, &error));
    unit_ok(lx_dataset_options_set_length(options, length, &error));
    unit_ok(lx_dataset_open(path, options, &dataset, &error));
    lx_dataset_options_free(options);
    unit_ok(lx_dataset_digest(dataset, NULL, NULL, &digest, &error));
    lx_dataset_close(dataset);
    return digest;
}

static uint64_t digest_of(const char *path)
{
    return digest_with(path, NULL, LX_NONE);
}

/** A dataset with the records of records.h, stored with these limits of chunks. */
static void make(const char *path, uint64_t length, uint64_t chunk_records)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, chunk_records, 1 << 20, &error));
    lx_writer *writer = records_create(path, options);
    records_append(writer, length);
    close_writer(writer);
}

START_TEST(does_not_depend_on_how_values_are_stored)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make("a", 10000, 1 << 20);
    uint64_t digest = digest_of("a");
    make("b", 10001, 77);
    ck_assert_uint_ne(digest_of("b"), digest);
    ck_assert_uint_eq(digest_with("b", NULL, 10000), digest); /* of the first 10,000 records */
    lx_writer *writer = records_reopen("b", NULL);
    unit_ok(lx_writer_truncate(writer, 10000, &error));
    commit(writer);
    ck_assert_uint_eq(digest_of("b"), digest);
    unit_ok(lx_writer_set_card(writer, &(lx_card_entry){"license", "MIT"}, 1, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    ck_assert_uint_eq(digest_of("b"), digest);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert_uint_eq(digest_of("b"), digest);
    for (uint32_t readers = 0; readers < 9; readers += 4) {
        lx_executor *executor;
        lx_executor_options *options = lx_executor_options_new();
        unit_ok(lx_executor_options_set_reader_count(options, readers, &error));
        unit_ok(lx_executor_open(options, &executor, &error));
        lx_executor_options_free(options);
        ck_assert_uint_eq(digest_with("b", executor, LX_NONE), digest);
        lx_executor_close(executor);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(depends_on_each_value_and_name)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t seen[64];
    size_t count = 0;
    lx_writer *writer = records_create("d", NULL);
    seen[count++] = digest_of("d");
    records_append(writer, 10);
    const size_t field = BLOB;
    const lx_value original = {"original", 8};
    for (uint64_t i = 0; i < 10; i++)
        unit_ok(lx_writer_modify(writer, i, &field, &original, 1, &error));
    commit(writer);
    seen[count++] = digest_of("d");
    for (uint64_t i = 0; i < 10; i++) { /* another value, a missing one and an empty one */
        const lx_value values[] = {{"123456789", 9}, {NULL, LX_NONE}, {"", 0}};
        for (size_t k = 0; k < 3; k++) {
            unit_ok(lx_writer_modify(writer, i, &field, &values[k], 1, &error));
            commit(writer);
            seen[count++] = digest_of("d");
        }
    }
    unit_ok(lx_writer_rename_field(writer, "blob", "blab", &error));
    seen[count++] = digest_of("d");
    unit_ok(lx_writer_drop_field(writer, "image", &error));
    seen[count++] = digest_of("d");
    unit_ok(lx_writer_delete(writer, 0, NULL, &error));
    commit(writer);
    seen[count++] = digest_of("d");
    close_writer(writer);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_ne(seen[i], seen[k]);
    scratch_remove(scratch);
}
END_TEST

START_TEST(depends_on_the_order)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const uint64_t orders[][3] = {{1, 2, 3}, {2, 1, 3}, {3, 2, 1}, {1, 3, 2}};
    uint64_t seen[4];
    for (size_t i = 0; i < 4; i++) {
        char path[] = {(char)('a' + i), '\0'};
        lx_writer *writer = numbers_create(path, NULL);
        for (size_t k = 0; k < 3; k++)
            unit_ok(number_append(writer, orders[i][k], NULL, &error));
        close_writer(writer);
        seen[i] = digest_of(path);
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_ne(seen[i], seen[k]);
    }
    scratch_remove(scratch);
}
END_TEST

static lx_status watch(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    uint64_t *last = user;
    (void)error;
    ck_assert_uint_le(*last, done);
    ck_assert_uint_eq(total, 50000);
    *last = done;
    return LX_OK;
}

static lx_status stop(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)done, (void)total, (void)user;
    return lx_fail(error, LX_ERR_CANCELED, "enough");
}

START_TEST(reports_progress_and_can_be_stopped)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t last = 0, digest = 7;
    lx_writer *writer = numbers_create("d", NULL);
    unit_ok(numbers_extend(writer, 50000, 1, &error));
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_fails(lx_dataset_digest(dataset, stop, NULL, &digest, &error), LX_ERR_CANCELED);
    ck_assert_uint_eq(digest, 7);
    unit_ok(lx_dataset_digest(dataset, watch, &last, &digest, &error));
    ck_assert_uint_eq(last, 50000);
    unit_refuses_null(lx_dataset_digest(NULL, NULL, NULL, &digest, &error), "dataset");
    unit_refuses_null(lx_dataset_digest(dataset, NULL, NULL, NULL, &error), "digest");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damage_is_an_error)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t digest;
    char chunk[32];
    lx_dataset *dataset;
    make("d", 9000, 1 << 20);
    lx__entry entry = entry_of("d", "wave", 8765);
    snprintf(chunk, sizeof chunk, "d/chunk/%u.zr", entry.chunk);
    file_flip(chunk, entry.offset * 8);
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_damage_policy(options, LX_DAMAGE_ZEROS, &error));
    unit_ok(lx_dataset_open("d", options, &dataset, &error));
    lx_dataset_options_free(options);
    lx_status status = lx_dataset_digest(dataset, NULL, NULL, &digest, &error);
    ck_assert_uint_eq(error.record, 8765);
    ck_assert_str_eq(error.field, "wave");
    expect_error(status, LX_ERR_CORRUPT, "checksum", chunk);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/digest", does_not_depend_on_how_values_are_stored,
          depends_on_each_value_and_name, depends_on_the_order, reports_progress_and_can_be_stopped,
          damage_is_an_error)
