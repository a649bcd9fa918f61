/* SPDX-License-Identifier: MIT */
/* loaderx unseal: opens a sealed dataset to changes again. */
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

static lx_status look(const char *path, bool *sealed, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_identity identity;
    lx_status status = dataset_open(path, &dataset, error);
    if (status != LX_OK)
        return status;
    lx_dataset_get_identity(dataset, &identity);
    *sealed = identity.sealed != 0;
    lx_dataset_close(dataset);
    return LX_OK;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    bool sealed = false;
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&unseal_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status == LX_OK)
        status = look(r.path, &sealed, error);
    if (status == LX_OK && sealed)
        status = lx_dataset_unseal(r.path, error);
    if (status != LX_OK)
        return status;
    if (r.json)
        return report_print(json_pack("{s:o, s:b, s:b}", "path", report_text(r.path), "sealed", 0,
                                      "changed", sealed),
                            error);
    if (!r.quiet)
        printf("%s: %s\n", r.path, sealed ? "unsealed" : "was not sealed");
    return LX_OK;
}

const command unseal_command = {
    .name = "unseal",
    .arguments = "DIR [OPTION...]",
    .summary = "open a sealed dataset to changes again",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Who reads the dataset meanwhile is not disturbed. Unsealing one that is not sealed\n"
             "changes nothing.\n",
    .examples = "  loaderx unseal fashion\n",
    .run = run};
