/* SPDX-License-Identifier: MIT */
/* A joined dataset has the records of its parts, whose chunks it leaves alone. */
#include "../../scarce.h"
#include "../goldens.h"
#include "../harm.h"
#include "../texts.h"

#include <loaderx/maintenance.h>

#define PARTS_MAX 300

/** The parts of a join, and their paths below the joined dataset. */
struct parts {
    lx_dataset *open[PARTS_MAX];
    const char *paths[PARTS_MAX];
    char names[PARTS_MAX][32];
    uint64_t count;
};

static void make_folders(const char *joined)
{
    ck_assert(mkdir(joined, 0777) == 0 || errno == EEXIST);
    ck_assert(mkdir(in(joined, "part"), 0777) == 0 || errno == EEXIST);
}

/** Opens the part NAME of the dataset at @p joined. */
static void add_part(struct parts *parts, const char *joined, const char *name)
{
    uint64_t i = parts->count++;
    snprintf(parts->names[i], sizeof parts->names[i], "%s", name);
    parts->paths[i] = parts->names[i];
    parts->open[i] = open_dataset(in(joined, name));
}

static void close_parts(struct parts *parts)
{
    for (uint64_t i = 0; i < parts->count; i++)
        lx_dataset_close(parts->open[i]);
    parts->count = 0;
}

static lx_status try_join(const char *path, struct parts *parts, lx_error *error)
{
    return lx_dataset_join(path, parts->open, parts->paths, parts->count, NULL, NULL, error);
}

static void join(const char *path, struct parts *parts)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(try_join(path, parts, &error));
    close_parts(parts);
}

/** Makes the part NAME with the records [first, first + count) of records.h, in chunks of
 * @p chunk_records. */
static void make_part(const char *path, uint64_t first, uint64_t count, uint64_t chunk_records)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_NONE);
    unit_ok(lx_writer_options_set_chunk_limits(options, chunk_records, 1 << 30, &error));
    lx_writer *writer = records_create(path, options);
    for (uint64_t i = 0; i < count; i++)
        unit_ok(record_append(writer, first + i, &error));
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
}

/** Makes and opens @p count parts of the dataset d, which have @p each records of records.h. */
static void make_parts(struct parts *parts, uint64_t count, uint64_t each)
{
    char name[32];
    make_folders("d");
    for (uint64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "part/%u", (unsigned)i);
        make_part(in("d", name), i * each, each, 1 + i % 40);
        add_part(parts, "d", name);
    }
}

START_TEST(a_joined_dataset_has_all_records)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct parts parts = {0};
    make_parts(&parts, 5, 37);
    uint64_t digest, copied;
    join("d", &parts);
    expect_dataset("d", 5 * 37);
    records_make_sealed("whole", 5 * 37);
    lx_dataset *joined = open_dataset("d"), *whole = open_dataset("whole");
    unit_ok(lx_dataset_digest(joined, NULL, NULL, &digest, &error));
    unit_ok(lx_dataset_digest(whole, NULL, NULL, &copied, &error));
    ck_assert_uint_eq(digest, copied);
    lx_dataset_close(whole);
    lx_dataset_close(joined);
    ck_assert(!file_exists("d/meta.json.new"));
    scratch_remove(scratch);
}
END_TEST

/** Moves the chunks of a part away, or back. */
static void move_chunks(const char *part, bool back)
{
    char chunk[64], away[64];
    snprintf(chunk, sizeof chunk, "%s/chunk", part);
    snprintf(away, sizeof away, "%s.chunk", part);
    ck_assert(!back || rmdir(chunk) == 0);
    ck_assert_int_eq(rename(back ? away : chunk, back ? chunk : away), 0);
    ck_assert(back || mkdir(chunk, 0777) == 0);
}

