/* SPDX-License-Identifier: MIT */
/* Live handles, their pins, and waiting. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../../scarce.h"
#include "../changer.h"
#include "zrecord/read/dataset.h"

#define LENGTH 300

/* ---- live */

START_TEST(a_live_handle_sees_the_newest_commit_in_each_call)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d"), *other = open_first("d");
    const uint64_t index = 3;
    for (uint64_t version = 1; version < 20; version++) {
        uint64_t value, offsets[2];
        lx_slice slice;
        lx_view *view;
        lx_dataset_identity identity;
        changer_commit(&changer, LENGTH - version);
        switch (version % 7) {
        case 5: {
            lx_storage_stats totals;
            unit_ok(lx_dataset_stat(live, &totals, NULL, &error));
            ck_assert_uint_eq(totals.length, LENGTH - version);
            break;
        }
        case 6: {
            lx_verify_result result;
            unit_ok(lx_dataset_verify(live, NULL, NULL, NULL, &result, &error));
            ck_assert_uint_eq(result.records, LENGTH - version);
            break;
        }
        case 0:
            ck_assert_uint_eq(lx_dataset_get_length(live), LENGTH - version);
            break;
        case 1:
            unit_ok(lx_dataset_gather(live, 0, &index, 1, &value, 8, &error));
            ck_assert_uint_eq(value, changer_value(version, 0, 3));
            break;
        case 2:
            unit_ok(lx_dataset_get_sizes(live, 1, &index, 1, offsets, NULL, &error));
            unit_ok(lx_dataset_gather_bytes(live, 1, &index, 1, offsets, &value, &error));
            ck_assert_uint_eq(value, changer_value(version, 1, 3));
            break;
        case 3:
            unit_ok(lx_dataset_view(live, 1, &index, 1, &slice, &view, &error));
            value = changer_value(version, 1, 3);
            ck_assert_mem_eq(slice.data, &value, 8);
            lx_view_free(view);
            break;
        default:
            lx_dataset_get_identity(live, &identity);
            ck_assert_uint_eq(identity.checksum, changer.log.crc);
        }
        const uint64_t beyond = LENGTH - version;
        unit_fails(lx_dataset_gather(live, 0, &beyond, 1, &value, 8, &error), LX_ERR_RANGE);
        ck_assert_uint_eq(changer_read(other, 3), 0);
    }
    lx_dataset_close(live);
    lx_dataset_close(other);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

struct readers {
    lx_dataset *live;
    atomic_bool stop;
    _Atomic uint64_t committed; /* version that is in the log, or more */
};

static void *read_live(void *user)
{
    struct readers *all = user;
    uint64_t last = 0;
    while (!atomic_load(&all->stop)) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *pinned;
        uint64_t committed = atomic_load(&all->committed), indices[50], a[50], b[50];
        unit_ok(lx_dataset_pin(all->live, &pinned, &error));
        for (uint64_t i = 0; i < 50; i++)
            indices[i] = mix(last + i) % 200;
        unit_ok(lx_dataset_gather(pinned, 0, indices, 50, a, 8, &error));
        unit_ok(lx_dataset_gather(pinned, 1, indices, 50, b, 8, &error));
        for (uint64_t i = 0; i < 50; i++)
            if (a[i] != ~b[i] || a[i] != changer_value(a[0] / CHANGER_STEP, 0, indices[i]))
                ck_abort_msg("a mixed record");
        ck_assert_uint_ge(a[0] / CHANGER_STEP, last);
        ck_assert_uint_ge(a[0] / CHANGER_STEP, committed);
        last = a[0] / CHANGER_STEP;
        lx_dataset_close(pinned);
        uint64_t value;
        unit_ok(lx_dataset_gather(all->live, 0, indices, 1, &value, 8, &error));
        ck_assert_uint_ge(value / CHANGER_STEP, last);
    }
    return NULL;
}

static void *refresh_it(void *user)
{
    struct readers *all = user;
    lx_error error = LX_ERROR_INIT;
    while (!atomic_load(&all->stop))
        unit_ok(lx_dataset_refresh(all->live, NULL, &error));
    return NULL;
}

