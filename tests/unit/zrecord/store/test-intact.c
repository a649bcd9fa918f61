/* SPDX-License-Identifier: MIT */
/* How far what unsynced frames name is there. Three commits of one boot, none of them synced: the
 * first and the last in sets, the second in rows of the tables. */
#include "zrecord/store/intact.h"

#include "../../scarce.h"
#include "../entry-in.h"
#include "../frames.h"
#include "../records.h"
#include "zrecord/store/snapshot.h"

#define FRAMES 3
#define IN_SETS 20   /* records of the first commit, */
#define IN_ROWS 4020 /* with those of the second, */
#define LENGTH 4050  /* and of the third */

/** A dataset as lx__intact_end() is shown it. */
struct shown {
    lx__store *store;
    lx__log_reader log;
    lx__state settled;
    uint64_t starts[FRAMES + 1]; /* of the frames, and where the last one ends */
    lx__frame frames[FRAMES];
};

static void show(const char *path, struct shown *shown)
{
    lx_error error = LX_ERROR_INIT;
    lx__log_scan scan;
    bool unknown;
    unit_ok(lx__store_open(path, LX_VERIFY_NEVER, LX_PLACEMENT_AUTO, &shown->store, &error));
    lx__log_identity identity = {.generation = 0};
    memcpy(identity.uuid, shown->store->meta.uuid, sizeof identity.uuid);
    unit_ok(lx__log_open(&shown->log, &shown->store->directory, &identity, &error));
    shown->settled = (lx__state){0};
    unit_ok(lx__state_replay(&shown->settled, &shown->log, shown->store->meta.schema,
                             LX__REPLAY_DURABLE, &scan, &unknown, &error));
    shown->starts[0] = shown->settled.place.offset;
    for (int i = 0; i < FRAMES; i++) {
        unit_ok(lx__log_frame(&shown->log, shown->starts[i], &shown->frames[i], &error));
        shown->starts[i + 1] = shown->starts[i] + shown->frames[i].bytes;
    }
    ck_assert_uint_le(shown->starts[FRAMES], scan.valid.offset);
}

static void hide(struct shown *shown)
{
    lx__state_free(&shown->settled);
    lx__log_close(&shown->log);
    lx__store_unref(shown->store);
}

static lx_status look(struct shown *shown, uint64_t until, uint64_t *end, lx_error *error)
{
    const lx__intact_place place = {.directory = &shown->store->directory,
                                    .chunk_directory = &shown->store->chunk_directory,
                                    .schema = shown->store->meta.schema,
                                    .uuid = shown->store->meta.uuid};
    return lx__intact_end(&place, &shown->log, &shown->settled, until, end, error);
}

/** Frame number @p frame must be the first that lost something; FRAMES: none has. */
static void expect_lost(const char *path, int frame)
{
    struct shown shown;
    lx_error error = LX_ERROR_INIT;
    uint64_t end = 0;
    show(path, &shown);
    unit_ok(look(&shown, shown.starts[FRAMES], &end, &error));
    ck_assert_msg(end == shown.starts[frame], "cut at %d, not at %d, the start of frame %d",
                  (int)end, (int)shown.starts[frame], frame);
    hide(&shown);
}

static void make_whole(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk(options, 1 << 20, 1 << 18, &error));
    lx_writer *writer = records_create("d", options);
    records_append(writer, IN_SETS);
    commit(writer);
    records_append(writer, IN_ROWS - IN_SETS);
    commit(writer);
    records_append(writer, LENGTH - IN_ROWS);
    commit(writer);
    directory_copy("d", "whole"); /* what a kill would leave */
    close_writer(writer);
}

START_TEST(what_is_whole_is_intact_to_its_end)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    struct shown shown;
    lx_error error = LX_ERROR_INIT;
    make_whole();
    expect_lost("whole", FRAMES);
    show("whole", &shown);
    ck_assert_uint_eq(shown.frames[0].rows, 0); /* as the test means it */
    ck_assert_uint_eq(shown.frames[1].rows, IN_ROWS);
    ck_assert_uint_eq(shown.frames[2].set_count, (LENGTH - IN_ROWS) * FIELDS);
    for (int i = 0; i <= FRAMES; i++) {
        uint64_t end;
        unit_ok(look(&shown, shown.starts[i], &end, &error));
        ck_assert_uint_eq(end, shown.starts[i]);
    }
    hide(&shown);
    scratch_remove(scratch);
}
END_TEST

