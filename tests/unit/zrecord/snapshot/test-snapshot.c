/* SPDX-License-Identifier: MIT */
/* The entries, places and checksums of records in a snapshot and its mapped files. */
#include "zrecord/snapshot/snapshot.h"

#include "../../scarce.h"
#include "../entry-in.h"
#include "../harm.h"
#include "zrecord/read/refresh.h"

static lx__snapshot *pin(const char *path, lx_verify_policy verify)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    unit_ok(open_as(path, verify, false, &dataset, &error));
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_dataset_close(dataset);
    return snapshot;
}

static lx_status find(lx__snapshot *snapshot, size_t field, uint64_t index, lx__value *value,
                      lx_error *error)
{
    lx__snapshot_load(snapshot, field, index, value);
    lx_status status = lx__snapshot_locate(snapshot, field, index, value, error);
    return status == LX_OK && value->extent.chunk != NULL
               ? lx__fetch_one(&snapshot->fetcher, &value->extent, &value->data, error)
               : status;
}

START_TEST(entries_come_from_tables_or_log_or_are_missing)
{
    char *scratch = scratch_make();
    records_make("d", 10, 5);
    lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
    ck_assert_uint_eq(snapshot->state.length, 15);
    bool some_row = false, some_set = false;
    for (uint64_t index = 0; index < 20; index++) {
        for (size_t field = 0; field < FIELDS; field++) {
            uint8_t value[VALUE_MAX];
            bool row, update = lx__overlay_find_update(&snapshot->state.overlay, (uint32_t)field,
                                                       index) != NULL;
            lx__entry entry = entry_in(snapshot, field, index, &row);
            uint64_t size = index < 15 ? record_value((int)field, index, value) : LX_NONE;
            ck_assert_int_eq(row, !update && index < snapshot->state.rows);
            ck_assert_int_eq(lx__entry_is_missing(&entry), size == LX_NONE);
            if (size != LX_NONE)
                ck_assert_uint_eq(entry.logical, size);
            some_row |= row;
            some_set |= update;
        }
    }
    ck_assert(some_row && some_set);
    lx__snapshot_unref(snapshot);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_located_value_passes_its_checksum)
{
    char *scratch = scratch_make();
    records_make("d", 30, 10);
    for (lx_verify_policy verify = LX_VERIFY_FIRST; verify <= LX_VERIFY_NEVER; verify++) {
        lx__snapshot *snapshot = pin("d", verify);
        for (uint64_t index = 0; index < 40; index++) {
            for (size_t field = 0; field < FIELDS; field++) {
                lx_error error = LX_ERROR_INIT;
                uint8_t value[VALUE_MAX];
                lx__value read;
                uint64_t size = record_value((int)field, index, value);
                unit_ok(find(snapshot, field, index, &read, &error));
                unit_ok(lx__snapshot_verify(snapshot, field, index, &read, &error));
                unit_ok(lx__snapshot_verify_now(snapshot, field, index, &read, &error));
                ck_assert_int_eq(read.data == NULL, size == LX_NONE);
                if (size != LX_NONE && !lx__entry_is_compressed(&read.entry))
                    ck_assert_mem_eq(read.data, value, size);
            }
        }
        lx__snapshot_unref(snapshot);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_each_invalid_number_of_an_entry)
{
    char *scratch = scratch_make();
    records_make_sealed("whole", 20);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__value read;
        directory_copy("whole", "d");
        harm_entry("d", "image", 8, &harms[i]);
        lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
        lx_status status = find(snapshot, IMAGE, 8, &read, &error);
        if (status == LX_OK)
            status = lx__snapshot_verify(snapshot, IMAGE, 8, &read, &error);
        ck_assert_str_eq(error.field, "image");
        ck_assert_uint_eq(error.record, 8);
        ck_assert_uint_eq(error.offset, strstr(harms[i].where, "chunk") != NULL
                                            ? read.entry.offset
                                            : 8 * LX__OFFSET_ROW);
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        unit_ok(find(snapshot, IMAGE, 7, &read, &error));
        unit_ok(lx__snapshot_verify(snapshot, IMAGE, 7, &read, &error));
        lx__snapshot_unref(snapshot);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_an_invalid_entry_of_the_log)
{
    static const lx__entry wrong[] = {
        {7, 12, 0, 12, 1},          /* no such chunk */
        {0xffffffff, 8, 5, 12, 1},  /* inline, and longer */
        {0xffffffff, 12, 5, 12, 1}, /* longer than there is room inline */
        {0, 12, 1ull << 63, 12, 1}, /* beyond */
        {0, 12, 0, 12, 1},          /* of another record */
    };
    char *scratch = scratch_make();
    records_make("whole", 10, 0);
    lx_dataset_identity identity;
    lx_dataset *dataset = open_dataset("whole");
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_error error = LX_ERROR_INIT;
        const lx__update_item update = {IMAGE, 3, wrong[i]};
        struct log log = {.identity = identity_of(identity.uuid),
                          .sequence = identity.sequence + 1,
                          .crc = identity.checksum};
        directory_copy("whole", "d");
        log.bytes = file_bytes("d/LOG", &log.size);
        log_add(&log, &(struct frame){.length = 10,
                                      .rows = 10,
                                      .next_chunk = 1,
                                      .flags = SYNCED,
                                      .updates = &update,
                                      .update_count = 1});
        file_put("d/LOG", log.bytes, log.size);
        log_free(&log);
        lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST);
        for (int times = 0; times < 2; times++) { /* it is not recorded as verified */
            lx__value read;
            lx_status status = find(snapshot, IMAGE, 3, &read, &error);
            if (status == LX_OK)
                status = lx__snapshot_verify(snapshot, IMAGE, 3, &read, &error);
            ck_assert_uint_eq(error.record, 3);
            expect_error(status, LX_ERR_CORRUPT, "", "d/");
        }
        lx__snapshot_unref(snapshot);
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(marks_only_rows_as_verified)
{
    char *scratch = scratch_make();
    records_make("d", 64, 0);
    for (lx_verify_policy verify = LX_VERIFY_FIRST; verify <= LX_VERIFY_NEVER; verify++) {
        lx__snapshot *snapshot = pin("d", verify);
        for (size_t field = 0; field < FIELDS; field++) {
            lx__table *table = snapshot->columns[field].table;
            ck_assert_int_eq(table->verified != NULL, verify == LX_VERIFY_FIRST);
            for (uint64_t index = 0; index < 64 && verify == LX_VERIFY_FIRST; index++) {
                lx_error error = LX_ERROR_INIT;
                lx__value read;
                unit_ok(find(snapshot, field, index, &read, &error));
                ck_assert(!lx__table_is_verified(table, index)); /* finding it is not verifying
                                                                  * it */
                unit_ok(lx__snapshot_verify(snapshot, field, index, &read, &error));
                ck_assert_int_eq(lx__table_is_verified(table, index),
                                 !lx__entry_is_compressed(&read.entry));
            }
        }
        lx__snapshot_unref(snapshot);
    }
    scratch_remove(scratch);
}
END_TEST

/** A snapshot of a state with these chunks, which may be absent. */
static lx__snapshot *with_chunks(lx__store *store, const uint32_t *ids, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx__state state = {0};
    lx__snapshot *snapshot;
    for (size_t i = 0; i < count; i++)
        unit_ok(lx__state_put_chunk(&state, &(lx__chunk_item){ids[i], 1, 64}, &error));
    unit_ok(lx__snapshot_new(store, &state, &snapshot, &error));
    ck_assert_ptr_null(state.chunks); /* ownership moved */
    return snapshot;
}

START_TEST(finds_chunks_by_sparse_ids)
{
    static const struct {
        uint32_t ids[4];
        size_t count;
        bool spread;
    } cases[] = {
        {{0}, 0, false},
        {{0}, 1, false},
        {{0xfffffffe}, 1, false},
        {{3, 4, 5, 6}, 4, false},
        {{3, 9, 50, 200}, 4, false},
        {{7, 1000000}, 2, true},
        {{0, 0xfffffffe}, 2, true},
    };
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    records_make("d", 5, 0);
    unit_ok(lx__store_open("d", LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx__snapshot *snapshot = with_chunks(store, cases[i].ids, cases[i].count);
        ck_assert_int_eq(snapshot->chunk_positions == NULL, cases[i].spread || cases[i].count == 0);
        uint32_t next = 0;
        for (size_t k = 0; k < cases[i].count; k++) {
            uint32_t id = cases[i].ids[k];
            ck_assert_uint_eq(lx__snapshot_find_chunk(snapshot, id), k);
            if (id > next)
                ck_assert_uint_eq(lx__snapshot_find_chunk(snapshot, id - 1), LX__NO_CHUNK);
            next = id + 1;
        }
        ck_assert_uint_eq(lx__snapshot_find_chunk(snapshot, next), LX__NO_CHUNK);
        ck_assert_uint_eq(lx__snapshot_find_chunk(snapshot, UINT32_MAX), LX__NO_CHUNK);
        lx__snapshot_unref(snapshot);
    }
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(maps_a_chunk_on_first_use)
{
    static const uint32_t ids[] = {0, 1};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    const uint8_t *data, *again;
    records_make("d", 20, 0);
    unit_ok(lx__store_open("d", LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error));
    lx__snapshot *snapshot = with_chunks(store, ids, 2);
    ck_assert_uint_eq(store->chunk_count, 0);
    lx__extent extents[2] = {{.chunk = &snapshot->state.chunks[0], .size = 1},
                             {.chunk = &snapshot->state.chunks[1], .size = 1}};
    unit_ok(lx__fetch_one(&snapshot->fetcher, &extents[0], &data, &error));
    unit_ok(lx__fetch_one(&snapshot->fetcher, &extents[0], &again, &error));
    ck_assert_ptr_eq(data, again);
    ck_assert_uint_eq(store->chunk_count, 1);
    lx_status status = lx__fetch_one(&snapshot->fetcher, &extents[1], &data,
                                     &error); /* is absent */
    expect_error(status, LX_ERR_CORRUPT, "", "chunk/1.zr");
    unit_ok(lx__fetch_one(&snapshot->fetcher, &extents[0], &data, &error));
    lx__snapshot_unref(snapshot);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_snapshot_keeps_its_store_alive)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 20, 5);
    size_t before = directory_count("/proc/self/fd");
    lx__snapshot *snapshot = pin("d", LX_VERIFY_FIRST); /* its dataset is closed */
    lx__value read;
    ck_assert_ptr_eq(lx__snapshot_ref(snapshot), snapshot);
    lx__snapshot_unref(snapshot);
    unit_ok(find(snapshot, IMAGE, 4, &read, &error));
    unit_ok(lx__snapshot_verify(snapshot, IMAGE, 4, &read, &error));
    lx__snapshot_unref(snapshot);
    lx__snapshot_unref(NULL);
    ck_assert_uint_eq(directory_count("/proc/self/fd"), before);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    static const uint32_t ids[] = {0, 1, 2};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    records_make("d", 20, 5);
    unit_ok(lx__store_open("d", LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error));
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 50);
        lx__state state = {.rows = 20, .length = 20};
        for (size_t i = 0; i < 3; i++)
            unit_ok(lx__state_put_chunk(&state, &(lx__chunk_item){ids[i], 1, 64}, &error));
        lx__snapshot *snapshot;
        scarce_begin(memory);
        status = lx__snapshot_new(store, &state, &snapshot, &error);
        scarce_begin(1000);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert_int_eq(error.status, status);
        ck_assert_ptr_null(state.chunks);
        lx_error_clear(&error);
        if (status == LX_OK)
            lx__snapshot_unref(snapshot);
    }
    ck_assert_uint_eq(store->references, 1);
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_tables_shorter_than_the_snapshot)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__store *store;
    records_make("d", 20, 5);
    unit_ok(lx__store_open("d", LX_VERIFY_FIRST, LX_ACCESS_AUTO, &store, &error));
    static const uint64_t rows[] = {26, 65537, 1ull << 32, LX__LENGTH_MAX};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx__state state = {.rows = rows[i], .length = rows[i]};
        lx__snapshot *snapshot;
        lx_status status = lx__snapshot_new(store, &state, &snapshot, &error);
        ck_assert_str_eq(error.field, "image");
        expect_error(status, LX_ERR_CORRUPT, "committed", "image.offset");
    }
    lx__store_unref(store);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/snapshot", entries_come_from_tables_or_log_or_are_missing,
          a_located_value_passes_its_checksum, reports_each_invalid_number_of_an_entry,
          reports_an_invalid_entry_of_the_log, marks_only_rows_as_verified,
          finds_chunks_by_sparse_ids, maps_a_chunk_on_first_use, a_snapshot_keeps_its_store_alive,
          reports_failed_allocations, rejects_tables_shorter_than_the_snapshot)
