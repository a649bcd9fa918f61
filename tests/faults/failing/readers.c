/* SPDX-License-Identifier: MIT */
/* Scenarios of a reader: the data that it returns is right, or it reports an error. */
#include "readers.h"

#include "arrows.h"
#include "scenario.h"

#include <sys/stat.h>
#include <unistd.h>

#include "../tree.h"

#define COUNT 40

struct step {
    const char *name;
    void (*take)(struct run *run, lx_dataset *dataset);
};

/** Indices all over the dataset, some of them twice. */
static void choose(const struct run *run, uint64_t indices[COUNT])
{
    for (uint64_t i = 0; i < COUNT; i++)
        indices[i] = run->pending.count != 0 ? i * 37 % run->pending.count : 0;
}

/** Whether the value that was read is the written one. */
static void expect(struct run *run, size_t field, uint64_t index, const uint8_t *data,
                   uint64_t size, bool present)
{
    uint8_t memory[PLAIN_VALUE];
    lx_value right = plain_value(run->pending.columns[field].kind,
                                 run->pending.records[index].tokens[field], memory);
    if (present ? right.size == size && (size == 0 || memcmp(memory, data, (size_t)size) == 0)
                : right.size == LX_NONE)
        return;
    run_fail(run, "record %llu of field %zu is wrong", (unsigned long long)index, field);
}

/* ---- steps */

static void gather(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT];
    uint8_t out[COUNT * 12];
    choose(run, indices);
    for (size_t field = PLAIN_IMAGE; field <= PLAIN_LABEL; field++) {
        uint64_t size = field == PLAIN_IMAGE ? 12 : 8;
        if (!TRY(run,
                 lx_dataset_gather(dataset, field, indices, COUNT, out, (size_t)size, &run->error)))
            continue;
        for (size_t i = 0; i < COUNT; i++)
            if (run->pending.records[indices[i]].tokens[field] != 0)
                expect(run, field, indices[i], out + i * size, size, true);
    }
}

static void gather_bytes(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT], offsets[COUNT + 1];
    uint8_t present[COUNT];
    choose(run, indices);
    for (size_t field = 0; field < PLAIN_KINDS; field++) {
        if (!TRY(run, lx_dataset_get_sizes(dataset, field, indices, COUNT, offsets, present,
                                           &run->error)))
            continue;
        uint8_t *out = need(malloc((size_t)offsets[COUNT] + 1));
        if (TRY(run,
                lx_dataset_gather_bytes(dataset, field, indices, COUNT, offsets, out, &run->error)))
            for (size_t i = 0; i < COUNT; i++)
                expect(run, field, indices[i], out + offsets[i], offsets[i + 1] - offsets[i],
                       present[i] != 0);
        free(out);
    }
}

static void get_present(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT];
    uint8_t present[COUNT];
    choose(run, indices);
    for (size_t field = 0; field < PLAIN_KINDS; field++) {
        if (!TRY(run, lx_dataset_get_present(dataset, field, indices, COUNT, present, &run->error)))
            continue;
        for (size_t i = 0; i < COUNT; i++)
            if ((run->pending.records[indices[i]].tokens[field] == 0) != (present[i] == 0))
                run_fail(run, "record %llu of field %zu is wrong", (unsigned long long)indices[i],
                         field);
    }
}

/** A part of a value, which begins with its second byte. */
static void read_part(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT], read;
    uint8_t out[PLAIN_VALUE];
    choose(run, indices);
    for (size_t field = PLAIN_TEXT; field <= PLAIN_BLOB; field++) {
        if (!TRY(run, lx_dataset_read_part(dataset, field, indices[0], 1, sizeof out, out, &read,
                                           &run->error)))
            continue;
        uint8_t memory[PLAIN_VALUE];
        uint32_t token = run->pending.records[indices[0]].tokens[field];
        lx_value value = plain_value(run->pending.columns[field].kind, token, memory);
        uint64_t rest = value.size == LX_NONE ? LX_NONE : value.size != 0 ? value.size - 1 : 0;
        if (read != rest || (rest != LX_NONE && memcmp(out, memory + 1, (size_t)rest) != 0))
            run_fail(run, "a part of record %llu is wrong", (unsigned long long)indices[0]);
    }
}

