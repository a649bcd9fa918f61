/* SPDX-License-Identifier: MIT */
/* loaderx verify: reads everything and reports all damage. */
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "number.h"
#include "progress.h"
#include "report.h"
#include "threads.h"
#include "verify-sample.h"

enum { OPTION_THREADS = OPTION_OWN, OPTION_SAMPLE, OPTION_SEED };

static const command_option options[] = {
    {OPTION_THREADS, "threads", "N", "number of threads that verify, 0 to 64 (one per CPU)"},
    {OPTION_SAMPLE, "sample", "PART", "verify a random part, such as 0.01 or 1%, of the records"},
    {OPTION_SEED, "seed", "S", "with --sample: another seed, another sample (0)"},
    QUIET_OPTION("suppress the progress bar and the summary, but not the findings"),
    JSON_OPTION("print the findings and the summary as JSON"),
};

/** The arguments and the progress. */
typedef struct verification {
    const char *path;
    bool quiet, json;
    threads threads;
    verify_sample sample;
    uint64_t told;   /**< Number of findings printed. */
    bool incomplete; /**< An import into the dataset is not complete. */
    progress bar;
} verification;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    verification *v = user;
    switch (option->id) {
    case OPTION_THREADS:
        return threads_parse(&v->threads, value, error);
    case OPTION_SAMPLE:
        return verify_sample_parse(&v->sample, value, error);
    case OPTION_SEED:
        return number_parse("--seed", value, &v->sample.seed, error);
    }
    v->quiet = v->quiet || option->id == 'q';
    v->json = v->json || option->id == OPTION_JSON;
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    verification *v = user;
    return command_take_directory(&v->path, text, error);
}

/* ---- findings, printed as they are found, because there may be too many to keep in memory */

static json_t *number_or_null(uint64_t number)
{
    return number != LX_NONE ? report_number(number) : json_null();
}

