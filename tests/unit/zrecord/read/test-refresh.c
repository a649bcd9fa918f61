/* SPDX-License-Identifier: MIT */
/* Refreshing a handle: in the same log, in the next one, and after changes of the schema. */
#include "../../scarce.h"
#include "../changer.h"
#include "zrecord/read/refresh.h"

#define LENGTH 300

/** Replaces meta.json, as a writer would: another file by the same name. */
static void replace_meta(const char *from, const char *to)
{
    size_t size;
    uint8_t *meta = file_bytes("d/meta.json", &size);
    file_put("d/meta.json.new", meta, size);
    free(meta);
    if (from != NULL)
        file_edit("d/meta.json.new", from, to);
    ck_assert_int_eq(rename("d/meta.json.new", "d/meta.json"), 0);
}

/* ---- new commits */

START_TEST(a_refresh_without_new_commits_allocates_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed = true;
    struct changer changer = changer_new("d", LENGTH);
    changer_commit(&changer, LENGTH);
    lx_dataset *pinned = open_first("d"), *live = open_live("d");
    uint64_t index = 7, value;
    unit_ok(lx_dataset_refresh(pinned, NULL, &error));
    scarce_begin(0);
    for (int i = 0; i < 100; i++) {
        unit_ok(lx_dataset_refresh(pinned, &changed, &error));
        ck_assert(!changed);
        unit_ok(lx_dataset_gather(live, 0, &index, 1, &value, 8, &error));
        ck_assert_uint_eq(value, changer_value(1, 0, 7));
    }
    scarce_begin(1000000);
    lx_dataset_close(pinned);
    lx_dataset_close(live);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_refresh_opens_no_table_that_has_not_grown)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *dataset = open_first("d");
    ck_assert_int_eq(rename("d/a.offset", "d/away"), 0);
    for (uint64_t version = 1; version < 5; version++) {
        changer_commit(&changer, LENGTH);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        ck_assert_uint_eq(changer_read(dataset, 200), version);
    }
    lx_dataset_close(dataset);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(shares_unchanged_parts)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    changer_commit(&changer, LENGTH);
    lx_dataset *dataset = open_first("d");
    lx__snapshot *first = lx__dataset_pin(dataset);
    lx__update_item one = changer_update(&changer, 2, 0, 5);
    changer_add(
        &changer,
        &(struct frame){
            .length = LENGTH, .rows = LENGTH, .flags = SYNCED, .updates = &one, .update_count = 1});
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    lx__snapshot *second = lx__dataset_pin(dataset);
    ck_assert_ptr_ne(first, second);
    ck_assert_ptr_eq(first->columns, second->columns);
    ck_assert_ptr_eq(first->state.chunks, second->state.chunks);
    ck_assert_ptr_eq(first->chunk_data, second->chunk_data);
    ck_assert_uint_eq(first->state.overlay.depth, 1);
    ck_assert_uint_eq(second->state.overlay.depth, 2);
    ck_assert_ptr_eq(first->state.overlay.uses[0].layer, second->state.overlay.uses[0].layer);
    lx_dataset_close(dataset);
    lx__snapshot_unref(first);
    lx__snapshot_unref(second);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(follows_appended_records_from_the_log_to_the_tables)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    lx_dataset *dataset = open_live("d");
    for (uint64_t i = 0; i < 50; i++) {
        records_append(writer, i == 30 ? 5000 : 3); /* go to the tables with all others */
        commit(writer);
        uint64_t length = lx_dataset_get_length(dataset);
        ck_assert_uint_eq(length, lx_writer_get_length(writer));
        for (int field = 0; field < FIELDS; field++) {
            expect_value(dataset, field, length - 1);
            expect_value(dataset, field, mix(i) % length);
        }
    }
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    ck_assert_uint_gt(snapshot->state.rows, 5000);
    lx__snapshot_unref(snapshot);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- a truncated log */

