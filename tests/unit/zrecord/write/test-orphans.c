/* SPDX-License-Identifier: MIT */
/* Obsolete files and orphans, and their removal: doc/zrecord-format.md, 11.8. */
#include <errno.h>
#include <sys/syscall.h>

#include "../change.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/write/install.h"
#include "zrecord/write/readers.h"
#include "zrecord/write/rotate.h"

static void restart(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__install_commit(writer, &error));
    unit_ok(lx__writer_rotate(writer, &error));
}

/** Rotates the log until that generation. */
static void go_on_to(lx_writer *writer, uint64_t generation)
{
    while (writer->meta.generation < generation)
        restart(writer);
}

START_TEST(removes_files_that_were_never_in_use_at_once)
{
    char *scratch = scratch_make();
    lx_dataset *reader;
    records_make("d", 3, 2);
    reader = open_dataset("d");
    static const char *const left[] = {"meta.json.new",           "LOG.1",
                                       "LOG.9223372036854775807", "image.offset.1",
                                       "blob.check.4294967295",   "chunk/1.zr"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        file_put(in("d", left[i]), "left", 4);
    close_writer(records_reopen("d", NULL));
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        ck_assert_msg(!file_exists(in("d", left[i])), "%s is there", left[i]);
    lx_dataset_close(reader);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

/** A dataset of generation 3 and table generation 2. */
static void make_later(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    struct shown shown = shown_all(40);
    records_make(path, 40, 0);
    for (int i = 0; i < 2; i++) {
        records_delete(path, &shown, 0);
        lx_writer *writer = records_reopen(path, NULL);
        unit_ok(lx_writer_checkpoint(writer, &error));
        close_writer(writer);
    }
    lx_writer *writer = records_reopen(path, NULL);
    restart(writer);
    close_writer(writer);
}

static void make_old_files(const char *path)
{
    static const char *const old[] = {"LOG", "LOG.2", "image.offset", "blob.check.1"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        file_put(in(path, old[i]), "old", 3);
}

static bool old_tables_are_there(const char *path)
{
    bool there = file_exists(in(path, "image.offset"));
    ck_assert(file_exists(in(path, "blob.check.1")) == there);
    return there;
}

/** Locks as a reader of that generation does. */
static lx__file lock_as_reader(const char *path, uint64_t generation)
{
    lx_error error = LX_ERROR_INIT;
    lx__file lock;
    unit_ok(lx__file_open(&lock, LX__CWD, in(path, "LOCK"), O_RDONLY, &error));
    unit_ok(lx__file_lock(&lock, false, 8192 + generation, 1, &error));
    return lock;
}

START_TEST(opening_removes_obsolete_files_without_readers)
{
    char *scratch = scratch_make();
    make_later("d");
    for (uint64_t generation = 0; generation < 6; generation++) {
        lx__file lock = lock_as_reader("d", generation);
        make_old_files("d");
        close_writer(records_reopen("d", NULL));
        ck_assert(old_tables_are_there("d") == (generation < 3));
        /* A log belongs to one generation. */
        ck_assert(file_exists("d/LOG") == (generation == 0));
        ck_assert(file_exists("d/LOG.2") == (generation == 2));
        lx__file_close(&lock);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_a_chunk_of_an_old_generation_in_use)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 40, 0);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    ck_assert(!file_exists("d/chunk/0.zr"));
    file_put("d/chunk/0.zr", "old", 3); /* an id below the next one */
    lx__file lock = lock_as_reader("d", 0);
    close_writer(records_reopen("d", NULL));
    ck_assert(file_exists("d/chunk/0.zr"));
    lx__file_close(&lock);
    close_writer(records_reopen("d", NULL));
    ck_assert(!file_exists("d/chunk/0.zr"));
    expect_dataset("d", 40);
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_files_of_dropped_fields_for_present_readers)
{
    char *scratch = scratch_make();
    static const char *const gone[] = {"former.offset", "former.check", "former~3.dict",
                                       "caption.dict"};
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 0);
    lx_writer *writer = records_reopen("d", NULL);
    unit_ok(lx_writer_add_field(writer, "former", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_drop_field(writer, "former", &error));
    close_writer(writer);
    for (size_t i = 0; i < 4; i++)
        file_put(in("d", gone[i]), "gone", 4);
    lx_dataset *reader = open_dataset("d");
    close_writer(records_reopen("d", NULL));
    for (size_t i = 0; i < 4; i++)
        ck_assert(file_exists(in("d", gone[i])));
    lx_dataset_close(reader);
    close_writer(records_reopen("d", NULL));
    for (size_t i = 0; i < 4; i++)
        ck_assert(!file_exists(in("d", gone[i])));
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

/** If no field was ever dropped, files of such names are foreign. */
START_TEST(leaves_foreign_files_alone)
{
    char *scratch = scratch_make();
    records_make("d", 5, 0);
    file_put("d/notes.check", "mine", 4);
    file_put("d/words.dict", "mine", 4);
    file_put("d/both.offset", "mine", 4);
    file_put("d/both.check", "mine", 4);
    ck_assert_int_eq(symlink("meta.json", "d/link.check"), 0);
    ck_assert_int_eq(mkdir("d/LOG.77", 0777), 0);
    ck_assert_int_eq(mkdir("d/chunk/9.zr", 0777), 0);
    file_put("d/empty.dict", "", 0);
    /* The files of an interrupted addition, even if only one of them reached the disk. */
    static const uint8_t zeros[5000];
    file_put("d/half.offset", "", 0);
    file_put("d/half.check", zeros, 40);
    file_put("d/lone.offset", zeros, sizeof zeros);
    file_put("d/hole.check", "", 0);
    ck_assert_int_eq(truncate("d/hole.check", 1 << 30), 0);
    file_put("d/late.offset", zeros, sizeof zeros);
    file_patch("d/late.offset", 4999, "x", 1);
    close_writer(records_reopen("d", NULL));
    static const char *const theirs[] = {"notes.check", "words.dict", "both.offset",
                                         "both.check",  "link.check", "late.offset",
                                         "LOG.77",      "chunk/9.zr", "empty.dict"};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        ck_assert(file_exists(in("d", theirs[i])));
    static const char *const ours[] = {"half.offset", "half.check", "lone.offset", "hole.check"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        ck_assert(!file_exists(in("d", ours[i])));
    scratch_remove(scratch);
}
END_TEST

START_TEST(keeps_an_obsolete_file_that_was_written_to)
{
    char *scratch = scratch_make();
    records_make("d", 5, 0);
    file_put("d/train.check", "", 0);
    lx_dataset *reader = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    ck_assert_uint_eq(writer->obsolete.count, 1); /* it waits for the reader */
    file_put("d/train.check", "mine", 4);
    lx_dataset_close(reader);
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/train.check"), 4);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_writer_remembers_when_its_files_were_in_use)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 0);
    lx_dataset *first = open_dataset("d"); /* of generation 0, for a long time */
    lx_writer *writer = records_reopen("d", NULL);
    for (int i = 0; i < 4; i++) {
        records_append(writer, 3);
        unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    }
    /* Its files exist, and none of the generations between. */
    ck_assert(file_exists("d/LOG") && file_exists("d/image.offset") && file_exists("d/chunk/0.zr"));
    ck_assert_uint_eq(names_with("d", "LOG"), 2);
    ck_assert_uint_eq(names_with("d", "image.offset"), 2);
    ck_assert_uint_eq(directory_count("d/chunk"), 2);
    expect_records(first, 10);
    /* One of generation 4, until generation 8. */
    lx_dataset *second = open_dataset("d");
    go_on_to(writer, 6);
    ck_assert_uint_eq(names_with("d", "LOG"), 3);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    ck_assert_uint_eq(names_with("d", "LOG"), 3);
    ck_assert_uint_eq(names_with("d", "image.offset"), 3);
    ck_assert_uint_eq(directory_count("d/chunk"), 3);
    expect_records(first, 10);
    expect_records(second, 22);
    lx_dataset_close(first);
    go_on_to(writer, 9);
    ck_assert(!file_exists("d/LOG") && !file_exists("d/image.offset"));
    ck_assert_uint_eq(directory_count("d/chunk"), 2);
    expect_records(second, 22);
    lx_dataset_close(second);
    close_writer(writer);
    ck_assert_uint_eq(names_with("d", "LOG"), 1);
    ck_assert_uint_eq(directory_count("d/chunk"), 1);
    expect_dataset("d", 22);
    scratch_remove(scratch);
}
END_TEST

static bool nothing_can_be_unlinked;

/** Replaces the library function. */
int unlinkat(int directory, const char *name, int flags)
{
    errno = EACCES;
    return nothing_can_be_unlinked ? -1 : (int)syscall(SYS_unlinkat, directory, name, flags);
}

START_TEST(removes_files_no_reader_has_seen)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 10, 3);
    lx_dataset *first = open_dataset("d"), *second = NULL;
    for (int i = 0; i < 6; i++) {
        lx_writer *writer = records_reopen("d", NULL); /* another one each time */
        records_append(writer, 2);
        unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
        close_writer(writer);
        if (i == 2)
            second = open_dataset("d");
    }
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(names_with("d", "image.offset"), 3);
    ck_assert_uint_eq(names_with("d", "LOG"), 3);
    ck_assert_uint_eq(directory_count("d/chunk"), 3);
    expect_records(first, 13);
    expect_records(second, 19);
    lx_dataset_close(first);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(directory_count("d/chunk"), 2);
    /* If the log of a generation cannot be read, every file may be in use. */
    file_put("d/chunk/1.zr", "old", 3);
    file_cut("d/LOG.3", 40);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(directory_count("d/chunk"), 3);
    lx_dataset_close(second);
    close_writer(records_reopen("d", NULL));
    ck_assert_uint_eq(directory_count("d/chunk"), 1);
    expect_dataset("d", 25);
    scratch_remove(scratch);
}
END_TEST

START_TEST(retries_a_file_that_cannot_be_removed)
{
    char *scratch = scratch_make();
    records_make("d", 10, 0);
    lx_writer *writer = records_reopen("d", NULL);
    lx__obsolete_files_add(&writer->obsolete, false, "image.offset.9", 0, 0);
    file_put("d/image.offset.9", "old", 3);
    nothing_can_be_unlinked = true;
    lx__obsolete_files_remove(writer);
    ck_assert_uint_eq(writer->obsolete.count, 1);
    nothing_can_be_unlinked = false;
    lx__obsolete_files_remove(writer);
    ck_assert(!file_exists("d/image.offset.9"));
    ck_assert_uint_eq(writer->obsolete.count, 0);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

/* Rows, of missing values. */
static const uint8_t left_by_addition[35];

START_TEST(keeps_obsolete_tables_whose_name_a_field_gets)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 0);
    file_put("d/score.offset", left_by_addition, sizeof left_by_addition);
    file_put("d/score.check", left_by_addition, sizeof left_by_addition);
    lx_dataset *reader = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    ck_assert(file_exists("d/score.check")); /* it waits for the reader */
    unit_ok(lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    lx_dataset_close(reader);
    restart(writer);
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/score.offset"), 5 * 16);
    ck_assert_uint_eq(file_size("d/score.check"), 5 * 8);
    scratch_remove(scratch);
}
END_TEST

/** Waiting files are removed by the installation that adds the field; its own new tables must
 * stay. */
START_TEST(keeps_obsolete_tables_that_an_install_recreates)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 0);
    file_put("d/score.offset", left_by_addition, sizeof left_by_addition);
    file_put("d/score.check", left_by_addition, sizeof left_by_addition);
    lx_dataset *reader = open_dataset("d");
    lx_writer *writer = records_reopen("d", NULL);
    lx_dataset_close(reader); /* before the field is added */
    unit_ok(lx_writer_add_field(writer, "score", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error));
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/score.offset"), 5 * 16);
    ck_assert_uint_eq(file_size("d/score.check"), 5 * 8);
    expect_dataset("d", 5);
    scratch_remove(scratch);
}
END_TEST

