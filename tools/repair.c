/* SPDX-License-Identifier: MIT */
/* loaderx repair: makes of a damaged dataset one that is whole. */
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

enum { OPTION_APPLY = OPTION_OWN, OPTION_DELETE };

static const command_option options[] = {
    {OPTION_APPLY, "apply", NULL, "do it; without it, what would be done is told only"},
    {OPTION_DELETE, "delete", NULL, "delete damaged records, in place of making values missing"},
    QUIET_OPTION("no progress bar and no summary; findings are printed all the same"),
    JSON_OPTION("findings and summary as JSON"),
};

/** What the command line asks for, and how far it is. */
typedef struct request {
    const char *path;
    bool apply, deletes, quiet, json;
    bool begun;    /**< The JSON document. */
    bool remedied; /**< Something can be done about one damage at least. */
    uint64_t told; /**< Findings printed. */
    progress bar;
} request;

static lx_status take_option(void *user, const command_option *option, char *value,
                             lx_error *error)
{
    request *r = user;
    (void)value, (void)error;
    r->apply = r->apply || option->id == OPTION_APPLY;
    r->deletes = r->deletes || option->id == OPTION_DELETE;
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

/* ---- findings, printed as they come: there may be more than memory holds */

static const char *word_for(const lx_finding *finding)
{
    switch (finding->remedy) {
    case LX_REMEDY_MISSING:
        return "missing";
    case LX_REMEDY_DELETE:
        return "delete";
    case LX_REMEDY_FORGET:
        return "forget";
    case LX_REMEDY_LEFTOVER:
        return "leftover";
    case LX_REMEDY_RESTAMP:
        return "restamp";
    default:
        return finding->damage.status == LX_ERR_EXISTS ? "foreign" : "none";
    }
}

static json_t *number_or_null(uint64_t number)
{
    return number != LX_NONE ? report_number(number) : json_null();
}

/** Begins the document, unless that was done. */
static lx_status begin_json(request *r)
{
    json_t *path = !r->begun ? report_text(r->path) : NULL;
    char *text = path != NULL ? json_dumps(path, JSON_ENCODE_ANY) : NULL;
    json_decref(path);
    if (r->begun)
        return LX_OK;
    if (text == NULL)
        return LX_ERR_NOMEM;
    printf("{\n  \"path\": %s,\n  \"findings\": [", text);
    free(text);
    r->begun = true;
    return LX_OK;
}

static lx_status print_json(request *r, const lx_finding *finding)
{
    const lx_error *damage = &finding->damage;
    json_t *item = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o}", "remedy", word_for(finding), "field", damage->field,
        "record", number_or_null(damage->record), "path", report_text(damage->path), "offset",
        number_or_null(damage->offset), "message", report_text(damage->message));
    if (item == NULL || begin_json(r) != LX_OK) {
        json_decref(item);
        return LX_ERR_NOMEM;
    }
    fputs(r->told != 0 ? ",\n    " : "\n    ", stdout);
    json_dumpf(item, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(item);
    return LX_OK;
}

static lx_status found(const lx_finding *finding, void *user)
{
    request *r = user;
    char line[sizeof finding->damage.path + sizeof finding->damage.message + 512];
    lx_status status = LX_OK;
    progress_clear(&r->bar);
    if (r->json) {
        status = print_json(r, finding);
    } else {
        lx_error_describe(&finding->damage, line, sizeof line);
        printf("%s: %s\n", word_for(finding), line);
    }
    r->told++;
    r->remedied = r->remedied || finding->remedy == LX_REMEDY_MISSING ||
                  finding->remedy == LX_REMEDY_DELETE || finding->remedy == LX_REMEDY_FORGET ||
                  finding->remedy == LX_REMEDY_RESTAMP;
    if (status == LX_OK && interrupted())
        status = LX_ERR_CANCELED;
    return status;
}

/** Tells, in the JSON document alone, why nothing can be looked at: the error tells it else. */
static void tell_hopeless(request *r, const lx_error *why, lx_repair_result *result)
{
    const lx_finding finding = {.remedy = LX_REMEDY_NONE, .damage = *why};
    if (!r->json || result->damages != 0 || why->status != LX_ERR_CORRUPT)
        return;
    if (print_json(r, &finding) == LX_OK) {
        result->damages++;
        r->told++;
    }
}

