/* SPDX-License-Identifier: MIT */
/* Creating a dataset, and the writer's lock: doc/zrecord-format.md, 3.4, 10.1 and 10.2. */
#include "zrecord/write/create.h"

#include <errno.h>
#include <sys/syscall.h>

#include "../frames.h"
#include "../records.h"
#include "zrecord/snapshot/lock.h"

static lx_status create(const char *path, lx_error *error)
{
    lx_writer *writer;
    lx_schema *schema = records_schema();
    lx_status status = lx_writer_create(path, schema, NULL, &writer, error);
    lx_schema_free(schema);
    return status == LX_OK ? lx_writer_close(writer, error) : status;
}

static const char *const tables[] = {
    "image.offset", "image.check",    "label.offset",  "label.check", "wave.offset",
    "wave.check",   "caption.offset", "caption.check", "blob.offset", "blob.check"};
#define TABLES (sizeof tables / sizeof *tables)

START_TEST(a_new_dataset_has_the_files_of_the_format)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    unit_ok(create("d", &error));
    for (size_t i = 0; i < TABLES; i++)
        ck_assert_uint_eq(file_size(in("d", tables[i])), 0);
    ck_assert_uint_eq(directory_count("d"), TABLES + 4);
    ck_assert_uint_eq(directory_count("d/chunk"), 0);

    /* The log has one frame, as the document defines it. */
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    struct log log = {.identity = identity_of(identity.uuid)};
    log_add(&log, &(struct frame){.flags = SNAPSHOT | SYNCED, .boot = lx__boot_id()});
    size_t size;
    uint8_t *bytes = file_bytes("d/LOG", &size);
    ck_assert_uint_eq(size, log.size);
    ck_assert_mem_eq(bytes, log.bytes, size);
    free(bytes);
    log_free(&log);
    lx_dataset_close(dataset);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_new_dataset_can_be_written_and_read_at_once)
{
    char *scratch = scratch_make();
    lx_writer *writer = records_create("d", NULL);
    expect_dataset("d", 0);
    records_append(writer, 10);
    commit(writer);
    expect_dataset("d", 10);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(accepts_an_empty_directory)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(mkdir("d", 0777), 0);
    unit_ok(create("d", &error));
    expect_dataset("d", 0);
    /* Also with a path that is a link or ends with a slash. */
    ck_assert_int_eq(mkdir("e", 0777), 0);
    ck_assert_int_eq(symlink("e", "link"), 0);
    unit_ok(create("link/", &error));
    expect_dataset("e", 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(replaces_an_interrupted_creation)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    unit_ok(create("whole", &error));
    /* In the order of their creation: the directory, LOCK, chunk, tables, LOG, meta.json. */
    for (size_t step = 0; step < TABLES + 5; step++) {
        size_t size;
        uint8_t *log = file_bytes("whole/LOG", &size);
        ck_assert_int_eq(mkdir("d", 0777), 0);
        if (step >= 1)
            file_put("d/LOCK", "12345\n", 6);
        if (step >= 2)
            ck_assert_int_eq(mkdir("d/chunk", 0777), 0);
        for (size_t i = 0; i < TABLES && step >= i + 3; i++)
            file_put(in("d", tables[i]), "", 0);
        if (step >= TABLES + 3)
            file_put("d/LOG", log, step == TABLES + 3 ? 30 : size);
        if (step >= TABLES + 4)
            file_put("d/meta.json.new", "{\"format\": [1", 13);
        unit_ok(create("d", &error));
        expect_dataset("d", 0);
        ck_assert_uint_eq(directory_count("d"), TABLES + 4);
        ck_assert_int_eq(rename("d", in(".", "done")), 0);
        nftw("done", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        free(log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_overwrite_a_dataset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("d", 5, 2);
    lx_status status = create("d", &error);
    expect_error(status, LX_ERR_EXISTS, "dataset", "d");
    expect_dataset("d", 7);
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_overwrite_a_dataset_without_meta_json)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    records_make("whole", 5, 2);
    /* Any one of its files with content prevents a creation. */
    static const char *const kept[] = {"LOG", "image.offset", "blob.check", "chunk/0.zr"};
    for (size_t i = 0; i < 4; i++) {
        size_t size;
        uint8_t *bytes = file_bytes(in("whole", kept[i]), &size);
        ck_assert_int_eq(mkdir("d", 0777), 0);
        ck_assert_int_eq(mkdir("d/chunk", 0777), 0);
        file_put(in("d", kept[i]), bytes, size);
        lx_status status = create("d", &error);
        expect_error(status, LX_ERR_EXISTS, "", "d");
        ck_assert_uint_eq(file_size(in("d", kept[i])), size);
        ck_assert(!file_exists("d/meta.json"));
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        free(bytes);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(does_not_touch_foreign_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    static const char *const names[] = {
        "notes.txt", "meta.json",       "a.offset",   "a.check", ".hidden",
        "LOG.1",     "chunk/photo.jpg", "chunk/0.zr", "LOG",     "meta.json.new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_int_eq(mkdir("d", 0777), 0);
        ck_assert_int_eq(mkdir("d/chunk", 0777), 0);
        file_put(in("d", names[i]), "mine", 4);
        lx_status status = create("d", &error);
        expect_error(status, LX_ERR_EXISTS, "", "d");
        ck_assert_uint_eq(file_size(in("d", names[i])), 4);
        ck_assert(!file_exists("d/LOCK"));
        nftw("d", scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    ck_assert_int_eq(mkdir("d", 0777), 0);
    ck_assert_int_eq(mkdir("d/photos", 0777), 0);
    unit_fails(create("d", &error), LX_ERR_EXISTS);
    ck_assert_int_eq(remove("d/photos"), 0);
    /* Links and directories with the names of our own files are not orphans. */
    ck_assert_int_eq(symlink("elsewhere", "d/LOG"), 0);
    unit_fails(create("d", &error), LX_ERR_EXISTS);
    ck_assert_int_eq(remove("d/LOG"), 0);
    ck_assert_int_eq(mkdir("d/image.offset", 0777), 0);
    unit_fails(create("d", &error), LX_ERR_EXISTS);
    ck_assert_int_eq(remove("d/image.offset"), 0);
    file_put("d/chunk", "mine", 4);
    unit_fails(create("d", &error), LX_ERR_EXISTS);
    ck_assert_int_eq(remove("d/chunk"), 0);
    ck_assert_int_eq(symlink("/tmp", "d/chunk"), 0);
    unit_fails(create("d", &error), LX_ERR_EXISTS);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_directory_with_other_files)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    unit_ok(create("d", &error));
    static const char *const names[] = {"d/e", "d/e/", "./d//e", "d/chunk/e", "d/chunk/../e"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lx_status status = create(names[i], &error);
        expect_error(status, LX_ERR_ARGUMENT, "must not contain other files", "d");
        lx_error_clear(&error);
    }
    ck_assert(!file_exists("d/e") && !file_exists("d/chunk/e"));
    ck_assert_int_eq(mkdir("chunk", 0777), 0); /* a foreign file */
    unit_ok(create("chunk/e", &error));
    expect_dataset("d", 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_other_than_directories)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    file_put("file", "mine", 4);
    lx_status status = create("file", &error);
    expect_error(status, LX_ERR_EXISTS, "", "file");
    ck_assert_int_eq(symlink("nowhere", "link"), 0);
    status = create("link", &error);
    expect_error(status, LX_ERR_EXISTS, "", "link");
    ck_assert_int_eq(create("no/such/parent", &error), LX_ERR_NOT_FOUND);
    ck_assert_str_eq(error.path, "no/such/parent");
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    unit_fails(lx_writer_create("d", schema, NULL, &writer, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_create("d", NULL, NULL, &writer, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_create(NULL, schema, NULL, &writer, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_writer_create("d", schema, NULL, NULL, &error), LX_ERR_ARGUMENT);
    ck_assert(!file_exists("d"));
    lx_schema_free(schema);
    scratch_remove(scratch);
}
END_TEST

START_TEST(succeeds_after_a_full_disk)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    /* Space for nothing, for LOCK, for the log, for a part of meta.json. */
    static const uint64_t rooms[] = {0, 20, 71, 72, 100, 500};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        limit_files(rooms[i]);
        ck_assert_int_eq(create("d", &error), LX_ERR_IO);
        ck_assert_int_eq(error.errnum, EFBIG);
        lx_error_clear(&error);
        unlimit_files();
        ck_assert(!file_exists("d/meta.json"));
        expect_refused("d", LX_ERR_NOT_FOUND, "", "d");
    }
    unit_ok(create("d", &error));
    expect_dataset("d", 0);
    scratch_remove(scratch);
}
END_TEST

/* ---- the lock */

START_TEST(succeeds_after_running_out_of_descriptors)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    unsigned there = (unsigned)directory_count("/proc/self/fd");
    lx_status status = LX_ERR_IO;
    unsigned more = 0;
    for (; status != LX_OK; more++) { /* each attempt gets further */
        ck_assert_uint_lt(more, 40);
        lx_error_clear(&error);
        limit_descriptors(there + more);
        status = create("d", &error);
        limit_descriptors(there + 100);
        ck_assert_msg(status == LX_OK || error.errnum == EMFILE, "%s", error.message);
        ck_assert_uint_eq(directory_count("/proc/self/fd"), there);
        ck_assert(status == LX_OK || !file_exists("d/meta.json"));
    }
    ck_assert_uint_gt(more, 10);
    expect_dataset("d", 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_second_writer_is_rejected_with_the_pid_of_the_first)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    char pid[32];
    lx_writer *writer = records_create("d", NULL), *other;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    size_t size;
    char *text = (char *)file_bytes("d/LOCK", &size);
    ck_assert_int_eq(atol(text), getpid());
    ck_assert_int_eq(text[size - 1], '\n');
    free(text);
    double start = now();
    lx_status status = lx_writer_open("d", NULL, &other, &error);
    ck_assert_msg(now() - start < 10, "%.3f s", now() - start); /* does not wait for the lock */
    expect_error(status, LX_ERR_BUSY, pid, "d/LOCK");
    close_writer(writer);
    ck_assert_uint_eq(file_size("d/LOCK"), size); /* not emptied */
    writer = records_reopen("d", NULL);
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(the_lock_ends_with_its_process)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int ready[2];
    char byte;
    unit_ok(create("d", &error));
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        lx_writer *writer = records_reopen("d", NULL);
        (void)!write(ready[1], "", 1);
        pause();
        close_writer(writer);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)child);
    lx_writer *writer;
    lx_status status = lx_writer_open("d", NULL, &writer, &error);
    expect_error(status, LX_ERR_BUSY, pid, "d/LOCK");
    status = create("d", &error);
    expect_error(status, LX_ERR_EXISTS, "", "d");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_writer(records_reopen("d", NULL));
    scratch_remove(scratch);
}
END_TEST

/** A child of fork() has the descriptor of the lock as well. */
START_TEST(a_closed_writer_leaves_no_lock_with_a_child)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    unit_ok(create("d", &error));
    lx_writer *writer = records_reopen("d", NULL);
    pid_t child = fork();
    if (child == 0)
        pause();
    close_writer(writer);
    close_writer(records_reopen("d", NULL));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    scratch_remove(scratch);
}
END_TEST

START_TEST(explains_a_lock_held_by_a_child)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    int ready[2];
    pid_t grandchild;
    unit_ok(create("d", &error));
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)records_reopen("d", NULL);
        /* Not by fork(), after which the library would release the lock. */
#ifdef __s390x__ /* has the stack first, then the flags */
        pid_t orphan = (pid_t)syscall(SYS_clone, NULL, SIGCHLD, NULL, NULL, NULL);
#else
        pid_t orphan = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
        if (orphan != 0)
            (void)!write(ready[1], &orphan, sizeof orphan);
        pause();
    }
    ck_assert_int_eq(read(ready[0], &grandchild, sizeof grandchild), sizeof grandchild);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    lx_writer *writer;
    expect_error(lx_writer_open("d", NULL, &writer, &error), LX_ERR_BUSY, "which has ended",
                 "d/LOCK");
    kill(grandchild, SIGKILL);
    for (int tries = 0; lx_writer_open("d", NULL, &writer, NULL) != LX_OK; tries++) {
        ck_assert_int_lt(tries, 1000);
        usleep(10000);
    }
    close_writer(writer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_lock_that_is_not_a_file)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    unit_ok(create("d", &error));
    for (enum disguise what = 0; what < DISGUISES; what++) {
        file_disguise("d/LOCK", what);
        lx_status status = lx_writer_open("d", NULL, &writer, &error);
        expect_error(status, LX_ERR_CORRUPT, "", "d/LOCK");
        file_restore("d/LOCK");
    }
    ck_assert_int_eq(remove("d/LOCK"), 0);
    close_writer(records_reopen("d", NULL)); /* a writer makes it */
    ck_assert(file_exists("d/LOCK"));
    scratch_remove(scratch);
}
END_TEST

