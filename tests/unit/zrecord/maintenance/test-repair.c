/* SPDX-License-Identifier: MIT */
/* lx_dataset_repair() finds the damage that lx_dataset_verify() finds, and repairs it with a
 * writer. */
#include <signal.h>
#include <sys/syscall.h>

#include "../../scarce.h"
#include "../goldens.h"
#include "../numbers.h"
#include "repaired.h"

/* The byte of a file that the disk does not return, and how often. This function of the test
 * program replaces the C library's. */
static ino_t bad_file;
static uint64_t bad_offset;
static atomic_uint bad_reads;

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    struct stat about;
    if (atomic_load(&bad_reads) != 0 && (uint64_t)offset <= bad_offset &&
        bad_offset - (uint64_t)offset < size && fstat(fd, &about) == 0 &&
        about.st_ino == bad_file) {
        atomic_fetch_sub(&bad_reads, 1);
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, data, size, offset);
}

static lx_status stop(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    (void)done, (void)total, (void)user;
    return LX_ERR_CANCELED;
}

static bool is_bad_image(int field, uint64_t index)
{
    return field == IMAGE && (index == 4 || index == 9);
}

static void damage_two_images(void)
{
    static const struct harm crc = {.crc = 1};
    lx__entry entry = entry_of("d", "image", 4);
    file_flip("d/chunk/0.zr", 8 * entry.offset);
    harm_entry("d", "image", 9, &crc);
}

