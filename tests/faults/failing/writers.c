/* SPDX-License-Identifier: MIT */
/* Scenarios of a writer: all its calls, one after another, even after failures. */
#include "arrows.h"
#include "scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tree.h"

/* More entries than one frame may have: they go to the tables (lib/zrecord/write/commit.c). */
#define TABLE_RECORDS (16384 / PLAIN_KINDS + 100)

/* Records of one call. */
#define MODIFIED 12

struct step {
    const char *name;
    void (*take)(struct run *run, lx_writer *writer);
};

/** Of the writer of the present run. */
static bool in_transaction;

/** After a failure, roll back; a poisoned writer rejects that, too. */
static void give_up_pending(struct run *run, lx_writer *writer)
{
    run_forget(run);
    if (!TRY(run, lx_writer_rollback(writer, &run->error)))
        return;
    in_transaction = false;
    uint64_t length = lx_writer_get_length(writer);
    if (length != run->pending.count)
        run_fail(run, "after a rollback there are %llu records, not %llu",
                 (unsigned long long)length, (unsigned long long)run->pending.count);
}

/** A call that commits pending operations. */
#define COMMIT(run, writer, call)                                                                  \
    do {                                                                                           \
        run_may_commit(run);                                                                       \
        if (TRY(run, call)) {                                                                      \
            run_has_committed(run);                                                                \
        } else {                                                                                   \
            if (!(run)->poisoned)                                                                  \
                run_has_not_committed(run);                                                        \
            give_up_pending(run, writer);                                                          \
        }                                                                                          \
    } while (0)

/* ---- steps */

static void append(struct run *run, lx_writer *writer)
{
    uint64_t index, expected = run->pending.count;
    const struct plain_record *record = run_make(run);
    if (!TRY(run, lx_writer_append(writer, plain_values(&run->pending, record),
                                   run->pending.column_count, &index, &run->error)))
        give_up_pending(run, writer);
    else if (index != expected)
        run_fail(run, "append gave index %llu", (unsigned long long)index);
}

static void extend_by(struct run *run, lx_writer *writer, uint64_t count)
{
    lx_values columns[PLAIN_COLUMNS];
    uint64_t first = run->pending.count, index;
    for (uint64_t i = 0; i < count; i++)
        (void)run_make(run);
    plain_columns(&run->pending, first, run->pending.count - first, columns);
    if (!TRY(run, lx_writer_extend(writer, run->pending.count - first, columns,
                                   run->pending.column_count, &index, &run->error)))
        give_up_pending(run, writer);
    else if (index != first)
        run_fail(run, "extend gave index %llu", (unsigned long long)index);
    plain_columns_free(&run->pending, columns);
}

static void extend(struct run *run, lx_writer *writer)
{
    extend_by(run, writer, 30);
}

static void append_arrow(struct run *run, lx_writer *writer)
{
    uint64_t first = run->pending.count;
    for (uint64_t i = 0; i < 30; i++)
        (void)run_make(run);
    if (!arrows_append(run, writer, run->pending.count - first))
        give_up_pending(run, writer);
}

static void commit(struct run *run, lx_writer *writer)
{
    COMMIT(run, writer, lx_writer_commit(writer, &run->error));
}

/** Within a transaction it does not commit. */
static void sync_all(struct run *run, lx_writer *writer)
{
    if (in_transaction)
        TRY(run, lx_writer_sync(writer, &run->error));
    else
        COMMIT(run, writer, lx_writer_sync(writer, &run->error));
}

static void begin(struct run *run, lx_writer *writer)
{
    uint64_t failures = run->failures;
    COMMIT(run, writer, lx_writer_begin_transaction(writer, &run->error));
    in_transaction = run->failures == failures;
}

/** A transaction that a failure ended cannot be ended again. */
static void end(struct run *run, lx_writer *writer)
{
    if (!in_transaction)
        return;
    COMMIT(run, writer, lx_writer_end_transaction(writer, &run->error));
    in_transaction = false;
}

static void rollback(struct run *run, lx_writer *writer)
{
    give_up_pending(run, writer);
}

