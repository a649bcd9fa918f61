/* SPDX-License-Identifier: MIT */
/*
 * Imports that are killed at every step at which they make something durable, changes to the dataset
 * in between, and the attempt to continue: the result is the whole dataset, or a refusal that says
 * what to do and changes nothing. LX_IMPORT_STEPS=1 in the environment tries all steps instead of
 * every seventh.
 */
#include <sys/syscall.h>

#include "imports.h"

#define RECORDS 4000

static lx_error error = LX_ERROR_INIT;

/* ---- the kill */

static atomic_int left = -1; /* Steps until the kill; less than 0: none. */

static void step(void)
{
    if (atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0)
        kill(getpid(), SIGKILL);
}

/* These take the place of the functions of libc. Nothing is synced: a kill loses no pages. */
int fsync(int fd)
{
    (void)fd;
    step();
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    step();
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
}

/* ---- the import */

/** Writes the lines of numbers, with one that is not JSON. */
static void put_numbers(const char *name, int first, int count)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = first; i < first + count; i++)
        fprintf(file, "%s{\"x\": %d}\n", i == first + 1 ? "oops\n" : "", i);
    ck_assert_int_eq(fclose(file), 0);
}

static lx_status import(const char *path, bool append, bool resume)
{
    lx_importer *importer = importer_of("jsonl", "a");
    unit_ok(lx_importer_add_input(importer, "b", &error));
    unit_ok(lx_importer_add_input(importer, "c", &error));
    unit_ok(lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error));
    unit_ok(lx_importer_set_commit_size(importer, 1, &error));
    unit_ok(lx_importer_set_append(importer, append, &error));
    unit_ok(lx_importer_set_resume(importer, resume, &error));
    lx_writer_options *options = lx_writer_options_new();
    unit_ok(lx_writer_options_set_durability(options, LX_DURABILITY_FULL, &error));
    lx_status status = lx_importer_run(importer, path, options, &error);
    lx_writer_options_free(options);
    lx_importer_free(importer);
    return status;
}