START_TEST(no_payload_is_read)
{
    static const char *const folders[] = {"d/part/0", "d/part/1", "d/part/2"};
    char *scratch = scratch_make();
    struct parts parts = {0};
    make_parts(&parts, 3, 20);
    for (int i = 0; i < 3; i++)
        move_chunks(folders[i], false);
    join("d", &parts);
    for (int i = 0; i < 3; i++)
        move_chunks(folders[i], true);
    expect_dataset("d", 60);
    scratch_remove(scratch);
}
END_TEST

START_TEST(joined_datasets_can_be_joined)
{
    char *scratch = scratch_make();
    struct parts parts = {0};
    make_folders("e");
    make_parts(&parts, 3, 20);
    join("d", &parts);
    ck_assert_int_eq(rename("d", "e/part/0"), 0);
    make_part("e/part/1", 60, 15, 9);
    add_part(&parts, "e", "part/0");
    add_part(&parts, "e", "part/1");
    join("e", &parts);
    expect_dataset("e", 75);
    expect_dataset("e/part/0", 60);
    /* and the whole tree can be moved */
    ck_assert_int_eq(rename("e", "f"), 0);
    expect_dataset("f", 75);
    scratch_remove(scratch);
}
END_TEST

START_TEST(parts_can_be_joined_in_groups)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct parts parts = {0}, group, groups = {.paths = {"", ""}, .count = 2};
    make_parts(&parts, 5, 20);
    group = parts;
    group.count = 3;
    unit_ok(try_join("first", &group, &error));
    for (int i = 0; i < 2; i++) {
        group.open[i] = parts.open[3 + i];
        group.paths[i] = parts.names[3 + i];
    }
    group.count = 2;
    unit_ok(try_join("second", &group, &error));
    close_parts(&parts);
    groups.open[0] = open_dataset("first"); /* which has no chunks of its own */
    groups.open[1] = open_dataset("second");
    join("joined", &groups);
    ck_assert_int_eq(rename("d/part", "joined/part"), 0);
    expect_dataset("joined", 100);
    scratch_remove(scratch);
}
END_TEST

START_TEST(names_of_parts_are_synced)
{
    char *scratch = scratch_make();
    struct stat about;
    struct parts parts = {0};
    make_folders("d");
    make_part("d/a", 0, 10, 5);
    make_part("d/part/b", 10, 10, 5);
    make_part("d/part/c", 20, 10, 5);
    add_part(&parts, "d", "a");
    add_part(&parts, "d", "part/b");
    add_part(&parts, "d", "part/c");
    ck_assert_int_eq(stat("d/part", &about), 0);
    atomic_store(&sync_watched, about.st_ino);
    join("d", &parts);
    ck_assert_uint_eq(atomic_load(&watched_syncs), 1);
    atomic_store(&sync_watched, 0);
    expect_dataset("d", 30);
    scratch_remove(scratch);
}
END_TEST

START_TEST(parts_may_be_few_or_empty)
{
    char *scratch = scratch_make();
    struct parts parts = {0};
    make_folders("d");
    make_part("d/part/a", 0, 0, 10);
    add_part(&parts, "d", "part/a");
    join("d", &parts);
    expect_dataset("d", 0);
    make_folders("e");
    make_part("e/part/a", 0, 12, 10);
    add_part(&parts, "e", "part/a");
    join("e", &parts);
    expect_dataset("e", 12);
    ck_assert_int_eq(mkdir("f", 0777), 0);
    make_part("f/a", 0, 0, 10);
    make_part("f/b", 0, 12, 10);
    make_part("f/c", 0, 0, 10);
    add_part(&parts, "f", "a");
    add_part(&parts, "f", "b");
    add_part(&parts, "f", "c");
    join("f", &parts);
    expect_dataset("f", 12);
    scratch_remove(scratch);
}
END_TEST

START_TEST(parts_may_be_many)
{
    char *scratch = scratch_make();
    struct parts parts = {0};
    struct rlimit files;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    make_parts(&parts, PARTS_MAX, 2);
    join("d", &parts);
    expect_dataset("d", 2 * PARTS_MAX);
    scratch_remove(scratch);
}
END_TEST