/** Changes two fields of a record. */
static void modify(struct run *run, lx_writer *writer)
{
    static const size_t fields[] = {PLAIN_BLOB, PLAIN_LABEL};
    struct plain_record record = plain_make(&run->pending, run->number++);
    uint64_t index = run->number * 7 % run->pending.count;
    const lx_value *values = plain_values(&run->pending, &record);
    const lx_value chosen[] = {values[PLAIN_BLOB], values[PLAIN_LABEL]};
    for (size_t i = 0; i < 2; i++)
        run->pending.records[index].tokens[fields[i]] = record.tokens[fields[i]];
    if (!TRY(run, lx_writer_modify(writer, index, fields, chosen, 2, &run->error)))
        give_up_pending(run, writer);
}

/** Changes a field of many records, some of them twice. */
static void modify_many(struct run *run, lx_writer *writer)
{
    static const size_t field = PLAIN_TEXT;
    uint64_t indices[MODIFIED];
    lx_values columns[PLAIN_COLUMNS];
    struct plain fresh;
    plain_init(&fresh, PLAIN_KINDS);
    for (size_t i = 0; i < MODIFIED; i++) {
        struct plain_record record = plain_make(&fresh, run->number++);
        plain_append(&fresh, &record);
        indices[i] = i * i % run->pending.count;
        run->pending.records[indices[i]].tokens[field] = record.tokens[field];
    }
    plain_columns(&fresh, 0, MODIFIED, columns);
    if (!TRY(run, lx_writer_modify_many(writer, indices, MODIFIED, &field, &columns[field], 1,
                                        &run->error)))
        give_up_pending(run, writer);
    plain_columns_free(&fresh, columns);
    plain_free(&fresh);
}

static void delete_one(struct run *run, lx_writer *writer)
{
    uint64_t index = run->number++ * 5 % run->pending.count, moved;
    uint64_t expected = plain_delete(&run->pending, index);
    if (!TRY(run, lx_writer_delete(writer, index, &moved, &run->error)))
        give_up_pending(run, writer);
    else if (moved != expected)
        run_fail(run, "record %llu moved, not %llu", (unsigned long long)moved,
                 (unsigned long long)expected);
}

static void truncate_some(struct run *run, lx_writer *writer)
{
    run->pending.count -= run->pending.count / 4;
    if (!TRY(run, lx_writer_truncate(writer, run->pending.count, &run->error)))
        give_up_pending(run, writer);
}

/** Appends again the records that a reader sees. */
static void copy(struct run *run, lx_writer *writer)
{
    static const uint64_t indices[] = {0, 2, 1};
    const struct plain *seen = &run->versions[run->acknowledged];
    lx_dataset *dataset;
    uint64_t first;
    if (run->poisoned || seen->count < 3 ||
        !TRY(run, lx_dataset_open(run->path, NULL, &dataset, &run->error)))
        return;
    for (size_t i = 0; i < 3; i++)
        plain_append(&run->pending, &seen->records[indices[i]]);
    if (!TRY(run, lx_writer_copy(writer, dataset, NULL, 0, indices, 3, &first, &run->error)))
        give_up_pending(run, writer);
    else if (first != run->pending.count - 3)
        run_fail(run, "copy gave index %llu", (unsigned long long)first);
    lx_dataset_close(dataset);
}

static lx_status submit_and_wait(lx_writer *writer, lx_error *error)
{
    lx_ticket *ticket;
    lx_status status = lx_writer_submit_commit(writer, &ticket, error);
    if (status != LX_OK)
        return status;
    status = lx_ticket_wait(ticket, error);
    lx_ticket_unref(ticket);
    return status;
}

static void submit(struct run *run, lx_writer *writer)
{
    COMMIT(run, writer, submit_and_wait(writer, &run->error));
}

static void seal(struct run *run, lx_writer *writer)
{
    run_may_commit(run);
    if (TRY(run, lx_writer_seal(writer, &run->error)))
        run_has_committed(run);
}