START_TEST(threads_read_one_live_handle_while_it_changes)
{
    char *scratch = scratch_make();
    pthread_t threads[4];
    struct changer changer = changer_new("d", LENGTH);
    struct readers all = {.live = open_live("d")};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, i < 3 ? read_live : refresh_it, &all),
                         0);
    for (double end = now() + 1; now() < end;) {
        changer_commit(&changer, 200 + changer.version % 100);
        atomic_store(&all.committed, changer.version);
        if (changer.log.size > 100000000)
            break;
    }
    atomic_store(&all.stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    lx_dataset_close(all.live);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

/* ---- during all operations of a real writer */

#define PLATE 40 /* bytes of a stored value */
#define PEOPLE 120

static void plate_of(uint64_t version, uint8_t plate[PLATE])
{
    for (size_t i = 0; i < PLATE; i++)
        plate[i] = (uint8_t)mix(version * PLATE + i);
}

static lx_writer *make_plates(void)
{
    static const uint64_t shape[] = {PLATE};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, 5000, 1 << 20, &error));
    unit_ok(lx_schema_add_field(schema, "version", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "plate", LX_UINT8, shape, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, options, &writer, &error));
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

/** Changes all records with one commit, and makes the length @p length. */
static void commit_plates(lx_writer *writer, uint64_t version, uint64_t length)
{
    static const size_t fields[] = {0, 1};
    lx_error error = LX_ERROR_INIT;
    uint64_t versions[PEOPLE], indices[PEOPLE], there = lx_writer_get_length(writer);
    uint8_t plates[PEOPLE][PLATE];
    for (uint64_t i = 0; i < PEOPLE; i++) {
        versions[i] = version;
        indices[i] = i;
        plate_of(version, plates[i]);
    }
    const lx_values columns[] = {{versions, NULL, NULL}, {plates, NULL, NULL}};
    if (there > length)
        unit_ok(lx_writer_delete(writer, mix(version) % there, NULL, &error));
    there = lx_writer_get_length(writer);
    unit_ok(lx_writer_modify_many(writer, indices, there, fields, columns, 2, &error));
    while (lx_writer_get_length(writer) < length) {
        lx_value values[] = {{versions, 8}, {plates[0], PLATE}, {NULL, LX_NONE}};
        size_t count = lx_schema_get_field_count(lx_writer_get_schema(writer));
        unit_ok(lx_writer_append(writer, values, count, NULL, &error));
    }
    commit(writer);
}

static void *read_plates(void *user)
{
    struct readers *all = user;
    uint64_t last = 0, indices[PEOPLE], versions[PEOPLE];
    uint8_t plates[PEOPLE][PLATE], right[PLATE];
    while (!atomic_load(&all->stop)) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *pinned;
        uint64_t committed = atomic_load(&all->committed);
        unit_ok(lx_dataset_pin(all->live, &pinned, &error));
        uint64_t length = lx_dataset_get_length(pinned);
        for (uint64_t i = 0; i < length; i++)
            indices[i] = length - 1 - i;
        unit_ok(lx_dataset_gather(pinned, 0, indices, length, versions, 8, &error));
        unit_ok(lx_dataset_gather(pinned, 1, indices, length, plates, PLATE, &error));
        plate_of(versions[0], right);
        for (uint64_t i = 0; i < length; i++)
            if (versions[i] != versions[0] || memcmp(plates[i], right, PLATE) != 0)
                ck_abort_msg("record %d is of another state", (int)indices[i]);
        ck_assert_uint_ge(versions[0], committed);
        ck_assert_uint_ge(versions[0], last);
        last = versions[0];
        lx_dataset_close(pinned);
    }
    return NULL;
}

/** One of all operations that make a new generation, or none. */
static void turn_over(lx_writer **writer, uint64_t step)
{
    lx_error error = LX_ERROR_INIT;
    switch (step % 16) {
    case 1:
        unit_ok(lx_writer_checkpoint(*writer, &error));
        break;
    case 4:
        unit_ok(lx_writer_rebalance(*writer, NULL, NULL, NULL, &error));
        break;
    case 7:
        unit_ok(
            lx_writer_add_field(*writer, "note", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, &error));
        break;
    case 9:
        unit_ok(lx_writer_rename_field(*writer, step % 32 < 16 ? "plate" : "dish",
                                       step % 32 < 16 ? "dish" : "plate", &error));
        break;
    case 11:
        unit_ok(lx_writer_drop_field(*writer, "note", &error));
        break;
    case 14:
        unit_ok(lx_writer_seal(*writer, &error));
        close_writer(*writer);
        unit_ok(lx_dataset_unseal("d", &error));
        *writer = records_reopen("d", writer_options(LX_DURABILITY_NONE));
        break;
    default:
        break;
    }
}

