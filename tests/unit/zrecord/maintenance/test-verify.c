/* SPDX-License-Identifier: MIT */
/* lx_dataset_verify() checks everything and reports each damage with its location; only the caller
 * stops it. */
#include <pthread.h>

#include "../../scarce.h"
#include "../goldens.h"
#include "../harm.h"

/** The reports of a verification. */
struct report {
    lx_error damages[64];
    size_t count;
    uint64_t done, total, calls;
    lx_status returned; /**< By the callbacks. */
};

static lx_status add_damage(const lx_error *damage, void *user, lx_error *error)
{
    (void)error;
    struct report *report = user;
    ck_assert_uint_lt(report->count, sizeof report->damages / sizeof *report->damages);
    report->damages[report->count++] = *damage;
    return report->returned;
}

static lx_status add_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    struct report *report = user;
    ck_assert_uint_ge(done, report->done);
    ck_assert_uint_le(done, total);
    report->done = done;
    report->total = total;
    report->calls++;
    return report->returned;
}

/** Verifies the dataset at @p path, which must open, and records the reports. */
static lx_status verify(const char *path, struct report *report, lx_verify_result *result,
                        lx_error *error)
{
    lx_dataset *dataset;
    *report = (struct report){.returned = LX_OK};
    lx_error_clear(error);
    ck_assert_int_eq(open_as(path, LX_VERIFY_NEVER, false, &dataset, error), LX_OK);
    lx_status status = lx_dataset_verify(dataset, add_damage, add_progress, report, result, error);
    lx_dataset_close(dataset);
    return status;
}

/** The stored bytes of a dataset of records.h in which nothing is compressed. */
static uint64_t bytes_of(uint64_t length)
{
    uint64_t sum = 0;
    for (uint64_t index = 0; index < length; index++) {
        for (int field = 0; field < FIELDS; field++) {
            uint8_t value[VALUE_MAX];
            uint64_t size = record_value(field, index, value);
            sum += size != LX_NONE ? size : 0;
        }
    }
    return sum;
}