/** Imports in a child, which is killed at a step; false if it ends before. */
static bool import_and_kill(bool append, int at)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        atomic_store(&left, at);
        _exit(import("d", append, false) == LX_OK ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/** Whether the dataset has these numbers from 0 on, or others. */
static bool has_numbers(const char *path, uint64_t count)
{
    lx_dataset *dataset = open_imported(path);
    uint64_t length = lx_dataset_get_length(dataset), *indices = calloc(length + 1, 8);
    int64_t *values = calloc(length + 1, sizeof *values);
    bool same = length == count;
    for (uint64_t i = 0; i < length; i++)
        indices[i] = i;
    if (length != 0)
        unit_ok(lx_dataset_gather(dataset, 0, indices, length, values, sizeof *values, &error));
    for (uint64_t i = 0; i < length; i++)
        same = same && values[i] == (int64_t)i;
    free(indices);
    free(values);
    lx_dataset_close(dataset);
    return same;
}

/* ---- the changes */

/** What the attempt to continue is to do. */
typedef enum outcome { COMPLETES, REFUSES, KEEPS } outcome;

static lx_writer *open_writer(uint64_t *length)
{
    lx_writer *writer;
    unit_ok(lx_writer_open("d", NULL, &writer, &error));
    *length = lx_writer_get_length(writer);
    return writer;
}

static void close_writer(lx_writer *writer)
{
    unit_ok(lx_writer_close(writer, &error));
}

static void append_one(lx_writer *writer)
{
    int64_t number = -1;
    lx_value value = {.data = &number, .size = sizeof number};
    unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    unit_ok(lx_writer_commit(writer, &error));
}

static outcome nothing(void)
{
    return COMPLETES;
}

static outcome open_only(void)
{
    uint64_t length;
    close_writer(open_writer(&length));
    return COMPLETES;
}

static outcome append(void)
{
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    append_one(writer);
    close_writer(writer);
    return REFUSES;
}

static outcome delete (void)
{
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    if (length != 0)
        unit_ok(lx_writer_truncate(writer, length - 1, &error));
    close_writer(writer);
    return length != 0 ? REFUSES : COMPLETES;
}

static outcome delete_and_append(void)
{
    delete ();
    return append();
}

static outcome append_and_delete(void)
{
    append();
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    if (length > 1) /* else it is refused before the first commit only */
        unit_ok(lx_writer_truncate(writer, length - 1, &error));
    close_writer(writer);
    return REFUSES;
}

/** Stores the same value again, which counts as a change. */
static outcome update(void)
{
    uint64_t length;
    int64_t number = 0;
    lx_value value = {.data = &number, .size = sizeof number};
    lx_writer *writer = open_writer(&length);
    if (length != 0)
        unit_ok(lx_writer_modify(writer, 0, &(size_t){0}, &value, 1, &error));
    close_writer(writer);
    return length != 0 ? REFUSES : COMPLETES;
}

static outcome checkpoint(void)
{
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    unit_ok(lx_writer_checkpoint(writer, &error));
    close_writer(writer);
    return COMPLETES;
}

static outcome rebalance(void)
{
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    unit_ok(lx_writer_rebalance(writer, NULL, NULL, NULL, &error));
    close_writer(writer);
    return COMPLETES;
}

static outcome seal_and_back_up(void)
{
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    unit_fails(lx_writer_seal(writer, &error), LX_ERR_STATE);
    close_writer(writer);
    lx_dataset *dataset = open_imported("d");
    unit_fails(lx_dataset_backup(dataset, "backup", NULL, NULL, &error), LX_ERR_STATE);
    lx_dataset_close(dataset);
    return COMPLETES;
}

static void set_card(const char *key, const char *text)
{
    uint64_t length;
    lx_writer *writer = open_writer(&length);
    unit_ok(lx_writer_set_card(writer, &(lx_card_entry){key, text}, 1, &error));
    close_writer(writer);
}

static outcome edit_card(void)
{
    set_card("source", "here");
    return COMPLETES;
}

static outcome damage_card(void)
{
    set_card(LX_CARD_IMPORT, "{\"version\":1}");
    return REFUSES;
}

static outcome accept(void)
{
    set_card(LX_CARD_IMPORT, NULL);
    return KEEPS;
}

static outcome replace(void)
{
    unit_ok(lx_dataset_remove("d", &error));
    lx_importer *importer = importer_of("jsonl", "first");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
    return KEEPS;
}

/** Another import is interrupted in its place. */
static outcome replace_and_stop(void)
{
    unit_ok(lx_dataset_remove("d", &error));
    lx_importer *importer = importer_of("jsonl", "first");
    unit_ok(lx_importer_add_input(importer, "damaged", &error));
    unit_fails(lx_importer_run(importer, "d", NULL, &error), LX_ERR_CORRUPT);
    lx_importer_free(importer);
    return REFUSES;
}

/** As of 1.0.0-rc1, or of anyone else: the file is never touched. */
static outcome put_file(void)
{
    put_text("d.import", "{\"digest\":1,\"classes\":0,\"fields\":[],\"version\":1,\"first\":0}\n");
    return COMPLETES;
}

static outcome move(void)
{
    ck_assert_int_eq(rename("d", "moved"), 0);
    ck_assert_int_eq(rename("moved", "d"), 0);
    return COMPLETES;
}

static outcome (*const changes[])(void) = {
    nothing, open_only,        append,    delete,    delete_and_append, append_and_delete,
    update,  checkpoint,       rebalance, edit_card, damage_card,       accept,
    replace, replace_and_stop, put_file,  move,      seal_and_back_up,
};

/** Continues after a change, and checks the result. */
static void check_change(bool append, size_t change, int at)
{
    lx_dataset_identity before, now;
    outcome wanted = changes[change]();
    lx_dataset *dataset = open_imported("d");
    uint64_t length = lx_dataset_get_length(dataset);
    lx_dataset_get_identity(dataset, &before);
    lx_dataset_close(dataset);
    bool marked = is_incomplete("d");
    lx_error_clear(&error);
    lx_status status = import("d", append, true);
    if (wanted == COMPLETES) {
        ck_assert_msg(status == LX_OK && has_numbers("d", RECORDS) && !is_incomplete("d"),
                      "change %zu at step %d: %s", change, at, error.message);
        return;
    }
    dataset = open_imported("d");
    lx_dataset_get_identity(dataset, &now);
    ck_assert_msg((status == LX_OK) == (wanted == KEEPS && !append) &&
                      lx_dataset_get_length(dataset) == length && now.changes == before.changes &&
                      is_incomplete("d") == marked &&
                      (wanted == KEEPS || strstr(error.message, "remove") != NULL ||
                       strstr(error.message, "give the same ones") != NULL),
                  "change %zu at step %d: %s, %s", change, at, lx_status_get_name(status),
                  error.message);
    lx_dataset_close(dataset);
}

static void clean(bool append)
{
    lx_error_clear(&error);
    lx_dataset_remove("d", NULL);
    unlink("d.import");
    if (!append)
        return;
    lx_importer *importer = importer_of("jsonl", "first");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    lx_importer_free(importer);
}

/** Kills imports at a step, and makes each change; false if they end before it. */
static bool try_step(bool append, int at, size_t *begun)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        clean(append);
        bool killed = import_and_kill(append, at);
        if (access("d/meta.json", F_OK) == 0 && is_incomplete("d")) {
            check_change(append, i, at);
            ++*begun;
            continue;
        }
        /* The import did not begin, or is complete. */
        if (!append)
            unit_ok(import("d", append, true));
        ck_assert(has_numbers("d", RECORDS) || append);
        return killed;
    }
    return true;
}

static void try_all(bool append)
{
    char *scratch = scratch_make();
    size_t begun = 0;
    put_text("first", "{\"x\": 0}\n{\"x\": 1}\n");
    put_text("damaged", "oops\n");
    put_numbers("a", append ? 2 : 0, append ? 1498 : 1500);
    put_numbers("b", 1500, 10);
    put_numbers("c", 1510, RECORDS - 1510);
    for (int at = 0; try_step(append, at, &begun);)
        at += getenv("LX_IMPORT_STEPS") != NULL ? 1 : 7;
    ck_assert_uint_gt(begun, 2 * sizeof changes / sizeof *changes);
    ck_assert(has_numbers("d", RECORDS));
    scratch_remove(scratch);
}

START_TEST(an_import_continues_or_says_why_not)
{
    try_all(false);
}
END_TEST

START_TEST(an_import_that_appends_continues_or_says_why_not)
{
    try_all(true);
}
END_TEST

UNIT_MAIN("importer/import-resume", an_import_continues_or_says_why_not,
          an_import_that_appends_continues_or_says_why_not)