/** Add new public functions of a writer as steps here. */
static const struct step steps[] = {
    {"append", append},     {"append", append},
    {"commit", commit},     {"extend", extend},
    {"commit", commit},     {"append", append},
    {"rollback", rollback}, {"begin", begin},
    {"append", append},     {"sync", sync_all},
    {"extend", extend},     {"end", end},
    {"begin", begin},       {"append", append},
    {"rollback", rollback}, {"append", append},
    {"sync", sync_all},     {"append", append},
    {"modify", modify},     {"modify_many", modify_many},
    {"commit", commit},     {"delete", delete_one},
    {"delete", delete_one}, {"modify", modify},
    {"submit", submit},     {"truncate", truncate_some},
    {"copy", copy},         {"arrow", append_arrow},
    {"commit", commit},     {"begin", begin},
    {"delete", delete_one}, {"modify", modify},
    {"end", end},           {"delete", delete_one},
};

/** A step that changes a record needs one; after a failure there may be none. */
static void take_steps(struct run *run, lx_writer *writer)
{
    in_transaction = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (run->pending.count != 0 || steps[i].take == append || steps[i].take == extend)
            steps[i].take(run, writer);
}

/** If closing succeeds, the writer has committed the pending operations. */
static void close_writer(struct run *run, lx_writer *writer)
{
    run_may_commit(run);
    if (TRY(run, lx_writer_close(writer, &run->error)))
        run_has_committed(run);
}

/* ---- the scenarios */

static lx_writer_options *make_options(struct run *run, lx_durability durability)
{
    lx_writer_options *options;
    if (!TRY_NEW(run, options, lx_writer_options_new()))
        return NULL;
    if (TRY(run, lx_writer_options_set_durability(options, durability, &run->error)) &&
        TRY(run, lx_writer_options_set_card(options, &(lx_card_entry){"license", "MIT"}, 1,
                                            &run->error)) &&
        TRY(run, lx_writer_options_set_compression_level(options, 1, &run->error)) &&
        TRY(run, lx_writer_options_set_chunk_limits(options, 25, 8192, &run->error)))
        return options;
    lx_writer_options_free(options);
    return NULL;
}

static lx_writer *create(struct run *run, lx_durability durability)
{
    lx_writer *writer = NULL;
    lx_schema *schema;
    lx_writer_options *options = make_options(run, durability);
    if (TRY_NEW(run, schema, lx_schema_new())) {
        bool whole = options != NULL;
        for (size_t i = 0; whole && i < run->pending.column_count; i++)
            whole = TRY(run, plain_add_to(schema, &run->pending.columns[i], &run->error));
        if (whole)
            whole = TRY(run, lx_schema_set_compression(schema, "text", 1, 0, &run->error));
        if (whole && TRY(run, lx_writer_create(run->path, schema, options, &writer, &run->error)))
            run->exists = true;
        else
            writer = NULL;
    }
    lx_schema_free(schema);
    lx_writer_options_free(options);
    return writer;
}

static void live(struct run *run, lx_durability durability)
{
    lx_writer *writer = create(run, durability);
    if (writer == NULL)
        return;
    take_steps(run, writer);
    if (lx_schema_get_field_count(lx_writer_get_schema(writer)) != run->pending.column_count)
        run_fail(run, "the schema is another");
    close_writer(run, writer);
}

static void live_full(struct run *run)
{
    live(run, LX_DURABILITY_FULL);
}

static void live_periodic(struct run *run)
{
    live(run, LX_DURABILITY_PERIODIC);
}

static void live_none(struct run *run)
{
    live(run, LX_DURABILITY_NONE);
}

/** Appends so many records that their entries go to the tables. */
static void fill_tables(struct run *run)
{
    lx_writer *writer = create(run, LX_DURABILITY_FULL);
    if (writer == NULL)
        return;
    in_transaction = false;
    extend_by(run, writer, TABLE_RECORDS);
    commit(run, writer);
    append(run, writer);
    close_writer(run, writer);
}

static void prepare_some(const char *path, struct plain *plain)
{
    prepare_dataset(path, plain, 90, 30);
}

/** Commits without syncs, by a process that then exits. */
static void commit_and_die(const char *path, const struct plain *plain, uint64_t from)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_writer_options *options = need(lx_writer_options_new());
    must(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error), "durability",
         &error);
    must(lx_writer_open(path, options, &writer, &error), "open", &error);
    for (uint64_t i = from; i < plain->count; i++) {
        must(lx_writer_append(writer, plain_values(plain, &plain->records[i]), plain->column_count,
                              NULL, &error),
             "append", &error);
        must(lx_writer_commit(writer, &error), "commit", &error);
    }
    _exit(EXIT_SUCCESS);
}