START_TEST(leaves_a_valid_dataset_unchanged)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    for (int sealed = 0; sealed < 2; sealed++) {
        if (sealed)
            records_make_sealed("d", 30);
        else
            records_make("d", 20, 10);
        uint64_t before = digest_of("d");
        for (enum how how = REPORT; how < INTO; how++) {
            unit_ok(repair(how, &found, &result, &error));
            ck_assert_uint_eq(found.count, 0);
            ck_assert_uint_eq(result.records, 30);
            ck_assert_uint_eq(result.values, 30 * FIELDS);
            ck_assert(result.damages == 0 && !result.changed);
            ck_assert_uint_eq(digest_of("d"), before);
        }
        unit_ok(lx_dataset_repair("d", NULL, NULL, &error));
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(makes_damaged_values_missing)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    for (int sealed = 0; sealed < 2; sealed++) {
        if (sealed)
            records_make_sealed("d", 25);
        else
            records_make("d", 20, 5);
        damage_two_images();
        uint64_t before = digest_of("d");
        size_t damages = sealed ? 3 : 2; /* the checksum of a table */
        unit_fails(repair(REPORT, &found, &result, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(found.count, damages);
        ck_assert_uint_eq(result.damages, damages);
        ck_assert_uint_eq(result.missing, 2);
        ck_assert(!result.changed);
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_MISSING);
        ck_assert_str_eq(found.findings[1].damage.field, "image");
        ck_assert_uint_eq(found.findings[1].damage.record, 9);
        ck_assert_uint_eq(digest_of("d"), before);

        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert_uint_eq(found.count, damages);
        ck_assert(result.changed);
        expect_whole("d", 25, is_bad_image);
        /* A second repair finds nothing. */
        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert(!result.changed);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

static bool is_lost_label(int field, uint64_t index)
{
    return field == LABEL && index == 7;
}

START_TEST(a_field_that_lacks_a_value_is_no_longer_complete)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    static const lx__entry none = {0};
    for (int sealed = 0; sealed < 2; sealed++) {
        if (sealed)
            records_make_sealed("d", 25);
        else
            records_make("d", 20, 5);
        entry_put("d", "label", 7, &none);
        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert(result.missing == 1 && result.changed);
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_MISSING);
        lx_dataset *dataset = open_dataset("d");
        ck_assert(lx_dataset_may_lack_values(dataset, LABEL));
        lx_dataset_close(dataset);
        expect_whole("d", 25, is_lost_label);
        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert(!result.changed);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(deletes_damaged_records_from_the_last_down)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    static const struct harm crc = {.crc = 1};
    records_make("d", 20, 5);
    damage_two_images();
    harm_entry("d", "image", 19, &crc);
    file_flip("d/label.check", 8 * (8 * 9 + 4)); /* a second value of record 9 */
    unit_ok(repair(APPLY_DELETE, &found, &result, &error));
    ck_assert_uint_eq(result.deleted, 3);
    ck_assert_uint_eq(result.damages, 4);
    ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_DELETE);
    /* Records 24, 23 and 22 moved to 19, 9 and 4. */
    lx_dataset *dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 22);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    for (uint64_t index = 0; index < 22; index++) {
        uint64_t was = index == 19 ? 24 : index == 9 ? 23 : index == 4 ? 22 : index;
        uint8_t right[VALUE_MAX], got[VALUE_MAX];
        for (int field = 0; field < FIELDS; field++) {
            uint64_t size, wanted = record_value(field, was, right);
            bool there;
            unit_ok(read_value(dataset, (size_t)field, index, got, &size, &there, &error));
            ck_assert(there == (wanted != LX_NONE));
            ck_assert(!there || (size == wanted && memcmp(got, right, size) == 0));
        }
    }
    lx_dataset_close(dataset);
    /* Almost all records, including the last ones. */
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
    unit_ok(repair(APPLY_DELETE, &found, &result, &error));
    dataset = open_dataset("d");
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 22 - result.deleted);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(repairs_every_wrong_number_of_an_entry)
{
    char *scratch = scratch_make();
    records_make("whole", 20, 3);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        directory_copy("whole", "d");
        harm_entry("d", "image", 7, &harms[i]);
        lx_status status = repair(REPORT, &found, &result, &error);
        ck_assert_uint_eq(error.record, 7);
        expect_error(status, LX_ERR_CORRUPT, harms[i].said, harms[i].where);
        unit_ok(repair(APPLY, &found, &result, &error));
        lx_dataset *dataset = open_dataset("d");
        unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
        expect_value(dataset, IMAGE, 8);
        lx_dataset_close(dataset);
        remove_tree("d");
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- verify and repair */

static void no_damage(void)
{
}

static void flip_a_caption(void)
{
    lx__entry entry = entry_of("d", "caption", 3);
    file_flip("d/chunk/0.zr", 8 * entry.offset);
}

static void lose_a_chunk(void)
{
    ck_assert_int_eq(remove("d/chunk/0.zr"), 0);
}

static void lose_the_chunks(void)
{
    lose_a_chunk();
    ck_assert_int_eq(rmdir("d/chunk"), 0);
}

static void cut_a_chunk(void)
{
    file_cut("d/chunk/0.zr", file_size("d/chunk/0.zr") / 2);
}

static void lengthen_a_chunk(void)
{
    file_patch("d/chunk/0.zr", file_size("d/chunk/0.zr"), "x", 1);
}

static void cut_a_table(void)
{
    file_cut("d/image.check", 100);
}

static void lose_a_table(void)
{
    ck_assert_int_eq(remove("d/wave.offset"), 0);
}

static void flip_the_log(void)
{
    file_flip("d/LOG", 8 * 100);
}

static void lose_the_log(void)
{
    ck_assert_int_eq(remove("d/LOG"), 0);
}

static void flip_meta_json(void)
{
    file_flip("d/meta.json", 8 * 14);
}

static void (*const damages[])(void) = {
    no_damage,    damage_two_images, flip_a_caption,   lose_a_chunk,
    cut_a_chunk,  lose_the_chunks,   lengthen_a_chunk, cut_a_table,
    lose_a_table, flip_the_log,      lose_the_log,     flip_meta_json,
};
#define DAMAGES (sizeof damages / sizeof *damages)

static lx_status verify(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_status status = lx_dataset_open(path, NULL, &dataset, &error);
    if (status != LX_OK)
        return status;
    status = lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error);
    lx_dataset_close(dataset);
    return status;
}