static lx_status print_damage_json(const verification *v, const lx_error *damage)
{
    json_t *item = json_pack("{s:s, s:o, s:s, s:o, s:s}", "field", damage->field, "record",
                             number_or_null(damage->record), "path", damage->path, "offset",
                             number_or_null(damage->offset), "message", damage->message);
    if (item == NULL)
        return LX_ERR_NOMEM;
    fputs(v->told != 0 ? ",\n    " : "\n    ", stdout);
    json_dumpf(item, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(item);
    return LX_OK;
}

static lx_status damaged(const lx_error *damage, void *user, lx_error *error)
{
    (void)error;
    verification *v = user;
    char line[sizeof damage->path + sizeof damage->message + 512];
    lx_status status = LX_OK;
    if (v->json && damage->status == LX_ERR_MISMATCH)
        return LX_OK; /* a value that is no image: only counted */
    progress_clear(&v->bar);
    if (v->json) {
        status = print_damage_json(v, damage);
    } else {
        lx_error_describe(damage, line, sizeof line);
        printf("%s\n", line);
    }
    v->told++;
    return status;
}

static lx_status advanced(uint64_t done, uint64_t total, void *user, lx_error *error)
{
    (void)error;
    verification *v = user;
    progress_update(&v->bar, done, total, 0);
    return LX_OK;
}

/* ---- the summary */

/** Ends the document that begin_json() began; its last key so far is an open array. */
static void end_json(const verification *v, const lx_verify_result *result, lx_status status)
{
    bool ended = status == LX_OK || status == LX_ERR_CORRUPT;
    printf("%s],\n  \"records\": %" PRIu64 ",\n  \"values\": %" PRIu64 ",\n  \"bytes\": ",
           v->told != 0 ? "\n  " : "", result->records, result->values);
    if (v->sample.part != 0)
        printf("null,\n  \"seed\": %" PRIu64, v->sample.seed);
    else
        printf("%" PRIu64 ",\n  \"not_images\": %" PRIu64 ",\n  \"leftover_bytes\": %" PRIu64,
               result->bytes, result->not_images, result->leftover_bytes);
    printf(",\n  \"complete\": %s,\n  \"intact\": %s,\n  \"import\": %s\n}\n",
           ended && v->sample.part == 0 ? "true" : "false", status == LX_OK ? "true" : "false",
           v->incomplete ? "\"incomplete\"" : "null");
}

static lx_status begin_json(const verification *v)
{
    json_t *path = report_text(v->path);
    char *text = path != NULL ? json_dumps(path, JSON_ENCODE_ANY) : NULL;
    json_decref(path);
    if (text == NULL)
        return LX_ERR_NOMEM;
    printf("{\n  \"path\": %s,\n  \"damages\": [", text);
    free(text);
    return LX_OK;
}

/** Prints the document for a dataset that is too damaged to be opened. */
static void print_unopened_json(verification *v, const lx_error *error)
{
    const lx_verify_result nothing = {0};
    if (begin_json(v) == LX_OK && damaged(error, v, NULL) == LX_OK)
        end_json(v, &nothing, LX_ERR_STATE);
}

static void print_summary(const verification *v, const lx_verify_result *result)
{
    char size[REPORT_SIZE_TEXT];
    if (v->sample.part != 0)
        printf("%s: a sample of %" PRIu64 " records with %" PRIu64 " values (seed %" PRIu64
               "): nothing in it is damaged\n",
               v->path, result->records, result->values, v->sample.seed);
    else
        printf("%s: %" PRIu64 " records, %" PRIu64 " values, %s stored: nothing is damaged%s\n",
               v->path, result->records, result->values, report_size(result->bytes, size),
               result->not_images != 0 ? ", but the values listed are no images" : "");
    if (result->leftover_bytes != 0)
        printf("%s: %s " REPORT_LEFTOVERS "\n", v->path, report_size(result->leftover_bytes, size));
}

static lx_status read_all(verification *v, lx_dataset *dataset, lx_error *error)
{
    lx_verify_result result = {0};
    lx_error first = LX_ERROR_INIT;
    if (v->json && begin_json(v) != LX_OK)
        return fail_memory(error, "the report");
    v->incomplete = dataset_is_incomplete(dataset);
    progress_begin(&v->bar, "verify", v->quiet);
    lx_status status = v->sample.part != 0
                           ? verify_sample_run(&v->sample, dataset, damaged, advanced, v, &result,
                                               &first)
                           : lx_dataset_verify(dataset, damaged, advanced, v, &result, &first);
    progress_clear(&v->bar);
    if (v->json)
        end_json(v, &result, status);
    else if (status == LX_OK && !v->quiet)
        print_summary(v, &result);
    if (v->incomplete && !v->json)
        printf("%s: " DATASET_INCOMPLETE "\n", v->path);
    if (status == LX_ERR_CORRUPT)
        lx_fail(error, status, "%" PRIu64 " finding%s; everything %sthat is not listed can be read",
                result.damages, result.damages == 1 ? "" : "s",
                v->sample.part != 0 ? "in the sample " : "");
    else if (status != LX_OK)
        *error = first;
    dataset_advise_repair(error);
    lx_error_locate(error, v->path, NULL, LX_NONE, LX_NONE);
    return status == LX_OK && result.not_images != 0 ? LX_ERR_MISMATCH : status;
}

static lx_status verify_with(verification *v, lx_executor *executor, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_dataset_options *made = lx_dataset_options_new();
    if (made == NULL)
        return fail_memory(error, "options");
    lx_status status = lx_dataset_options_set_executor(made, executor, error);
    if (status == LX_OK)
        status = dataset_open_with(v->path, made, &dataset, error);
    lx_dataset_options_free(made);
    if (status == LX_ERR_CORRUPT && v->json)
        print_unopened_json(v, error);
    if (status == LX_OK)
        status = read_all(v, dataset, error);
    lx_dataset_close(dataset);
    return status;
}

static lx_status verify(verification *v, lx_error *error)
{
    lx_executor *executor = NULL;
    lx_status status = threads_open(&v->threads, &executor, error);
    if (status == LX_OK)
        status = verify_with(v, executor, error);
    lx_executor_close(executor);
    return status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    verification v = {0};
    const command_line line = {take_option, take_argument, &v};
    lx_status status = command_parse(&verify_command, argc, argv, &line, error);
    if (status == LX_OK && v.sample.part != 0 && v.threads.given)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--sample and --threads exclude each other");
    if (status == LX_OK && v.sample.part == 0 && v.sample.seed != 0)
        status = lx_fail(error, LX_ERR_ARGUMENT, "--seed requires --sample");
    if (status == LX_OK)
        status = command_need_directory(v.path, error);
    return status == LX_OK ? verify(&v, error) : status;
}

const command verify_command = {
    .name = "verify",
    .arguments = "DIR [OPTION...]",
    .summary = "verify every record and report all damage",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "The exit status is 1 if anything is damaged, and 3 if nothing is,\n"
             "but an image field has values that are no images.\n",
    .examples = "  loaderx verify fashion\n"
                "  loaderx verify fashion --threads 2 --quiet\n"
                "  loaderx verify s3://bucket/train --sample 0.1%\n"
                "  loaderx verify fashion --json | jq '.damages[].record'\n",
    .fetches = true,
    .finds = true,
    .run = run};
