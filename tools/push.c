/* SPDX-License-Identifier: MIT */
/* loaderx push: publishes a sealed dataset at a URL, and continues a push that was interrupted. */
#include <inttypes.h>

#include <loaderx/remote.h>

#include "command.h"
#include "dataset.h"
#include "elsewhere.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

enum { OPTION_REPLACE = OPTION_OWN };

static const command_option options[] = {
    {OPTION_REPLACE, "replace", NULL, "replace files that the published generation uses"},
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

/** The arguments and the progress. */
typedef struct request {
    const char *path, *url;
    bool replace, quiet, json;
    progress bar;
    uint64_t bytes, sent;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    (void)value, (void)error;
    r->replace = r->replace || option->id == OPTION_REPLACE;
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(r->path == NULL ? &r->path : &r->url, text, error);
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    request *r = user;
    r->bytes = total;
    progress_update(&r->bar, done, total, done);
    return interrupt_check(error);
}

static lx_status push(request *r, lx_dataset *dataset, lx_error *error)
{
    lx_remote_options *made;
    lx_dataset_identity identity;
    lx_status status = elsewhere_make_options(&made, error);
    if (status != LX_OK)
        return status;
    interrupt_catch();
    progress_begin(&r->bar, "push", r->quiet);
    status = lx_dataset_push(dataset, elsewhere_get_url(r->url), made, r->replace, advanced, r,
                             &r->sent, error);
    progress_clear(&r->bar);
    lx_remote_options_free(made);
    lx_dataset_get_identity(dataset, &identity);
    advise(error, LX_ERR_CANCELED, "the same command continues");
    if (r->sent != 0) /* otherwise, access may be denied at all */
        advise(error, LX_ERR_IO, "once that is solved, the same command continues");
    if (!identity.sealed)
        advise(error, LX_ERR_STATE, "use 'loaderx seal' to do so");
    return status;
}

static lx_status print(const request *r, uint64_t length, lx_error *error)
{
    char size[REPORT_SIZE_TEXT], sent[REPORT_SIZE_TEXT];
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:o, s:o, s:o}", "path", report_text(r->path),
                                      "url", report_text(r->url), "length", report_number(length),
                                      "bytes", report_number(r->bytes), "sent",
                                      report_number(r->sent)),
                            error);
    if (r->quiet)
        return LX_OK;
    printf("%s: %" PRIu64 " records, %s, ", r->url, length, report_size(r->bytes, size));
    if (r->sent == 0)
        printf("all of which was there\n");
    else
        printf("of which %s were sent\n", report_size(r->sent, sent));
    return LX_OK;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    lx_dataset *dataset = NULL;
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&push_command, argc, argv, &line, error);
    if (status == LX_OK && r.url == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "%s is missing: specify the directory of a sealed dataset, and the URL at "
                         "which to publish it",
                         r.path == NULL ? "DIR" : "URL");
    if (status == LX_OK)
        status = elsewhere_check_target(r.url, error);
    if (status == LX_OK)
        status = dataset_open(r.path, &dataset, error);
    if (status == LX_OK)
        status = push(&r, dataset, error);
    if (status == LX_OK)
        status = print(&r, lx_dataset_get_length(dataset), error);
    lx_dataset_close(dataset);
    return status;
}

const command push_command = {
    .name = "push",
    .arguments = "DIR URL [OPTION...]",
    .summary = "publish a sealed dataset at a URL, in as many attempts as it takes",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "URL is s3://bucket/prefix, file:///path or a path. After an interruption, the same\n"
             "command continues, also after kill -9. Readers see the dataset when everything is\n"
             "there. --replace breaks readers of the published generation: without it, files that\n"
             "they use are never replaced. DIR may also be a URL.\n",
    .examples = "  loaderx push train s3://bucket/train\n"
                "  loaderx push train s3://bucket/train --endpoint http://127.0.0.1:9000\n",
    .connects = true,
    .run = run};