START_TEST(finds_damage_exactly_where_verify_does)
{
    char *scratch = scratch_make();
    for (size_t i = 0; i < 2 * DAMAGES; i++) {
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        bool sealed = i >= DAMAGES;
        if (sealed)
            records_make_sealed("d", 25);
        else
            records_make("d", 20, 5);
        damages[i % DAMAGES]();
        lx_status verified = verify("d"), repaired = repair(REPORT, &found, &result, &error);
        ck_assert_msg(verified == repaired, "%zu: %d, %d: %s", i, verified, repaired,
                      error.message);
        ck_assert_int_eq(
            verified, i % DAMAGES == 0 || (i % DAMAGES == 6 && !sealed) ? LX_OK : LX_ERR_CORRUPT);
        /* After a repair in place or into a new directory, neither finds anything. */
        const char *whole = "d";
        if (repair(APPLY, &found, &result, &error) != LX_OK) {
            bool hopeless = repair(INTO, &found, &result, &error) != LX_OK;
            ck_assert_msg(!hopeless || strstr(error.message, "backup") != NULL, "%s",
                          error.message);
            ck_assert(hopeless == (!sealed && damages[i % DAMAGES] == lose_the_log));
            whole = hopeless ? NULL : "new";
        }
        if (whole != NULL)
            ck_assert_int_eq(verify(whole), LX_OK);
        remove_tree("d");
        remove_tree("new");
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- chunks, seals, links */

START_TEST(keeps_the_values_before_the_end_of_a_short_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 40, 0);
    uint64_t cut = file_size("d/chunk/0.zr") / 2;
    cut_a_chunk();
    unit_ok(repair(APPLY, &found, &result, &error));
    ck_assert(result.missing > 10 && result.missing < 100);
    ck_assert_int_eq(found.findings[found.count < 64 ? found.count - 1 : 63].action,
                     found.count < 64 ? LX_REPAIR_ACTION_DROP : LX_REPAIR_ACTION_MISSING);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    expect_value(dataset, IMAGE, 0);
    lx_dataset_close(dataset);
    lx_writer *writer = records_reopen("d", NULL);
    records_append(writer, 2);
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/chunk/0.zr"), cut); /* nothing is appended to it */
    scratch_remove(scratch);
}
END_TEST

START_TEST(removes_a_seal_that_the_files_contradict)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    static const uint8_t zeros[16];
    records_make_sealed("d", 25);
    directory_copy("d", "whole");
    /* A chunk that is too long, and a table with another checksum. */
    for (int i = 0; i < 2; i++) {
        remove_tree("d");
        directory_copy("whole", "d");
        if (i == 0) {
            lengthen_a_chunk();
        } else {
            file_patch("d/image.offset", 16 * 6, zeros, 16); /* it was missing before */
            file_edit("d/meta.json", "\"crc\": ", "\"crc\": 1, \"was\": ");
        }
        unit_fails(repair(REPORT, &found, &result, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(found.count, 1);
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_DROP);
        unit_ok(repair(APPLY, &found, &result, &error));
        lx_dataset_identity identity;
        lx_dataset *dataset = open_dataset("d");
        lx_dataset_get_identity(dataset, &identity);
        ck_assert_uint_eq(identity.sealed, 0);
        lx_dataset_close(dataset);
        expect_whole("d", 25, NULL);
        /* The dataset can be sealed again. */
        lx_writer *writer = records_reopen("d", NULL);
        unit_ok(lx_writer_seal(writer, &error));
        close_writer(writer);
        expect_dataset("d", 28);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_the_target_of_a_link)
{
    static const char *const names[] = {"d/chunk",      "d/chunk/0.zr", "d/image.offset",
                                        "d/wave.check", "d/LOG",        "d/meta.json"};
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        char there[4096];
        records_make("d", 20, 5);
        snprintf(there, sizeof there, "%s/elsewhere", scratch);
        ck_assert_int_eq(rename(names[i], there), 0);
        ck_assert_int_eq(symlink(there, names[i]), 0);
        unit_fails(repair(REPORT, &found, &result, &error), LX_ERR_CORRUPT);
        unit_fails(repair(APPLY_DELETE, &found, &result, &error), LX_ERR_CORRUPT);
        lx_status status = repair(INTO, &found, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "replace this link with its target", names[i]);
        ck_assert(!file_exists("new") && !file_exists("new.recovering"));
        ck_assert_int_eq(remove(names[i]), 0);
        ck_assert_int_eq(rename(there, names[i]), 0);
        expect_whole("d", 25, NULL);
        unit_ok(lx_dataset_remove("d", &error));
    }
    scratch_remove(scratch);
}
END_TEST

/* ---- the log and meta.json */

/** Makes a dataset "d" with synced frames of 3 records each, and records the ends of the frames. */
static void make_frames(uint64_t ends[16])
{
    lx_writer *writer = records_create("d", NULL);
    size_t count = 0;
    ends[count++] = log_size("d/LOG");
    for (int i = 0; i < 6; i++) {
        records_append(writer, 3);
        commit(writer);
        ends[count++] = log_size("d/LOG");
    }
    close_writer(writer);
}

START_TEST(truncates_the_log_at_the_first_invalid_frame)
{
    char *scratch = scratch_make();
    uint64_t ends[16];
    make_frames(ends);
    directory_copy("d", "whole");
    for (size_t frame = 1; frame <= 5; frame++) {
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        remove_tree("d");
        directory_copy("whole", "d");
        file_flip("d/LOG", 8 * (ends[frame - 1] + 70));
        expect_refused("d", LX_ERR_CORRUPT, "frame", "LOG");
        uint64_t before = digest_of("d");
        size_t size;
        uint8_t *log = file_bytes("d/LOG", &size);
        lx_status status = repair(REPORT, &found, &result, &error);
        ck_assert_uint_eq(error.offset, ends[frame - 1]);
        expect_error(status, LX_ERR_CORRUPT, "saved in a file next to the dataset", "d/LOG");
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_CUT);
        ck_assert_uint_eq(result.cut_bytes, size - ends[frame - 1]);
        ck_assert_uint_eq(digest_of("d"), before);
        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert(result.changed);
        char name[64];
        snprintf(name, sizeof name, "d.log-tail-%zu", frame);
        ck_assert_ptr_nonnull(strstr(found.findings[0].damage.message, name));
        size_t kept;
        uint8_t *tail = file_bytes(name, &kept);
        ck_assert_uint_eq(kept, size - ends[frame - 1]);
        ck_assert_int_eq(memcmp(tail, log + ends[frame - 1], kept), 0);
        free(tail);
        free(log);
        expect_whole("d", 3 * (frame - 1), NULL);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(never_uses_a_chunk_of_lost_commits_again)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    make_lost_commits(1);
    uint64_t size = file_size("d/chunk/0.zr");
    unsigned last = 0;
    char name[64];
    for (; snprintf(name, sizeof name, "d/chunk/%u.zr", last) > 0 && file_exists(name); last++)
        ;
    unit_ok(repair(APPLY, &found, &result, &error));
    expect_whole("d", 3, NULL); /* three more records go to a new chunk */
    ck_assert_uint_eq(file_size("d/chunk/0.zr"), size);
    snprintf(name, sizeof name, "d/chunk/%u.zr", last);
    ck_assert(file_exists(name));
    scratch_remove(scratch);
}
END_TEST

START_TEST(corrects_a_wrong_checksum_of_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    size_t size;
    records_make("d", 10, 5);
    char *text = (char *)file_bytes("d/meta.json", &size);
    /* A wrong digit of the checksum, a manual edit, and no checksum. */
    for (int what = 0; what < 3; what++) {
        size_t skip = what == 2 ? strlen(LX__META_STAMP) - 1 : 0;
        char *changed = malloc(size);
        memcpy(changed, text, size);
        if (what == 0)
            changed[14] = changed[14] == '0' ? '1' : '0';
        else if (what == 1)
            memcpy(memmem(changed, size, "\"name\": \"wave\"", 14), "\"name\": \"wove\"", 14);
        else
            changed[skip] = '{';
        file_put("d/meta.json", changed + skip, size - skip);
        free(changed);
        uint64_t digest = digest_of("d");
        lx_status status = repair(REPORT, &found, &result, &error);
        ck_assert_uint_eq(found.count, 1);
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_RESTAMP);
        ck_assert_uint_eq(result.damages, 1);
        expect_error(status, LX_ERR_CORRUPT, "checksum", "d/meta.json");
        ck_assert_uint_eq(digest_of("d"), digest);
        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert(result.changed);
        unit_ok(repair(REPORT, &found, &result, &error));
        ck_assert_uint_eq(found.count, 0);
    }
    free(text);
    /* A log of another uuid is not repaired. */
    text = (char *)file_bytes("d/meta.json", &size);
    char *uuid = memmem(text, size, "\"uuid\": \"", 9);
    uuid[9] = uuid[9] == '0' ? '1' : '0';
    file_put("d/meta.json", text, size);
    lx_status status = repair(APPLY, &found, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "checksum", "d/meta.json");
    ck_assert(!result.changed);
    free(text);
    scratch_remove(scratch);
}
END_TEST

