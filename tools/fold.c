/* SPDX-License-Identifier: MIT */
/* loaderx fold: takes the changes of old records out of the log, into new tables. */
#include <inttypes.h>

#include "command.h"
#include "dataset.h"
#include "report.h"

static const command_option options[] = {
    QUIET_OPTION("no summary"),
    JSON_OPTION("the summary as JSON"),
};

/** What the command line asks for, and what was done. */
typedef struct request {
    const char *path;
    bool quiet, json;
    uint64_t length, generation;
    bool changed;
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

static lx_status get_generation(const char *path, uint64_t *generation, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_identity identity;
    lx_status status = dataset_open(path, &dataset, error);
    if (status != LX_OK)
        return status;
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    *generation = identity.generation;
    return LX_OK;
}

static lx_status fold(request *r, lx_error *error)
{
    uint64_t before = 0;
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(r->path, NULL, &writer, error);
    if (status == LX_OK)
        status = get_generation(r->path, &before, error);
    if (status == LX_OK)
        status = lx_writer_fold(writer, error);
    if (status == LX_OK)
        status = get_generation(r->path, &r->generation, error);
    r->changed = r->generation != before;
    r->length = writer != NULL ? lx_writer_get_length(writer) : 0;
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    return status != LX_OK ? status : closed;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&fold_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK)
        status = fold(&r, error);
    if (status != LX_OK)
        return status;
    if (r.json)
        return report_print(json_pack("{s:o, s:o, s:o, s:b}", "path", report_text(r.path), "length",
                                      report_number(r.length), "generation",
                                      report_number(r.generation), "changed", r.changed),
                            error);
    if (!r.quiet)
        printf("%s: %s, %" PRIu64 " records\n", r.path,
               r.changed ? "folded" : "there was nothing to fold", r.length);
    return LX_OK;
}

const command fold_command = {
    .name = "fold",
    .arguments = "DIR [OPTION...]",
    .summary = "take changes of records out of the log, into new tables",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Writers do it by themselves when changes have become many. It makes opening and\n"
             "reading faster; 'loaderx rebalance' does that, and gives room back, too.\n",
    .examples = "  loaderx fold fashion\n",
    .run = run};
