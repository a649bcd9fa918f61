/* SPDX-License-Identifier: MIT */
/* Missing values are those that lx_dataset_get_sizes() reports, in all access modes. */
#include "zrecord/read/present.h"

#include "../placed.h"

#define COUNT 290

static void check_dataset(const char *path, uint64_t seed)
{
    for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset = open_placed(path, (struct placed){.access = access_modes[mode]});
        uint64_t length = lx_dataset_get_length(dataset), indices[COUNT], offsets[COUNT + 1];
        uint8_t wanted[COUNT], present[COUNT];
        for (size_t field = 0; field < FIELDS; field++) {
            for (size_t i = 0; i < COUNT; i++)
                indices[i] = mix(seed * 1000 + field * 300 + i) % length;
            unit_ok(lx_dataset_get_sizes(dataset, field, indices, COUNT, offsets, wanted, &error));
            unit_ok(lx__dataset_mark_present(dataset, field, indices, COUNT, present, &error));
            ck_assert_mem_eq(present, wanted, COUNT);
        }
        indices[7] = length;
        unit_fails(lx__dataset_mark_present(dataset, 0, indices, COUNT, present, &error),
                   LX_ERR_RANGE);
        lx_dataset_close(dataset);
    }
}

START_TEST(finds_the_values_that_are_missing)
{
    char *scratch = scratch_make();
    static const struct {
        uint64_t in_tables, in_log;
    } forms[] = {{0, 40}, {40, 0}, {700, 60}, {3000, 0}};
    static struct shown shown;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%zu", i);
        records_make(name, forms[i].in_tables, forms[i].in_log);
        check_dataset(name, i);
        shown = shown_all(forms[i].in_tables + forms[i].in_log);
        records_delete(name, &shown, 7);
        records_shuffle(name, &shown, i);
        check_dataset(name, i + 10);
    }
    records_make_sealed("s", 500);
    check_dataset("s", 77);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_damaged_value_counts_as_present)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[100];
    uint8_t before[100], present[100];
    records_make_sealed("d", 100);
    for (uint64_t i = 0; i < 100; i++)
        indices[i] = i;
    lx_dataset *dataset = open_placed("d", (struct placed){.access = LX_ACCESS_MMAP});
    unit_ok(lx__dataset_mark_present(dataset, 0, indices, 100, before, &error));
    lx_dataset_close(dataset);
    for (uint64_t i = 0; i < 100; i += 9)
        file_flip("d/image.check", i * 64 + 5);
    for (size_t mode = 0; mode < ACCESS_MODES; mode++) {
        dataset = open_placed("d", (struct placed){.access = access_modes[mode]});
        unit_ok(lx__dataset_mark_present(dataset, 0, indices, 100, present, &error));
        for (uint64_t i = 0; i < 100; i++)
            ck_assert_uint_eq(present[i], before[i] != 0 || i % 9 == 0);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/present", finds_the_values_that_are_missing, a_damaged_value_counts_as_present)
