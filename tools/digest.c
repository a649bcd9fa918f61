/* SPDX-License-Identifier: MIT */
/* loaderx digest: prints a digest of the contents of a dataset. */
#include <inttypes.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"
#include "threads.h"

enum { OPTION_THREADS = OPTION_OWN };

static const command_option options[] = {
    {OPTION_THREADS, "threads", "N", "number of threads that read, 0 to 64 (one per CPU)"},
    QUIET_OPTION("suppress the progress bar"),
    JSON_OPTION("print the digest as JSON"),
};

typedef struct request {
    const char *path;
    threads threads;
    bool quiet, json;
    progress bar;
} request;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    if (option->id == OPTION_THREADS)
        return threads_parse(&r->threads, value, error);
    r->quiet = r->quiet || option->id == 'q';
    r->json = r->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->path, text, error);
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    progress_update(user, done, total, 0);
    return interrupt_check(error);
}

static lx_status print(const request *r, uint64_t length, uint64_t digest, lx_error *error)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:s}", "path", report_text(r->path), "length",
                                      report_number(length), "digest", text),
                            error);
    printf("%s  %s\n", text, r->path);
    return LX_OK;
}

static lx_status compute(request *r, lx_executor *executor, lx_error *error)
{
    lx_dataset *dataset = NULL;
    uint64_t digest = 0, length = 0;
    lx_dataset_options *made = lx_dataset_options_new();
    if (made == NULL)
        return fail_memory(error, "options");
    lx_status status = lx_dataset_options_set_executor(made, executor, error);
    if (status == LX_OK)
        status = dataset_open_with(r->path, made, &dataset, error);
    lx_dataset_options_free(made);
    if (status == LX_OK) {
        interrupt_catch();
        progress_begin(&r->bar, "digest", r->quiet);
        status = lx_dataset_digest(dataset, advanced, &r->bar, &digest, error);
        progress_clear(&r->bar);
        dataset_advise_repair(error);
        length = lx_dataset_get_length(dataset);
    }
    lx_dataset_close(dataset);
    return status == LX_OK ? print(r, length, digest, error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {0};
    lx_executor *executor = NULL;
    const command_line line = {take_option, take_argument, &r};
    lx_status status = command_parse(&digest_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(r.path, error);
    if (status != LX_OK)
        return status;
    status = threads_open(&r.threads, &executor, error);
    if (status == LX_OK)
        status = compute(&r, executor, error);
    lx_executor_close(executor);
    return status;
}

const command digest_command = {
    .name = "digest",
    .arguments = "DIR [OPTION...]",
    .summary = "print a digest of the contents of a dataset",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Datasets with the same fields and the same values in the same order have the same\n"
             "digest, however they are stored. It detects accidents, not attacks: it is easy to\n"
             "make another dataset with the same digest on purpose.\n",
    .examples = "  loaderx digest fashion\n"
                "  [ \"$(loaderx digest a --json | jq .digest)\" = \\\n"
                "    \"$(ssh host loaderx digest a --json | jq .digest)\" ]\n",
    .fetches = true,
    .run = run};
