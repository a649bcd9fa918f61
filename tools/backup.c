/* SPDX-License-Identifier: MIT */
/* loaderx backup: copies a dataset, even while a writer is changing it. */
#include <inttypes.h>

#include "command.h"
#include "dataset.h"
#include "elsewhere.h"
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
    const char *path, *copy;
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
    if (r->path == NULL)
        return command_take_directory(&r->path, text, error);
    if (r->copy != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "unexpected argument '%.200s'", text);
    return command_take_directory(&r->copy, text, error);
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    request *r = user;
    r->bytes = done;
    progress_update(&r->bar, done, total, done);
    return interrupted() ? LX_ERR_CANCELED : LX_OK;
}

static lx_status copy(request *r, lx_dataset *dataset, lx_error *error)
{
    interrupt_catch();
    progress_begin(&r->bar, "backup", r->quiet);
    lx_status status = lx_dataset_backup(dataset, r->copy, advanced, r, error);
    progress_clear(&r->bar);
    if (status == LX_ERR_CANCELED) {
        lx_error_clear(error);
        (void)interrupt_check(error);
        advise(error, LX_ERR_CANCELED, "nothing was copied");
        return status;
    }
    dataset_advise_repair(error);
    advise(error, LX_ERR_EXISTS, "choose a new directory");
    if (elsewhere_is(r->path))
        advise(error, LX_ERR_UNSUPPORTED, "use 'loaderx pull'");
    lx_error_locate(error, r->copy, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status tell(const request *r, uint64_t length, lx_error *error)
{
    char size[REPORT_SIZE_TEXT];
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:o, s:o}", "path", report_text(r->path), "copy",
                                      report_text(r->copy), "length", report_number(length),
                                      "bytes", report_number(r->bytes)),
                            error);
    if (!r->quiet)
        printf("%s: %" PRIu64 " records, %s, copied to %s\n", r->path, length,
               report_size(r->bytes, size), r->copy);
    return LX_OK;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    lx_dataset *dataset = NULL;
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&backup_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK && r.copy == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "COPY is missing: specify a directory for the copy");
    if (status == LX_OK)
        status = dataset_open(r.path, &dataset, error);
    if (status == LX_OK)
        status = copy(&r, dataset, error);
    if (status == LX_OK)
        status = tell(&r, lx_dataset_get_length(dataset), error);
    lx_dataset_close(dataset);
    return status;
}

const command backup_command = {
    .name = "backup",
    .arguments = "DIR COPY [OPTION...]",
    .summary = "copy a dataset, even during writes",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Creates COPY from the newest snapshot, with the same uuid: write to only one of the\n"
             "two. Records are not verified; use 'loaderx verify COPY' for that.\n",
    .examples = "  loaderx backup fashion /backup/fashion\n"
                "  loaderx backup fashion /backup/fashion && loaderx verify /backup/fashion\n",
    .run = run};
