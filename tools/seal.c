/* SPDX-License-Identifier: MIT */
/* loaderx seal: closes a dataset to changes. */
#include <inttypes.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "report.h"

static const command_option options[] = {
    QUIET_OPTION("no summary"),
    JSON_OPTION("the summary as JSON"),
};

/** What the command line asks for. */
typedef struct request {
    const char *path;
    bool quiet, json;
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

/** Whether there is nothing left to do; a writer could not even be opened then. */
static lx_status look(const char *path, bool *sealed, uint64_t *length, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_identity identity;
    lx_status status = dataset_open(path, &dataset, error);
    if (status != LX_OK)
        return status;
    lx_dataset_get_identity(dataset, &identity);
    *sealed = identity.sealed != 0;
    *length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    return LX_OK;
}

static lx_status seal(const char *path, uint64_t *length, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_status status = dataset_open_writer(path, NULL, &writer, error);
    if (status != LX_OK)
        return status;
    status = lx_writer_seal(writer, error);
    *length = lx_writer_get_length(writer);
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    bool sealed = false;
    uint64_t length = 0;
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&seal_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK)
        status = look(r.path, &sealed, &length, error);
    if (status == LX_OK && !sealed)
        status = seal(r.path, &length, error);
    if (status != LX_OK)
        return status;
    if (r.json)
        return report_print(json_pack("{s:o, s:o, s:b, s:b}", "path", report_text(r.path), "length",
                                      report_number(length), "sealed", 1, "changed", !sealed),
                            error);
    if (!r.quiet)
        printf("%s: %s, %" PRIu64 " records\n", r.path, sealed ? "was sealed already" : "sealed",
               length);
    return LX_OK;
}

const command seal_command = {
    .name = "seal",
    .arguments = "DIR [OPTION...]",
    .summary = "close a dataset to changes; it opens fastest then",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Nothing of a sealed dataset can be changed, until 'loaderx unseal'. Sealing one\n"
             "again changes nothing.\n",
    .examples = "  loaderx seal fashion\n",
    .run = run};