/** The state after a kill: unsynced frames, bytes after them, and orphans. */
static void prepare_killed(const char *path, struct plain *plain)
{
    static const char *const leftovers[] = {"meta.json.new", "LOG.7", "text.offset.3",
                                            "chunk/900.zr"};
    char name[4300];
    int status;
    prepare_dataset(path, plain, 60, 10);
    uint64_t from = plain->count;
    for (int i = 0; i < 20; i++) {
        struct plain_record record = plain_make(plain, (uint32_t)plain->count + 1);
        plain_append(plain, &record);
    }
    pid_t child = fork();
    if (child == 0)
        commit_and_die(path, plain, from);
    if (waitpid(child, &status, 0) != child || status != 0)
        give_up("a writer that dies");
    for (size_t i = 0; i < sizeof leftovers / sizeof *leftovers; i++) {
        snprintf(name, sizeof name, "%s/%s", path, leftovers[i]);
        close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    }
    snprintf(name, sizeof name, "%s/LOG", path);
    int fd = open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (write(fd, "LXLF, and then no more", 22) != 22)
        give_up(name);
    close(fd);
}

static void reopen(struct run *run)
{
    lx_writer *writer;
    lx_writer_options *options = make_options(run, LX_DURABILITY_FULL);
    if (options != NULL && TRY(run, lx_writer_open(run->path, options, &writer, &run->error))) {
        if (lx_writer_get_length(writer) != run->pending.count)
            run_fail(run, "a writer finds %llu records",
                     (unsigned long long)lx_writer_get_length(writer));
        append(run, writer);
        commit(run, writer);
        extend(run, writer);
        close_writer(run, writer);
    }
    lx_writer_options_free(options);
}

static void reopen_and_seal(struct run *run)
{
    lx_writer *writer;
    if (!TRY(run, lx_writer_open(run->path, NULL, &writer, &run->error)))
        return;
    append(run, writer);
    seal(run, writer);
    close_writer(run, writer);
}

/** With a shared executor, which stays open. */
static void share_executor(struct run *run)
{
    lx_executor *executor;
    lx_writer *writer;
    lx_writer_options *options = make_options(run, LX_DURABILITY_FULL);
    if (options == NULL)
        return;
    if (TRY(run, lx_executor_open(NULL, &executor, &run->error))) {
        if (TRY(run, lx_writer_options_set_executor(options, executor, &run->error)) &&
            TRY(run, lx_writer_open(run->path, options, &writer, &run->error))) {
            extend(run, writer);
            close_writer(run, writer);
        }
        lx_executor_close(executor);
    }
    lx_writer_options_free(options);
}

/* ---- new generations: they commit pending operations first, so none are pending here */

static void checkpoint(struct run *run, lx_writer *writer)
{
    if (!TRY(run, lx_writer_checkpoint(writer, &run->error)))
        give_up_pending(run, writer);
}

static void rebalance(struct run *run, lx_writer *writer)
{
    lx_rebalance_result result;
    if (!TRY(run, lx_writer_rebalance(writer, NULL, NULL, &result, &run->error)))
        give_up_pending(run, writer);
    else if (result.records != run->pending.count)
        run_fail(run, "a rebalance reports %llu records", (unsigned long long)result.records);
    else
        (void)TRY(run, lx_writer_remove_old_files(writer, &result.kept_files, &run->error));
}

static void add_field(struct run *run, lx_writer *writer)
{
    const struct plain_form *form = &plain_forms[PLAIN_BLOB];
    plain_add_column(&run->pending, "more", PLAIN_BLOB);
    COMMIT(run, writer,
           lx_writer_add_field(writer, "more", form->dtype, NULL, form->ndim, form->compression,
                               &run->error));
}

