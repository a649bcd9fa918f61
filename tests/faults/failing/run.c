/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

void run_begin(struct run *run, const char *path, const struct plain *plain)
{
    *run = (struct run){.path = path, .error = LX_ERROR_INIT, .exists = plain != NULL, .number = 1};
    plain_init(&run->pending, PLAIN_KINDS);
    if (plain != NULL) {
        plain_set(&run->pending, plain);
        run->number += (uint32_t)plain->count;
    }
    run_may_commit(run);
}

void run_end(struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        plain_free(&run->versions[i]);
    free(run->versions);
    plain_free(&run->pending);
}

void run_fail(struct run *run, const char *format, ...)
{
    va_list list;
    if (run->wrong)
        return;
    run->wrong = true;
    va_start(list, format);
    vsnprintf(run->why, sizeof run->why, format, list);
    va_end(list);
}

/* ---- results of calls */

/** How a fault can be reported where it is first seen. */
static bool is_cause(const struct run *run, lx_status status)
{
    if (status == LX_ERR_NOMEM)
        return run->fault.call == INJECT_alloc || run->fault.errnum == ENOMEM;
    if (status != LX_ERR_IO && status != LX_ERR_POISONED)
        return false;
    /* The message of a poisoned writer names it. */
    return run->fault.call != INJECT_alloc &&
           (run->error.errnum == run->fault.errnum || status == LX_ERR_POISONED);
}

/** The possible results of a call after another has failed; one without an error reports only the
 * status. */
static bool is_consequence(const struct run *run, lx_status status, bool has_error)
{
    return is_cause(run, status) || status == LX_ERR_STATE || status == LX_ERR_POISONED ||
           (status == LX_ERR_IO && (!has_error || run->error.message[0] != '\0'));
}

static bool may_fail(const struct run *run)
{
    if (inject_get_fired() == 0 || run->seen == SEEN_NEVER)
        return false;
    return run->seen == SEEN_AS_FAILURE || run->fault.forever;
}

bool run_took(struct run *run, const char *call, lx_status status)
{
    char text[900];
    bool has_error = strstr(call, "error") != NULL;
    lx_error_describe(&run->error, text, sizeof text);
    if (status >= 0) {
        if (has_error && run->error.status != LX_OK)
            run_fail(run, "%s succeeded, but reports %s", call, text);
        return true;
    }
    if (has_error && (run->error.status != status || run->error.message[0] == '\0'))
        run_fail(run, "%s returned %s, but reports %s: %s", call, lx_status_get_name(status),
                 lx_status_get_name(run->error.status), text);
    else if (!may_fail(run))
        run_fail(run, "%s returned %s, although no relevant call failed: %s", call,
                 lx_status_get_name(status), text);
    else if (run->failures == 0 ? !is_cause(run, status) && has_error
                                : !is_consequence(run, status, has_error))
        run_fail(run, "%s returned %s, which is not the injected failure: %s", call,
                 lx_status_get_name(status), text);
    run->failures++;
    run->poisoned = run->poisoned || status == LX_ERR_POISONED;
    lx_error_clear(&run->error);
    return false;
}

/* ---- actions of a writer */

const struct plain_record *run_make(struct run *run)
{
    struct plain_record record = plain_make(&run->pending, run->number++);
    plain_append(&run->pending, &record);
    return &run->pending.records[run->pending.count - 1];
}

void run_may_commit(struct run *run)
{
    run->versions = need(realloc(run->versions, (run->count + 1) * sizeof *run->versions));
    run->versions[run->count] = (struct plain){0};
    plain_set(&run->versions[run->count++], &run->pending);
}

void run_has_committed(struct run *run)
{
    run->acknowledged = run->count - 1;
    run->exists = true;
}

void run_has_not_committed(struct run *run)
{
    plain_free(&run->versions[--run->count]);
}

void run_forget(struct run *run)
{
    plain_set(&run->pending, &run->versions[run->acknowledged]);
}

/* ---- afterwards */

static bool report(struct run *run, const char *what, const lx_error *error)
{
    char text[900];
    lx_error_describe(error, text, sizeof text);
    run_fail(run, "afterwards, %s: %s", what, text);
    return false;
}

static lx_status open_reader(const struct run *run, lx_dataset **dataset, lx_error *error)
{
    lx_dataset_options *options = need(lx_dataset_options_new());
    lx_status status = lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, error);
    if (status == LX_OK)
        status = lx_dataset_open(run->path, options, dataset, error);
    lx_dataset_options_free(options);
    return status;
}

/** Finds the version of a dataset, which becomes the pending one. */
static bool identify(struct run *run, lx_dataset *dataset)
{
    char why[512] = "";
    for (size_t i = run->count; i-- > run->acknowledged;) {
        if (!plain_check(&run->versions[i], dataset, why, sizeof why))
            continue;
        plain_set(&run->pending, &run->versions[i]);
        return true;
    }
    run_fail(run, "afterwards, it has none of the %zu committed versions: %s",
             run->count - run->acknowledged, why);
    return false;
}

static bool check_reader(struct run *run, bool *absent, bool *sealed)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset_identity identity;
    lx_dataset *dataset;
    lx_status status = open_reader(run, &dataset, &error);
    *absent = status == LX_ERR_NOT_FOUND;
    if (*absent)
        return !run->exists || report(run, "it is absent", &error);
    if (status != LX_OK)
        return report(run, "opening it", &error);
    lx_dataset_get_identity(dataset, &identity);
    *sealed = identity.sealed;
    bool right = identify(run, dataset);
    if (right && lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error) != LX_OK)
        right = report(run, "verification", &error);
    lx_dataset_close(dataset);
    return right;
}

/** The next writer finds the same version, and continues. */
static bool check_writer(struct run *run, bool absent)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = need(plain_schema(&run->pending));
    lx_status status = absent ? lx_writer_create(run->path, schema, NULL, &writer, &error)
                              : lx_writer_open(run->path, NULL, &writer, &error);
    lx_schema_free(schema);
    if (status != LX_OK)
        return report(run, absent ? "creating it again" : "opening it for writing", &error);
    if (absent)
        run->pending.count = 0;
    uint64_t length = lx_writer_get_length(writer);
    if (length != run->pending.count)
        run_fail(run, "afterwards, a writer finds %" PRIu64 " records, a reader %" PRIu64, length,
                 run->pending.count);
    const struct plain_record *record = run_make(run);
    status = lx_writer_append(writer, plain_values(&run->pending, record),
                              run->pending.column_count, NULL, &error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? &error : NULL);
    if (status != LX_OK || closed != LX_OK)
        return report(run, "appending to it", &error);
    run_may_commit(run);
    run_has_committed(run);
    return !run->wrong;
}

static bool check_removal(struct run *run)
{
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx_dataset_remove(run->path, &error);
    if (status != LX_OK && status != LX_ERR_NOT_FOUND)
        return report(run, "removing it again", &error);
    return check_writer(run, true);
}

bool run_check(struct run *run)
{
    bool absent = false, sealed = false;
    if (run->removing)
        return check_removal(run);
    if (!check_reader(run, &absent, &sealed))
        return false;
    if (sealed)
        return true;
    return check_writer(run, absent) && check_reader(run, &absent, &sealed);
}
