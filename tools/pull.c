/* SPDX-License-Identifier: MIT */
/* loaderx pull: copies a sealed dataset, and continues a copy that was interrupted. */
#include <inttypes.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

static const command_option options[] = {
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** The arguments and the progress. */
typedef struct request {
    const char *url, *path;
    bool quiet, json;
    progress bar;
    uint64_t bytes;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    (void)value, (void)error;
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(r->url == NULL ? &r->url : &r->path, text, error);
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    request *r = user;
    r->bytes = total;
    progress_update(&r->bar, done, total, done);
    return interrupt_check(error);
}

static lx_status copy(request *r, lx_dataset *dataset, lx_error *error)
{
    interrupt_catch();
    progress_begin(&r->bar, "pull", r->quiet);
    lx_status status = lx_dataset_pull(dataset, r->path, advanced, r, error);
    progress_clear(&r->bar);
    advise(error, LX_ERR_CANCELED, "the same command continues");
    advise(error, LX_ERR_IO, "the same command continues");
    advise(error, LX_ERR_EXISTS, "choose a new directory");
    return status;
}

static lx_status print(const request *r, uint64_t length, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:o, s:o}", "url", report_text(r->url), "path",
                                      report_text(r->path), "length", report_number(length),
                                      "bytes", report_number(r->bytes)),
                            error);
    if (!r->quiet)
        printf("%s: %" PRIu64 " records, %s, copied from %s\n", r->path, length,
               report_size(r->bytes, size), r->url);
    return LX_OK;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    lx_dataset *dataset = NULL;
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&pull_command, argc, argv, &line, error);
    if (status == LX_OK && r.path == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "%s is missing: specify the URL of a sealed dataset, and a directory for "
                         "the copy",
                         r.url == NULL ? "URL" : "DIR");
    if (status == LX_OK)
        status = dataset_open(r.url, &dataset, error);
    if (status == LX_OK)
        status = copy(&r, dataset, error);
    if (status == LX_OK)
        status = print(&r, lx_dataset_get_length(dataset), error);
    lx_dataset_close(dataset);
    return status;
}

const command pull_command = {
    .name = "pull",
    .arguments = "URL DIR [OPTION...]",
    .summary = "copy a sealed remote dataset, in as many attempts as it takes",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes =
        "After an interruption, the same command continues, also after kill -9. DIR becomes a\n"
        "dataset when everything is there. The checksums of the tables are verified; use\n"
        "'loaderx verify DIR' for the records. URL may also be a directory.\n",
    .examples = "  loaderx pull s3://bucket/train /nvme/train\n"
                "  loaderx pull file:///nfs/train train && loaderx verify train --sample 1%\n",
    .connects = true,
    .run = run};