static void view(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT];
    lx_slice slices[COUNT];
    lx_view *view;
    choose(run, indices);
    if (!TRY(run, lx_dataset_view(dataset, PLAIN_BLOB, indices, COUNT, slices, &view, &run->error)))
        return;
    for (size_t i = 0; i < COUNT; i++)
        expect(run, PLAIN_BLOB, indices[i], slices[i].data, slices[i].size, slices[i].data != NULL);
    lx_view_free(view);
}

static void refresh(struct run *run, lx_dataset *dataset)
{
    bool changed;
    TRY(run, lx_dataset_refresh(dataset, &changed, &run->error));
}

static void verify(struct run *run, lx_dataset *dataset)
{
    lx_verify_result result;
    lx_status status = lx_dataset_verify(dataset, NULL, NULL, NULL, &result, &run->error);
    /* Data that the disk cannot read counts as damage. */
    if (status == LX_ERR_CORRUPT && run->fault.call == INJECT_pread &&
        run->error.errnum == run->fault.errnum && result.damages != 0)
        status = run->error.status = LX_ERR_IO;
    if (run_took(run, "lx_dataset_verify(&error)", status) &&
        (result.damages != 0 || result.records != run->pending.count))
        run_fail(run, "verification looked at %llu records, and found damages",
                 (unsigned long long)result.records);
}

static void stat_all(struct run *run, lx_dataset *dataset)
{
    lx_storage_stats totals;
    lx_field_stats fields[PLAIN_KINDS];
    lx_dataset_identity identity;
    if (TRY(run, lx_dataset_stat(dataset, &totals, fields, &run->error)) &&
        totals.length != run->pending.count)
        run_fail(run, "stat reports %llu records", (unsigned long long)totals.length);
    lx_dataset_get_identity(dataset, &identity);
    if (strcmp(lx_dataset_get_path(dataset), run->path) != 0)
        run_fail(run, "the path is another");
}

static void find(struct run *run, lx_dataset *dataset)
{
    size_t position;
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    if (TRY(run, lx_schema_find_field(schema, "blob", &position, &run->error)) &&
        lx_schema_get_field(schema, position)->dtype != LX_BYTES)
        run_fail(run, "the field is another");
}

static void pin(struct run *run, lx_dataset *dataset)
{
    lx_dataset *pinned;
    if (!TRY(run, lx_dataset_pin(dataset, &pinned, &run->error)))
        return;
    gather(run, pinned);
    lx_dataset_close(pinned);
}

static void wait_for(struct run *run, lx_dataset *dataset)
{
    TRY(run, lx_dataset_wait(dataset, run->pending.count, 0, &run->error));
}

static void probe(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT];
    uint8_t damaged[COUNT];
    choose(run, indices);
    if (!TRY(run, lx_dataset_probe(dataset, NULL, 0, indices, COUNT, damaged, &run->error)))
        return;
    for (size_t i = 0; i < COUNT; i++)
        if (damaged[i])
            run_fail(run, "record %llu is reported as damaged", (unsigned long long)indices[i]);
}

static void read_card(struct run *run, lx_dataset *dataset)
{
    lx_card *card;
    if (TRY(run, lx_dataset_read_card(dataset, &card, &run->error)))
        lx_card_free(card);
}

static void digest(struct run *run, lx_dataset *dataset)
{
    uint64_t number, again;
    lx_error error = LX_ERROR_INIT;
    if (!TRY(run, lx_dataset_digest(dataset, NULL, NULL, &number, &run->error)))
        return;
    inject_disarm();
    must(lx_dataset_digest(dataset, NULL, NULL, &again, &error), "a digest", &error);
    inject_rearm();
    if (number != again)
        run_fail(run, "the digest is wrong");
}