START_TEST(gives_advice_if_nothing_can_be_repaired)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 10, 5);
    directory_copy("d", "whole");
    for (int how = REPORT; how <= INTO_DELETE; how++) {
        file_put("d/meta.json", "{", 1);
        lx_status status = repair(how, &found, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "backup", "d/meta.json");
        ck_assert_int_eq(rename("whole/meta.json", "d/meta.json.new"), 0);
        status = repair(how, &found, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "rename meta.json.new", "d/meta.json");
        ck_assert_int_eq(rename("d/meta.json.new", "whole/meta.json"), 0);
        size_t size;
        uint8_t *meta = file_bytes("whole/meta.json", &size);
        file_put("d/meta.json", meta, size);
        free(meta);
        file_flip("d/LOG", 8 * 20);
        status = repair(how, &found, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "backup", "d/LOG");
        file_flip("d/LOG", 8 * 20);
        ck_assert_int_eq(rename("d/LOG", "LOG"), 0);
        status = repair(how, &found, &result, &error);
        expect_error(status, LX_ERR_CORRUPT, "backup", "d/LOG");
        ck_assert_int_eq(rename("LOG", "d/LOG"), 0);
        ck_assert(!file_exists("new") && !file_exists("new.recovering"));
    }
    ck_assert_int_eq(lx_dataset_repair("none", NULL, NULL, NULL), LX_ERR_NOT_FOUND);
    ck_assert_int_eq(lx_dataset_recover("none", "new", NULL, NULL, NULL), LX_ERR_NOT_FOUND);
    unit_refuses_null(lx_dataset_repair(NULL, NULL, NULL, &error), "path");
    unit_refuses_null(lx_dataset_recover(NULL, "new", NULL, NULL, &error), "path");
    unit_refuses_null(lx_dataset_recover("d", NULL, NULL, NULL, &error), "into");
    lx_repair_options *options = lx_repair_options_new();
    unit_fails(lx_repair_options_set_policy(options, (lx_repair_policy)2, &error), LX_ERR_ARGUMENT);
    lx_repair_options_free(options);
    /* A lost dictionary cannot be restored. */
    golden_copy("zstd");
    remove_tree("d");
    ck_assert_int_eq(rename("zstd", "d"), 0);
    file_flip("d/x.dict", 100);
    lx_status status = repair(APPLY, &found, &result, &error);
    ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_NONE);
    expect_error(status, LX_ERR_CORRUPT, "dictionary", "x.dict");
    ck_assert(!result.changed);
    /* The values that need it are kept: the file may be restored from a backup. */
    golden_copy("zstd-frames");
    remove_tree("d");
    ck_assert_int_eq(rename("zstd-frames", "d"), 0);
    file_flip("d/x.dict", 100);
    status = repair(APPLY, &found, &result, &error);
    expect_error(status, LX_ERR_CORRUPT, "dictionary", "x.dict");
    ck_assert(!result.changed && result.missing == 0 && result.deleted == 0);
    ck_assert_uint_eq(found.count, WITH_ZSTD ? 2 : 1);
    file_flip("d/x.dict", 100);
    unit_ok(repair(APPLY, &found, &result, &error));
    scratch_remove(scratch);
}
END_TEST