START_TEST(leaves_a_snapshot_that_the_log_lost)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *dataset = open_first("d");
    changer_commit(&changer, LENGTH);
    size_t size = changer.log.size;
    uint64_t sequence = changer.log.sequence;
    uint32_t crc = changer.log.crc;
    for (int step = 0; step < 4; step++) {
        bool changed;
        changer_commit(&changer, LENGTH);
        changer_commit(&changer, LENGTH - 10);
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        ck_assert_uint_eq(changer_read(dataset, 4), changer.version);
        /* These frames were never synced, and were lost: the next writer has truncated them, */
        changer.log.size = size;
        changer.log.sequence = sequence;
        changer.log.crc = crc;
        file_cut("d/LOG", size);
        uint64_t expected = 1;
        if (step != 0) { /* and has added others: fewer, as many, more */
            for (int i = 0; i < step; i++)
                changer_commit(&changer, LENGTH);
            expected = changer.version;
        }
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(changed);
        ck_assert_uint_eq(lx_dataset_get_length(dataset), LENGTH);
        ck_assert_uint_eq(changer_read(dataset, 4), expected);
        ck_assert_uint_eq(changer_read(dataset, LENGTH - 1), expected);
        unit_ok(lx_dataset_refresh(dataset, &changed, &error));
        ck_assert(!changed);
        file_cut("d/LOG", size);
        changer.log.size = size;
        changer.log.sequence = sequence;
        changer.log.crc = crc;
        unit_ok(lx_dataset_refresh(dataset, NULL, &error));
        ck_assert_uint_eq(changer_read(dataset, 4), 1);
    }
    lx_dataset_close(dataset);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_another_dataset_in_its_place)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d"), *plain = open_first("d"), *pinned;
    unit_ok(lx_dataset_pin(live, &pinned, &error));
    ck_assert_int_eq(mkdir("elsewhere", 0777), 0);
    ck_assert_int_eq(chdir("elsewhere"), 0); /* the paths were relative */
    ck_assert_int_eq(rename("../d", "../moved"), 0);
    lx_dataset *all[] = {live, plain, pinned};
    for (int i = 0; i < 3; i++)
        unit_ok(lx_dataset_refresh(all[i], NULL, &error)); /* it does not depend on the path */
    ck_assert_int_eq(mkdir("../d", 0777), 0);
    for (int i = 0; i < 3; i++)
        unit_ok(lx_dataset_refresh(all[i], NULL, &error)); /* a path without a dataset */
    ck_assert_int_eq(rmdir("../d"), 0);
    directory_copy("../moved", "../d");
    for (int i = 0; i < 3; i++) {
        lx_status status = lx_dataset_refresh(all[i], NULL, &error);
        expect_error(status, LX_ERR_STATE, "different dataset", "d");
        lx_error_clear(&error);
        status = lx_dataset_wait(all[i], LENGTH + 1, UINT64_MAX, &error);
        expect_error(status, LX_ERR_STATE, "different dataset", "d");
        lx_error_clear(&error);
    }
    nftw("../moved", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    for (int i = 0; i < 3; i++) {
        lx_status status = lx_dataset_refresh(all[i], NULL, &error);
        expect_error(status, LX_ERR_STATE, "different dataset", "d"); /* not what is missing */
        lx_error_clear(&error);
        lx_dataset_close(all[i]);
    }
    ck_assert_int_eq(chdir(".."), 0);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_damage_after_the_snapshot_each_time)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *dataset = open_first("d");
    size_t at = changer.log.size;
    changer_commit(&changer, LENGTH);
    changer_commit(&changer, LENGTH);
    file_flip("d/LOG", at * 8 + 900);
    for (int i = 0; i < 3; i++) {
        lx_status status = lx_dataset_refresh(dataset, NULL, &error);
        expect_error(status, LX_ERR_CORRUPT, "damaged", "d/LOG");
        ck_assert_uint_eq(changer_read(dataset, 4), 0); /* the old state stays */
    }
    file_flip("d/LOG", at * 8 + 900);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    ck_assert_uint_eq(changer_read(dataset, 4), 2);
    lx_dataset_close(dataset);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

/* ---- another generation */

/** Continues the log of @p changer in LOG.1 and further, with everything live in its first
 * frame. */