static void diff(struct run *run, lx_dataset *dataset)
{
    lx_field_diff same = {.a = PLAIN_TEXT, .b = PLAIN_TEXT};
    if (TRY(run, lx_dataset_diff(dataset, dataset, &same, 1, NULL, NULL, &run->error)) &&
        same.count != 0)
        run_fail(run, "the dataset differs from itself");
}

static void stat_chunks(struct run *run, lx_dataset *dataset)
{
    lx_chunk_stats infos[8];
    size_t count;
    TRY(run, lx_dataset_stat_chunks(dataset, infos, 8, &count, &run->error));
}

/** The destination of a copy; removes that of the last run, without faults. */
static const char *copy_path(const struct run *run)
{
    static char path[4300];
    snprintf(path, sizeof path, "%s-copy", run->path);
    return path;
}

static void clear_copy(const struct run *run)
{
    inject_disarm();
    if (access(copy_path(run), F_OK) == 0) {
        tree_clear(copy_path(run));
        (void)remove(copy_path(run));
    }
    inject_rearm();
}

static void backup(struct run *run, lx_dataset *dataset)
{
    char why[600];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *copy;
    bool made = TRY(run, lx_dataset_backup(dataset, copy_path(run), NULL, NULL, &run->error));
    inject_disarm();
    if (made) {
        must(lx_dataset_open(copy_path(run), NULL, &copy, &error), "a backup", &error);
        if (!plain_check(&run->pending, copy, why, sizeof why))
            run_fail(run, "in a backup: %s", why);
        lx_dataset_close(copy);
    } else if (!run->fault.forever) {
        must(lx_dataset_backup(dataset, copy_path(run), NULL, NULL, &error),
             "another backup where one failed", &error);
    }
    inject_rearm();
    clear_copy(run);
}

/** A pull that fails keeps what it has copied, and the next one completes it. */
static void pull(struct run *run, lx_dataset *dataset)
{
    char why[600];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *copy;
    bool made = TRY(run, lx_dataset_pull(dataset, copy_path(run), NULL, NULL, &run->error));
    inject_disarm();
    if (!made && !run->fault.forever)
        must(lx_dataset_pull(dataset, copy_path(run), NULL, NULL, &error),
             "another pull where one failed", &error);
    if (made || !run->fault.forever) {
        must(lx_dataset_open(copy_path(run), NULL, &copy, &error), "a pulled copy", &error);
        if (!plain_check(&run->pending, copy, why, sizeof why))
            run_fail(run, "in a pulled copy: %s", why);
        lx_dataset_close(copy);
    }
    inject_rearm();
    clear_copy(run);
}

/** Moves the dataset into the folder of the copy, or back. */
static void move_part(struct run *run, bool back)
{
    char part[4320];
    snprintf(part, sizeof part, "%s/part", copy_path(run));
    inject_disarm();
    if (!back)
        (void)mkdir(copy_path(run), 0777);
    if (rename(back ? part : run->path, back ? run->path : part) != 0)
        run_fail(run, "the part cannot be moved");
    inject_rearm();
}

/** A join that fails can be repeated. */
static void join(struct run *run)
{
    static const char *const path = "part";
    char part[4320], why[600];
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset, *joined;
    snprintf(part, sizeof part, "%s/part", copy_path(run));
    if (!TRY(run, lx_dataset_open(part, NULL, &dataset, &run->error)))
        return;
    bool made = TRY(run,
                    lx_dataset_join(copy_path(run), &dataset, &path, 1, NULL, NULL, &run->error));
    inject_disarm();
    if (!made && !run->fault.forever)
        must(lx_dataset_join(copy_path(run), &dataset, &path, 1, NULL, NULL, &error),
             "another join where one failed", &error);
    if (made || !run->fault.forever) {
        must(lx_dataset_open(copy_path(run), NULL, &joined, &error), "a joined dataset", &error);
        if (!plain_check(&run->pending, joined, why, sizeof why))
            run_fail(run, "in a joined dataset: %s", why);
        lx_dataset_close(joined);
    }
    inject_rearm();
    lx_dataset_close(dataset);
}