/** The commit that appended the record. */
static int frame_of(uint64_t index)
{
    return index < IN_SETS ? 0 : index < IN_ROWS ? 1 : 2;
}

START_TEST(a_payload_that_differs_loses_its_commit)
{
    static const uint64_t indices[] = {0, 4, 19, 20, 1234, 4019, 4020, 4049};
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    make_whole();
    lx_error error = LX_ERROR_INIT;
    lx__snapshot *snapshot;
    struct shown shown;
    show("whole", &shown);
    lx__state all = {0};
    unit_ok(lx__state_replay_to(&all, &shown.log, shown.store->meta.schema, shown.starts[FRAMES],
                                &error));
    unit_ok(lx__snapshot_new(shown.store, &all, &snapshot, &error));
    int stored = 0;
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        for (size_t field = 0; field < FIELDS; field++) {
            bool row;
            char name[64];
            lx__entry entry = entry_in(snapshot, field, indices[i], &row);
            if (lx__entry_is_missing(&entry) || lx__entry_is_inline(&entry))
                continue;
            snprintf(name, sizeof name, "whole/chunk/%u.zr", entry.chunk);
            uint64_t bit = 8 * (entry.offset + mix(i) % entry.physical) + 5;
            file_flip(name, bit);
            expect_lost("whole", frame_of(indices[i]));
            file_flip(name, bit);
            stored++;
        }
    }
    ck_assert_int_gt(stored, 10);
    expect_lost("whole", FRAMES);
    lx__snapshot_unref(snapshot);
    hide(&shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_row_that_differs_loses_the_commit_that_wrote_it)
{
    static const char *const names[] = {"image.offset", "image.check", "label.offset",
                                        "label.check",  "blob.offset", "blob.check"};
    static const uint64_t rows[] = {0, 1, 18, 2048, 4015, IN_ROWS - 1};
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    make_whole();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            uint64_t size = i % 2 == 0 ? 16 : 8;
            for (uint64_t bit = 3; bit < 8 * size; bit += 29) {
                file_flip(in("whole", names[i]), 8 * rows[k] * size + bit);
                expect_lost("whole", 1);
                file_flip(in("whole", names[i]), 8 * rows[k] * size + bit);
            }
        }
    }
    expect_lost("whole", FRAMES);
    scratch_remove(scratch);
}
END_TEST