static lx_status advanced(uint64_t done, uint64_t total, void *user)
{
    request *r = user;
    progress_update(&r->bar, done, total, 0);
    return interrupted() ? LX_ERR_CANCELED : LX_OK;
}

/* ---- the summary */

/** Ends the document that begin_json() began, whose last key is an open array. */
static void end_json(const request *r, const lx_repair_result *result)
{
    json_t *aside = result->aside[0] != '\0' ? report_text(result->aside) : json_null();
    char *text = json_dumps(aside, JSON_ENCODE_ANY);
    printf("%s],\n  \"records\": %" PRIu64 ",\n  \"values\": %" PRIu64 ",\n  \"damages\": %" PRIu64
           ",\n  \"missing\": %" PRIu64 ",\n  \"deleted\": %" PRIu64 ",\n  \"foreign\": %" PRIu64
           ",\n  \"aside\": %s,\n  \"changed\": %s\n}\n",
           r->told != 0 ? "\n  " : "", result->records, result->values, result->damages,
           result->missing, result->deleted, result->foreign, text != NULL ? text : "null",
           result->changed ? "true" : "false");
    free(text);
    json_decref(aside);
}

static void print_summary(const request *r, const lx_repair_result *result)
{
    uint64_t left = result->records - result->deleted;
    if (result->changed)
        printf("%s: repaired; damages: %" PRIu64 ", values made missing: %" PRIu64
               ", records deleted: %" PRIu64 ", left: %" PRIu64 "%s%s\n",
               r->path, result->damages, result->missing, result->deleted, left,
               result->aside[0] != '\0' ? "; what was taken out is in " : "", result->aside);
    else if (result->damages != 0)
        printf("%s: a repair would leave %" PRIu64 " records, after %" PRIu64
               " were deleted, and %" PRIu64 " values would become missing\n",
               r->path, left, result->deleted, result->missing);
    else
        printf("%s: %" PRIu64 " records, %" PRIu64 " values: nothing is damaged\n", r->path,
               result->records, result->values);
}

/** Whether it was looked at: what is not there, or newer, has no report. */
static bool is_told(const request *r, lx_status status)
{
    return r->begun || status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_CANCELED;
}

static lx_status repair(request *r, lx_error *error)
{
    lx_repair mode = r->apply ? LX_REPAIR_VALUES : LX_REPAIR_REPORT;
    if (r->deletes)
        mode = r->apply ? LX_REPAIR_RECORDS : LX_REPAIR_REPORT_RECORDS;
    lx_repair_result result = {0};
    lx_error first = LX_ERROR_INIT;
    interrupt_catch();
    progress_begin(&r->bar, "repair", r->quiet);
    lx_status status = lx_dataset_repair(r->path, mode, found, advanced, r, &result, &first);
    bool would = status == LX_ERR_CORRUPT && !r->apply && result.damages != 0;
    progress_clear(&r->bar);
    tell_hopeless(r, &first, &result);
    if (r->json && is_told(r, status) && begin_json(r) == LX_OK)
        end_json(r, &result);
    else if (!r->json && !r->quiet && (status == LX_OK || (would && r->remedied)))
        print_summary(r, &result);
    if (would)
        fail(error, status, "%" PRIu64 " damage%s found, and nothing was changed%s",
             result.damages, result.damages == 1 ? " was" : "s were",
             r->remedied ? ": --apply repairs" : ", as nothing can be done");
    else if (status == LX_ERR_CANCELED)
        interrupt_check(error);
    else if (status != LX_OK)
        *error = first;
    locate(error, r->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&repair_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK)
        status = directory_check(r.path, error);
    return status == LX_OK ? repair(&r, error) : status;
}

const command repair_command = {
    .name = "repair",
    .arguments = "DIR [OPTION...]",
    .summary = "make a damaged dataset whole: keep what is right, put the rest aside",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Without --apply nothing is changed. Each finding is a line, which begins with what\n"
             "is done about it: missing, delete, forget, restamp, or none; foreign files stay as\n"
             "they are, leftover ones are removed by the next writer. The last line sums up.\n"
             "What is taken out goes to DIR.damaged-1, or the next number. Exits 1 if anything is\n"
             "damaged and was not repaired.\n",
    .examples = "  loaderx repair fashion\n"
                "  loaderx repair fashion --apply\n"
                "  loaderx repair fashion --apply --delete --json\n",
    .run = run};
