/* SPDX-License-Identifier: MIT */
/* What is read by pread is what is mapped, in any order; what is lost takes nothing along. */
#include "zrecord/reader/fetch.h"

#include "../../scarce.h"
#include "../placed.h"

static lx__snapshot *pin(const char *path, lx_placement placement)
{
    lx_dataset *dataset = open_placed(path, (struct placed){.placement = placement});
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_dataset_close(dataset);
    return snapshot;
}

/** Both ways to one value must come to the same. */
static void expect_value_as_mapped(lx__fetch *fetch, lx__snapshot *mapped, size_t field,
                                   uint64_t index)
{
    lx_error error = LX_ERROR_INIT;
    lx__entry entry, right_entry;
    lx__value_place place, right;
    unit_ok(lx__snapshot_locate(mapped, field, index, &right_entry, &right, &error));
    unit_ok(lx__fetch_value(fetch, field, index, &entry, &place, &error));
    ck_assert_mem_eq(&entry, &right_entry, sizeof entry);
    ck_assert_uint_eq(place.physical, right.physical);
    ck_assert_uint_eq(place.logical, right.logical);
    ck_assert_int_eq(place.set == NULL, right.set == NULL);
    ck_assert_int_eq(place.data == NULL, right.data == NULL);
    if (right.data != NULL && right.physical != 0)
        ck_assert_mem_eq(place.data, right.data, right.physical);
}

START_TEST(values_are_those_that_are_mapped)
{
    char *scratch = scratch_make();
    static struct shown shown;
    records_make("d", 1500, 30);
    shown = shown_all(1530);
    records_delete("d", &shown, 7);
    records_delete("d", &shown, 700);
    for (int p = 0; p < 2; p++) {
        lx__snapshot *mapped = pin("d", LX_PLACEMENT_MAPPED), *read = pin("d", placements[p]);
        lx__fetch fetch = {.snapshot = read};
        for (int order = 0; order < 3; order++) {
            for (uint64_t i = 0; i < 1528; i++) {
                uint64_t index = order == 0 ? i : order == 1 ? 1527 - i : mix(i) % 1528;
                for (size_t field = 0; field < FIELDS; field++)
                    expect_value_as_mapped(&fetch, mapped, field, index);
            }
            lx__fetch_end(&fetch); /* and it may be used again */
        }
        lx__snapshot_unref(mapped);
        lx__snapshot_unref(read);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(entries_of_a_block_are_those_of_one)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[LX__FETCH_BLOCK];
    lx__fetched found[LX__FETCH_BLOCK];
    static struct shown shown;
    records_make("d", 3000, 30);
    shown = shown_all(3030);
    records_delete("d", &shown, 17);
    lx__snapshot *snapshot = pin("d", LX_PLACEMENT_PREAD);
    for (uint64_t round = 0; round < 30; round++) {
        lx__fetch fetch = {.snapshot = snapshot};
        size_t count = (size_t)(mix(round) % (LX__FETCH_BLOCK + 1));
        for (size_t i = 0; i < count; i++) /* some of them beyond the end */
            indices[i] = round % 2 != 0 ? round * 90 + i : mix(round * 999 + i) % 3040;
        unit_ok(lx__fetch_entries(&fetch, IMAGE, indices, count, false, found, &error));
        for (size_t i = 0; i < count; i++) {
            lx__entry entry = {0};
            const lx__set *set = NULL;
            ck_assert(!found[i].lost);
            if (indices[i] < 3029)
                unit_ok(lx__fetch_entry(&fetch, IMAGE, indices[i], &entry, &set, &error));
            ck_assert_mem_eq(&found[i].entry, &entry, sizeof entry);
            ck_assert_ptr_eq(found[i].set, set);
        }
        lx__fetch_end(&fetch);
    }
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_is_cut_takes_nothing_along)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__entry entry;
    lx__value_place place;
    records_make("d", 500, 0);
    lx__snapshot *snapshot = pin("d", LX_PLACEMENT_PREAD);
    lx__fetch fetch = {.snapshot = snapshot};
    unit_ok(lx__fetch_value(&fetch, IMAGE, 0, &entry, &place, &error)); /* the chunk is open */
    file_cut("d/label.offset", 100 * LX__OFFSET_ROW + 3);
    file_cut("d/chunk/0.zr", 5000);
    size_t lost = 0;
    for (uint64_t i = 0; i < 500; i++) {
        lx_status status = lx__fetch_value(&fetch, LABEL, i, &entry, &place, &error);
        ck_assert_int_eq(status, i < 100 ? LX_OK : LX_ERR_CORRUPT);
        if (i >= 100) {
            ck_assert_uint_eq(error.record, i);
            expect_error(status, LX_ERR_CORRUPT, "cut", "d/label.offset");
        }
        status = lx__fetch_value(&fetch, IMAGE, i, &entry, &place, &error);
        bool there = lx__entry_is_missing(&entry) || entry.offset + entry.physical <= 5000;
        ck_assert_int_eq(status, there ? LX_OK : LX_ERR_CORRUPT);
        lost += !there;
        if (!there) {
            ck_assert_str_eq(error.field, "image");
            expect_error(status, LX_ERR_CORRUPT, "cut", "d/chunk/0.zr");
        }
    }
    ck_assert_uint_gt(lost, 100);
    lx__fetch_end(&fetch);
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_lack_of_memory_is_told)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 50, 0);
    lx_dataset *dataset = open_placed("d", (struct placed){.placement = LX_PLACEMENT_PREAD});
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
            status =
                call == 0   ? lx_dataset_gather(dataset, IMAGE, indices, 3, out, 12, &error)
                : call == 1 ? lx_dataset_gather_bytes(dataset, WAVE, indices, 3, out, offsets,
                                                      &error)
                : call == 2 ? lx_dataset_measure(dataset, BLOB, indices, 3, offsets, NULL, &error)
                            : lx_dataset_view(dataset, BLOB, indices, 3, slices, &view, &error);
            ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
            ck_assert_int_eq(error.status, status);
            if (call == 3 && status == LX_OK)
                lx_view_release(view);
        }
        scarce_begin(1000000);
    }
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/fetch", values_are_those_that_are_mapped, entries_of_a_block_are_those_of_one,
          what_is_cut_takes_nothing_along, a_lack_of_memory_is_told)
