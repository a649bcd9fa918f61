/* SPDX-License-Identifier: MIT */
/* pread returns the same values as mappings, in any order; a lost value does not affect others. */
#include "zrecord/read/value-reader.h"

#include "../../scarce.h"
#include "../placed.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-rows.h"

static lx__snapshot *pin(const char *path, lx_access access)
{
    lx_dataset *dataset = open_placed(path, (struct placed){.access = access});
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_dataset_close(dataset);
    return snapshot;
}

static lx_status read_stored(lx__value_reader *reader, size_t field, uint64_t index,
                             lx__value *value, lx_error *error)
{
    lx_status status = lx__value_find(reader, field, index, value, error);
    return status == LX_OK ? lx__value_fetch(reader, field, index, value, NULL, error) : status;
}

/** Both ways of reading a value must have the same result. */
static void expect_value_as_mapped(lx__value_reader *reader, lx__snapshot *mapped, size_t field,
                                   uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    lx__value_reader other = {.snapshot = mapped};
    lx__value value, right;
    unit_ok(read_stored(&other, field, index, &right, &error));
    unit_ok(read_stored(reader, field, index, &value, &error));
    ck_assert_mem_eq(&value.entry, &right.entry, sizeof value.entry);
    ck_assert_int_eq(value.update == NULL, right.update == NULL);
    ck_assert_int_eq(value.data == NULL, right.data == NULL);
    if (right.data != NULL && right.entry.physical != 0)
        ck_assert_mem_eq(value.data, right.data, right.entry.physical);
}

START_TEST(reads_the_same_values_as_mappings)
{
    char *scratch = scratch_make();
    static struct shown shown;
    records_make("d", 1500, 30);
    shown = shown_all(1530);
    records_delete("d", &shown, 7);
    records_delete("d", &shown, 700);
    for (int p = 0; p < 2; p++) {
        lx__snapshot *mapped = pin("d", LX_ACCESS_MMAP), *read = pin("d", access_modes[p]);
        lx__value_reader reader = {.snapshot = read, .by_pread = p == 1};
        for (int order = 0; order < 3; order++) {
            for (uint64_t i = 0; i < 1528; i++) {
                uint64_t index = order == 0 ? i : order == 1 ? 1527 - i : mix(i) % 1528;
                for (size_t field = 0; field < FIELDS; field++)
                    expect_value_as_mapped(&reader, mapped, field, index);
            }
            lx__value_reader_end(&reader); /* and it may be used again */
        }
        lx__snapshot_unref(mapped);
        lx__snapshot_unref(read);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_entries_by_block_as_one_by_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[LX__VALUE_BLOCK];
    lx__loaded found[LX__VALUE_BLOCK];
    static struct shown shown;
    records_make("d", 3000, 30);
    shown = shown_all(3030);
    records_delete("d", &shown, 17);
    lx__snapshot *snapshot = pin("d", LX_ACCESS_PREAD);
    for (uint64_t round = 0; round < 30; round++) {
        lx__value_reader reader = {.snapshot = snapshot, .by_pread = true};
        size_t count = (size_t)(mix(round) % (LX__VALUE_BLOCK + 1));
        for (size_t i = 0; i < count; i++) /* some of them beyond the end */
            indices[i] = round % 2 != 0 ? round * 90 + i : mix(round * 999 + i) % 3040;
        unit_ok(lx__value_load_block(&reader, IMAGE, indices, count, false, found, &error));
        for (size_t i = 0; i < count; i++) {
            lx__value value = {0};
            ck_assert(!found[i].lost);
            if (indices[i] < 3029)
                unit_ok(lx__value_load(&reader, IMAGE, indices[i], &value, &error));
            ck_assert_mem_eq(&found[i].entry, &value.entry, sizeof value.entry);
            ck_assert_ptr_eq(found[i].update, value.update);
        }
        lx__value_reader_end(&reader);
    }
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_truncated_value_does_not_affect_others)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__value value;
    records_make("d", 500, 0);
    lx__snapshot *snapshot = pin("d", LX_ACCESS_PREAD);
    lx__value_reader reader = {.snapshot = snapshot, .by_pread = true};
    unit_ok(read_stored(&reader, IMAGE, 0, &value, &error)); /* the chunk is open */
    file_cut("d/label.offset", 100 * LX__OFFSET_ROW + 3);
    file_cut("d/chunk/0.zr", 5000);
    size_t lost = 0;
    for (uint64_t i = 0; i < 500; i++) {
        lx_status status = read_stored(&reader, LABEL, i, &value, &error);
        ck_assert_int_eq(status, i < 100 ? LX_OK : LX_ERR_CORRUPT);
        if (i >= 100) {
            ck_assert_uint_eq(error.record, i);
            expect_error(status, LX_ERR_CORRUPT, "truncated", "d/label.offset");
        }
        status = read_stored(&reader, IMAGE, i, &value, &error);
        bool there = lx__entry_is_missing(&value.entry) ||
                     value.entry.offset + value.entry.physical <= 5000;
        ck_assert_int_eq(status, there ? LX_OK : LX_ERR_CORRUPT);
        lost += !there;
        if (!there) {
            ck_assert_str_eq(error.field, "image");
            expect_error(status, LX_ERR_CORRUPT, "truncated", "d/chunk/0.zr");
        }
    }
    ck_assert_uint_gt(lost, 100);
    lx__value_reader_end(&reader);
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 50, 0);
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_PREAD});
    const uint64_t indices[] = {3, 40, 17};
    for (int call = 0; call < 4; call++) {
        lx_status status = LX_ERR_NOMEM;
        for (int memory = 0; status != LX_OK; memory++) {
            uint8_t out[3 * VALUE_MAX];
            uint64_t offsets[4] = {0, 64, 128, 192};
            lx_slice slices[3];
            lx_view *view;
            ck_assert_int_lt(memory, 30);
            scarce_begin(memory);
            lx_error_clear(&error);
            status = call == 0 ? lx_dataset_gather(dataset, IMAGE, indices, 3, out, 12, &error)
                     : call == 1
                         ? lx_dataset_gather_bytes(dataset, WAVE, indices, 3, offsets, out, &error)
                     : call == 2
                         ? lx_dataset_get_sizes(dataset, BLOB, indices, 3, offsets, NULL, &error)
                         : lx_dataset_view(dataset, BLOB, indices, 3, slices, &view, &error);
            ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
            ck_assert_int_eq(error.status, status);
            if (call == 3 && status == LX_OK)
                lx_view_free(view);
        }
        scarce_begin(1000000);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/value-reader", reads_the_same_values_as_mappings,
          reads_entries_by_block_as_one_by_one, a_truncated_value_does_not_affect_others,
          reports_failed_allocations)