static void switch_log(struct changer *changer, uint64_t live_updates)
{
    char name[64], from[64], to[64];
    uint64_t old = changer->log.identity.generation++;
    lx__update_item *updates = malloc(((size_t)live_updates * 2 + 1) * sizeof *updates);
    for (uint64_t i = 0; i < live_updates; i++)
        for (int field = 0; field < 2; field++)
            updates[2 * i + (uint64_t)field] = changer_update(changer, changer->version, field, i);
    struct log log = {.identity = changer->log.identity};
    log_add(&log, &(struct frame){.flags = SNAPSHOT | SYNCED,
                                  .length = changer->length,
                                  .rows = changer->rows,
                                  .updates = updates,
                                  .update_count = (uint32_t)live_updates * 2});
    free(updates);
    log_free(&changer->log);
    changer->log = log;
    snprintf(name, sizeof name, "d/LOG.%d", (int)log.identity.generation);
    file_put(name, log.bytes, log.size);
    close(changer->file);
    changer->file = open(name, O_RDWR | O_CLOEXEC);
    snprintf(from, sizeof from, "\"generation\": %d", (int)old);
    snprintf(to, sizeof to, "\"generation\": %d", (int)log.identity.generation);
    replace_meta(from, to);
}

START_TEST(a_handle_continues_in_the_next_log)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d"), *pinned, *refreshed = open_first("d");
    unit_ok(lx_dataset_pin(live, &pinned, &error));
    for (int i = 0; i < 5; i++) {
        bool changed;
        changer_commit(&changer, LENGTH - 50);
        if (i % 2 == 0) /* also if the last commit of the old log was not seen */
            ck_assert_uint_eq(changer_read(live, 9), changer.version);
        switch_log(&changer, changer.length);
        ck_assert_uint_eq(changer_read(live, 9), changer.version);
        changer_commit(&changer, LENGTH - 50);
        ck_assert_uint_eq(changer_read(live, 9), changer.version);
        unit_ok(lx_dataset_refresh(refreshed, &changed, &error));
        ck_assert(changed);
        ck_assert_uint_eq(changer_read(refreshed, 9), changer.version);
        unit_ok(lx_dataset_refresh(refreshed, &changed, &error));
        ck_assert(!changed);
        ck_assert_uint_eq(changer_read(pinned, 9), 0);
        ck_assert_uint_eq(changer_read(pinned, LENGTH - 1), 0);
    }
    lx_dataset_close(live);
    lx_dataset_close(pinned);
    lx_dataset_close(refreshed);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