START_TEST(finds_readers_in_a_range)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    bool present;
    records_make("d", 1, 0);
    lx__file lock = lock_as_reader("d", 5), other;
    unit_ok(lx__file_open(&other, LX__CWD, "d/LOCK", O_RDWR, &error));
    static const struct {
        uint64_t first, end;
        bool present;
    } cases[] = {{0, 5, false},
                 {0, 6, true},
                 {5, 6, true},
                 {6, 7, false},
                 {4, 9, true},
                 {6, 900, false},
                 {5, 5, false},
                 {0, 0, false},
                 {0, (uint64_t)1 << 62, true},
                 {6, (uint64_t)1 << 62, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unit_ok(lx__reader_locks_present(&other, cases[i].first, cases[i].end, &present, &error));
        ck_assert_msg(present == cases[i].present, "case %d", (int)i);
    }
    lx__file_close(&lock);
    unit_ok(lx__reader_locks_present(&other, 0, 9, &present, &error));
    ck_assert(!present);
    lx__file_close(&other);
    unit_fails(lx__reader_locks_present(&other, 0, 9, &present, &error), LX_ERR_IO);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/orphans", removes_files_that_were_never_in_use_at_once,
          opening_removes_obsolete_files_without_readers, keeps_a_chunk_of_an_old_generation_in_use,
          keeps_files_of_dropped_fields_for_present_readers, leaves_foreign_files_alone,
          keeps_an_obsolete_file_that_was_written_to, removes_files_no_reader_has_seen,
          a_writer_remembers_when_its_files_were_in_use, retries_a_file_that_cannot_be_removed,
          keeps_obsolete_tables_whose_name_a_field_gets,
          keeps_obsolete_tables_that_an_install_recreates, finds_readers_in_a_range)