START_TEST(a_whole_dataset_has_no_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    static const uint64_t lengths[][2] = {{0, 0}, {40, 0}, {0, 40}, {25, 15}};
    for (size_t i = 0; i < 4; i++) {
        uint64_t length = lengths[i][0] + lengths[i][1];
        char name[] = {(char)('a' + i), '\0'};
        records_make(name, lengths[i][0], lengths[i][1]);
        unit_ok(verify(name, &report, &result, &error));
        ck_assert_uint_eq(report.count, 0);
        ck_assert_uint_eq(result.records, length);
        ck_assert_uint_eq(result.values, length * FIELDS);
        ck_assert_uint_eq(result.damages, 0);
        ck_assert_uint_eq(report.done, length);
        ck_assert_uint_eq(report.total, length);
        /* Only compression saves space. */
        ck_assert_uint_le(result.bytes, bytes_of(length));
        ck_assert(result.bytes > bytes_of(length) / 4 || length == 0);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(works_without_callbacks)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 10);
    file_flip("d/chunk/0.zr", 8);
    lx_dataset *dataset;
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    ck_assert_int_eq(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, NULL), LX_ERR_CORRUPT);
    unit_fails(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error), LX_ERR_CORRUPT);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_each_invalid_number_of_an_entry)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        struct report report;
        lx_verify_result result;
        directory_copy("whole", "d");
        harm_entry("d", "image", 7, &harms[i]);
        lx_status status = verify("d", &report, &result, &error);
        ck_assert_msg(report.count == 1, "%s: %zu damages", harms[i].name, report.count);
        ck_assert_uint_eq(result.damages, 1);
        ck_assert_uint_eq(result.records, 23);
        ck_assert_str_eq(report.damages[0].field, "image");
        ck_assert_uint_eq(report.damages[0].record, 7);
        ck_assert_str_eq(report.damages[0].message, error.message);
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_missing_values_of_complete_fields)
{
    char *scratch = scratch_make();
    static const lx__entry none = {0};
    for (int sealed = 0; sealed < 2; sealed++) {
        lx_error error = LX_ERROR_INIT;
        struct report report;
        lx_verify_result result;
        if (sealed)
            records_make_sealed("d", 23);
        else
            records_make("d", 20, 3);
        entry_put("d", "image", 8, &none); /* other values of this field are missing, too */
        entry_put("d", "label", 7, &none); /* the fields "label" and "wave" are complete */
        entry_put("d", "wave", 7, &none);
        entry_put("d", "label", 19, &none);
        lx_status status = verify("d", &report, &result, &error);
        ck_assert_uint_ge(report.count, 3);
        ck_assert_uint_eq(result.values, 23 * FIELDS);
        static const char *const fields[] = {"label", "wave", "label"};
        static const uint64_t records[] = {7, 7, 19};
        for (size_t i = 0; i < 3; i++) {
            ck_assert_str_eq(report.damages[i].field, fields[i]);
            ck_assert_uint_eq(report.damages[i].record, records[i]);
            ck_assert_uint_eq(report.damages[i].offset, records[i] * LX__OFFSET_ROW);
        }
        if (!sealed)
            ck_assert_uint_eq(report.count, 3); /* and no checksums of tables */
        expect_error(status, LX_ERR_CORRUPT, "missing", "label.offset");
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(one_damage_does_not_hide_another)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    records_make("d", 20, 0);
    lx__entry image = entry_of("d", "image", 4), wave = entry_of("d", "wave", 8);
    file_flip("d/chunk/0.zr", 8 * image.offset);
    file_flip("d/chunk/0.zr", 8 * wave.offset + 9);
    file_flip("d/label.check", 8 * (8 * 11 + 4)); /* the crc of an inline value */
    unit_fails(verify("d", &report, &result, &error), LX_ERR_CORRUPT);
    static const struct {
        const char *field;
        uint64_t record;
    } wanted[] = {{"image", 4}, {"wave", 8}, {"label", 11}};
    ck_assert_uint_eq(report.count, 3);
    ck_assert_uint_eq(result.damages, 3);
    ck_assert_uint_eq(result.values, 20 * FIELDS);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(report.damages[i].field, wanted[i].field);
        ck_assert_uint_eq(report.damages[i].record, wanted[i].record);
    }
    ck_assert_uint_eq(report.damages[0].offset, image.offset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_an_invalid_stream_with_a_valid_checksum)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    records_make("d", 20, 0);
    lx__entry entry = entry_of("d", "wave", 8);
    ck_assert(lx__entry_is_compressed(&entry));
    file_patch("d/chunk/0.zr", entry.offset, "\7", 1); /* an invalid block type */
    entry_reseal("d", "wave", 8);
    lx_status status = verify("d", &report, &result, &error);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_uint_eq(error.record, 8);
    expect_error(status, LX_ERR_CORRUPT, "flate stream", "d/chunk/0.zr");
    /* Of a codec that this build lacks, only the checksum is verified. */
    file_edit("d/meta.json", "\"flate\"", "\"zstd\"");
    status = verify("d", &report, &result, &error);
    ck_assert_int_eq(status, WITH_ZSTD ? LX_ERR_CORRUPT : LX_OK);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_each_value_of_an_absent_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    records_make("d", 0, 3);
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    lx_status status = verify("d", &report, &result, &error);
    ck_assert_uint_eq(result.values, 3 * FIELDS);
    ck_assert_uint_eq(report.count, result.damages);
    ck_assert_uint_gt(report.count, 3);
    expect_error(status, LX_ERR_CORRUPT, "", "d/chunk/0.zr");
    scratch_remove(scratch);
}
END_TEST