START_TEST(files_that_are_cut_or_gone_lose_the_commits_that_name_them)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    make_whole();
    struct shown shown;
    show("whole", &shown);
    ck_assert_uint_ge(shown.frames[1].chunk_count, 2);
    hide(&shown);
    static const struct {
        const char *name;
        int64_t size; /* -1: gone; -2: one byte less */
        int lost;
    } cases[] = {{"chunk/0.zr", -1, 0},         {"chunk/0.zr", 0, 0},
                 {"chunk/0.zr", 100, 0},        {"chunk/1.zr", -1, 1},
                 {"chunk/1.zr", 0, 1},          {"chunk/0.zr", -2, 1},
                 {"image.offset", -1, 1},       {"blob.check", -1, 1},
                 {"image.offset", 0, 1},        {"wave.check", 8 * IN_ROWS - 1, 1},
                 {"blob.offset", 16 * 4000, 1}, {"label.check", 4096, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        directory_copy("whole", "harmed");
        const char *path = in("harmed", cases[i].name);
        if (cases[i].size == -1)
            ck_assert_int_eq(remove(path), 0);
        else
            file_cut(path, cases[i].size == -2 ? file_size(path) - 1 : (uint64_t)cases[i].size);
        expect_lost("harmed", cases[i].lost);
        remove_all("harmed");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(fields_that_are_not_known_are_not_looked_at)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_whole();
    ck_assert_int_eq(remove("whole/blob.check"), 0);
    expect_lost("whole", 1);
    struct shown shown;
    show("whole", &shown);
    lx_schema *whole = records_schema(), *schema = lx_schema_new();
    for (size_t i = 0; i < BLOB; i++) {
        const lx_field *field = lx_schema_get_field(whole, i);
        unit_ok(lx_schema_add_field(schema, field->name, field->dtype, field->shape, field->ndim,
                                    field->compression, &error));
    }
    const lx__intact_place place = {&shown.store->directory, &shown.store->chunk_directory, schema,
                                    shown.store->meta.uuid};
    uint64_t end;
    unit_ok(lx__intact_end(&place, &shown.log, &shown.settled, shown.starts[FRAMES], &end, &error));
    ck_assert_uint_eq(end, shown.starts[FRAMES]);
    lx_schema_free(schema);
    lx_schema_free(whole);
    hide(&shown);
    scratch_remove(scratch);
}
END_TEST

static size_t largest; /* of what was asked for */

static void *note_alloc(size_t size, void *user)
{
    (void)user;
    largest = size > largest ? size : largest;
    return malloc(size);
}

static void *note_resize(void *memory, size_t size, void *user)
{
    (void)user;
    largest = size > largest ? size : largest;
    return realloc(memory, size);
}

START_TEST(a_value_beyond_its_chunk_is_a_loss_and_takes_no_memory)
{
    static const lx_allocator noting = {note_alloc, note_resize, scarce_release, NULL};
    static const lx__entry entries[] = {{0, 0xf0000000, 0, 0xf0000000, 1},
                                        {0, 100, 1ull << 40, 100, 1},
                                        {0, 100, 1ull << 63, 100, 1},
                                        {0, 100, UINT64_MAX - 7, 100, 1}};
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_whole();
    struct shown shown;
    show("whole", &shown);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct log log = {.identity = shown.log.identity};
        const lx__set_item set = {BLOB, LENGTH, entries[i]};
        uint64_t end;
        log.bytes = file_bytes("whole/LOG", &log.size);
        log.epoch = shown.frames[FRAMES - 1].epoch + 1;
        log.crc = shown.frames[FRAMES - 1].crc;
        log_add(&log, &(struct frame){.length = LENGTH + 1, .rows = IN_ROWS, .boot = lx__boot_id(),
                                      .next_chunk = shown.frames[FRAMES - 1].next_chunk,
                                      .sets = &set, .set_count = 1});
        file_put("more", log.bytes, log.size);
        directory_copy("whole", "e");
        ck_assert_int_eq(rename("more", "e/LOG"), 0);
        struct shown more;
        show("e", &more);
        ck_assert_int_eq(lx_set_allocator(&noting, NULL), LX_OK);
        unit_ok(look(&more, log.size, &end, &error));
        ck_assert_int_eq(lx_set_allocator(NULL, NULL), LX_OK);
        ck_assert_uint_eq(end, shown.starts[FRAMES]);
        ck_assert_uint_gt(largest, 0);
        ck_assert_uint_lt(largest, 1 << 20);
        hide(&more);
        log_free(&log);
        remove_all("e");
    }
    hide(&shown);
    scratch_remove(scratch);
}
END_TEST

START_TEST(what_is_no_file_is_a_failure_and_no_loss)
{
    static const char *const names[] = {"chunk/0.zr", "wave.offset", "wave.check"};
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    make_whole();
    for (size_t i = 0; i < 3; i++) {
        for (enum disguise what = 0; what < DISGUISES; what++) {
            struct shown shown;
            lx_error error = LX_ERROR_INIT;
            uint64_t end;
            char path[64];
            snprintf(path, sizeof path, "whole/%s", names[i]);
            file_disguise(path, what);
            show("whole", &shown);
            lx_status status = look(&shown, shown.starts[FRAMES], &end, &error);
            expect_error(status, LX_ERR_CORRUPT, "", names[i]);
            hide(&shown);
            file_restore(path);
        }
    }
    expect_lost("whole", FRAMES);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_lack_of_memory_is_a_failure_and_no_loss)
{
    if (!boots_are_known())
        return;
    char *scratch = scratch_make();
    struct shown shown;
    lx_error error = LX_ERROR_INIT;
    lx_status status = LX_ERR_NOMEM;
    make_whole();
    show("whole", &shown);
    size_t before = directory_count("/proc/self/fd");
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 50);
        uint64_t end = 0;
        lx_error_clear(&error);
        scarce_begin(memory);
        status = look(&shown, shown.starts[FRAMES], &end, &error);
        scarce_begin(1000);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert_int_eq(error.status, status);
        ck_assert_int_eq(end == shown.starts[FRAMES], status == LX_OK);
        ck_assert_uint_eq(directory_count("/proc/self/fd"), before);
    }
    hide(&shown);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/intact", what_is_whole_is_intact_to_its_end,
          a_payload_that_differs_loses_its_commit,
          a_row_that_differs_loses_the_commit_that_wrote_it,
          files_that_are_cut_or_gone_lose_the_commits_that_name_them,
          fields_that_are_not_known_are_not_looked_at,
          a_value_beyond_its_chunk_is_a_loss_and_takes_no_memory,
          what_is_no_file_is_a_failure_and_no_loss, a_lack_of_memory_is_a_failure_and_no_loss)
