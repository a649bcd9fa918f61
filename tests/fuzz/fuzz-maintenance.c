/* SPDX-License-Identifier: MIT */
/* Maintenance of damaged datasets. The first byte is the operation; the lowest bit of the second
 * selects an input of fuzz-table.c or of fuzz-log.c, which follows. The fuzzer makes the dataset
 * and reads it; repairs, recovers, checkpoints, rebalances, seals or copies it; then all values
 * that were readable before must be unchanged, and a repaired dataset must be undamaged. An input
 * takes milliseconds. */
#include "fuzz.h"

#include <sys/stat.h>

#include "../faults/tree.h"
#include "frames.h"
#include "memory.h"
#include "rows.h"

enum what {
    REPORT,
    REPAIR,
    REPAIR_DELETE,
    RECOVER, /* into a new directory */
    CHECKPOINT,
    REBALANCE,
    SEAL,
    BACKUP,
    WHATS
};

#define FIELDS 4
#define RECORDS (FUZZ_ROWS * 2)
/* Longer values are not compared. */
#define VALUE_MAX ((uint64_t)1 << 16)

/** The readable values of a dataset. */
struct content {
    uint64_t length;
    struct value {
        bool there, present;
        uint64_t size;
        uint8_t *data; /* for free() */
    } values[FIELDS][RECORDS];
};

static struct content before, after;

/* ---- content */

static void read_value(lx_dataset *dataset, size_t field, uint64_t index, struct value *value)
{
    uint64_t ends[2];
    uint8_t present;
    if (lx_dataset_get_sizes(dataset, field, &index, 1, ends, &present, NULL) != LX_OK ||
        ends[1] > VALUE_MAX)
        return;
    value->size = ends[1];
    value->present = present != 0;
    value->data = need(malloc((size_t)value->size + 1));
    value->there = lx_dataset_gather_bytes(dataset, field, &index, 1, ends, value->data, NULL) ==
                   LX_OK;
}

static void forget(struct content *content)
{
    for (size_t i = 0; i < FIELDS; i++)
        for (size_t k = 0; k < RECORDS; k++)
            free(content->values[i][k].data);
    memset(content, 0, sizeof *content);
}

static lx_dataset *open_one(const char *path)
{
    lx_dataset *dataset = NULL;
    lx_dataset_options *options = need(lx_dataset_options_new());
    (void)lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, NULL);
    (void)lx_dataset_open(path, options, &dataset, NULL);
    lx_dataset_options_free(options);
    return dataset;
}

/** Returns false if it cannot be opened. */
static bool read_content(const char *path, struct content *content)
{
    lx_dataset *dataset = open_one(path);
    forget(content);
    if (dataset == NULL)
        return false;
    content->length = lx_dataset_get_length(dataset);
    for (size_t i = 0; i < FIELDS; i++)
        for (uint64_t k = 0; k < content->length && k < RECORDS; k++)
            read_value(dataset, i, k, &content->values[i][k]);
    lx_dataset_close(dataset);
    return true;
}

/** Checks that all values that were readable before are unchanged. */
static void compare(const char *what)
{
    if (after.length != before.length)
        fuzz_fail("%s: %llu records, not %llu", what, (unsigned long long)after.length,
                  (unsigned long long)before.length);
    for (size_t i = 0; i < FIELDS; i++) {
        for (uint64_t k = 0; k < before.length && k < RECORDS; k++) {
            const struct value *was = &before.values[i][k], *is = &after.values[i][k];
            if (!was->there)
                continue;
            if (!is->there || is->present != was->present || is->size != was->size ||
                memcmp(is->data, was->data, (size_t)was->size) != 0)
                fuzz_fail("%s: field %zu, record %d is not what it was", what, i, (int)k);
        }
    }
}

/** A log may declare many records; a repair keeps them without values, and verifying them takes
 * long. */
static void verify(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_one(path);
    if (dataset == NULL)
        fuzz_fail("what was repaired cannot be opened");
    if (lx_dataset_get_length(dataset) <= RECORDS &&
        lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) != LX_OK)
        fuzz_fail("what was repaired is damaged: %s", error.message);
    lx_dataset_close(dataset);
}

/* ---- operations */

/** Records that the repair drops commits. */
static lx_status note(const lx_finding *finding, void *user, lx_error *error)
{
    (void)error;
    bool *shorter = user;
    *shorter = *shorter || strstr(finding->damage.path, "/LOG") != NULL;
    return LX_OK;
}