START_TEST(live_handles_follow_all_writer_operations)
{
    char *scratch = scratch_make();
    pthread_t threads[2];
    struct readers all = {.stop = false};
    lx_writer *writer = make_plates();
    commit_plates(writer, 1, PEOPLE);
    lx_dataset_options *options = lx_dataset_options_new();
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_dataset_options_set_live(options, true, &error));
    unit_ok(lx_dataset_open("d", options, &all.live, &error));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_plates, &all), 0);
    double end = now() + 1.5;
    for (uint64_t step = 1; now() < end || step < 40; step++) {
        turn_over(&writer, step);
        commit_plates(writer, step + 1, PEOPLE - 20 + mix(step) % 21);
        atomic_store(&all.committed, step + 1);
    }
    atomic_store(&all.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    close_writer(writer);
    ck_assert_str_eq(lx_schema_get_field(lx_dataset_get_schema(all.live), 1)->name, "plate");
    unit_ok(lx_dataset_verify(all.live, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(all.live);
    lx_dataset_options_free(options);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_live_handle_that_cannot_refresh_fails_in_each_read)
{
    static const uint8_t version[8] = {7};
    static const uint64_t index = 3;
    const lx_value value = {version, sizeof version};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint8_t out[8], damaged;
    lx_storage_stats totals;
    lx_verify_result result;
    lx_chunk_stats info;
    size_t count;
    lx_writer *writer = make_plates();
    commit_plates(writer, 1, PEOPLE);
    lx_dataset *live = open_live("d");
    unit_ok(lx_writer_drop_field(writer, "plate", &error));
    unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    commit(writer);
    unit_fails(lx_dataset_gather(live, 0, &index, 1, out, 8, &error), LX_ERR_STATE);
    unit_fails(lx_dataset_probe(live, NULL, 0, &index, 1, &damaged, &error), LX_ERR_STATE);
    unit_fails(lx_dataset_verify(live, NULL, NULL, NULL, &result, &error), LX_ERR_STATE);
    ck_assert_uint_eq(result.records, 0);
    unit_fails(lx_dataset_stat(live, &totals, NULL, &error), LX_ERR_STATE);
    unit_fails(lx_dataset_stat_chunks(live, &info, 1, &count, &error), LX_ERR_STATE);
    unit_fails(lx_dataset_backup(live, "copy", NULL, NULL, &error), LX_ERR_STATE);
    ck_assert(!file_exists("copy"));
    ck_assert_uint_eq(lx_dataset_get_length(live), PEOPLE); /* this cannot fail */
    lx_dataset_close(live);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- pinned */

START_TEST(a_pinned_handle_keeps_its_snapshot)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d"), *pinned[10], *again;
    for (uint64_t i = 0; i < 10; i++) {
        unit_ok(lx_dataset_pin(live, &pinned[i], &error));
        ck_assert_ptr_eq(lx_dataset_get_schema(pinned[i]), lx_dataset_get_schema(live));
        ck_assert_str_eq(lx_dataset_get_path(pinned[i]), "d");
        changer_commit(&changer, LENGTH - 10 * (i + 1));
    }
    unit_ok(lx_dataset_pin(pinned[3], &again, &error));
    lx_dataset_close(live); /* its pins continue */
    for (uint64_t i = 0; i < 10; i++) {
        ck_assert_uint_eq(lx_dataset_get_length(pinned[i]), LENGTH - 10 * i);
        ck_assert_uint_eq(changer_read(pinned[i], 5), i);
        if (i == 3)
            lx_dataset_close(pinned[i]);
    }
    ck_assert_uint_eq(changer_read(again, 5), 3);
    unit_ok(lx_dataset_refresh(again, NULL, &error)); /* it is a normal handle */
    ck_assert_uint_eq(changer_read(again, 5), 10);
    ck_assert_uint_eq(changer_read(pinned[9], 5), 9);
    for (uint64_t i = 0; i < 10; i++)
        if (i != 3)
            lx_dataset_close(pinned[i]);
    lx_dataset_close(again);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(closing_a_pin_frees_its_resources)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    size_t before = directory_count("/proc/self/fd");
    lx_dataset *live = open_live("d"), *pinned;
    size_t open = directory_count("/proc/self/fd");
    for (int i = 0; i < 200; i++) {
        unit_ok(lx_dataset_pin(live, &pinned, &error));
        lx_dataset_close(pinned);
    }
    ck_assert_uint_eq(directory_count("/proc/self/fd"), open);
    lx_dataset_close(live);
    ck_assert_uint_eq(directory_count("/proc/self/fd"), before);
    lx_status status = LX_ERR_NOMEM;
    live = open_live("d");
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 10);
        scarce_begin(memory);
        status = lx_dataset_pin(live, &pinned, &error);
        scarce_begin(1000000);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        lx_error_clear(&error);
    }
    lx_dataset_close(pinned);
    lx_dataset_close(live);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_handle_counts_the_damage_its_pins_find)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_dataset_stats stats;
    lx_dataset *pinned;
    const uint64_t index = 3;
    uint64_t value;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d");
    file_flip("d/a.check", (3 * 8 + 4) * 8);
    unit_ok(lx_dataset_pin(live, &pinned, &error));
    unit_fails(lx_dataset_gather(pinned, 0, &index, 1, &value, 8, &error), LX_ERR_CORRUPT);
    lx_dataset_get_stats(live, &stats);
    ck_assert_uint_eq(stats.damaged, 1);
    lx_dataset_close(live);
    unit_fails(lx_dataset_gather(pinned, 0, &index, 1, &value, 8, &error), LX_ERR_CORRUPT);
    lx_dataset_get_stats(pinned, &stats);
    ck_assert_uint_eq(stats.damaged, 2);
    lx_dataset_close(pinned);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

