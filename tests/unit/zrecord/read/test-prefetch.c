/* SPDX-License-Identifier: MIT */
/* Blocks cover all records once, with bounded sizes; damage does not stop an iteration. */
#include "zrecord/read/prefetch.h"

#include "../../scarce.h"
#include "../harm.h"
#include "zrecord/read/refresh.h"

static lx__snapshot *pin(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, LX_VERIFY_NEVER, false, &dataset, &error));
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_dataset_close(dataset);
    return snapshot;
}

/** Iterates to the end; returns the number of blocks. */
static size_t walk(lx__snapshot *snapshot)
{
    lx__prefetch ahead = {.snapshot = snapshot};
    uint64_t first, end, next = 0;
    size_t count = 0;
    while (lx__prefetch_next(&ahead, &first, &end)) {
        ck_assert_uint_eq(first, next);
        ck_assert_uint_gt(end, first);
        ck_assert_uint_le(end - first, LX__PREFETCH_RECORDS);
        next = end;
        count++;
    }
    ck_assert_uint_eq(next, snapshot->state.length);
    ck_assert(!lx__prefetch_next(&ahead, &first, &end));
    ck_assert_uint_eq(first, end);
    lx__prefetch_end(&ahead);
    return count;
}

/** A dataset of one field of bytes, with values of this size. */
static void make_values(const char *path, uint64_t count, uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer;
    uint8_t *bytes = calloc(size, 1);
    unit_ok(lx_schema_add_field(schema, "x", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    for (uint64_t i = 0; i < count; i++) {
        const lx_value value = {bytes, size};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    lx_schema_free(schema);
    free(bytes);
}

START_TEST(limits_ranges_in_records_and_bytes)
{
    char *scratch = scratch_make();
    static const struct {
        uint64_t count, size;
        size_t stretches;
    } cases[] = {{0, 1, 0}, {1, 100, 1}, {10000, 4, 3}, {10, 1 << 20, 3}, {3, 5 << 20, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[] = {(char)('a' + i), '\0'};
        make_values(name, cases[i].count, cases[i].size);
        lx__snapshot *snapshot = pin(name);
        ck_assert_uint_eq(walk(snapshot), cases[i].stretches);
        lx__snapshot_unref(snapshot);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_invalid_entries)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        directory_copy("whole", "d");
        harm_entry("d", "image", 7, &harms[i]);
        lx__snapshot *snapshot = pin("d");
        ck_assert_uint_ge(walk(snapshot), 1);
        lx__snapshot_unref(snapshot);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    ck_assert_int_eq(remove("whole/chunk/0.zr"), 0);
    lx__snapshot *snapshot = pin("whole");
    ck_assert_uint_eq(walk(snapshot), 1);
    scarce_begin(0);
    ck_assert_uint_eq(walk(snapshot), 1);
    scarce_begin(1000);
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/prefetch", limits_ranges_in_records_and_bytes, ignores_invalid_entries)
