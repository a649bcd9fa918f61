/* SPDX-License-Identifier: MIT */
/* Gathers of many records: every kind of value, every way of verifying, and entries with every
 * error. */
#include "zrecord/read/gather-dense.h"
#include "zrecord/read/gather.h"

#include <pthread.h>

#include "../../scarce.h"
#include "../harm.h"
#include "zrecord/read/refresh.h"

/* Several blocks, and rows to be prefetched. */
#define MANY 300

/** The counters of a handle that raises. */
static lx__damage_counter damages;

static lx__snapshot *pin(const char *path, lx_verify_policy verify)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, verify, false, &dataset, &error));
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_dataset_close(dataset);
    return snapshot;
}

/** Gathers @p count dense records @p gap bytes apart, and compares all of them and the gaps. */
static void expect_dense(lx__snapshot *snapshot, int field, const uint64_t *indices, size_t count,
                         size_t gap)
{
    lx_error error = LX_ERROR_INIT;
    size_t size = dense_sizes[field], stride = size + gap;
    uint8_t *out = malloc(count * stride + 1), right[VALUE_MAX];
    memset(out, 0xa5, count * stride + 1);
    unit_ok(
        lx__gather_dense(snapshot, &damages, (size_t)field, indices, count, out, stride, &error));
    for (size_t i = 0; i < count; i++) {
        memset(right, 0, size);
        (void)record_value(field, indices[i], right);
        ck_assert_mem_eq(out + i * stride, right, size);
        for (size_t k = size; k < stride; k++)
            ck_assert_uint_eq(out[i * stride + k], 0xa5);
    }
    ck_assert_uint_eq(out[count * stride], 0xa5);
    free(out);
}

/** Measures and gathers @p count records of any field, and compares all of them. */
static void expect_any(lx__snapshot *snapshot, int field, const uint64_t *indices, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[MANY + 1], whole[MANY + 1];
    uint8_t present[MANY], right[VALUE_MAX] = {0};
    unit_ok(
        lx__measure(snapshot, &damages, (size_t)field, indices, count, offsets, present, &error));
    unit_ok(lx__measure(snapshot, &damages, (size_t)field, indices, count, whole, NULL, &error));
    ck_assert_mem_eq(offsets, whole, (count + 1) * sizeof *offsets);
    uint8_t *out = malloc(offsets[count] + 1);
    unit_ok(
        lx__gather_bytes(snapshot, &damages, (size_t)field, indices, count, out, offsets, &error));
    for (size_t i = 0; i < count; i++) {
        uint64_t size = record_value(field, indices[i], right);
        ck_assert_uint_eq(present[i], size != LX_NONE);
        if (size == LX_NONE) {
            size = field < CAPTION ? dense_sizes[field] : 0;
            memset(right, 0, size);
        }
        ck_assert_uint_eq(offsets[i + 1] - offsets[i], size);
        ck_assert_mem_eq(out + offsets[i], right, size);
    }
    free(out);
}

START_TEST(returns_any_records_in_the_requested_order)
{
    static const size_t counts[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 128, MANY};
    static const lx_verify_policy ways[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS, LX_VERIFY_NEVER};
    char *scratch = scratch_make();
    uint64_t indices[MANY];
    records_make("d", 150, 50); /* of tables and of the log */
    for (size_t way = 0; way < 3; way++) {
        lx__snapshot *snapshot = pin("d", ways[way]);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            for (size_t k = 0; k < counts[i]; k++)
                indices[k] = mix(i * MANY + k) % 200; /* with repeats */
            for (int field = 0; field < FIELDS; field++)
                expect_any(snapshot, field, indices, counts[i]);
            for (int field = 0; field < CAPTION; field++)
                expect_dense(snapshot, field, indices, counts[i], i % 3 * 5);
        }
        lx__snapshot_unref(snapshot);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(copies_records_of_whole_pages)
{
    static const uint64_t shapes[] = {511, 512, 513, 4096, 4097, 20000};
    char *scratch = scratch_make();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        lx_error error = LX_ERROR_INIT;
        size_t size = shapes[k];
        lx_schema *schema = lx_schema_new();
        lx_writer *writer;
        char name[16];
        snprintf(name, sizeof name, "%d", (int)size);
        unit_ok(lx_schema_add_field(schema, "page", LX_UINT8, &shapes[k], 1, LX_COMPRESSION_RAW,
                                    &error));
        unit_ok(lx_writer_create(name, schema, NULL, &writer, &error));
        uint8_t *records = malloc(100 * size), *out = malloc(100 * size);
        uint64_t indices[100];
        for (size_t i = 0; i < 100 * size; i++)
            records[i] = (uint8_t)mix(i);
        unit_ok(lx_writer_extend(writer, 100, &(lx_values){.data = records}, 1, NULL, &error));
        unit_ok(lx_writer_close(writer, &error));
        for (uint64_t i = 0; i < 100; i++)
            indices[i] = 99 - i;
        lx__snapshot *snapshot = pin(name, LX_VERIFY_FIRST);
        for (int round = 0; round < 2; round++) { /* verified, then not */
            memset(out, 0, 100 * size);
            unit_ok(lx__gather_dense(snapshot, &damages, 0, indices, 100, out, size, &error));
            for (size_t i = 0; i < 100; i++)
                ck_assert_mem_eq(out + i * size, records + (99 - i) * size, size);
        }
        lx__snapshot_unref(snapshot);
        lx_schema_free(schema);
        free(records);
        free(out);
    }
    scratch_remove(scratch);
}
END_TEST