START_TEST(checks_the_files_of_a_sealed_dataset_against_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    golden_copy("sealed-again");
    unit_ok(verify("sealed-again", &report, &result, &error));
    /* A wrong checksum of a table with valid rows, and a chunk without live values. */
    file_edit("sealed-again/meta.json", "\"crc\": ", "\"crc\": 7, \"was\": ");
    ck_assert_int_eq(remove("sealed-again/chunk/3.zr"), 0);
    lx_status status = verify("sealed-again", &report, &result, &error);
    ck_assert_uint_eq(report.count, 2);
    ck_assert_uint_eq(result.damages, 2);
    ck_assert_ptr_nonnull(strstr(report.damages[0].path, "x.offset.1"));
    ck_assert_str_eq(report.damages[0].field, "x");
    ck_assert_ptr_nonnull(strstr(report.damages[1].path, "chunk/3.zr"));
    expect_error(status, LX_ERR_CORRUPT, "table checksum mismatch", "x.offset.1");
    file_put("sealed-again/chunk/3.zr", "x", 1);
    unit_fails(verify("sealed-again", &report, &result, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(report.count, 2);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_each_table_of_a_sealed_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    records_make_sealed("d", 10);
    /* A value that became missing: only the checksums of the tables show it. */
    static const uint8_t zeros[16];
    file_patch("d/image.offset", 0, zeros, 16);
    file_patch("d/image.check", 0, zeros, 8);
    unit_fails(verify("d", &report, &result, &error), LX_ERR_CORRUPT);
    ck_assert_uint_eq(report.count, 2);
    ck_assert_ptr_nonnull(strstr(report.damages[0].path, "image.offset"));
    ck_assert_ptr_nonnull(strstr(report.damages[1].path, "image.check"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_damaged_chunk_without_live_values)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    lx_writer *writer = records_create("d", NULL);
    records_append(writer, 5);
    unit_ok(lx_writer_commit(writer, &error));
    unit_ok(lx_writer_truncate(writer, 0, &error));
    close_writer(writer);
    unit_ok(verify("d", &report, &result, &error));
    for (int removed = 0; removed < 2; removed++) {
        if (removed)
            ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
        else
            file_cut("d/chunk/0.zr", 1);
        lx_status status = verify("d", &report, &result, &error);
        ck_assert_uint_eq(report.count, 1);
        ck_assert_uint_eq(result.damages, 1);
        expect_error(status, LX_ERR_CORRUPT, "", "d/chunk/0.zr");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(checks_dictionaries_against_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    golden_copy("zstd");
    unit_ok(verify("zstd", &report, &result, &error));
    file_flip("zstd/x.dict", 100);
    lx_status status = verify("zstd", &report, &result, &error);
    ck_assert_str_eq(error.field, "x");
    expect_error(status, LX_ERR_CORRUPT, "dictionary checksum mismatch", "zstd/x.dict");
    file_flip("zstd/x.dict", 100);
    uint64_t size = file_size("zstd/x.dict");
    for (uint64_t wrong = size - 1; wrong <= size + 1; wrong += 2) {
        file_cut("zstd/x.dict", wrong);
        status = verify("zstd", &report, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "bytes", "zstd/x.dict");
    }
    ck_assert_int_eq(remove("zstd/x.dict"), 0);
    status = verify("zstd", &report, &result, &error);
    ck_assert_uint_eq(report.count, 1);
    expect_error(status, LX_ERR_CORRUPT, "", "zstd/x.dict");
    scratch_remove(scratch);
}
END_TEST

/* The golden is of 1.0.0-rc1, and has random bytes in a field of images. */
START_TEST(counts_values_that_are_no_images_apart)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    golden_copy("types");
    unit_ok(verify("types", &report, &result, &error));
    ck_assert_uint_eq(result.damages, 0);
    ck_assert_uint_gt(result.not_images, 1);
    ck_assert_uint_eq(report.count, result.not_images);
    for (size_t i = 0; i < report.count; i++) {
        ck_assert_int_eq(report.damages[i].status, LX_ERR_MISMATCH);
        ck_assert_str_eq(report.damages[i].field, "image");
        ck_assert(i == 0 || report.damages[i].record > report.damages[i - 1].record);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_callback_can_stop_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report = {.returned = LX_ERR_CANCELED};
    lx_verify_result result;
    lx_dataset *dataset;
    records_make("d", 10, 0);
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    ck_assert_int_eq(lx_dataset_verify(dataset, add_damage, add_progress, &report, &result, &error),
                     LX_ERR_CANCELED);
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_uint_eq(result.damages, 0);
    ck_assert_int_eq(error.status, LX_ERR_CANCELED);
    lx_error_clear(&error);
    lx_dataset_close(dataset);
    file_flip("d/label.check", 8 * 4);
    file_flip("d/label.check", 8 * (8 * 5 + 4));
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    report = (struct report){.returned = LX_ERR_CALLBACK};
    ck_assert_int_eq(lx_dataset_verify(dataset, add_damage, NULL, &report, &result, &error),
                     LX_ERR_CALLBACK);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_uint_eq(result.damages, 1);
    ck_assert_uint_eq(result.records, 1);
    ck_assert_int_eq(error.status, LX_ERR_CORRUPT); /* the message of the damage */
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

static lx_status unseal_it(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)done, (void)total, (void)user;
    return lx_dataset_unseal("d", error);
}

START_TEST(continues_if_the_seal_is_removed_during_it)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_verify_result result;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 4, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, 400);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    /* Most files are checked after the records, so after the first call of the callback. */
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, unseal_it, NULL, &result, &error));
    ck_assert_uint_eq(result.records, 400);
    ck_assert_uint_eq(result.damages, 0);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_progress_periodically)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct report report;
    lx_verify_result result;
    const uint64_t length = 10000;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "x", LX_UINT8, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    uint8_t *values = calloc(length, 1);
    const lx_values column = {.data = values};
    unit_ok(lx_writer_extend(writer, length, &column, 1, NULL, &error));
    close_writer(writer);
    lx_schema_free(schema);
    free(values);
    unit_ok(verify("d", &report, &result, &error));
    ck_assert_uint_eq(report.done, length);
    ck_assert_uint_eq(report.total, length);
    ck_assert_uint_ge(report.calls, 2);
    ck_assert_uint_le(report.calls, length / 100);
    scratch_remove(scratch);
}
END_TEST