/* ---- what is refused */

/** Tries to join the parts a and b of the dataset d. */
static lx_status join_two(lx_error *error)
{
    struct parts parts = {0};
    add_part(&parts, "d", "part/a");
    add_part(&parts, "d", "part/b");
    lx_status status = try_join("d", &parts, error);
    close_parts(&parts);
    ck_assert(status == LX_OK || !file_exists("d/meta.json"));
    return status;
}

/** Makes a part of one field. */
static void make_one(const char *path, const char *name, lx_dtype dtype, uint64_t extent,
                     lx_compression compression)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, name, dtype, &extent, extent != 0, compression, &error));
    unit_ok(lx_writer_create(path, schema, NULL, &writer, &error));
    unit_ok(lx_writer_seal(writer, &error));
    lx_schema_free(schema);
    close_writer(writer);
}

START_TEST(fields_must_be_the_same)
{
    static const struct {
        const char *name;
        lx_dtype dtype;
        uint64_t extent;
        lx_compression compression;
        const char *said;
    } others[] = {{"y", LX_INT32, 16, LX_COMPRESSION_RAW, "missing"},
                  {"x", LX_INT64, 16, LX_COMPRESSION_RAW, "dtype or shape"},
                  {"x", LX_INT32, 15, LX_COMPRESSION_RAW, "dtype or shape"},
                  {"x", LX_INT32, 16, LX_COMPRESSION_FLATE, "compressed"},
                  {"x", LX_BYTES, 0, LX_COMPRESSION_RAW, "dtype or shape"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        make_folders("d");
        make_one("d/part/a", "x", LX_INT32, 16, LX_COMPRESSION_RAW);
        make_one("d/part/b", others[i].name, others[i].dtype, others[i].extent,
                 others[i].compression);
        expect_error(join_two(&error), LX_ERR_MISMATCH, others[i].said, "part/b");
        ck_assert(!file_exists("d/LOG"));
        scratch_remove(scratch);
    }
}
END_TEST

/** Changes a file, but not its CRC-32C: the bytes that change are a multiple of its polynomial. */
static void change_behind_the_crc(const char *path)
{
    static const uint8_t polynomial[] = {0xf1, 0x76, 0xec, 0x05, 0x01};
    size_t size;
    uint8_t *bytes = file_bytes(path, &size);
    uint32_t crc = lx__crc32c(0, bytes, size);
    for (size_t i = 0; i < sizeof polynomial; i++)
        bytes[size / 2 + i] ^= polynomial[i];
    ck_assert_uint_eq(lx__crc32c(0, bytes, size), crc);
    file_put(path, bytes, size);
    free(bytes);
}

START_TEST(dictionaries_must_be_the_same)
{
    if (!WITH_ZSTD)
        return;
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders("d");
    lx_writer *writer = texts_create("d/part/a", NULL, 0, 0);
    texts_append(writer, 0, 1000);
    commit(writer);
    lx_dataset *dataset = open_dataset("d/part/a");
    unit_ok(lx_writer_train_dictionary(writer, "text", dataset, &error));
    texts_append(writer, 1000, 500);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    lx_dataset_close(dataset);
    directory_copy("d/part/a", "d/part/b");
    directory_copy("d", "e");
    unit_ok(join_two(&error));
    dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 3000);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    ck_assert_int_eq(rename("d", "joined"), 0);
    ck_assert_int_eq(rename("e", "d"), 0);
    change_behind_the_crc("d/part/b/text.dict");
    expect_error(join_two(&error), LX_ERR_UNSUPPORTED, "different zstd dictionary", "part/b");
    scratch_remove(scratch);
}
END_TEST