/** A sealed dataset of 100 records of @p size bytes, byte k of record i being i + k. */
static void make_small(const char *path, uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    uint8_t values[100 * LX__INLINE_MAX];
    for (uint64_t i = 0; i < 100 * size; i++)
        values[i] = (uint8_t)(i / size + i % size);
    unit_ok(lx_schema_add_field(schema, "small", LX_UINT8, &size, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    unit_ok(lx_writer_extend(writer, 100, &(lx_values){.data = values}, 1, NULL, &error));
    unit_ok(lx_writer_seal(writer, &error));
    unit_ok(lx_writer_close(writer, &error));
    lx_schema_free(schema);
}

START_TEST(reads_small_values_from_their_entries)
{
    static const lx_verify_policy ways[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS, LX_VERIFY_NEVER};
    char *scratch = scratch_make();
    for (uint64_t size = 1; size <= LX__INLINE_MAX; size++) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)size);
        make_small(name, size);
        lx__entry right = entry_of(name, "small", 7), wrong = right;
        ck_assert(lx__entry_is_inline(&right));
        for (size_t way = 0; way < 3; way++) {
            lx_error error = LX_ERROR_INIT;
            uint64_t indices[100];
            uint8_t out[100 * LX__INLINE_MAX];
            lx__snapshot *snapshot = pin(name, ways[way]);
            for (uint64_t i = 0; i < 100; i++)
                indices[i] = 99 - i;
            for (int round = 0; round < 2; round++) {
                unit_ok(lx__gather_dense(snapshot, &damages, 0, indices, 100, out, size, &error));
                for (uint64_t i = 0; i < 100 * size; i++)
                    ck_assert_uint_eq(out[i], (uint8_t)(99 - i / size + i % size));
            }
            if (size < LX__INLINE_MAX) { /* however it is verified, and verified before */
                wrong.offset = right.offset | 1ull << 8 * size;
                entry_put(name, "small", 7, &wrong);
                lx_status status = lx__gather_dense(snapshot, &damages, 0, indices, 100, out, size,
                                                    &error);
                ck_assert_uint_eq(error.record, 7);
                expect_error(status, LX_ERR_CORRUPT, "padding", "small.offset");
                entry_put(name, "small", 7, &right);
            }
            lx__snapshot_unref(snapshot);
        }
    }
    scratch_remove(scratch);
}
END_TEST

/** The three calls must fail in the same way for a batch with this index in its middle. */
static void expect_failure(lx__snapshot *snapshot, int field, uint64_t bad, lx_status status,
                           const char *said, const char *where)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[100], offsets[101];
    static uint8_t out[100 * VALUE_MAX];
    for (uint64_t at = 0; at < 100; at += 33) {
        for (uint64_t i = 0; i < 100; i++)
            indices[i] = i % 7;
        for (uint64_t i = 0; i <= 100; i++)
            offsets[i] = i * 12;
        indices[at] = bad;
        lx_status got = lx__gather_dense(snapshot, &damages, (size_t)field, indices, 100, out, 12,
                                         &error);
        ck_assert_uint_eq(error.record, bad);
        ck_assert_str_eq(error.field, "image");
        expect_error(got, status, said, where);
        got = lx__gather_bytes(snapshot, &damages, (size_t)field, indices, 100, out, offsets,
                               &error);
        ck_assert_uint_eq(error.record, bad);
        expect_error(got, status, said, where);
        got = lx__measure(snapshot, &damages, (size_t)field, indices, 100, offsets, NULL, &error);
        if (got != LX_OK || strstr(said, "checksum") == NULL) /* it reads no payload */
            expect_error(got, status, said, where);
    }
    /* The others can still be read. */
    for (uint64_t i = 0; i < 100; i++)
        indices[i] = i % 7;
    expect_dense(snapshot, field, indices, 100, 0);
}