static void export_npy(struct run *run, lx_dataset *dataset)
{
    lx_export_result result;
    if (TRY(run, lx_dataset_export_npy(dataset, PLAIN_LABEL, copy_path(run), NULL, &result,
                                       &run->error)) &&
        result.records != run->pending.count)
        run_fail(run, "%llu records were exported", (unsigned long long)result.records);
    inject_disarm();
    (void)remove(copy_path(run));
    inject_rearm();
}

static void export_files(struct run *run, lx_dataset *dataset)
{
    uint64_t indices[COUNT];
    lx_export_result result;
    for (uint64_t i = 0; i < COUNT; i++)
        indices[i] = i;
    lx_export_options *options = NULL;
    if (TRY_NEW(run, options, lx_export_options_new()) &&
        TRY(run, lx_export_options_set_indices(options, indices, COUNT, &run->error)) &&
        TRY(run, lx_export_options_set_suffix(options, ".txt", &run->error)) &&
        TRY(run, lx_export_options_set_progress(options, NULL, NULL, &run->error)))
        TRY(run, lx_dataset_export_files(dataset, PLAIN_TEXT, copy_path(run), options, &result,
                                         &run->error));
    lx_export_options_free(options);
    clear_copy(run);
}

/** Add new public functions of a dataset as steps here. */
static const struct step steps[] = {
    {"gather", gather},       {"gather_bytes", gather_bytes},
    {"read_part", read_part}, {"view", view},
    {"refresh", refresh},     {"verify", verify},
    {"stat", stat_all},       {"find", find},
    {"refresh", refresh},     {"pin", pin},
    {"wait", wait_for},       {"probe", probe},
    {"stat", stat_chunks},    {"arrow", arrows_read},
    {"card", read_card},      {"digest", digest},
    {"diff", diff},           {"get_present", get_present},
};

/** Add functions that make files as steps here. */
static const struct step copies[] = {
    {"backup", backup},
    {"export_npy", export_npy},
    {"export_files", export_files},
};

/* ---- the scenarios */

static lx_dataset *open_placed(struct run *run, lx_verify_policy verification, bool durable,
                               lx_executor *executor, lx_access access)
{
    lx_dataset *dataset = NULL;
    lx_dataset_options *options;
    if (!TRY_NEW(run, options, lx_dataset_options_new()))
        return NULL;
    if (!TRY(run, lx_dataset_options_set_verify_policy(options, verification, &run->error)) ||
        !TRY(run, lx_dataset_options_set_durable(options, durable, &run->error)) ||
        !TRY(run, lx_dataset_options_set_damage_policy(options, LX_DAMAGE_RAISE, &run->error)) ||
        !TRY(run,
             lx_dataset_options_set_live(options, verification == LX_VERIFY_NEVER, &run->error)) ||
        !TRY(run, lx_dataset_options_set_length(options, LX_NONE, &run->error)) ||
        !TRY(run, lx_dataset_options_set_executor(options, executor, &run->error)) ||
        !TRY(run, lx_dataset_options_set_access(options, access, &run->error)) ||
        !TRY(run, lx_dataset_open(run->path, options, &dataset, &run->error)))
        dataset = NULL;
    lx_dataset_options_free(options);
    return dataset;
}

static lx_dataset *open_as(struct run *run, lx_verify_policy verification, bool durable,
                           lx_executor *executor)
{
    return open_placed(run, verification, durable, executor, LX_ACCESS_AUTO);
}

void readers_take_steps(struct run *run, lx_dataset *dataset)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        steps[i].take(run, dataset);
}

static void read_first(struct run *run)
{
    lx_dataset *dataset = open_as(run, LX_VERIFY_FIRST, false, NULL);
    if (dataset == NULL)
        return;
    readers_take_steps(run, dataset);
    lx_dataset_close(dataset);
}