/** Reports must ascend by record and field, and come on the thread that verifies. */
struct order {
    pthread_t thread;
    uint64_t count, last;
    uint64_t stop_at;     /**< The number of the report at which to cancel; 0: never. */
    lx_executor *closing; /**< Closed at the first report. */
};

static lx_status expect_order(const lx_error *damage, void *user, lx_error *error)
{
    (void)error;
    static const char *const names[FIELDS] = {"image", "label", "wave", "caption", "blob"};
    struct order *order = user;
    uint64_t field = 0;
    while (strcmp(names[field], damage->field) != 0)
        field++;
    uint64_t place = damage->record * FIELDS + field + 1;
    ck_assert_uint_gt(place, order->last);
    ck_assert(pthread_equal(order->thread, pthread_self()));
    order->last = place;
    if (order->closing != NULL)
        lx_executor_close(order->closing);
    order->closing = NULL;
    return ++order->count == order->stop_at ? LX_ERR_CANCELED : LX_OK;
}

static lx_executor *open_readers(uint32_t readers)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_executor_options *options = lx_executor_options_new();
    unit_ok(lx_executor_options_set_reader_count(options, readers, &error));
    unit_ok(lx_executor_open(options, &executor, &error));
    lx_executor_options_free(options);
    return executor;
}