START_TEST(omits_an_invalid_pid)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__file directory, lock, other;
    static const char *const texts[] = {"", "\n", "nonsense", "123%s%n",
                                        "99999999999999999999999999999"};
    unit_ok(lx__directory_open(&directory, LX__CWD, ".", &error));
    unit_ok(lx__writer_lock(&directory, &lock, &error));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        file_put("LOCK", texts[i], strlen(texts[i]));
        lx_status status = lx__writer_lock(&directory, &other, &error);
        expect_error(status, LX_ERR_BUSY, "process", "LOCK");
        ck_assert_int_eq(other.fd, -1);
    }
    lx__file_close(&lock);
    unit_ok(lx__writer_lock(&directory, &other, &error));
    lx__file_close(&other);
    lx__file_close(&directory);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/create", a_new_dataset_has_the_files_of_the_format,
          a_new_dataset_can_be_written_and_read_at_once, accepts_an_empty_directory,
          rejects_a_directory_with_other_files, replaces_an_interrupted_creation,
          does_not_overwrite_a_dataset, does_not_overwrite_a_dataset_without_meta_json,
          does_not_touch_foreign_files, reports_other_than_directories, rejects_invalid_arguments,
          succeeds_after_a_full_disk, succeeds_after_running_out_of_descriptors,
          a_second_writer_is_rejected_with_the_pid_of_the_first, the_lock_ends_with_its_process,
          a_closed_writer_leaves_no_lock_with_a_child, explains_a_lock_held_by_a_child,
          rejects_a_lock_that_is_not_a_file, omits_an_invalid_pid)