START_TEST(parts_must_be_sealed)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    make_folders("d");
    records_make_sealed("d/part/a", 5);
    records_make_sealed("d/part/b", 5);
    records_unseal("d/part/b");
    expect_error(join_two(&error), LX_ERR_STATE, "not sealed", "part/b");
    scratch_remove(scratch);
}
END_TEST

START_TEST(paths_are_checked)
{
    static const char *const wrong[] = {"",
                                        "..",
                                        "../a",
                                        "/a",
                                        "a/../b",
                                        "a//b",
                                        "a/",
                                        ".a",
                                        "a/.b",
                                        "a b",
                                        "a/b/c/d/e/f/g/h/i",
                                        "part/a/",
                                        "./part"};
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct parts parts = {0};
    make_folders("d");
    records_make_sealed("d/part/a", 5);
    add_part(&parts, "d", "part/a");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        parts.paths[0] = wrong[i];
        expect_error(try_join("d", &parts, &error), LX_ERR_ARGUMENT, "is invalid", "");
    }
    parts.paths[0] = parts.names[0];
    parts.open[1] = parts.open[0];
    parts.paths[1] = parts.paths[0];
    parts.count = 2;
    expect_error(try_join("d", &parts, &error), LX_ERR_ARGUMENT, "given twice", "");
    ck_assert(!file_exists("d/LOG"));
    parts.count = 1;
    close_parts(&parts);
    scratch_remove(scratch);
}
END_TEST