/** A default that is too long for an entry, so that all records share a payload. */
static void add_default(struct run *run, lx_writer *writer)
{
    static uint8_t memory[PLAIN_VALUE];
    const struct plain_form *form = &plain_forms[PLAIN_BLOB];
    size_t column = run->pending.column_count;
    uint32_t token = 1;
    lx_value value = plain_value(PLAIN_BLOB, token, memory);
    while (value.size < 20)
        value = plain_value(PLAIN_BLOB, ++token, memory);
    plain_add_column(&run->pending, "default", PLAIN_BLOB);
    for (uint64_t i = 0; i < run->pending.count; i++)
        run->pending.records[i].tokens[column] = token;
    COMMIT(run, writer,
           lx_writer_add_field_default(writer, "default", form->dtype, NULL, form->ndim,
                                       form->compression, &value, &run->error));
}

/** Leaves the values as they are. */
static lx_status keep(const lx_values *values, uint64_t count, lx_values *converted, void *user,
                      lx_error *error)
{
    (void)count, (void)user, (void)error;
    *converted = *values;
    return LX_OK;
}

static void convert_field(struct run *run, lx_writer *writer)
{
    const char *name = run->pending.columns[PLAIN_TEXT].name;
    COMMIT(run, writer,
           lx_writer_convert_field(writer, name, LX_BYTES, NULL, 0, keep, NULL, &run->error));
}

static void rename_field(struct run *run, lx_writer *writer)
{
    plain_rename_column(&run->pending, 1, "number");
    COMMIT(run, writer, lx_writer_rename_field(writer, "label", "number", &run->error));
}

static void set_compression(struct run *run, lx_writer *writer)
{
    COMMIT(run, writer, lx_writer_set_compression(writer, "text", 2, 0, &run->error));
}

static void set_card(struct run *run, lx_writer *writer)
{
    const lx_card_entry about[] = {{"license", NULL}, {"source", "here"}};
    COMMIT(run, writer, lx_writer_set_card(writer, about, 2, &run->error));
}

/** Nothing is pending, because the call commits before it finds out that the field is not
 * compressed by zstd. */
static void train(struct run *run, lx_writer *writer)
{
    lx_dataset *dataset;
    if (!TRY(run, lx_dataset_open(run->path, NULL, &dataset, &run->error)))
        return;
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_writer_train_dictionary(writer, "text", dataset, &error);
    if (status != LX_ERR_ARGUMENT) {
        run->error = error;
        (void)run_took(run, "lx_writer_train_dictionary(.., &error)", status);
        give_up_pending(run, writer);
    }
    lx_dataset_close(dataset);
}

static void drop_field(struct run *run, lx_writer *writer)
{
    plain_drop_column(&run->pending, PLAIN_TEXT);
    COMMIT(run, writer, lx_writer_drop_field(writer, "text", &run->error));
}

/** Add new functions that make a generation as steps here. */
static const struct step reshaping[] = {
    {"modify", modify},         {"delete", delete_one},     {"commit", commit},
    {"checkpoint", checkpoint}, {"append", append},         {"delete", delete_one},
    {"commit", commit},         {"rebalance", rebalance},   {"append", append},
    {"commit", commit},         {"add", add_field},         {"append", append},
    {"commit", commit},         {"rename", rename_field},   {"extend", extend},
    {"commit", commit},         {"set", set_compression},   {"append", append},
    {"commit", commit},         {"default", add_default},   {"append", append},
    {"commit", commit},         {"rebalance", rebalance},   {"append", append},
    {"commit", commit},         {"convert", convert_field}, {"append", append},
    {"commit", commit},         {"card", set_card},         {"append", append},
    {"commit", commit},         {"train", train},           {"append", append},
    {"commit", commit},         {"drop", drop_field},       {"append", append},
    {"commit", commit},
};

static void reshape(struct run *run)
{
    lx_writer *writer;
    lx_writer_options *options = make_options(run, LX_DURABILITY_FULL);
    in_transaction = false;
    if (options != NULL && TRY(run, lx_writer_open(run->path, options, &writer, &run->error))) {
        for (size_t i = 0; i < sizeof reshaping / sizeof *reshaping; i++)
            reshaping[i].take(run, writer);
        close_writer(run, writer);
    }
    lx_writer_options_free(options);
}

static void prepare_closed(const char *path, struct plain *plain)
{
    prepare_sealed(path, plain, 90);
}

static void unseal(struct run *run)
{
    lx_writer *writer;
    if (!TRY(run, lx_dataset_unseal(run->path, &run->error)) ||
        !TRY(run, lx_writer_open(run->path, NULL, &writer, &run->error)))
        return;
    append(run, writer);
    modify(run, writer);
    close_writer(run, writer);
}

