/* SPDX-License-Identifier: MIT */
/* loaderx rebalance: leaves behind what deleted and replaced records took. */
#include <inttypes.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

static const command_option options[] = {
    QUIET_OPTION("no progress bar and no summary"),
    JSON_OPTION("the summary as JSON"),
};

/** What the command line asks for, and how far it is. */
typedef struct request {
    const char *path;
    bool quiet, json;
    progress bar;
    lx_error *error;
} request;

static lx_status take_option(void *user, const command_option *option, char *value,
                             lx_error *error)
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
    return command_take_directory(&r->path, text, error);
}

static lx_status advanced(uint64_t done, uint64_t total, void *user)
{
    request *r = user;
    progress_update(&r->bar, done, total, 0);
    return interrupt_check(r->error);
}

static lx_status print_result(const request *r, const lx_rebalance *done, double seconds,
                              lx_error *error)
{
    char before[REPORT_SIZE_TEXT], after[REPORT_SIZE_TEXT];
    if (r->json)
        return report_print(
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "path",
                      report_text(r->path), "records", report_number(done->records),
                      "chunks_before", report_number(done->chunks_before), "chunks_after",
                      report_number(done->chunks_after), "bytes_before",
                      report_number(done->bytes_before), "bytes_after",
                      report_number(done->bytes_after), "utilisation_before",
                      done->utilisation_before, "utilisation_after", done->utilisation_after,
                      "live_ratio_before", done->live_ratio_before, "live_ratio_after",
                      done->live_ratio_after, "seconds", seconds),
            error);
    if (!r->quiet)
        printf("%s: %" PRIu64 " records, %s in chunks before, %s now; utilisation %.3f before, "
               "%.3f now; %.1f s\n",
               r->path, done->records, report_size(done->bytes_before, before),
               report_size(done->bytes_after, after), done->utilisation_before,
               done->utilisation_after, seconds);
    return LX_OK;
}

static lx_status rebalance(request *r, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_rebalance done = {0};
    r->error = error;
    lx_status status = dataset_open_writer(r->path, NULL, &writer, error);
    if (status != LX_OK)
        return status;
    interrupt_catch();
    progress_begin(&r->bar, "rebalance", r->quiet);
    status = lx_writer_rebalance(writer, advanced, r, &done, error);
    progress_clear(&r->bar);
    advise(error, LX_ERR_CANCELED, "nothing was changed");
    advise(error, LX_ERR_CORRUPT, "nothing was changed; 'loaderx repair' tells what can be done");
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    if (status == LX_OK)
        status = closed;
    return status == LX_OK ? print_result(r, &done, progress_seconds(&r->bar), error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&rebalance_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    return status == LX_OK ? rebalance(&r, error) : status;
}

const command rebalance_command = {
    .name = "rebalance",
    .arguments = "DIR [OPTION...]",
    .summary = "give back the room of deleted and replaced records",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "All records are written anew, in their order, and the old files go when nobody\n"
             "reads them any more; there has to be room for both. Whatever interrupts it, no\n"
             "record is lost. 'loaderx stat' shows what there is to be gained.\n",
    .examples = "  loaderx rebalance fashion\n"
                "  loaderx rebalance fashion --json | jq .utilisation_after\n",
    .run = run};
