/* SPDX-License-Identifier: MIT */
/* Records of a pin that is not refreshed: lib/zrecord/read/show.c. */
#include "../harm.h"
#include "zrecord/read/dataset.h"
#include "zrecord/read/show.h"

static lx_dataset *pin(lx_dataset *dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *pinned;
    unit_ok(lx_dataset_pin(dataset, &pinned, &error));
    return pinned;
}

/** All records must equal those of views, before and after they were verified. */
static void expect_views(lx_dataset *pinned, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < 2 * count; i++) {
        uint64_t index = i % count;
        lx_slice shown, slice, foreseen;
        lx_view *view;
        unit_ok(lx__dataset_show(pinned, BLOB, index, &shown, &error));
        unit_ok(lx_dataset_view(pinned, BLOB, &index, 1, &slice, &view, &error));
        ck_assert_ptr_eq(shown.data, slice.data);
        ck_assert_uint_eq(shown.size, slice.size);
        lx_view_free(view);
        if (!lx__dataset_locate(pinned, BLOB, index, &foreseen))
            continue;
        ck_assert_ptr_eq(foreseen.data, slice.data);
        ck_assert_uint_eq(foreseen.size, slice.size);
    }
}

START_TEST(shows_the_same_as_a_view)
{
    static const lx_verify_policy verify[] = {LX_VERIFY_FIRST, LX_VERIFY_ALWAYS, LX_VERIFY_NEVER};
    char *scratch = scratch_make();
    records_make("d", 200, 50);
    for (size_t i = 0; i < 3; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset;
        lx_dataset_options *options = lx_dataset_options_new();
        unit_ok(lx_dataset_options_set_verify_policy(options, verify[i], &error));
        unit_ok(lx_dataset_open("d", options, &dataset, &error));
        lx_dataset_options_free(options);
        lx_dataset *pinned = pin(dataset);
        expect_views(pinned, 250);
        lx_dataset_close(dataset);
        expect_views(pinned, 250);
        lx_dataset_close(pinned);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(passes_on_rows_it_cannot_handle)
{
    char *scratch = scratch_make();
    lx_slice slice;
    records_make("d", 200, 50);
    lx_dataset *dataset = open_dataset("d"), *pinned = pin(dataset);
    for (uint64_t i = 0; i <= 250; i++) /* no chunk is mapped yet; the last one has no record */
        ck_assert(!lx__dataset_locate(pinned, BLOB, i, &slice));
    ck_assert(!lx__dataset_locate(pinned, BLOB, UINT64_MAX, &slice));
    lx_dataset_close(pinned);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/show", shows_the_same_as_a_view, passes_on_rows_it_cannot_handle)