/** Each call looks for the newest commit. */
static void read_live(struct run *run)
{
    lx_dataset *dataset = open_as(run, LX_VERIFY_NEVER, false, NULL);
    if (dataset == NULL)
        return;
    readers_take_steps(run, dataset);
    lx_dataset_close(dataset);
}

static void read_by_pread(struct run *run)
{
    lx_dataset *dataset = open_placed(run, LX_VERIFY_FIRST, false, NULL, LX_ACCESS_PREAD);
    if (dataset == NULL)
        return;
    readers_take_steps(run, dataset);
    lx_dataset_close(dataset);
}

static void make_copies(struct run *run)
{
    lx_dataset *dataset = open_as(run, LX_VERIFY_FIRST, false, NULL);
    if (dataset == NULL)
        return;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        copies[i].take(run, dataset);
    lx_dataset_close(dataset);
}

static void pull_sealed(struct run *run)
{
    lx_dataset *dataset = open_as(run, LX_VERIFY_FIRST, false, NULL);
    if (dataset == NULL)
        return;
    pull(run, dataset);
    lx_dataset_close(dataset);
}

static void join_sealed(struct run *run)
{
    move_part(run, false);
    join(run);
    move_part(run, true);
    clear_copy(run);
}

static void read_always(struct run *run)
{
    lx_executor *executor;
    if (!TRY(run, lx_executor_open(NULL, &executor, &run->error)))
        return;
    lx_dataset *dataset = open_as(run, LX_VERIFY_ALWAYS, true, executor);
    if (dataset != NULL) {
        readers_take_steps(run, dataset);
        lx_dataset_close(dataset);
    }
    lx_executor_unref(executor);
}

/** Commits of another writer, without faults. */
static void append_unharmed(struct run *run, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    inject_disarm();
    must(lx_writer_open(run->path, NULL, &writer, &error), "a concurrent writer", &error);
    for (uint64_t i = 0; i < count; i++) {
        const struct plain_record *record = run_make(run);
        must(lx_writer_append(writer, plain_values(&run->pending, record),
                              run->pending.column_count, NULL, &error),
             "a concurrent append", &error);
    }
    must(lx_writer_close(writer, &error), "a concurrent close", &error);
    run_may_commit(run);
    run_has_committed(run);
    inject_rearm();
}

/** Refreshes to new commits: small ones, and growing tables. After a failure, the old snapshot
 * stays readable. */
static void read_concurrently(struct run *run)
{
    lx_dataset *dataset = open_as(run, LX_VERIFY_FIRST, false, NULL);
    if (dataset == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        bool changed;
        uint64_t length = lx_dataset_get_length(dataset);
        append_unharmed(run, 20);
        if (!TRY(run, lx_dataset_refresh(dataset, &changed, &run->error)) &&
            lx_dataset_get_length(dataset) != length)
            run_fail(run, "a refresh that failed changed the length");
        struct plain whole = run->pending;
        run->pending.count = lx_dataset_get_length(dataset);
        gather(run, dataset);
        gather_bytes(run, dataset);
        run->pending.count = whole.count;
    }
    lx_dataset_close(dataset);
}

static void prepare_some(const char *path, struct plain *plain)
{
    prepare_dataset(path, plain, 90, 30);
}

static void prepare_closed(const char *path, struct plain *plain)
{
    prepare_sealed(path, plain, 90);
}

const struct scenario reader_scenarios[] = {
    {"read", prepare_some, false, read_first},
    {"read-always", prepare_some, false, read_always},
    {"read-sealed", prepare_closed, false, read_first},
    {"read-live", prepare_some, false, read_live},
    {"read-pread", prepare_some, false, read_by_pread},
    {"read-concurrently", prepare_some, true, read_concurrently},
    {"copies", prepare_some, false, make_copies},
    {"join", prepare_closed, false, join_sealed},
    {"pull", prepare_closed, false, pull_sealed},
    {NULL, NULL, false, NULL},
};
