/* SPDX-License-Identifier: MIT */
/* loaderx prune: removes files at a URL that the dataset there does not need. */
#include <inttypes.h>

#include <loaderx/remote.h>

#include "command.h"
#include "elsewhere.h"
#include "failure.h"
#include "number.h"
#include "report.h"

/* Seven days. */
#define OLDER_DEFAULT ((uint64_t)7 * 24 * 3600)

enum { OPTION_OLDER = OPTION_OWN, OPTION_DRY_RUN };

static const command_option options[] = {
    {OPTION_OLDER, "older", "AGE", "remove only files that are older, such as 12h (7d)"},
    {OPTION_DRY_RUN, "dry-run", NULL, "remove nothing: only list the files"},
    QUIET_OPTION("suppress the list and the summary"),
    JSON_OPTION("print the list as JSON"),
};

/** The arguments, and what was removed. */
typedef struct request {
    const char *url;
    uint64_t older;
    bool dry_run, quiet, json;
    uint64_t count, bytes;
    lx_prune_kept kept;
    json_t *files;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    if (option->id == OPTION_OLDER)
        return number_parse_age("--older", value, &r->older, error);
    r->dry_run = r->dry_run || option->id == OPTION_DRY_RUN;
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->url, text, error);
}

static lx_status show(const lx_pruned_file *file, void *user, lx_error *error)
{
    request *r = user;
    r->count++;
    r->bytes += file->bytes;
    if (r->json) {
        json_t *one = json_pack("{s:o, s:o, s:o}", "name", report_text(file->name), "bytes",
                                report_number(file->bytes), "modified",
                                report_number((uint64_t)file->modified));
        return json_array_append_new(r->files, one) == 0 ? LX_OK : fail_memory(error, "the list");
    }
    if (!r->quiet)
        printf("%s\n", file->name);
    return LX_OK;
}

static lx_status print_json(request *r, lx_error *error)
{
    json_t *published = r->kept.published != 0 ? report_number((uint64_t)r->kept.published)
                                               : json_null();
    return report_print(json_pack("{s:o, s:o, s:b, s:o, s:{s:o, s:o, s:o}}", "url",
                                  report_text(r->url), "bytes", report_number(r->bytes), "removed",
                                  !r->dry_run, "files", r->files, "kept", "files",
                                  report_number(r->kept.files), "bytes",
                                  report_number(r->kept.bytes), "published", published),
                        error);
}

static void print(const request *r)
{
    const char *done = r->dry_run ? "would be" : r->count == 1 ? "was" : "were";
    char size[REPORT_SIZE_TEXT];
    printf("%s: %" PRIu64 " file%s, %s, %s removed\n", r->url, r->count, r->count == 1 ? "" : "s",
           report_size(r->bytes, size), done);
    if (r->kept.files == 0)
        return;
    printf("%s: %" PRIu64 " file%s, %s, kept: %s\n", r->url, r->kept.files,
           r->kept.files == 1 ? "" : "s", report_size(r->kept.bytes, size),
           r->kept.published != 0
               ? "the dataset was published so recently that jobs may still read them (--older)"
               : "too young, or of a push that may be under way (--older)");
}

static lx_status prune(request *r, lx_error *error)
{
    lx_remote_options *made;
    lx_status status = elsewhere_check_target(r->url, error);
    if (status == LX_OK)
        status = elsewhere_make_options(&made, error);
    if (status != LX_OK)
        return status;
    r->files = json_array();
    status = lx_remote_prune(elsewhere_get_url(r->url), made, r->older, r->dry_run, show, r,
                             &r->kept, error);
    lx_remote_options_free(made);
    if (status == LX_OK && r->json)
        return print_json(r, error);
    json_decref(r->files);
    if (status == LX_OK && !r->quiet)
        print(r);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.older = OLDER_DEFAULT};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&prune_command, argc, argv, &line, error);
    if (status == LX_OK && r.url == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT, "URL is missing: specify that of a dataset");
    return status == LX_OK ? prune(&r, error) : status;
}

const command prune_command = {
    .name = "prune",
    .arguments = "URL [OPTION...]",
    .summary = "remove files at a URL that the dataset there no longer needs",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "Removes files of former generations, of parts that were not joined, and of pushes that\n"
        "did not end, if they and the last publication are older than --older. A job that\n"
        "began before that publication may still read them.\n",
    .examples = "  loaderx prune s3://bucket/train --dry-run\n"
                "  loaderx prune s3://bucket/train --older 30d\n",
    .connects = true,
    .run = run};