/* ---- callbacks, other processes, interruptions */

START_TEST(a_callback_can_stop_it_before_values_change)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result;
    records_make("d", 20, 5);
    damage_two_images();
    uint64_t before = digest_of("d");
    for (uint64_t at = 1; at <= 2; at++) {
        struct found found = {.stop_at = at};
        ck_assert_int_eq(repair_with(APPLY, add_finding, &found, NULL, NULL, &result, &error),
                         LX_ERR_CANCELED);
        ck_assert_int_eq(error.status, LX_ERR_CANCELED);
        ck_assert_uint_eq(digest_of("d"), before);
        found = (struct found){.stop_at = at};
        ck_assert_int_eq(repair_with(INTO, add_finding, &found, NULL, NULL, &result, &error),
                         LX_ERR_CANCELED);
        ck_assert(!file_exists("new") && !file_exists("new.recovering"));
    }
    ck_assert_int_eq(repair_with(APPLY, NULL, NULL, stop, NULL, &result, &error), LX_ERR_CANCELED);
    ck_assert_int_eq(error.status, LX_ERR_CANCELED);
    ck_assert_uint_eq(digest_of("d"), before);
    scratch_remove(scratch);
}
END_TEST

/** Forks a child that inherits the files that are open now, and never ends. */
static lx_status have_child(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    pid_t *child = user;
    (void)done, (void)total;
    if (*child == 0 && (*child = fork()) == 0)
        for (;;)
            pause();
    return *child > 0 ? LX_OK : LX_ERR_IO;
}

