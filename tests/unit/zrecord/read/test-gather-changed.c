/* SPDX-License-Identifier: MIT */
/* Gathers of records with updates: lib/zrecord/read/gather.c, gather-dense.c. */
#include "zrecord/read/gather.h"

#include "../harm.h"
#include "zrecord/read/refresh.h"

#define CHANGED 500
/* Several blocks, and rows to be prefetched. */
#define MANY 300

/** The record whose values each field of a record has. */
struct copies {
    uint64_t of[FIELDS][CHANGED];
};

/** Commits updates that give random values of random records those of others: an entry is moved. */
static void copy_values(struct log *log, struct copies *copies, uint64_t seed, uint32_t count)
{
    static lx__update_item updates[CHANGED * FIELDS];
    for (uint32_t i = 0; i < count; i++) {
        static const char *const names[] = {"image", "label", "wave", "caption", "blob"};
        uint64_t random = mix(seed * 100000 + i), to = random % CHANGED;
        uint64_t from = random / CHANGED % CHANGED, field = random / CHANGED / CHANGED % FIELDS;
        updates[i] = (lx__update_item){(uint32_t)field, to, entry_of("d", names[field], from)};
        if (updates[i].entry.physical != 0 || updates[i].entry.chunk != 0) /* it is not missing */
            updates[i].entry.crc ^= lx__index_crc(from) ^ lx__index_crc(to);
        copies->of[field][to] = from;
    }
    log_add(log, &(struct frame){.length = CHANGED,
                                 .rows = CHANGED,
                                 .next_chunk = 1,
                                 .flags = SYNCED,
                                 .updates = updates,
                                 .update_count = count});
    file_put("d/LOG", log->bytes, log->size);
}

/** Makes dataset d with its records in all @p copies, and the log of its snapshot. */
static struct log start(struct copies *copies)
{
    lx_dataset_identity identity;
    records_make_sealed("d", CHANGED);
    records_unseal("d");
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    for (uint64_t field = 0; field < FIELDS; field++)
        for (uint64_t i = 0; i < CHANGED; i++)
            copies->of[field][i] = i;
    struct log log = {.identity = identity_of(identity.uuid),
                      .sequence = identity.sequence + 1,
                      .crc = identity.checksum};
    log.bytes = file_bytes("d/LOG", &log.size);
    return log;
}

static void expect_copies(lx_dataset *dataset, const struct copies *copies, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t indices[MANY], offsets[MANY + 1];
    static uint8_t out[MANY * VALUE_MAX];
    for (size_t field = 0; field < FIELDS; field++) {
        uint8_t present[MANY];
        size_t count = 1 + mix(seed + field) % MANY;
        for (size_t i = 0; i < count; i++)
            indices[i] = mix(seed * 1000 + i) % CHANGED;
        unit_ok(lx_dataset_get_sizes(dataset, field, indices, count, offsets, present, &error));
        if (field < CAPTION)
            unit_ok(
                lx_dataset_gather(dataset, field, indices, count, out, dense_sizes[field], &error));
        else
            unit_ok(lx_dataset_gather_bytes(dataset, field, indices, count, offsets, out, &error));
        for (size_t i = 0; i < count; i++) {
            uint8_t right[VALUE_MAX] = {0};
            uint64_t size = record_value((int)field, copies->of[field][indices[i]], right);
            ck_assert_int_eq(present[i], size != LX_NONE);
            ck_assert_mem_eq(out + offsets[i], right, offsets[i + 1] - offsets[i]);
        }
    }
}

START_TEST(reads_changed_records_in_each_way)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct copies copies;
    lx_dataset *datasets[3];
    struct log log = start(&copies);
    for (lx_verify_policy verify = LX_VERIFY_FIRST; verify <= LX_VERIFY_NEVER; verify++)
        unit_ok(open_as("d", verify, false, &datasets[verify], &error));
    for (uint64_t step = 0; step < 30; step++) {
        /* Many at first, few later, so that the overlay has several layers. */
        copy_values(&log, &copies, step, step < 2 ? 700 : 1 + (uint32_t)(mix(step) % 20));
        for (size_t i = 0; i < 3; i++) {
            unit_ok(lx_dataset_refresh(datasets[i], NULL, &error));
            for (uint64_t times = 0; times < 4; times++)
                expect_copies(datasets[i], &copies, step * 4 + times);
        }
    }
    for (size_t i = 0; i < 3; i++)
        lx_dataset_close(datasets[i]);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reading_all_records_verifies_hidden_rows_too)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    struct copies copies;
    uint64_t indices[CHANGED];
    static uint8_t out[CHANGED * 12];
    struct log log = start(&copies);
    copy_values(&log, &copies, 5, 500);
    unit_ok(open_as("d", LX_VERIFY_FIRST, false, &dataset, &error));
    for (uint64_t i = 0; i < CHANGED; i++)
        indices[i] = i;
    unit_ok(lx_dataset_gather(dataset, IMAGE, indices, CHANGED, out, 12, &error));
    unit_ok(lx_dataset_gather(dataset, LABEL, indices, CHANGED, out, 8, &error));
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    ck_assert(lx__table_all_verified(snapshot->columns[LABEL].table));
    ck_assert(lx__table_most_verified(snapshot->columns[IMAGE].table)); /* some are missing */
    lx__snapshot_unref(snapshot);
    lx_dataset_close(dataset);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_damaged_update)
{
    char *scratch = scratch_make();
    lx_dataset *dataset;
    struct copies copies;
    struct log log = start(&copies);
    copy_values(&log, &copies, 1, 100);
    lx__entry wrong = entry_of("d", "image", 3);
    wrong.crc ^= 1;
    const lx__update_item updates[] = {{IMAGE, 8, wrong}, {LABEL, 9, {0xffffffff, 8, 7, 8, 1}}};
    log_add(&log, &(struct frame){.length = CHANGED,
                                  .rows = CHANGED,
                                  .next_chunk = 1,
                                  .flags = SYNCED,
                                  .updates = updates,
                                  .update_count = 2});
    file_put("d/LOG", log.bytes, log.size);
    for (lx_verify_policy verify = LX_VERIFY_FIRST; verify <= LX_VERIFY_ALWAYS; verify++) {
        lx_error error = LX_ERROR_INIT;
        uint64_t indices[] = {1, 2, 8, 9, 10};
        uint8_t out[5 * 12];
        unit_ok(open_as("d", verify, false, &dataset, &error));
        for (int times = 0; times < 3; times++) { /* it is not marked as verified */
            ck_assert_int_eq(lx_dataset_gather(dataset, IMAGE, indices, 5, out, 12, &error),
                             LX_ERR_CORRUPT);
            ck_assert_uint_eq(error.record, 8);
            lx_error_clear(&error);
            ck_assert_int_eq(lx_dataset_gather(dataset, LABEL, indices, 5, out, 8, &error),
                             LX_ERR_CORRUPT);
            ck_assert_uint_eq(error.record, 9);
            lx_error_clear(&error);
        }
        lx_dataset_close(dataset);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/gather-changed", reads_changed_records_in_each_way,
          reading_all_records_verifies_hidden_rows_too, reports_a_damaged_update)
