/* SPDX-License-Identifier: MIT */
/* Parts of values: lib/zrecord/read/read-part.c. */
#include "../records.h"

#define RECORDS 40
#define LONGEST 200000

enum { AUDIO, TEXT, GRID, NUMBER, NOTHING, PARTS };

static uint8_t bytes_of[PARTS][LONGEST];

/** The bytes of a value; returns their number, or LX_NONE if it is missing. */
static uint64_t value_of(int field, uint64_t index, uint8_t *value)
{
    static const uint64_t sizes[] = {[GRID] = 300, [NUMBER] = 8, [NOTHING] = 0};
    uint64_t random = mix(index * PARTS + (uint64_t)field);
    uint64_t size = field >= GRID ? sizes[field] : random % (index % 4 == 0 ? LONGEST : 40) / 4 * 4;
    if (random % 11 == 0)
        return LX_NONE;
    for (uint64_t i = 0; i < size; i++)
        value[i] = field == TEXT ? (uint8_t)('a' + i / 7 % 26) : (uint8_t)mix(random + i);
    return size;
}

static void make(const char *path)
{
    static const uint64_t audio[] = {LX_NONE, 2}, grid[] = {100, 3}, nothing[] = {5, 0};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "audio", LX_INT16, audio, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "text", LX_STR, NULL, 0, LX_COMPRESSION_FLATE, &error));
    unit_ok(lx_schema_add_field(schema, "grid", LX_UINT8, grid, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "number", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(
        lx_schema_add_field(schema, "nothing", LX_INT32, nothing, 2, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    lx_schema_free(schema);
    for (uint64_t i = 0; i < RECORDS; i++) {
        lx_value values[PARTS];
        for (int field = 0; field < PARTS; field++)
            values[field] = (lx_value){bytes_of[field], value_of(field, i, bytes_of[field])};
        unit_ok(lx_writer_append(writer, values, PARTS, NULL, &error));
    }
    close_writer(writer);
}

static lx_dataset *open_with(const char *path, lx_access access, lx_verify_policy verify,
                             lx_damage_policy damage)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    unit_ok(lx_dataset_options_set_access(options, access, &error));
    unit_ok(lx_dataset_options_set_verify_policy(options, verify, &error));
    unit_ok(lx_dataset_options_set_damage_policy(options, damage, &error));
    unit_ok(lx_dataset_open(path, options, &dataset, &error));
    lx_dataset_options_free(options);
    return dataset;
}

/** Reads a part, and compares it with the same part of the whole value. */
static void expect_part(lx_dataset *dataset, int field, uint64_t index, uint64_t first,
                        uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    const lx_field *shown = lx_schema_get_field(lx_dataset_get_schema(dataset), (size_t)field);
    uint64_t size = value_of(field, index, bytes_of[0]), read = 99, item = shown->item_size;
    uint64_t total = size == LX_NONE ? 0 : item != 0 ? size / item : shown->shape[0];
    uint64_t from = first < total ? first : total,
             items = count < total - from ? count : total - from;
    uint8_t *out = malloc(items * item + 1); /* so that sanitizers detect a byte too many */
    unit_ok(lx_dataset_read_part(dataset, (size_t)field, index, first, count, out, &read, &error));
    ck_assert_uint_eq(read, size == LX_NONE ? LX_NONE : items);
    ck_assert(size == LX_NONE || memcmp(out, bytes_of[0] + from * item, items * item) == 0);
    free(out);
}

START_TEST(a_part_equals_the_same_part_of_the_whole_value)
{
    char *scratch = scratch_make();
    static const lx_access modes[] = {LX_ACCESS_MMAP, LX_ACCESS_PREAD};
    static const lx_verify_policy policies[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS, LX_VERIFY_NEVER};
    make("d");
    for (size_t k = 0; k < 6; k++) {
        lx_dataset *dataset = open_with("d", modes[k % 2], policies[k / 2], LX_DAMAGE_RAISE);
        for (int field = 0; field < PARTS; field++)
            for (uint64_t i = 0; i < RECORDS; i++) {
                uint64_t random = mix(i * 7 + k);
                expect_part(dataset, field, i, 0, UINT64_MAX);
                expect_part(dataset, field, i, 0, 1);
                expect_part(dataset, field, i, random % 60, random / 64 % 60);
                expect_part(dataset, field, i, random % LONGEST, random / LONGEST % 5000);
                expect_part(dataset, field, i, UINT64_MAX, UINT64_MAX);
                expect_part(dataset, field, i, 3, 0);
            }
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

/** The first record with a value of more than 64 KiB, or else the first one with fewer bytes, but
 * more than fit into an entry. */
static uint64_t find_record(int field, bool long_one)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t size = value_of(field, i, bytes_of[0]);
        if (size != LX_NONE && size > 8 && (size > 65536) == long_one)
            return i;
    }
    ck_abort_msg("there is no such record");
}

/** Damages the last byte of a value. */
static void damage(const char *path, int field, uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    lx_slice slice;
    lx_view *view;
    size_t size, at = 0;
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_view(dataset, (size_t)field, &index, 1, &slice, &view, &error));
    uint8_t *chunk = file_bytes(in(path, "chunk/0.zr"), &size);
    while (memcmp(chunk + at, slice.data, slice.size) != 0)
        at++;
    file_flip(in(path, "chunk/0.zr"), (at + slice.size - 1) * 8);
    free(chunk);
    lx_view_free(view);
    lx_dataset_close(dataset);
}

START_TEST(verifies_long_values_only_if_asked)
{
    char *scratch = scratch_make();
    make("d");
    uint64_t far = find_record(AUDIO, true), near = find_record(AUDIO, false), read;
    damage("d", AUDIO, far);
    damage("d", AUDIO, near);
    for (int mode = LX_ACCESS_MMAP; mode <= LX_ACCESS_PREAD; mode++) {
        lx_error error = LX_ERROR_INIT;
        uint8_t out[8];
        lx_dataset *dataset = open_with("d", (lx_access)mode, LX_VERIFY_FIRST, LX_DAMAGE_RAISE);
        expect_part(dataset, AUDIO, far, 0, 2); /* not the damaged byte */
        unit_fails(lx_dataset_read_part(dataset, AUDIO, near, 0, 2, out, &read, &error),
                   LX_ERR_CORRUPT);
        lx_dataset_close(dataset);
        dataset = open_with("d", (lx_access)mode, LX_VERIFY_ALWAYS, LX_DAMAGE_RAISE);
        lx_status status = lx_dataset_read_part(dataset, AUDIO, far, 0, 2, out, &read, &error);
        ck_assert_str_eq(error.field, "audio");
        ck_assert_uint_eq(error.record, far);
        expect_error(status, LX_ERR_CORRUPT, "checksum", "d/chunk/0.zr");
        lx_dataset_close(dataset);
        dataset = open_with("d", (lx_access)mode, LX_VERIFY_NEVER, LX_DAMAGE_RAISE);
        lx_error_clear(&error);
        unit_ok(lx_dataset_read_part(dataset, AUDIO, near, 0, 2, out, &read, &error));
        lx_dataset_close(dataset);
        dataset = open_with("d", (lx_access)mode, LX_VERIFY_ALWAYS, LX_DAMAGE_ZEROS);
        unit_ok(lx_dataset_read_part(dataset, AUDIO, far, 0, 2, out, &read, &error));
        ck_assert_uint_eq(read, LX_NONE);
        lx_dataset_stats stats;
        lx_dataset_get_stats(dataset, &stats);
        ck_assert_uint_eq(stats.damaged, 1);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t out[300];
    uint64_t read = 7;
    make("d");
    lx_dataset *dataset = open_dataset("d");
    unit_fails(lx_dataset_read_part(dataset, PARTS, 0, 0, 1, out, &read, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_dataset_read_part(NULL, 0, 0, 0, 1, out, &read, &error), "dataset");
    unit_refuses_null(lx_dataset_read_part(dataset, 0, 0, 0, 1, NULL, &read, &error), "out");
    unit_refuses_null(lx_dataset_read_part(dataset, 0, 0, 0, 1, out, NULL, &error), "read");
    lx_status status = lx_dataset_read_part(dataset, TEXT, RECORDS, 0, 1, out, &read, &error);
    ck_assert_uint_eq(error.record, RECORDS);
    expect_error(status, LX_ERR_RANGE, "out of range", "d");
    ck_assert_uint_eq(read, 7); /* unchanged */
    lx_error_clear(&error);
    unit_ok(lx_dataset_read_part(dataset, TEXT, 1, 0, 0, NULL, &read, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/read-part", a_part_equals_the_same_part_of_the_whole_value,
          verifies_long_values_only_if_asked, rejects_invalid_arguments)
