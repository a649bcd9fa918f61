/* SPDX-License-Identifier: MIT */
/* The conditions on a dataset whose meta.json is sealed: doc/zrecord-format.md, 9.6. */
#include "zrecord/snapshot/sealed.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../frames.h"
#include "../records.h"

/** A change of meta.json. */
struct edit {
    const char *name;
    const char *from, *to;
    const char *said;
};

/** Opening must reject each. The dataset has 10 records, and one chunk, which is not full. */
static const struct edit edits[] = {
    {"a length too small", "\"length\": 10", "\"length\": 9", "length"},
    {"a length too large", "\"length\": 10", "\"length\": 11", "length"},
    {"a chunk too many", "\"num\": 1", "\"num\": 2", "chunks"},
    {"a chunk too few", "\"num\": 1", "\"num\": 0", "chunks"},
    {"another limit of records", "\"size\": 1048576", "\"size\": 1", "chunks"},
    {"another limit of bytes", "\"limit\": 1073741824", "\"limit\": 1", "chunks"},
    {"no tables", "\"tables\"", "\"tabels\"", "tables"},
    {"a table of another name", "\"image.offset\"", "\"image.offset.1\"", "image.offset"},
    {"a table more", "\"image.offset\": {",
     "\"more\": {\"bytes\": 0, \"crc\": 0}, \"image.offset\": {", "tables"},
    {"a table that is no object", "\"image.offset\": {", "\"image.offset\": 7, \"x\": {", "tables"},
    {"a stem of another field", "\"stem\": \"label\"", "\"stem\": \"lebal\"", "lebal"},
    {"a table's bytes", "\"bytes\": 160", "\"bytes\": 161", "size of a table"},
    {"a table without bytes", "\"bytes\": 160", "\"byte\": 160", "bytes"},
    {"a table's crc above 32 bits", "\"crc\": ", "\"crc\": 99999999999, \"was\": ", "crc"},
    {"another log", "\"generation\": 0", "\"generation\": 1", ""},
};