static lx_dataset *open_on(const char *path, lx_executor *executor)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_executor(options, executor, &error));
    unit_ok(lx_dataset_open(path, options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

/** Many more records than one block of the verification, with a damaged table, chunk and log. */
#define MANY 20000

static void make_many(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, MANY);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    /* Every label from 5000 on, more than one job keeps, and some images of the first block. */
    size_t size;
    uint8_t *checks = file_bytes("d/label.check", &size);
    for (size_t i = 5000; i < MANY; i++)
        checks[8 * i + 4] ^= 1;
    file_put("d/label.check", checks, size);
    free(checks);
    static const struct harm crc = {.crc = 1};
    for (uint64_t i = 100; i < 110; i++)
        harm_entry("d", "image", i, &crc);
}

START_TEST(reports_the_same_in_order_with_any_number_of_threads)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_many();
    uint64_t wanted = MANY - 5000 + 10;
    static const uint32_t readers[] = {0, 1, 4};
    for (size_t i = 0; i < 3; i++) {
        lx_executor *executor = open_readers(readers[i]);
        lx_dataset *dataset = open_on("d", executor);
        struct order order = {.thread = pthread_self()};
        lx_verify_result result;
        lx_error_clear(&error);
        /* The table's own checksum is wrong, too. */
        lx_status status = lx_dataset_verify(dataset, NULL, NULL, NULL, &result, &error);
        ck_assert_int_eq(status, LX_ERR_CORRUPT);
        ck_assert_str_eq(error.field, "image");
        ck_assert_uint_eq(error.record, 100);
        ck_assert_uint_eq(result.damages, wanted + 2);
        ck_assert_uint_eq(result.records, MANY);
        ck_assert_uint_eq(result.values, MANY * FIELDS);
        order.stop_at = wanted;
        status = lx_dataset_verify(dataset, expect_order, NULL, &order, &result, NULL);
        ck_assert_int_eq(status, LX_ERR_CANCELED);
        ck_assert_uint_eq(order.count, wanted);
        ck_assert_uint_eq(result.damages, wanted);
        ck_assert_uint_eq(result.records, MANY);
        order = (struct order){.thread = pthread_self(), .stop_at = 12};
        status = lx_dataset_verify(dataset, expect_order, NULL, &order, &result, NULL);
        ck_assert_int_eq(status, LX_ERR_CANCELED);
        ck_assert_uint_eq(result.records, 5002);
        ck_assert_uint_eq(result.values, 5001 * FIELDS + 2);
        lx_dataset_close(dataset);
        lx_executor_close(executor);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(continues_without_a_closed_executor)
{
    char *scratch = scratch_make();
    make_many();
    for (int before = 0; before < 2; before++) {
        lx_executor *executor = open_readers(2);
        lx_dataset *dataset = open_on("d", executor);
        struct order order = {.thread = pthread_self(), .stop_at = MANY - 5000 + 10};
        lx_verify_result result;
        if (before)
            lx_executor_close(executor);
        else
            order.closing = executor;
        ck_assert_int_eq(lx_dataset_verify(dataset, expect_order, NULL, &order, &result, NULL),
                         LX_ERR_CANCELED);
        ck_assert_uint_eq(result.records, MANY);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_child_verifies_on_threads_of_its_own)
{
    char *scratch = scratch_make();
    records_make("d", 300, 10);
    lx_executor *executor = open_readers(2);
    lx_dataset *dataset = open_on("d", executor);
    if (unit_in_child()) {
        lx_verify_result result;
        _exit(lx_dataset_verify(dataset, NULL, NULL, NULL, &result, NULL) != LX_OK ||
              result.records != 310);
    }
    lx_dataset_close(dataset);
    lx_executor_close(executor);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_failed_allocation_is_not_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_verify_result result;
    records_make("d", 20, 0);
    unit_ok(open_as("d", LX_VERIFY_NEVER, false, &dataset, &error));
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 300);
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx_dataset_verify(dataset, NULL, NULL, NULL, &result, &error);
        ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
        ck_assert_int_eq(error.status, status);
        ck_assert_uint_eq(result.damages, 0);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/verify", a_whole_dataset_has_no_damage, works_without_callbacks,
          reports_each_invalid_number_of_an_entry, reports_missing_values_of_complete_fields,
          one_damage_does_not_hide_another, reports_an_invalid_stream_with_a_valid_checksum,
          reports_each_value_of_an_absent_chunk,
          checks_the_files_of_a_sealed_dataset_against_meta_json,
          reports_each_table_of_a_sealed_dataset, reports_a_damaged_chunk_without_live_values,
          checks_dictionaries_against_meta_json, counts_values_that_are_no_images_apart,
          a_callback_can_stop_it, continues_if_the_seal_is_removed_during_it,
          reports_progress_periodically, reports_the_same_in_order_with_any_number_of_threads,
          continues_without_a_closed_executor, a_child_verifies_on_threads_of_its_own,
          a_failed_allocation_is_not_damage)
