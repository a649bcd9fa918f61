/* SPDX-License-Identifier: MIT */
/* loaderx repair: repairs a damaged dataset in place, or recovers it into a new directory. */
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "directory.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

enum { OPTION_APPLY = OPTION_OWN, OPTION_DELETE, OPTION_INTO, OPTION_LOSE };

static const command_option options[] = {
    {OPTION_APPLY, "apply", NULL, "repair the dataset; otherwise, only report what would be done"},
    {OPTION_INTO, "into", "NEW", "recover all readable data into a new directory"},
    {OPTION_DELETE, "delete", NULL, "delete whole records that have damaged values"},
    {OPTION_LOSE, "lose-unreadable", NULL,
     "with --apply, give up values that the disk fails to return"},
    QUIET_OPTION("suppress the progress bar and the summary, but not the findings"),
    JSON_OPTION("print the findings and the summary as JSON"),
};

/** The arguments and the progress. */
typedef struct request {
    const char *path, *into;
    bool apply, deletes, loses, quiet, json;
    bool begun;       /**< The JSON document has been begun. */
    bool repairable;  /**< At least one finding can be repaired. */
    uint64_t printed; /**< Number of findings printed. */
    progress bar;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    (void)error;
    r->apply = r->apply || option->id == OPTION_APPLY;
    r->deletes = r->deletes || option->id == OPTION_DELETE;
    r->loses = r->loses || option->id == OPTION_LOSE;
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    if (option->id == OPTION_INTO)
        r->into = value;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

/* ---- findings, printed as they are found, because there may be too many to keep in memory */

static const char *word_for(lx_repair_action action)
{
    static const char *const words[] = {"none", "missing", "delete", "drop", "cut", "restamp"};
    return words[action];
}

static json_t *number_or_null(uint64_t number)
{
    return number != LX_NONE ? report_number(number) : json_null();
}

/** Begins the document unless that has already been done. */
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
        "{s:s, s:s, s:o, s:o, s:o, s:o}", "action", word_for(finding->action), "field",
        damage->field, "record", number_or_null(damage->record), "path", report_text(damage->path),
        "offset", number_or_null(damage->offset), "message", report_text(damage->message));
    if (item == NULL || begin_json(r) != LX_OK) {
        json_decref(item);
        return LX_ERR_NOMEM;
    }
    fputs(r->printed != 0 ? ",\n    " : "\n    ", stdout);
    json_dumpf(item, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(item);
    return LX_OK;
}

static lx_status found(const lx_finding *finding, void *user, lx_error *error)
{
    (void)error;
    request *r = user;
    char line[sizeof finding->damage.path + sizeof finding->damage.message + 512];
    lx_status status = LX_OK;
    progress_clear(&r->bar);
    if (r->json) {
        status = print_json(r, finding);
    } else {
        lx_error_describe(&finding->damage, line, sizeof line);
        printf("%s: %s\n", word_for(finding->action), line);
    }
    r->printed++;
    r->repairable = r->repairable || finding->action != LX_REPAIR_ACTION_NONE;
    if (status == LX_OK && interrupted())
        status = LX_ERR_CANCELED;
    return status;
}

/** If damage made the call fail before anything was found, also prints the error as a finding, so
 * that a program that reads the JSON document finds it there. */
static void print_hopeless(request *r, const lx_error *why, lx_repair_result *result)
{
    const lx_finding finding = {.action = LX_REPAIR_ACTION_NONE, .damage = *why};
    if (!r->json || result->damages != 0 || why->status != LX_ERR_CORRUPT)
        return;
    if (print_json(r, &finding) == LX_OK) {
        result->damages++;
        r->printed++;
    }
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    request *r = user;
    progress_update(&r->bar, done, total, 0);
    return interrupted() ? LX_ERR_CANCELED : LX_OK;
}

/* ---- the summary */

/** Ends the document that begin_json() began; its last key so far is an open array. */
static void end_json(const request *r, const lx_repair_result *result)
{
    json_t *into = r->into != NULL ? report_text(r->into) : json_null();
    char *text = json_dumps(into, JSON_ENCODE_ANY);
    printf("%s],\n  \"records\": %" PRIu64 ",\n  \"values\": %" PRIu64 ",\n  \"damages\": %" PRIu64
           ",\n  \"missing\": %" PRIu64 ",\n  \"deleted\": %" PRIu64 ",\n  \"cut_bytes\": %" PRIu64
           ",\n  \"copied_bytes\": %" PRIu64 ",\n  \"into\": %s,\n  \"changed\": %s\n}\n",
           r->printed != 0 ? "\n  " : "", result->records, result->values, result->damages,
           result->missing, result->deleted, result->cut_bytes, result->copied_bytes,
           text != NULL ? text : "null", result->changed ? "true" : "false");
    free(text);
    json_decref(into);
}