START_TEST(rejects_a_meta_json_that_disagrees)
{
    char *scratch = scratch_make();
    records_make_sealed("whole", 10);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        lx_error error = LX_ERROR_INIT;
        lx_dataset *dataset = NULL;
        directory_copy("whole", "d");
        file_edit("d/meta.json", edits[i].from, edits[i].to);
        lx_status status = lx_dataset_open("d", NULL, &dataset, &error);
        ck_assert_msg(status == LX_ERR_CORRUPT, "%s: %s", edits[i].name,
                      lx_status_get_name(status));
        char whole[2048];
        lx_error_describe(&error, whole, sizeof whole);
        ck_assert_msg(strstr(whole, edits[i].said) != NULL, "%s: %s", edits[i].name, whole);
        remove_all("d");
    }
    expect_dataset("whole", 10);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_list_of_chunks_that_disagrees)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 10);
    lx_dataset *dataset = open_dataset("d");
    lx_chunk_stats chunk;
    ck_assert(chunk_at(dataset, 0, &chunk));
    lx_dataset_close(dataset);
    /* Jansson writes lists over several lines: replace them by one line. */
    size_t size;
    char *text = (char *)file_bytes("d/meta.json", &size);
    char *start = strstr(text, "\"unfull\""), *end = strstr(start, "\"next_field\"");
    ck_assert(start != NULL && end != NULL);
    char *rest = strdup(end);
    static const int64_t changes[][3] = {{0, 0, 0},  {1, 0, 0}, {0, 1, 0},
                                         {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (size_t i = 0; i < 8; i++) {
        char lists[128] = "[]";
        if (i < 6)
            snprintf(lists, sizeof lists, "[[%lld, %lld, %lld]]", (long long)changes[i][0],
                     (long long)chunk.bytes + changes[i][1],
                     (long long)chunk.payloads + changes[i][2]);
        if (i == 6)
            snprintf(lists, sizeof lists, "[[0, %lld, %lld], [1, 0, 0]]", (long long)chunk.bytes,
                     (long long)chunk.payloads);
        char *edited = malloc(size + 256);
        snprintf(edited, size + 256, "%.*s\"unfull\": %s}, %s", (int)(start - text), text, lists,
                 rest);
        file_put_meta("d/meta.json", edited);
        free(edited);
        if (i == 0)
            expect_dataset("d", 10);
        else
            expect_refused("d", LX_ERR_CORRUPT, "chunks", "d/meta.json");
    }
    free(rest);
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_tables_of_another_length)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const names[] = {"image.offset", "image.check", "blob.offset", "blob.check"};
    records_make_sealed("whole", 10);
    for (size_t i = 0; i < 4; i++) {
        directory_copy("whole", "d");
        uint64_t size = file_size(in("d", names[i]));
        file_cut(in("d", names[i]), size - 1);
        expect_refused("d", LX_ERR_CORRUPT, "bytes", names[i]);
        file_cut(in("d", names[i]), size + 1);
        expect_refused("d", LX_ERR_CORRUPT, "bytes", names[i]);
        ck_assert_int_eq(remove(in("d", names[i])), 0);
        lx_dataset *dataset = NULL;
        ck_assert_int_eq(lx_dataset_open("d", NULL, &dataset, &error), LX_ERR_CORRUPT);
        ck_assert_str_eq(error.field, i < 2 ? "image" : "blob");
        lx_error_clear(&error);
        remove_all("d");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(an_empty_dataset_needs_its_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("d", 0);
    expect_dataset("d", 0);
    ck_assert_int_eq(remove("d/wave.check"), 0);
    expect_refused("d", LX_ERR_CORRUPT, "", "wave.check");
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_chunks_of_another_length_on_first_use)
{
    char *scratch = scratch_make();
    records_make_sealed("whole", 10);
    for (int more = -1; more <= 1; more += 2) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("whole", "d");
        file_cut("d/chunk/0.zr", (uint64_t)((int64_t)file_size("d/chunk/0.zr") + more));
        lx_dataset *dataset = open_dataset("d");
        uint64_t index = 0;
        uint8_t image[12], label[8];
        lx_status status = lx_dataset_gather(dataset, IMAGE, &index, 1, image, 12, &error);
        expect_error(status, LX_ERR_CORRUPT, "bytes", "chunk/0.zr");
        /* others are read */
        unit_ok(lx_dataset_gather(dataset, LABEL, &index, 1, label, 8, &error));
        unit_fails(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error), LX_ERR_CORRUPT);
        lx_dataset_close(dataset);
        remove_all("d");
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(only_verification_checks_the_crc_of_a_table)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make_sealed("whole", 10);
    directory_copy("whole", "d");
    file_edit("d/meta.json", "\"crc\": ", "\"crc\": 7, \"was\": ");
    lx_dataset *dataset = open_dataset("d");
    expect_records(dataset, 10);
    lx_status status = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "table checksum mismatch", "image.offset");
    lx_dataset_close(dataset);
    remove_all("d");
    /* Nothing else detects a value that became missing. */
    directory_copy("whole", "d");
    static const uint8_t zeros[16];
    file_patch("d/image.offset", 0, zeros, 16);
    file_patch("d/image.check", 0, zeros, 8);
    dataset = open_dataset("d");
    status = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error);
    expect_error(status, LX_ERR_CORRUPT, "table checksum mismatch", "image.offset");
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

/** Unseals it as a writer does, by replacing meta.json. */
static void unseal(const char *path)
{
    size_t size;
    uint8_t *text = file_bytes(in(path, "meta.json"), &size);
    file_put(in(path, "meta.json.new"), text, size);
    free(text);
    file_edit(in(path, "meta.json.new"), "\"sealed\": true", "\"sealed\": false");
    ck_assert_int_eq(rename(in(path, "meta.json.new"), in(path, "meta.json")), 0);
}

START_TEST(unsealing_keeps_readers_working)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool changed;
    records_make_sealed("d", 10);
    lx_dataset *before = open_dataset("d"), *other = open_dataset("d");
    unseal("d");
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 15);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    unseal("d");
    /* No chunk was touched before, and all files have grown. */
    expect_records(before, 10);
    unit_ok(lx_dataset_verify(before, NULL, NULL, NULL, NULL, &error));
    unit_ok(lx_dataset_refresh(before, &changed, &error));
    ck_assert(changed);
    expect_records(before, 25);
    /* But a removed file is an error. */
    file_cut("d/chunk/0.zr", 20);
    uint64_t index = 5;
    uint8_t image[12];
    lx_status status = lx_dataset_gather(other, IMAGE, &index, 1, image, 12, &error);
    expect_error(status, LX_ERR_CORRUPT, "bytes", "chunk/0.zr");
    lx_dataset_close(other);
    lx_dataset_close(before);
    scratch_remove(scratch);
}
END_TEST

static void *open_again_and_again(void *user)
{
    _Atomic bool *done = user;
    uint64_t length = 0;
    while (!*done) {
        lx_dataset *dataset = open_dataset("d");
        ck_assert_uint_ge(lx_dataset_get_length(dataset), length);
        length = lx_dataset_get_length(dataset);
        expect_records(dataset, length);
        lx_dataset_close(dataset);
    }
    return NULL;
}