START_TEST(arguments_are_checked)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct parts parts = {0};
    make_parts(&parts, 1, 3);
    lx_dataset *none = NULL;
    unit_fails(lx_dataset_join(NULL, parts.open, parts.paths, 1, NULL, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_join("d", NULL, parts.paths, 1, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_join("d", parts.open, NULL, 1, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_join("d", parts.open, parts.paths, 0, NULL, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_dataset_join("d", &none, parts.paths, 1, NULL, NULL, &error), LX_ERR_ARGUMENT);
    close_parts(&parts);
    scratch_remove(scratch);
}
END_TEST

START_TEST(nothing_is_overwritten)
{
    static const struct {
        const char *path, *said;
    } others[] = {{"d/notes", "'notes' is in the way"},
                  {"d/image.offset", "'image.offset'"},
                  {"d/LOG", "'LOG'"},
                  {"d/meta.json", "already a dataset"},
                  {"d/part2", "'part2' is in the way"},
                  {"d/chunk/0.zr", "'chunk'"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct parts parts = {0};
        make_parts(&parts, 2, 3);
        ck_assert_int_eq(mkdir("d/chunk", 0777), 0);
        file_put(others[i].path, "valuable", 8);
        expect_error(try_join("d", &parts, &error), LX_ERR_EXISTS, others[i].said, "d");
        size_t size;
        uint8_t *bytes = file_bytes(others[i].path, &size);
        ck_assert(size == 8 && memcmp(bytes, "valuable", 8) == 0);
        free(bytes);
        close_parts(&parts);
        scratch_remove(scratch);
    }
}
END_TEST

/* ---- damage */

START_TEST(damaged_tables_are_refused)
{
    static const char *const names[] = {"image.offset", "image.check", "blob.offset", "blob.check"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct parts parts = {0};
        make_parts(&parts, 2, 12);
        file_flip(in("d/part/1", names[i]), 100);
        expect_error(try_join("d", &parts, &error), LX_ERR_CORRUPT, "checksum", names[i]);
        ck_assert(!file_exists("d/meta.json"));
        file_flip(in("d/part/1", names[i]), 100);
        join("d", &parts);
        expect_dataset("d", 24);
        scratch_remove(scratch);
    }
}
END_TEST

/** Changes an entry of a sealed dataset, whose seal then covers the change. */
static void harm_sealed(const char *path, const struct harm *harm)
{
    lx_error error = LX_ERROR_INIT;
    harm_entry(path, "image", 3, harm);
    records_unseal(path);
    lx_writer *writer = records_reopen(path, NULL);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
}

START_TEST(invalid_rows_are_refused)
{
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        make_folders("d");
        records_make_sealed("d/part/a", 12);
        records_make_sealed("d/part/b", 12);
        harm_sealed("d/part/b", &harms[i]);
        lx_status status = join_two(&error);
        if (strcmp(harms[i].said, "checksum") != 0) {
            ck_assert_uint_eq(error.record, 3);
            ck_assert_str_eq(error.field, "image");
            expect_error(status, LX_ERR_CORRUPT, harms[i].said, "part/b");
        } else {
            unit_ok(status);
            /* the value is as damaged as before */
            lx_dataset *joined = open_dataset("d");
            lx_verify_result result;
            expect_error(lx_dataset_verify(joined, NULL, NULL, NULL, &result, &error),
                         LX_ERR_CORRUPT, "checksum", "part/b");
            ck_assert_uint_eq(result.damages, 1);
            lx_dataset_close(joined);
        }
        scratch_remove(scratch);
    }
}
END_TEST

START_TEST(damaged_payloads_stay_damaged)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_verify_result result;
    struct parts parts = {0};
    make_parts(&parts, 2, 12);
    file_flip("d/part/1/chunk/0.zr", 0);
    join("d", &parts);
    lx_dataset *joined = open_dataset("d");
    expect_error(lx_dataset_verify(joined, NULL, NULL, NULL, &result, &error), LX_ERR_CORRUPT,
                 "checksum", "part/1/chunk/0.zr");
    ck_assert_uint_eq(result.damages, 1);
    lx_dataset_close(joined);
    scratch_remove(scratch);
}
END_TEST

/* ---- interruptions */

/** At which call of the progress function to stop, and how. */
struct stop {
    uint64_t calls, at, done, total;
    bool kill;
};

static lx_status count(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    struct stop *stop = user;
    (void)error;
    ck_assert(done > stop->done && done <= total);
    stop->done = done;
    stop->total = total;
    if (++stop->calls != stop->at)
        return LX_OK;
    if (stop->kill)
        _exit(0);
    return LX_ERR_CANCELED;
}

START_TEST(an_interrupted_join_can_be_repeated)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct parts parts = {0};
    make_parts(&parts, 3, 11);
    for (uint64_t at = 1; at <= 3 * FIELDS; at += 4) {
        struct stop stop = {.at = at};
        unit_fails(lx_dataset_join("d", parts.open, parts.paths, 3, count, &stop, &error),
                   LX_ERR_CANCELED);
        ck_assert(!file_exists("d/meta.json"));
        pid_t child = fork();
        if (child == 0) {
            stop = (struct stop){.at = at, .kill = true};
            (void)lx_dataset_join("d", parts.open, parts.paths, 3, count, &stop, NULL);
            _exit(1);
        }
        int how;
        ck_assert_int_eq(waitpid(child, &how, 0), child);
        ck_assert_int_eq(how, 0);
        ck_assert(!file_exists("d/meta.json"));
    }
    struct stop stop = {0};
    unit_ok(lx_dataset_join("d", parts.open, parts.paths, 3, count, &stop, &error));
    ck_assert_uint_eq(stop.total, 3 * 11 * FIELDS);
    ck_assert_uint_eq(stop.done, stop.total);
    close_parts(&parts);
    expect_dataset("d", 33);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/maintenance/join", a_joined_dataset_has_all_records, no_payload_is_read,
          joined_datasets_can_be_joined, parts_can_be_joined_in_groups, names_of_parts_are_synced,
          parts_may_be_few_or_empty, parts_may_be_many, dictionaries_must_be_the_same,
          fields_must_be_the_same, parts_must_be_sealed, paths_are_checked, arguments_are_checked,
          nothing_is_overwritten, damaged_tables_are_refused, invalid_rows_are_refused,
          damaged_payloads_stay_damaged, an_interrupted_join_can_be_repeated)