START_TEST(a_child_process_does_not_keep_the_lock)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result;
    pid_t child = 0;
    records_make("d", 20, 5);
    damage_two_images();
    unit_ok(repair_with(APPLY, NULL, NULL, have_child, &child, &result, &error));
    close_writer(records_reopen("d", NULL));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_writer_excludes_it_and_readers_continue)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 20, 5);
    damage_two_images();
    lx_writer *writer = records_reopen("d", NULL);
    unit_fails(repair(APPLY, &found, &result, &error), LX_ERR_BUSY);
    unit_fails(repair(INTO, &found, &result, &error), LX_ERR_BUSY);
    unit_fails(repair(REPORT, &found, &result, &error), LX_ERR_CORRUPT);
    close_writer(writer);
    lx_dataset *dataset = open_dataset("d");
    unit_ok(repair(INTO, &found, &result, &error));
    unit_ok(repair(APPLY, &found, &result, &error));
    expect_value(dataset, BLOB, 18);
    expect_whole("d", 25, is_bad_image);
    expect_value(dataset, WAVE, 17);
    bool changed;
    unit_ok(lx_dataset_refresh(dataset, &changed, &error));
    ck_assert(changed);
    ck_assert_uint_eq(lx_dataset_get_length(dataset), 28);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(can_be_repeated_after_any_interruption)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct found found;
    lx_repair_result result;
    records_make("d", 20, 5);
    damage_two_images();
    directory_copy("d", "harmed");
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 1000);
        scarce_begin(memory);
        status = repair(APPLY, &found, &result, &error);
        scarce_begin(1000000);
        ck_assert_msg(status == LX_OK || status == LX_ERR_NOMEM, "%s", error.message);
        if (result.changed)
            break;
    }
    expect_whole("d", 25, is_bad_image);
    /* A full disk, simulated by a limit on file sizes. */
    for (uint64_t limit = 16; limit < 1000; limit *= 2) {
        remove_tree("d");
        directory_copy("harmed", "d");
        limit_files(limit);
        (void)repair(APPLY, &found, &result, &error);
        unlimit_files();
        unit_ok(repair(APPLY, &found, &result, &error));
        expect_whole("d", 25, is_bad_image);
    }
    /* A kill during the repair. */
    for (unsigned ms = 0; ms < 8; ms++) {
        remove_tree("d");
        directory_copy("harmed", "d");
        pid_t child = fork();
        if (child == 0) {
            (void)repair_with(APPLY, NULL, NULL, NULL, NULL, &result, &error);
            _exit(0);
        }
        nap_ms(ms);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        unit_ok(repair(APPLY, &found, &result, &error));
        expect_whole("d", 25, is_bad_image);
    }
    scratch_remove(scratch);
}
END_TEST

/** A copy that came from an object store has no empty folders. */
START_TEST(needs_no_chunk_directory_if_a_seal_names_no_chunk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result;
    struct found found;
    lx_writer *writer = numbers_create("d", NULL);
    unit_ok(numbers_extend(writer, 10, 7, &error));
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    ck_assert_int_eq(rmdir("d/chunk"), 0);
    unit_ok(repair(REPORT, &found, &result, &error));
    ck_assert_uint_eq(result.records, 10);
    file_flip("d/n.offset", 8 * LX__OFFSET_ROW * 3 + 64);
    unit_ok(repair(APPLY, &found, &result, &error));
    ck_assert_uint_eq(result.missing, 1);
    ck_assert(result.changed);
    unit_ok(repair(REPORT, &found, &result, &error));
    ck_assert_uint_eq(result.damages, 0);
    scratch_remove(scratch);
}
END_TEST