START_TEST(reports_an_index_beyond_the_length)
{
    static const uint64_t bad[] = {20, 21, 1ull << 32, 1ull << 59, 1ull << 60, UINT64_MAX};
    char *scratch = scratch_make();
    records_make("d", 15, 5);
    records_make_sealed("s", 20);
    for (int sealed = 0; sealed < 2; sealed++) {
        lx__snapshot *snapshot = pin(sealed ? "s" : "d", LX_VERIFY_FIRST);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            expect_failure(snapshot, IMAGE, bad[i], LX_ERR_RANGE, "length is 20",
                           sealed ? "s" : "d");
        lx__snapshot_unref(snapshot);
    }
    records_make_sealed("empty", 0);
    lx__snapshot *snapshot = pin("empty", LX_VERIFY_FIRST);
    lx_error error = LX_ERROR_INIT;
    uint64_t zero = 0;
    uint8_t out[12];
    unit_fails(lx__gather_dense(snapshot, &damages, IMAGE, &zero, 1, out, 12, &error),
               LX_ERR_RANGE);
    unit_ok(lx__gather_dense(snapshot, &damages, IMAGE, NULL, 0, NULL, 12, &error));
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_each_invalid_number_of_an_entry)
{
    static const lx_verify_policy ways[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS, LX_VERIFY_NEVER};
    char *scratch = scratch_make();
    records_make_sealed("whole", 20);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        for (size_t way = 0; way < 3; way++) {
            if (ways[way] == LX_VERIFY_NEVER && !harms[i].seen_without_crc)
                continue;
            directory_copy("whole", "d");
            harm_entry("d", "image", 8, &harms[i]);
            lx__snapshot *snapshot = pin("d", ways[way]);
            expect_failure(snapshot, IMAGE, 8, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
            lx__snapshot_unref(snapshot);
            nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(detects_damaged_payloads_as_configured)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t index = 8;
    uint8_t out[12];
    records_make_sealed("d", 20);
    lx__snapshot *first = pin("d", LX_VERIFY_FIRST), *always = pin("d", LX_VERIFY_ALWAYS),
                 *never = pin("d", LX_VERIFY_NEVER);
    uint64_t bit = 8 * entry_of("d", "image", 8).offset;
    file_flip("d/chunk/0.zr", bit);
    expect_failure(first, IMAGE, 8, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr");
    expect_failure(first, IMAGE, 8, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr"); /* still */
    expect_failure(always, IMAGE, 8, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr");
    unit_ok(lx__gather_dense(never, &damages, IMAGE, &index, 1, out, 12, &error));
    file_flip("d/chunk/0.zr", bit);
    expect_dense(first, IMAGE, &index, 1, 0);
    expect_dense(always, IMAGE, &index, 1, 0);
    file_flip("d/chunk/0.zr", bit);
    /* It was verified before. */
    unit_ok(lx__gather_dense(first, &damages, IMAGE, &index, 1, out, 12, &error));
    expect_failure(always, IMAGE, 8, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr");
    lx__snapshot_unref(first);
    lx__snapshot_unref(always);
    lx__snapshot_unref(never);
    scratch_remove(scratch);
}
END_TEST

START_TEST(verifies_a_compressed_value_each_time)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t index = 8;
    uint8_t out[64];
    records_make_sealed("d", 20);
    lx__entry entry = entry_of("d", "wave", 8);
    ck_assert(lx__entry_is_compressed(&entry));
    lx__snapshot *never = pin("d", LX_VERIFY_NEVER);
    expect_dense(never, WAVE, &index, 1, 0);
    file_patch("d/chunk/0.zr", entry.offset, "\7", 1); /* an unknown type of block */
    lx_status status = lx__gather_dense(never, &damages, WAVE, &index, 1, out, 64, &error);
    ck_assert_uint_eq(error.record, 8);
    ck_assert_uint_eq(error.offset, entry.offset);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr");
    /* Even with a valid checksum, the stream must be valid. */
    entry_reseal("d", "wave", 8);
    status = lx__gather_dense(never, &damages, WAVE, &index, 1, out, 64, &error);
    expect_error(status, LX_ERR_CORRUPT, "flate stream", "d/chunk/0.zr");
    lx__snapshot_unref(never);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_zstd_by_name)
{
    if (WITH_ZSTD)
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t shrunk = 8, raw = 9;
    uint8_t out[64];
    records_make_sealed("d", 20);
    file_edit("d/meta.json", "\"flate\"", "\"zstd\"");
    lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
    lx_status status = lx__gather_dense(snapshot, &damages, WAVE, &shrunk, 1, out, 64, &error);
    ck_assert_str_eq(error.field, "wave");
    ck_assert_uint_eq(error.record, 8);
    expect_error(status, LX_ERR_UNSUPPORTED, "zstd", "chunk/0.zr");
    expect_dense(snapshot, WAVE, &raw, 1, 0); /* a raw value needs no codec */
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_buffers_of_another_size)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 10);
    lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
    static uint8_t out[4 * VALUE_MAX];
    for (uint64_t index = 0; index < 30; index++) {
        for (size_t field = 0; field < FIELDS; field++) {
            uint64_t measured[2];
            unit_ok(lx__measure(snapshot, &damages, field, &index, 1, measured, NULL, &error));
            uint64_t size = measured[1];
            const uint64_t wrong[] = {size + 1, size - 1, size + (1ull << 32), 1ull << 63, 0};
            for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                const uint64_t offsets[] = {VALUE_MAX, VALUE_MAX + wrong[i]};
                if (wrong[i] == size)
                    continue;
                lx_status status = lx__gather_bytes(snapshot, &damages, field, &index, 1, out,
                                                    offsets, &error);
                ck_assert_uint_eq(error.record, index);
                expect_error(status, LX_ERR_MISMATCH, "query the sizes again", "d");
            }
        }
    }
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_again_after_a_failed_allocation)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    const uint64_t indices[] = {8, 10, 12};
    uint8_t out[3 * 64];
    records_make_sealed("d", 20);
    lx_status status = LX_ERR_NOMEM;
    lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 20);
        scarce_begin(memory);
        lx_error_clear(&error);
        status = lx__gather_dense(snapshot, &damages, WAVE, indices, 3, out, 64, &error);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert_int_eq(error.status, status);
    }
    scarce_begin(1000);
    expect_dense(snapshot, WAVE, indices, 3, 0);
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