static void print_summary(const request *r, const lx_repair_result *result)
{
    char size[REPORT_SIZE_TEXT];
    if (result->damages == 0)
        printf("%s: %" PRIu64 " records, %" PRIu64 " values: nothing is damaged", r->path,
               result->records, result->values);
    else
        printf("%s: findings: %" PRIu64 "; %s missing: %" PRIu64 ", records %sdeleted: %" PRIu64,
               r->path, result->damages, result->changed ? "values made" : "values to become",
               result->missing, result->changed ? "" : "to be ", result->deleted);
    if (r->into != NULL)
        printf("; recovered into %s", r->into);
    if (result->copied_bytes != 0)
        printf("; the file system cannot link chunks, so %s were copied",
               report_size(result->copied_bytes, size));
    putchar('\n');
}

/** Whether there is a report: there is none for a dataset that could not be read, for example
 * because it does not exist or has a newer format. */
static bool has_report(const request *r, lx_status status)
{
    return r->begun || status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_CANCELED;
}

static lx_status call(request *r, lx_repair_result *result, lx_error *error)
{
    lx_repair_options *how = lx_repair_options_new();
    if (how == NULL)
        return fail_memory(error, "a repair");
    lx_status status =
        lx_repair_options_set_policy(how, r->deletes ? LX_REPAIR_DELETE : LX_REPAIR_MISSING, error);
    if (status == LX_OK)
        status = lx_repair_options_set_apply(how, r->apply, error);
    if (status == LX_OK)
        status = lx_repair_options_set_lose_unreadable(how, r->loses, error);
    if (status == LX_OK)
        status = lx_repair_options_set_found(how, found, r, error);
    if (status == LX_OK)
        status = lx_repair_options_set_progress(how, advanced, r, error);
    if (status == LX_OK)
        status = r->into != NULL ? lx_dataset_recover(r->path, r->into, how, result, error)
                                 : lx_dataset_repair(r->path, how, result, error);
    lx_repair_options_free(how);
    return status;
}

static lx_status repair(request *r, lx_error *error)
{
    lx_repair_result result = {0};
    lx_error first = LX_ERROR_INIT;
    interrupt_catch();
    progress_begin(&r->bar, r->into != NULL ? "recover" : "repair", r->quiet);
    lx_status status = call(r, &result, &first);
    bool would = status == LX_ERR_CORRUPT && !r->apply && r->into == NULL && r->repairable;
    progress_clear(&r->bar);
    print_hopeless(r, &first, &result);
    if (r->json && has_report(r, status) && begin_json(r) == LX_OK)
        end_json(r, &result);
    else if (!r->json && !r->quiet && (status == LX_OK || would))
        print_summary(r, &result);
    if (would)
        lx_fail(error, status,
                "%" PRIu64 " finding%s; nothing was changed: use --apply or --into to repair",
                result.damages, result.damages == 1 ? "" : "s");
    else if (status == LX_ERR_CANCELED)
        interrupt_check(error);
    else if (status != LX_OK)
        *error = first;
    lx_error_locate(error, r->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&repair_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK && r.apply && r.into != NULL)
        status =
            lx_fail(error, LX_ERR_ARGUMENT,
                    "--apply changes DIR, but --into leaves it unchanged: use only one of them");
    if (status == LX_OK && r.loses && !r.apply)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--lose-unreadable requires --apply");
    if (status == LX_OK)
        status = directory_check(r.path, error);
    return status == LX_OK ? repair(&r, error) : status;
}

const command repair_command = {
    .name = "repair",
    .arguments = "DIR [OPTION...]",
    .summary = "repair a damaged dataset in place, or recover it into a new directory",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "Without --apply or --into, nothing is changed. Each finding is one line, which begins\n"
        "with the action: missing, delete, drop, cut, restamp, or none. The last line is a\n"
        "summary. If the disk fails to return a value, twice, --apply changes no value, unless\n"
        "--lose-unreadable is given. The end of a damaged log is saved as DIR.log-tail-1, or with\n"
        "the next free number. Damaged tables require --into: NEW has the same uuid and shares\n"
        "chunk files with DIR, which is not changed. The exit status is 1 if damage remains.\n",
    .examples = "  loaderx repair fashion\n"
                "  loaderx repair fashion --apply\n"
                "  loaderx repair fashion --into recovered --delete --json\n",
    .run = run};
