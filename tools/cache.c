/* SPDX-License-Identifier: MIT */
/* loaderx cache: lists the datasets in a cache, or removes some of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <loaderx/remote.h>

#include "command.h"
#include "failure.h"
#include "number.h"
#include "report.h"

enum { OPTION_TRIM = OPTION_OWN, OPTION_REMOVE };

static const command_option options[] = {
    {OPTION_TRIM, "trim", "SIZE", "remove unused datasets until at most SIZE is left"},
    {OPTION_REMOVE, "remove", "UUID", "remove a dataset"},
    JSON_OPTION("print the list as JSON"),
};

/** The arguments, and the list. */
typedef struct request {
    const char *path, *uuid;
    uint64_t most; /**< LX_NONE without --trim. */
    bool json;
    uint64_t count, bytes;
    json_t *datasets;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    if (option->id == OPTION_TRIM)
        return number_parse_size("--trim", value, &r->most, error);
    if (option->id == OPTION_REMOVE)
        r->uuid = value;
    else
        r->json = true;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

static void print_line(const lx_cache_dataset *dataset)
{
    char size[REPORT_SIZE_TEXT], when[40] = "";
    time_t last = (time_t)dataset->last_use;
    struct tm local;
    if (localtime_r(&last, &local) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    printf("%s  %10s  %s%s  %s\n", dataset->uuid, report_size(dataset->bytes, size), when,
           dataset->in_use ? ", in use" : "", dataset->url);
}

static lx_status show(const lx_cache_dataset *dataset, void *user, lx_error *error)
{
    request *r = user;
    r->count++;
    r->bytes += dataset->bytes;
    if (!r->json) {
        print_line(dataset);
        return LX_OK;
    }
    json_t *one = json_pack("{s:s, s:o, s:o, s:o, s:b}", "uuid", dataset->uuid, "url",
                            report_text(dataset->url), "bytes", report_number(dataset->bytes),
                            "last_use", report_number((uint64_t)dataset->last_use), "in_use",
                            dataset->in_use);
    return json_array_append_new(r->datasets, one) == 0 ? LX_OK : fail_memory(error, "the list");
}

static lx_status print(request *r, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    r->datasets = json_array();
    lx_status status = lx_cache_list(r->path, show, r, error);
    if (status == LX_OK && r->json)
        return report_print(json_pack("{s:o, s:o, s:o}", "path", report_text(r->path), "bytes",
                                      report_number(r->bytes), "datasets", r->datasets),
                            error);
    if (status == LX_OK)
        printf("%s: %" PRIu64 " dataset%s, %s\n", r->path, r->count, r->count == 1 ? "" : "s",
               report_size(r->bytes, size));
    json_decref(r->datasets);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.most = LX_NONE};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&cache_command, argc, argv, &line, error);
    if (status == LX_OK && r.path == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT, "FOLDER is missing: specify that of a cache");
    if (status == LX_OK && r.uuid != NULL)
        status = lx_cache_remove(r.path, r.uuid, error);
    if (status == LX_OK && r.most != LX_NONE)
        status = lx_cache_trim(r.path, r.most, error);
    return status == LX_OK ? print(&r, error) : status;
}

const command cache_command = {
    .name = "cache",
    .arguments = "FOLDER [OPTION...]",
    .summary = "list the datasets in a cache, or remove some of them",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "FOLDER is that of --cache or, in Python, of lx.open(cache=). A dataset that a process\n"
        "has open is never removed. The list shows what is left, the dataset that was used\n"
        "least recently first.\n",
    .examples = "  loaderx cache /nvme/cache\n"
                "  loaderx cache /nvme/cache --trim 500G\n",
    .run = run};