/** A relative path may refer to another file by now. */
START_TEST(a_handle_follows_a_renamed_directory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 9, 3);
    lx_dataset *dataset = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    ck_assert_int_eq(mkdir("elsewhere", 0777), 0);
    ck_assert_int_eq(chdir("elsewhere"), 0);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    expect_records(dataset, 12);
    ck_assert_int_eq(chdir(".."), 0);
    ck_assert_int_eq(rename("d", "moved"), 0);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    expect_records(dataset, 12);
    close_writer(writer);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(mappings_and_verification_survive_the_next_log)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 40);
    records_unseal("d");
    lx_dataset *dataset = open_first("d");
    const uint64_t indices[] = {4, 5};
    uint8_t image[24];
    lx_dataset_identity identity;
    lx_slice before, after;
    lx_view *view, *later;
    unit_ok(lx_dataset_gather(dataset, IMAGE, &indices[0], 1, image, 12, &error));
    unit_ok(lx_dataset_view(dataset, IMAGE, &indices[0], 1, &before, &view, &error));
    lx_dataset_get_identity(dataset, &identity);
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    const lx__state *state = &snapshot->state;
    struct log log = {.identity = identity_of(identity.uuid)};
    log.identity.generation = 1;
    log_add(&log, &(struct frame){.flags = SNAPSHOT | SYNCED,
                                  .length = 40,
                                  .rows = 40,
                                  .next_chunk = state->next_chunk,
                                  .chunks = state->chunks,
                                  .chunk_count = (uint32_t)state->chunk_count});
    file_put("d/LOG.1", log.bytes, log.size);
    log_free(&log);
    replace_meta("\"generation\": 0", "\"generation\": 1");
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    lx_dataset_get_identity(dataset, &identity);
    ck_assert_uint_eq(identity.generation, 1);
    unit_ok(lx_dataset_view(dataset, IMAGE, &indices[0], 1, &after, &later, &error));
    ck_assert_ptr_eq(before.data, after.data);
    lx_view_free(view);
    lx_view_free(later);
    /* Record 4 was verified, record 5 was not. */
    file_flip("d/image.check", (4 * 8 + 4) * 8);
    file_flip("d/image.check", (5 * 8 + 4) * 8);
    unit_ok(lx_dataset_gather(dataset, IMAGE, &indices[0], 1, image, 12, &error));
    unit_fails(lx_dataset_gather(dataset, IMAGE, &indices[1], 1, image, 12, &error),
               LX_ERR_CORRUPT);
    lx__snapshot_unref(snapshot);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(maps_replaced_files_of_the_same_names)
{
    static const char *const names[] = {"d/image.offset", "d/image.check", "d/chunk/0.zr"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 40);
    records_unseal("d");
    lx_dataset *dataset = open_first("d");
    const uint64_t index = 4;
    uint8_t image[12];
    unit_ok(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error));
    /* Copies of the files, as of a dataset that was copied over it; each is damaged then. */
    for (size_t i = 0; i < 3; i++) {
        size_t size;
        uint8_t *bytes = file_bytes(names[i], &size);
        ck_assert_int_eq(remove(names[i]), 0);
        file_put(names[i], bytes, size);
        free(bytes);
    }
    replace_meta(NULL, NULL);
    unit_ok(lx_dataset_refresh(dataset, NULL, &error));
    file_flip("d/image.check", (4 * 8 + 4) * 8);
    unit_fails(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error), LX_ERR_CORRUPT);
    file_flip("d/image.check", (4 * 8 + 4) * 8);
    unit_ok(lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error));
    expect_value(dataset, IMAGE, 5);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(repeated_frames_change_nothing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed;
    lx_dataset_identity before, after;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_FULL));
    lx_dataset *dataset = open_dataset("d");
    records_append(writer, 20);
    commit(writer);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    lx_dataset_get_identity(dataset, &before);
    close_writer(writer);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(!changed);
    lx_dataset_get_identity(dataset, &after); /* the frame was replayed, though */
    ck_assert_uint_eq(after.sequence, before.sequence + 1);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_handle_continues_across_seal_and_unseal)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed;
    lx_dataset_identity identity;
    lx_writer *writer = records_create("d", writer_options(LX_DURABILITY_NONE));
    records_append(writer, 20);
    commit(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    lx_dataset_get_identity(dataset, &identity);
    ck_assert_uint_eq(identity.sealed, 1);
    expect_records(dataset, 20);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(!changed);
    replace_meta("\"sealed\": true", "\"sealed\": false");
    writer = records_reopen("d", NULL);
    records_append(writer, 7);
    commit(writer);
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    expect_records(dataset, 27);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* ---- changes of the schema */

/** Field c before the others: its id is 2, and it has no tables. */
static void add_field_c(void)
{
    replace_meta("\"fields\": [",
                 "\"fields\": [{\"id\": 2, \"name\": \"c\", \"stem\": \"c\", "
                 "\"dtype\": \"uint64\", \"shape\": [], \"compress\": \"raw\", \"align\": 8, "
                 "\"dict\": null},");
    replace_meta("\"next_field\": 2", "\"next_field\": 3");
}

START_TEST(added_and_renamed_fields_change_nothing_for_a_handle)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d");
    const lx_schema *schema = lx_dataset_get_schema(live);
    replace_meta("\"name\": \"a\"", "\"name\": \"alpha\"");
    changer_commit(&changer, LENGTH);
    ck_assert_uint_eq(changer_read(live, 17), 1);
    add_field_c();
    lx__update_item updates[] = {changer_update(&changer, 2, 0, 17),
                                 changer_update(&changer, 2, 1, 17),
                                 {.field = 2, .index = 17, .entry = {1, 2, 3, 4, 5}}};
    changer_add(&changer, &(struct frame){.length = LENGTH,
                                          .rows = LENGTH,
                                          .flags = SYNCED,
                                          .updates = updates,
                                          .update_count = 3});
    ck_assert_uint_eq(changer_read(live, 17), 2);
    ck_assert_uint_eq(changer_read(live, 18), 1);
    ck_assert_ptr_eq(lx_dataset_get_schema(live), schema);
    ck_assert_uint_eq(lx_schema_get_field_count(schema), 2);
    ck_assert_str_eq(lx_schema_get_field(schema, 0)->name, "a");
    /* Errors of a handle name fields as the handle shows them. */
    uint64_t beyond = LENGTH, value;
    ck_assert_int_eq(lx_dataset_gather(live, 0, &beyond, 1, &value, 8, &error), LX_ERR_RANGE);
    ck_assert_str_eq(error.field, "a");
    lx_error_clear(&error);
    unit_ok(lx_dataset_verify(live, NULL, NULL, NULL, NULL, &error));
    /* Many commits with updates of a field that is not shown do not make it read meta.json again:
     * reading takes memory. */
    for (int i = 0; i < 3; i++) {
        changer_commit(&changer, LENGTH);
        ck_assert_uint_eq(changer_read(live, 17), changer.version);
    }
    /* Another generation does not bring back old names. */
    switch_log(&changer, LENGTH);
    ck_assert_uint_eq(changer_read(live, 17), changer.version);
    ck_assert_str_eq(lx_schema_get_field(lx_dataset_get_schema(live), 0)->name, "a");
    lx_dataset_close(live);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(names_a_dropped_field)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct changer changer = changer_new("d", LENGTH);
    lx_dataset *live = open_live("d"), *pinned;
    unit_ok(lx_dataset_pin(live, &pinned, &error));
    replace_meta("\"next_field\": 2", "\"next_field\": 10");
    replace_meta("\"id\": 1", "\"id\": 9"); /* b is another field now */
    for (int i = 0; i < 3; i++) {
        lx_status status = lx_dataset_refresh(live, NULL, &error);
        ck_assert_str_eq(error.field, "b");
        expect_error(status, LX_ERR_STATE, "dropped", "d");
        uint64_t index = 3, value;
        unit_fails(lx_dataset_gather(live, 0, &index, 1, &value, 8, &error), LX_ERR_STATE);
        ck_assert_uint_eq(lx_dataset_get_length(live), LENGTH);
        ck_assert_uint_eq(changer_read(pinned, 3), 0);
    }
    lx_dataset_close(live);
    lx_dataset_close(pinned);
    changer_free(&changer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_field_of_another_form_as_damage)
{
    static const char *const forms[][2] = {{"\"dtype\": \"uint64\"", "\"dtype\": \"int64\""},
                                           {"\"shape\": []", "\"shape\": [1]"},
                                           {"\"compress\": \"raw\"", "\"compress\": \"flate\""}};
    for (size_t i = 0; i < 3; i++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct changer changer = changer_new("d", 3);
        lx_dataset *dataset = open_first("d");
        replace_meta(forms[i][0], forms[i][1]);
        lx_status status = lx_dataset_refresh(dataset, NULL, &error);
        ck_assert_str_eq(error.field, "a");
        expect_error(status, LX_ERR_CORRUPT, "has changed", "d");
        ck_assert_uint_eq(changer_read(dataset, 2), 0);
        lx_dataset_close(dataset);
        changer_free(&changer);
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("zrecord/refresh", a_refresh_without_new_commits_allocates_nothing,
          a_refresh_opens_no_table_that_has_not_grown, shares_unchanged_parts,
          follows_appended_records_from_the_log_to_the_tables, leaves_a_snapshot_that_the_log_lost,
          reports_another_dataset_in_its_place, reports_damage_after_the_snapshot_each_time,
          a_handle_continues_in_the_next_log, a_handle_follows_a_renamed_directory,
          mappings_and_verification_survive_the_next_log, maps_replaced_files_of_the_same_names,
          repeated_frames_change_nothing, a_handle_continues_across_seal_and_unseal,
          added_and_renamed_fields_change_nothing_for_a_handle, names_a_dropped_field,
          reports_a_field_of_another_form_as_damage)