/** Lets the disk fail to return the byte that a value begins with, or the one of its row. */
static void spoil(const char *field, uint64_t index, bool row, unsigned reads)
{
    struct stat about;
    char path[64];
    lx__entry entry = entry_of("d", field, index);
    snprintf(path, sizeof path, "d/%s.offset", field);
    ck_assert_int_eq(stat(row ? path : "d/chunk/0.zr", &about), 0);
    bad_file = about.st_ino;
    bad_offset = row ? index * LX__OFFSET_ROW : entry.offset;
    atomic_store(&bad_reads, reads);
}

static bool is_image_4(int field, uint64_t index)
{
    return field == IMAGE && index == 4;
}

START_TEST(loses_no_value_that_the_disk_may_return_later)
{
    static const unsigned forever = 1000000;
    for (int row = 0; row < 2; row++) {
        char *scratch = scratch_make();
        lx_error error = LX_ERROR_INIT;
        struct found found;
        lx_repair_result result;
        records_make("d", 20, 5);
        uint64_t before = digest_of("d");
        /* A fault that passes is no damage. */
        for (unsigned reads = 1; reads <= 2; reads++) {
            spoil("image", 4, row, reads);
            unit_ok(repair(APPLY, &found, &result, &error));
            ck_assert_uint_eq(atomic_load(&bad_reads), 0);
            ck_assert(found.count == 0 && !result.changed);
        }
        spoil("image", 4, row, forever);
        unit_fails(repair(REPORT, &found, &result, &error), LX_ERR_CORRUPT);
        ck_assert_uint_eq(found.count, 1);
        ck_assert_int_eq(found.findings[0].action, LX_REPAIR_ACTION_NONE);
        lx_status status = repair(APPLY, &found, &result, &error);
        ck_assert_str_eq(error.field, "image");
        ck_assert_uint_eq(error.record, 4);
        ck_assert_int_eq(error.errnum, EIO);
        expect_error(status, LX_ERR_IO, "nothing was changed", row ? "image.offset" : "0.zr");
        ck_assert(!result.changed && result.missing == 0);
        atomic_store(&bad_reads, 0);
        ck_assert_uint_eq(digest_of("d"), before);

        /* Other damage waits, too. */
        file_flip("d/label.check", 8 * (8 * 7 + 4));
        before = digest_of("d");
        spoil("image", 4, row, forever);
        unit_fails(repair(APPLY, &found, &result, &error), LX_ERR_IO);
        ck_assert_uint_eq(found.count, 2);
        unit_ok(repair(INTO, &found, &result, &error));
        ck_assert_uint_eq(result.missing, row ? 1 : 2); /* tables are copied without pread */
        atomic_store(&bad_reads, 0);
        ck_assert_uint_eq(digest_of("d"), before);
        file_flip("d/label.check", 8 * (8 * 7 + 4));

        lose_unreadable = true;
        spoil("image", 4, row, forever);
        unit_ok(repair(APPLY, &found, &result, &error));
        ck_assert_uint_eq(result.missing, 1);
        atomic_store(&bad_reads, 0);
        lose_unreadable = false;
        expect_whole("d", 25, is_image_4);
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("zrecord/repair", leaves_a_valid_dataset_unchanged,
          needs_no_chunk_directory_if_a_seal_names_no_chunk, makes_damaged_values_missing,
          a_field_that_lacks_a_value_is_no_longer_complete,
          deletes_damaged_records_from_the_last_down, repairs_every_wrong_number_of_an_entry,
          finds_damage_exactly_where_verify_does, keeps_the_values_before_the_end_of_a_short_chunk,
          removes_a_seal_that_the_files_contradict, keeps_the_target_of_a_link,
          truncates_the_log_at_the_first_invalid_frame, never_uses_a_chunk_of_lost_commits_again,
          corrects_a_wrong_checksum_of_meta_json, gives_advice_if_nothing_can_be_repaired,
          a_callback_can_stop_it_before_values_change, a_child_process_does_not_keep_the_lock,
          a_writer_excludes_it_and_readers_continue, can_be_repeated_after_any_interruption,
          loses_no_value_that_the_disk_may_return_later)