static lx_status repair(const char *path, enum what what, bool opened, bool *shorter)
{
    lx_error error = LX_ERROR_INIT;
    lx_repair_result result = {0};
    const char *into = fuzz_path("maintenance/new");
    lx_repair_options *options = need(lx_repair_options_new());
    (void)lx_repair_options_set_policy(
        options, what == REPAIR_DELETE ? LX_REPAIR_DELETE : LX_REPAIR_MISSING, NULL);
    (void)lx_repair_options_set_apply(options, what != REPORT, NULL);
    (void)lx_repair_options_set_found(options, note, shorter, NULL);
    lx_status status = what == RECOVER ? lx_dataset_recover(path, into, options, &result, &error)
                                       : lx_dataset_repair(path, options, &result, &error);
    lx_repair_options_free(options);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK)
        return status;
    if (what != REPORT)
        verify(what == RECOVER ? into : path);
    if (opened && !*shorter && what == RECOVER) {
        if (!read_content(into, &after))
            fuzz_fail("what was recovered cannot be opened");
        compare("a recovered dataset");
    }
    if (opened && !*shorter && what == REPAIR_DELETE &&
        (!read_content(path, &after) || after.length != before.length - result.deleted))
        fuzz_fail("%llu records were deleted, it is said", (unsigned long long)result.deleted);
    return status;
}

static lx_status write_anew(const char *path, enum what what)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_writer_options *options = need(lx_writer_options_new());
    (void)lx_writer_options_set_executor(options, fuzz_executor(), NULL);
    lx_status status = lx_writer_open(path, options, &writer, &error);
    lx_writer_options_free(options);
    if (status != LX_OK)
        return status;
    if (what == CHECKPOINT)
        status = lx_writer_checkpoint(writer, &error);
    else if (what == REBALANCE)
        status = lx_writer_rebalance(writer, NULL, NULL, NULL, &error);
    else
        status = lx_writer_seal(writer, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    lx_status closed = lx_writer_close(writer, NULL);
    return status != LX_OK ? status : closed;
}

/** Reads the copy. */
static void back_up(const char *path)
{
    lx_error error = LX_ERROR_INIT;
    const char *copy = fuzz_path("maintenance/copy");
    lx_dataset *dataset = open_one(path);
    lx_status status = lx_dataset_backup(dataset, copy, NULL, NULL, &error);
    lx_dataset_close(dataset);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status == LX_OK && !read_content(copy, &after))
        fuzz_fail("the copy cannot be opened");
    if (status == LX_OK)
        compare("a copy");
}

/** Whether all commits were synced. A writer drops unsynced commits that name damaged data
 * (doc/zrecord-format.md, 10.3). */
static bool is_synced(const char *path)
{
    lx_dataset_identity newest = {.checksum = 0}, durable = {.checksum = 1};
    lx_dataset *dataset = open_one(path);
    lx_dataset_options *options = need(lx_dataset_options_new());
    if (dataset != NULL)
        lx_dataset_get_identity(dataset, &newest);
    lx_dataset_close(dataset);
    (void)lx_dataset_options_set_durable(options, true, NULL);
    if (lx_dataset_open(path, options, &dataset, NULL) == LX_OK) {
        lx_dataset_get_identity(dataset, &durable);
        lx_dataset_close(dataset);
    }
    lx_dataset_options_free(options);
    return newest.sequence == durable.sequence && newest.checksum == durable.checksum;
}

static void maintain(enum what what)
{
    const char *path = fuzz_path("maintenance/data");
    bool opened = read_content(path, &before);
    if (what == BACKUP) {
        if (opened)
            back_up(path);
        return;
    }
    bool shorter = !is_synced(path);
    lx_status status = what <= RECOVER ? repair(path, what, opened, &shorter)
                                       : write_anew(path, what);
    if (!opened || shorter || (status == LX_OK && what == REPAIR_DELETE))
        return;
    if (!read_content(path, &after))
        fuzz_fail("it cannot be opened after %d, which is %s", (int)what,
                  lx_status_get_name(status));
    compare(lx_status_get_name(status));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t log[FRAMES_MAX];
    struct input input = {data, size};
    struct rows rows;
    enum what what = (enum what)(input_byte(&input) % WHATS);
    bool is_log = input_byte(&input) % 2 != 0;
    if (!is_log && !rows_take(&rows, input.data, input.size))
        return 0;
    fuzz_keep_large();
    fuzz_json_begin();
    mkdir(fuzz_path("maintenance"), 0777);
    fuzz_make_dataset("maintenance/data");
    if (is_log) {
        unsigned options = input_byte(&input);
        frames_write("maintenance/data", log, frames_make(input.data, input.size, options, log));
    } else {
        rows_write("maintenance/data", &rows);
    }
    maintain(what);
    tree_clear(fuzz_path("maintenance"));
    forget(&before);
    forget(&after);
    fuzz_json_end();
    return 0;
}