/* ---- repair */

/** A dataset with a damaged value, that of the first payload. */
static void prepare_damaged(const char *path, struct plain *plain)
{
    char name[4300];
    uint8_t byte;
    prepare_dataset(path, plain, 60, 10);
    snprintf(name, sizeof name, "%s/chunk/0.zr", path);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd == -1 || pread(fd, &byte, 1, 0) != 1)
        give_up(name);
    byte ^= 1;
    if (pwrite(fd, &byte, 1, 0) != 1)
        give_up(name);
    close(fd);
    for (uint64_t i = 0; i < plain->count; i++) {
        if (plain->records[i].tokens[PLAIN_IMAGE] == 0)
            continue;
        plain->records[i].tokens[PLAIN_IMAGE] = 0;
        break;
    }
}

static lx_status see_finding(const lx_finding *finding, void *user, lx_error *error)
{
    (void)error;
    (void)finding, (void)user;
    return LX_OK;
}

static lx_status see_progress(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    (void)done, (void)total, (void)user;
    return LX_OK;
}

/** Repairs the dataset, or recovers it into @p into. */
static lx_status repair_by(const struct run *run, bool apply, const char *into, lx_error *error)
{
    lx_repair_result result;
    lx_repair_options *options = lx_repair_options_new();
    if (options == NULL) {
        snprintf(error->message, sizeof error->message, "no options");
        return error->status = LX_ERR_NOMEM;
    }
    lx_status status = lx_repair_options_set_policy(options, LX_REPAIR_MISSING, error);
    if (status == LX_OK)
        status = lx_repair_options_set_apply(options, apply, error);
    if (status == LX_OK)
        status = lx_repair_options_set_lose_unreadable(options, false, error);
    if (status == LX_OK)
        status = lx_repair_options_set_found(options, see_finding, NULL, error);
    if (status == LX_OK)
        status = lx_repair_options_set_progress(options, see_progress, NULL, error);
    if (status == LX_OK)
        status = into == NULL ? lx_dataset_repair(run->path, options, &result, error)
                              : lx_dataset_recover(run->path, into, options, &result, error);
    lx_repair_options_free(options);
    return status;
}

/** An interrupted repair leaves a dataset that another one repairs. If reads fail, it loses nothing
 * that can be read later. */
static void repair(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    char into[4300], made[4400];
    snprintf(into, sizeof into, "%s.new", run->path);
    snprintf(made, sizeof made, "%s.recovering", into);
    lx_status status = repair_by(run, false, NULL, &run->error);
    if (status == LX_ERR_CORRUPT)
        lx_error_clear(&run->error);
    (void)run_took(run, "lx_dataset_repair(&error)", status == LX_ERR_CORRUPT ? LX_OK : status);
    TRY(run, repair_by(run, false, into, &run->error));
    TRY(run, repair_by(run, true, NULL, &run->error));
    inject_disarm();
    must(repair_by(run, true, NULL, &error), "the repair after it", &error);
    if (access(into, F_OK) == 0)
        tree_remove(into);
    if (access(made, F_OK) == 0)
        tree_remove(made);
}

static void remove_it(struct run *run)
{
    TRY(run, lx_dataset_check_removable(run->path, &run->error));
    if (TRY(run, lx_dataset_remove(run->path, &run->error)))
        run->exists = false;
    run->removing = true;
}

const struct scenario writer_scenarios[] = {
    {"live-full", NULL, true, live_full},
    {"live-periodic", NULL, true, live_periodic},
    {"live-none", NULL, true, live_none},
    {"fill-tables", NULL, true, fill_tables},
    {"reopen", prepare_some, true, reopen},
    {"recover", prepare_killed, true, reopen},
    {"seal", prepare_some, true, reopen_and_seal},
    {"share-executor", prepare_some, true, share_executor},
    {"reshape", prepare_some, true, reshape},
    {"unseal", prepare_closed, true, unseal},
    {"repair", prepare_damaged, true, repair},
    {"remove", prepare_some, true, remove_it},
    {NULL, NULL, false, NULL},
};
