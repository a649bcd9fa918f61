/* SPDX-License-Identifier: MIT */
/* loaderx export: writes fields to .npy files, or each record to a file of its own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dataset.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "number.h"
#include "progress.h"
#include "report.h"

enum { OPTION_NPY = OPTION_OWN, OPTION_FILES, OPTION_SUFFIX, OPTION_RANGE, OPTION_DAMAGE };

static const command_option options[] = {
    {OPTION_NPY, "npy", "F=FILE", "write the dense field F to an .npy file"},
    {OPTION_FILES, "files", "F=FOLDER", "write each record of field F to a separate file"},
    {OPTION_SUFFIX, "suffix", "TEXT", "a suffix for the names of these files"},
    {OPTION_RANGE, "range", "A:B", "records A up to but not including B (all)"},
    {OPTION_DAMAGE, "on-damage", "raise|zeros", "fail on damaged values, or export zeros (raise)"},
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** A field and its destination. */
typedef struct target {
    const char *field, *path;
    bool files;
    lx_export_result done;
} target;

/** The arguments and the progress. */
typedef struct request {
    const char *path, *suffix;
    target *targets;
    size_t count;
    index_range range;
    lx_damage_policy damage;
    bool range_given, quiet, json;
    progress bar;
} request;

/* ---- the command line */

static lx_status take_target(request *r, const command_option *option, char *text, lx_error *error)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "--%s '%.64s' is invalid: use %s", option->name,
                       text, option->value);
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->targets[i].path, equals + 1) == 0)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "--%s '%.200s': two fields have this destination", option->name,
                           equals + 1);
    target *more = realloc(r->targets, (r->count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a field");
    *equals = '\0';
    r->targets = more;
    more[r->count++] =
        (target){.field = text, .path = equals + 1, .files = option->id == OPTION_FILES};
    return LX_OK;
}

static lx_status take_damage(request *r, const char *text, lx_error *error)
{
    if (strcmp(text, "raise") != 0 && strcmp(text, "zeros") != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--on-damage '%.64s' is invalid: use raise or zeros",
                       text);
    r->damage = text[0] == 'z' ? LX_DAMAGE_ZEROS : LX_DAMAGE_RAISE;
    return LX_OK;
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_NPY:
    case OPTION_FILES:
        return take_target(r, option, value, error);
    case OPTION_SUFFIX:
        r->suffix = value;
        return LX_OK;
    case OPTION_RANGE:
        r->range_given = true;
        return index_range_parse_option("--range", value, &r->range, error);
    case OPTION_DAMAGE:
        return take_damage(r, value, error);
    default:
        r->quiet = r->quiet || option->id == 'q';
        r->json = r->json || option->id == OPTION_JSON;
        return LX_OK;
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

static lx_status check_request(const request *r, lx_error *error)
{
    bool files = false;
    for (size_t i = 0; i < r->count; i++)
        files = files || r->targets[i].files;
    lx_status status = command_need_directory(r->path, error);
    if (status == LX_OK && r->count == 0)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "no field is given: use --npy F=FILE or --files F=FOLDER");
    if (status == LX_OK && r->suffix != NULL && !files)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--suffix requires --files F=FOLDER");
    return status;
}

/* ---- exporting */

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    request *r = user;
    progress_update(&r->bar, done, total, 0);
    return interrupt_check(error);
}

/** Lists the indices in the range, for the library. Sets @p indices to NULL if all records are to
 * be exported. */
static lx_status list_records(const request *r, lx_dataset *dataset, uint64_t **indices,
                              uint64_t *count, lx_error *error)
{
    uint64_t first, end;
    *indices = NULL;
    if (!r->range_given)
        return LX_OK;
    lx_status status = index_range_resolve(&r->range, lx_dataset_get_length(dataset), &first, &end,
                                           error);
    lx_error_locate(error, r->path, NULL, LX_NONE, LX_NONE);
    if (status != LX_OK)
        return status;
    *count = end - first;
    *indices = malloc((size_t)(*count + 1) * sizeof **indices);
    if (*indices == NULL)
        return fail_memory(error, "the indices");
    for (uint64_t i = 0; i < *count; i++)
        (*indices)[i] = first + i;
    return LX_OK;
}

