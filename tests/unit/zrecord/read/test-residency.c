/* SPDX-License-Identifier: MIT */
/* Values on disk are noticed and requested, values in memory are noticed again; the values read are
 * the same, and the choice of the user is respected. */
#include "zrecord/read/residency.h"

#include "../../evict.h"
#include "../placed.h"
#include "zrecord/read/refresh.h"

#define RECORDS 6000
#define BATCH 64

static lx_dataset *open_with(const char *path, lx_access access)
{
    return open_placed(path, (struct placed){access, LX_VERIFY_FIRST, LX_DAMAGE_RAISE, false});
}

static lx__residency state_of(lx_dataset *dataset)
{
    return atomic_load(&dataset->snapshot->store->residency);
}

/** Reads @p count records, scattered over the dataset, and compares them. */
static void read_some(lx_dataset *dataset, size_t count, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t *indices = calloc(count, sizeof *indices);
    uint8_t *waves = calloc(count, dense_sizes[WAVE]), value[VALUE_MAX];
    for (size_t i = 0; i < count; i++)
        indices[i] = mix(seed + i) % RECORDS;
    unit_ok(lx_dataset_gather(dataset, WAVE, indices, count, waves, dense_sizes[WAVE], &error));
    for (size_t i = 0; i < count; i++) {
        record_value(WAVE, indices[i], value);
        ck_assert_mem_eq(waves + i * dense_sizes[WAVE], value, dense_sizes[WAVE]);
    }
    free(indices);
    free(waves);
}

START_TEST(notices_where_values_are)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    if (evict("d")) {
        lx_dataset *dataset = open_with("d", LX_ACCESS_AUTO);
        ck_assert_int_eq(state_of(dataset), LX__UNKNOWN);
        read_some(dataset, BATCH, 2);
        ck_assert_int_eq(state_of(dataset), LX__ON_DISK);
        read_some(dataset, 3000, 3); /* several steps */
        for (uint64_t i = 0; i < 1000 && state_of(dataset) == LX__ON_DISK; i++)
            read_some(dataset, BATCH, i * BATCH);
        ck_assert_int_eq(state_of(dataset), LX__IN_MEMORY);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_test_few_values)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    lx_dataset *dataset = open_with("d", LX_ACCESS_AUTO);
    read_some(dataset, 3, 1);
    ck_assert_int_eq(state_of(dataset), LX__UNKNOWN);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(notices_page_faults)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    if (evict("d")) {
        lx_dataset *dataset = open_with("d", LX_ACCESS_AUTO);
        atomic_store(&dataset->snapshot->store->residency, LX__IN_MEMORY);
        uint64_t faults = lx__process_major_faults();
        read_some(dataset, BATCH, 1);
        if (lx__process_major_faults() > faults) /* some kernels read ahead of all faults */
            ck_assert_int_eq(state_of(dataset), LX__UNKNOWN);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(values_in_memory_are_not_requested)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    lx_dataset *dataset = open_with("d", LX_ACCESS_AUTO);
    read_some(dataset, BATCH, 1);
    ck_assert_int_eq(state_of(dataset), LX__IN_MEMORY);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(respects_the_choice_of_mappings)
{
    char *scratch = scratch_make();
    records_make_sealed("d", RECORDS);
    (void)evict("d");
    lx_dataset *dataset = open_with("d", LX_ACCESS_MMAP);
    read_some(dataset, BATCH, 1);
    ck_assert_int_eq(state_of(dataset), LX__ASSUMED);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_handle_that_is_read_ahead_leaves_requests_to_others)
{
    char *scratch = scratch_make();
    uint64_t indices[BATCH] = {RECORDS + 5}; /* an invalid index is ignored */
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", RECORDS);
    if (evict("d")) {
        lx_dataset *dataset = open_with("d", LX_ACCESS_AUTO), *pinned;
        ck_assert(lx__dataset_wants_read_ahead(dataset));
        for (size_t i = 1; i < BATCH; i++)
            indices[i] = mix(100 + i) % RECORDS;
        lx__dataset_read_ahead(dataset, WAVE, indices, BATCH);
        ck_assert_int_eq(state_of(dataset), LX__ON_DISK);
        unit_ok(lx_dataset_pin(dataset, &pinned, &error));
        for (uint64_t i = 0; i < 100; i++) { /* would otherwise find all values in memory */
            read_some(dataset, BATCH, 100);
            read_some(pinned, BATCH, 100);
        }
        ck_assert_int_eq(state_of(dataset), LX__ON_DISK);
        lx_dataset_close(pinned);
        lx_dataset_close(dataset);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_dataset_with_a_provider_is_remote)
{
    char *scratch = scratch_make();
    lx__provider provider;
    records_make_sealed("d", RECORDS);
    lx_dataset *dataset = open_with("d", LX_ACCESS_AUTO);
    lx__file *directory = &dataset->snapshot->store->directory;
    ck_assert(!lx__dataset_is_remote(dataset));
    directory->provider = &provider;
    ck_assert(lx__dataset_is_remote(dataset));
    directory->provider = NULL;
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/read/residency", notices_where_values_are, does_not_test_few_values,
          notices_page_faults, values_in_memory_are_not_requested, respects_the_choice_of_mappings,
          a_handle_that_is_read_ahead_leaves_requests_to_others,
          a_dataset_with_a_provider_is_remote)