struct reader {
    lx__snapshot *snapshot;
    uint64_t seed;
};

static void *gather_everything(void *user)
{
    struct reader *self = user;
    for (uint64_t round = 0; round < 20; round++) {
        uint64_t indices[MANY];
        for (uint64_t i = 0; i < MANY; i++) /* each once, in another order */
            indices[i] = (i * 7 + self->seed * 31 + round) % MANY;
        for (int field = 0; field < FIELDS; field++)
            expect_any(self->snapshot, field, indices, MANY);
        for (int field = 0; field < CAPTION; field++)
            expect_dense(self->snapshot, field, indices, MANY, 4);
    }
    return NULL;
}

START_TEST(threads_verify_records_together)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pthread_t threads[4];
    struct reader readers[4];
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 20, 8192,
                                               &error)); /* chunks to be mapped, too */
    lx_writer *writer = records_create("d", options);
    records_append(writer, MANY);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
    for (uint64_t i = 0; i < 4; i++) {
        readers[i] = (struct reader){snapshot, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, gather_everything, &readers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert(lx__table_all_verified(snapshot->columns[IMAGE].table));
    ck_assert(lx__table_all_verified(snapshot->columns[LABEL].table));
    ck_assert_uint_eq(snapshot->columns[IMAGE].table->verified_count, MANY); /* none twice */
    ck_assert_uint_le(snapshot->store->inflater_count, 4);
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/gather", returns_any_records_in_the_requested_order,
          copies_records_of_whole_pages, reads_small_values_from_their_entries,
          reports_an_index_beyond_the_length, reports_each_invalid_number_of_an_entry,
          detects_damaged_payloads_as_configured, verifies_a_compressed_value_each_time,
          rejects_zstd_by_name, rejects_buffers_of_another_size,
          reads_again_after_a_failed_allocation, threads_verify_records_together)