static lx_status make_options(request *r, const target *to, const uint64_t *indices, uint64_t count,
                              lx_export_options **chosen, lx_error *error)
{
    *chosen = lx_export_options_new();
    if (*chosen == NULL)
        return fail_memory(error, "options");
    lx_status status = lx_export_options_set_suffix(*chosen, to->files ? r->suffix : NULL, error);
    if (status == LX_OK)
        status = lx_export_options_set_indices(*chosen, indices, count, error);
    if (status == LX_OK)
        status = lx_export_options_set_progress(*chosen, advanced, r, error);
    if (status != LX_OK)
        lx_export_options_free(*chosen);
    return status;
}

static lx_status export_target(request *r, lx_dataset *dataset, target *to, const uint64_t *indices,
                               uint64_t count, lx_error *error)
{
    size_t field;
    lx_status status = lx_schema_find_field(lx_dataset_get_schema(dataset), to->field, &field,
                                            error);
    lx_error_locate(error, r->path, NULL, LX_NONE, LX_NONE);
    if (status != LX_OK)
        return status;
    if (!to->files && (status = directory_check_parent(to->path, error)) != LX_OK)
        return status;
    lx_export_options *chosen;
    if ((status = make_options(r, to, indices, count, &chosen, error)) != LX_OK)
        return status;
    progress_begin(&r->bar, to->field, r->quiet);
    if (to->files)
        status = lx_dataset_export_files(dataset, field, to->path, chosen, &to->done, error);
    else
        status = lx_dataset_export_npy(dataset, field, to->path, chosen, &to->done, error);
    lx_export_options_free(chosen);
    progress_clear(&r->bar);
    if (!to->files && lx_schema_get_field(lx_dataset_get_schema(dataset), field)->size == LX_NONE)
        advise(error, LX_ERR_ARGUMENT, "use --files to write each record to a file");
    advise(error, LX_ERR_EXISTS, "export to another folder");
    advise(error, LX_ERR_CORRUPT,
           "use --on-damage zeros to continue, or 'loaderx repair' to repair the dataset");
    return status;
}

static json_t *target_document(const target *to)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "field", to->field, "path",
                     report_text(to->path), "records", report_number(to->done.records), "missing",
                     report_number(to->done.missing), "damaged", report_number(to->done.damaged),
                     "bytes", report_number(to->done.bytes));
}

/** Prints how many values are missing or damaged, and how they were written. */
static void print_absent(const target *to, uint64_t count, const char *what)
{
    if (count != 0)
        printf("; %" PRIu64 " %s %s", count, what, to->files ? "without a file" : "as zeros");
}

static lx_status print_result(const request *r, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    json_t *list = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const target *to = &r->targets[i];
        if (r->json)
            json_array_append_new(list, target_document(to));
        if (r->json || r->quiet)
            continue;
        printf("%s: %" PRIu64 " records of '%s', %s", to->path, to->done.records, to->field,
               report_size(to->done.bytes, size));
        print_absent(to, to->done.missing, "missing");
        print_absent(to, to->done.damaged, "damaged");
        printf("\n");
    }
    if (r->json)
        return report_print(json_pack("{s:o, s:o}", "path", report_text(r->path), "exports", list),
                            error);
    json_decref(list);
    return LX_OK;
}

static lx_status export_all(request *r, lx_error *error)
{
    lx_dataset *dataset = NULL;
    uint64_t *indices = NULL, count = 0;
    lx_status status = dataset_open_damaged(r->path, r->damage, &dataset, error);
    if (status == LX_OK)
        status = list_records(r, dataset, &indices, &count, error);
    interrupt_catch();
    for (size_t i = 0; status == LX_OK && i < r->count; i++)
        status = export_target(r, dataset, &r->targets[i], indices, count, error);
    if (status == LX_OK)
        status = print_result(r, error);
    free(indices);
    lx_dataset_close(dataset);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&export_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = export_all(&r, error);
    free(r.targets);
    return status;
}

const command export_command = {
    .name = "export",
    .arguments = "DIR --npy F=FILE | --files F=FOLDER ... [OPTION...]",
    .summary = "export fields to .npy files, or each record to a file",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "The export reads one snapshot, unaffected by concurrent writers. Missing values become\n"
        "zeros in an array, and get no file in a folder; with --on-damage zeros, damaged\n"
        "values are treated the same way. Each file is named after the index of its record.\n",
    .examples = "  loaderx export fashion --npy data=images.npy --npy label=labels.npy\n"
                "  loaderx export photos --files image=jpegs --suffix .jpg --range :100\n",
    .fetches = true,
    .run = run};