/** Without Check's macros: they take locks of the parent. */
static void *read_in_child(void *user)
{
    lx_dataset *dataset = user;
    uint64_t index = 5, value;
    for (int i = 0; i < 100; i++)
        if (lx_dataset_gather(dataset, 0, &index, 1, &value, 8, NULL) != LX_OK ||
            value % CHANGER_STEP != 5)
            _exit(2);
    return NULL;
}

START_TEST(pins_and_live_handles_continue_in_a_child)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pthread_t threads[2];
    struct changer changer = changer_new("d", 200);
    struct readers all = {.live = open_live("d")};
    lx_dataset *pinned[2];
    unit_ok(lx_dataset_pin(all.live, &pinned[0], &error));
    unit_ok(lx_dataset_pin(all.live, &pinned[1], &error));
    /* The allocator of a sanitizer does not survive most forks while other threads use it. */
    int busy = SANITIZED ? 0 : 2;
    for (int i = 0; i < busy; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, i ? read_live : refresh_it, &all), 0);
    for (int round = 0; round < 20; round++) {
        changer_commit(&changer, 200);
        if (unit_in_child()) {
            lx_dataset *handles[] = {all.live, all.live, pinned[0], pinned[1]};
            pthread_t here[4];
            for (int i = 0; i < 4; i++)
                if (pthread_create(&here[i], NULL, read_in_child, handles[i]) != 0)
                    _exit(3);
            for (int i = 0; i < 4; i++)
                pthread_join(here[i], NULL);
            uint64_t index = 5, value;
            if (lx_dataset_gather(all.live, 0, &index, 1, &value, 8, NULL) != LX_OK ||
                value / CHANGER_STEP != changer.version)
                _exit(4);
            _exit(0);
        }
    }
    atomic_store(&all.stop, true);
    for (int i = 0; i < busy; i++)
        pthread_join(threads[i], NULL);
    lx_dataset_close(pinned[0]);
    lx_dataset_close(pinned[1]);
    lx_dataset_close(all.live);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

/* ---- waiting */

static void *append_later(void *user)
{
    lx_writer *writer = user;
    for (int i = 0; i < 3; i++) {
        nap_ms(30);
        records_append(writer, 10);
        commit(writer);
    }
    return NULL;
}

START_TEST(a_wait_ends_when_the_records_exist)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    pthread_t thread;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 5);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_wait(dataset, 5, 0, &error));
    ck_assert_int_eq(pthread_create(&thread, NULL, append_later, writer), 0);
    unit_ok(lx_dataset_wait(dataset, 16, LX_NONE, &error)); /* two of the three */
    ck_assert_uint_ge(lx_dataset_get_length(dataset), 25);
    unit_ok(lx_dataset_wait(dataset, 35, 60000000000u, &error));
    pthread_join(thread, NULL);
    expect_records(dataset, 35);
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 2);
    lx_dataset *dataset = open_dataset("d");
    double start = now();
    ck_assert_int_eq(lx_dataset_wait(dataset, 8, 0, &error), LX_ERR_TIMEOUT);
    ck_assert_int_eq(lx_dataset_wait(dataset, 8, 50000000, &error), LX_ERR_TIMEOUT);
    ck_assert(now() - start >= 0.05);
    ck_assert_int_eq(error.status, LX_OK); /* a timeout is not a failure */
    ck_assert_int_eq(remove("d/meta.json"), 0);
    unit_fails(lx_dataset_wait(dataset, 8, LX_NONE, &error), LX_ERR_IO);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/refresh-live", a_live_handle_sees_the_newest_commit_in_each_call,
          threads_read_one_live_handle_while_it_changes, live_handles_follow_all_writer_operations,
          a_live_handle_that_cannot_refresh_fails_in_each_read, a_pinned_handle_keeps_its_snapshot,
          closing_a_pin_frees_its_resources, a_handle_counts_the_damage_its_pins_find,
          pins_and_live_handles_continue_in_a_child, a_wait_ends_when_the_records_exist,
          a_wait_ends_at_its_deadline)