START_TEST(readers_continue_while_seals_come_and_go)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    _Atomic bool done = false;
    pthread_t reader;
    records_make_sealed("d", 2);
    ck_assert_int_eq(pthread_create(&reader, NULL, open_again_and_again, &done), 0);
    for (int i = 0; i < 25; i++) {
        unseal("d");
        lx_writer *writer = records_reopen("d", NULL);
        records_append(writer, 1);
        commit(writer);
        records_append(writer, 1);
        unit_ok(lx_writer_seal(writer, &error));
        close_writer(writer);
    }
    done = true;
    ck_assert_int_eq(pthread_join(reader, NULL), 0);
    expect_dataset("d", 52);
    scratch_remove(scratch);
}
END_TEST

/** Makes a frame the last one of the sealed dataset d. */
static void add_frame(const struct frame *frame)
{
    lx_dataset_identity identity;
    size_t size;
    lx_dataset *dataset = open_dataset("whole");
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    struct log log = {.identity = identity_of(identity.uuid),
                      .sequence = identity.sequence + 1,
                      .crc = identity.checksum};
    log.bytes = file_bytes("d/LOG", &size);
    log.size = size;
    log_add(&log, frame);
    file_put("d/LOG", log.bytes, log.size);
    log_free(&log);
}

START_TEST(rejects_a_log_that_disagrees)
{
    static const lx__update_item update = {LABEL, 3, {0xffffffff, 8, 5, 8, 1}};
    static const lx__chunk_item chunk = {1, 1, 100};
    const struct frame frames[] = {
        {.length = 10, .rows = 10, .next_chunk = 1, .boot = lx__boot_id()}, /* not synced */
        {.length = 11, .rows = 11, .next_chunk = 1, .flags = SYNCED},       /* longer */
        {.length = 9, .rows = 10, .next_chunk = 1, .flags = SYNCED},        /* rows beyond */
        {.length = 10, .rows = 11, .next_chunk = 1, .flags = SYNCED},       /* rows beyond */
        {.length = 10,
         .rows = 10,
         .next_chunk = 1,
         .flags = SYNCED,
         .updates = &update,
         .update_count = 1},
        {.length = 10,
         .rows = 10,
         .next_chunk = 2,
         .flags = SYNCED,
         .chunks = &chunk,
         .chunk_count = 1},
    };
    char *scratch = scratch_make();
    records_make_sealed("whole", 10);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        lx_error error = LX_ERROR_INIT;
        directory_copy("whole", "d");
        add_frame(&frames[i]);
        if (i == 0 && frames[i].boot == 0)
            expect_dataset("d", 10); /* the frame is not valid */
        else
            expect_refused("d", LX_ERR_CORRUPT, "sealed", "d/meta.json");
        remove_all("d");
    }
    /* A log truncated to the end that meta.json had before. */
    lx_error error = LX_ERROR_INIT;
    directory_copy("whole", "d");
    file_cut("d/LOG", 72);
    expect_refused("d", LX_ERR_CORRUPT, "sealed", "d/meta.json");
    scratch_remove(scratch);
}
END_TEST

START_TEST(accepts_a_frame_without_changes)
{
    char *scratch = scratch_make();
    records_make_sealed("whole", 10);
    directory_copy("whole", "d");
    add_frame(&(struct frame){.length = 10, .rows = 10, .next_chunk = 1, .flags = SYNCED});
    expect_dataset("d", 10);
    scratch_remove(scratch);
}
END_TEST

START_TEST(checksums_cover_all_bytes)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const size_t sizes[] = {0, 1, 9, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20};
    uint8_t *bytes = malloc(3 << 20);
    for (size_t i = 0; i < 3 << 20; i++)
        bytes[i] = (uint8_t)mix(i);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lx__file file;
        uint64_t size;
        uint32_t crc;
        file_put("f", bytes, sizes[i]);
        unit_ok(lx__file_open(&file, LX__CWD, "f", O_RDONLY, &error));
        unit_ok(lx__file_sum(&file, &size, &crc, &error));
        ck_assert_uint_eq(size, sizes[i]);
        ck_assert_uint_eq(crc, lx__crc32c(0, bytes, sizes[i]));
        lx__file_close(&file);
    }
    free(bytes);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/sealed", rejects_a_meta_json_that_disagrees,
          rejects_a_list_of_chunks_that_disagrees, rejects_tables_of_another_length,
          an_empty_dataset_needs_its_files, rejects_chunks_of_another_length_on_first_use,
          only_verification_checks_the_crc_of_a_table, unsealing_keeps_readers_working,
          readers_continue_while_seals_come_and_go, rejects_a_log_that_disagrees,
          accepts_a_frame_without_changes, checksums_cover_all_bytes)
