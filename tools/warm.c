/* SPDX-License-Identifier: MIT */
/* loaderx warm: fetches into the cache what a rank will read in an epoch. */
#include <inttypes.h>
#include <stdlib.h>

#include <loaderx/loader.h>
#include <loaderx/remote.h>

#include "command.h"
#include "dataset.h"
#include "elsewhere.h"
#include "failure.h"
#include "interrupt.h"
#include "number.h"
#include "ordering.h"
#include "progress.h"
#include "report.h"

enum { OPTION_FIELD = OPTION_ORDERING_END, OPTION_RANK, OPTION_WORLD, OPTION_EPOCH };

/* The number of records to read at a time. */
#define BATCH 256

static const command_option options[] = {
    {OPTION_FIELD, "field", "F", "a field to read; can be repeated (all)"},
    {OPTION_RANK, "rank", "R", "the rank that will train on this machine (0)"},
    {OPTION_WORLD, "world", "W", "the number of ranks (1)"},
    {OPTION_EPOCH, "epoch", "E", "the epoch (0)"},
    ORDERING_OPTIONS,
    QUIET_OPTION("suppress the progress bar and the summary"),
    JSON_OPTION("print the summary as JSON"),
};

_Static_assert(sizeof options / sizeof *options <= COMMAND_OPTIONS_MAX, "too many options");

/** The arguments. */
typedef struct request {
    const char *url;
    ordering ordering;
    const char **fields;
    size_t field_count;
    uint64_t rank, world, epoch;
    bool quiet, json;
    progress bar;
} request;

static lx_status add_field(request *r, const char *name, lx_error *error)
{
    const char **more = realloc(r->fields, (r->field_count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a field");
    r->fields = more;
    r->fields[r->field_count++] = name;
    return LX_OK;
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    request *r = user;
    switch (option->id) {
    case OPTION_FIELD:
        return add_field(r, value, error);
    case OPTION_RANK:
        return number_parse("--rank", value, &r->rank, error);
    case OPTION_WORLD:
        return number_parse_within("--world", value, 1, UINT64_MAX, &r->world, error);
    case OPTION_EPOCH:
        return number_parse("--epoch", value, &r->epoch, error);
    case OPTION_JSON:
        r->json = true;
        return LX_OK;
    case 'q':
        r->quiet = true;
        return LX_OK;
    default:
        return ordering_take(&r->ordering, option, value, error);
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    request *r = user;
    return command_take_directory(&r->url, text, error);
}

static lx_status check_request(const request *r, lx_error *error)
{
    if (r->url == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "URL is missing: specify that of a dataset");
    if (!elsewhere_has_cache())
        return lx_fail(error, LX_ERR_ARGUMENT, "--cache is missing: specify the cache to fill");
    if (r->rank >= r->world)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--rank %" PRIu64 " must be less than --world %" PRIu64, r->rank, r->world);
    return LX_OK;
}

/* ---- reading, which fetches */

static lx_status set_options(const request *r, lx_order *order, lx_loader_options *made,
                             lx_error *error)
{
    lx_status status = lx_loader_options_set_order(made, order, error);
    if (status == LX_OK && !ordering_is_cut(&r->ordering))
        status = lx_loader_options_set_batch_size(made, BATCH, error);
    if (status == LX_OK)
        status = lx_loader_options_set_rank(made, r->rank, r->world, error);
    if (status == LX_OK)
        status = lx_loader_options_set_epoch_count(made, 1, error);
    if (status == LX_OK && r->field_count != 0)
        status = lx_loader_options_set_columns(made, r->fields, r->field_count, error);
    if (status == LX_OK)
        status = lx_loader_options_set_missing(made, NULL, LX_MISSING_ZEROS, error);
    return status;
}

static lx_status open_loader(const request *r, lx_dataset *dataset, lx_order *order,
                             lx_loader **loader, lx_error *error)
{
    lx_source *source = NULL;
    lx_loader_options *made = lx_loader_options_new();
    lx_status status = made != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK)
        status = set_options(r, order, made, error);
    if (status == LX_OK)
        status = lx_source_new_dataset(dataset, &source, error);
    if (status == LX_OK)
        status = lx_loader_open(source, made, loader, error);
    lx_source_unref(source);
    lx_loader_options_free(made);
    return status;
}

/** Reads the epoch; returns the number of records. */
static lx_status read_epoch(request *r, lx_loader *loader, uint64_t length, uint64_t *records,
                            lx_error *error)
{
    uint64_t total = length / r->world;
    lx_batch *batch;
    if (r->epoch > UINT64_MAX / (length != 0 ? length : 1))
        return lx_fail(error, LX_ERR_ARGUMENT, "--epoch %" PRIu64 " is too large", r->epoch);
    lx_status status = lx_loader_seek(loader, r->epoch * length, error);
    progress_begin(&r->bar, "warm", r->quiet);
    while (status == LX_OK && (status = lx_loader_next(loader, &batch, error)) == LX_OK) {
        *records += lx_batch_get_real_count(batch);
        lx_batch_unref(batch);
        progress_update(&r->bar, *records < total ? *records : total, total, 0);
        status = interrupt_check(error);
    }
    progress_clear(&r->bar);
    return status == LX_END ? LX_OK : status;
}

/* ---- the whole operation */

static lx_status print(const request *r, uint64_t records, const lx_remote_stats *stats,
                       lx_error *error)
{
    char fetched[REPORT_SIZE_TEXT], stored[REPORT_SIZE_TEXT];
    double seconds = progress_seconds(&r->bar);
    if (r->json)
        return report_print(json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "url", report_text(r->url),
                                      "records", report_number(records), "bytes",
                                      report_number(stats->bytes), "stored_bytes",
                                      report_number(stats->stored_bytes), "requests",
                                      report_number(stats->requests), "seconds", seconds),
                            error);
    if (!r->quiet)
        printf("%s: %" PRIu64 " records; fetched %s in %" PRIu64 " requests and %.1f s, and stored "
               "%s\n",
               r->url, records, report_size(stats->bytes, fetched), stats->requests, seconds,
               report_size(stats->stored_bytes, stored));
    return LX_OK;
}

static lx_status warm(request *r, lx_dataset *dataset, lx_error *error)
{
    lx_order *order = NULL;
    lx_loader *loader = NULL;
    lx_remote_stats stats;
    uint64_t records = 0;
    r->ordering.world = r->world;
    ordering_default_length(&r->ordering, lx_dataset_get_length(dataset));
    lx_status status = ordering_check(&r->ordering, error);
    if (status == LX_OK)
        status = ordering_make(&r->ordering, &order, error);
    if (status == LX_OK)
        status = open_loader(r, dataset, order, &loader, error);
    interrupt_catch();
    if (status == LX_OK)
        status = read_epoch(r, loader, lx_order_get_length(order), &records, error);
    if (status == LX_OK)
        status = lx_remote_get_stats(dataset, &stats, error);
    lx_loader_close(loader);
    lx_order_unref(order);
    return status == LX_OK ? print(r, records, &stats, error) : status;
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    request r = {.world = 1};
    lx_dataset *dataset = NULL;
    const command_line line = {take_option, take_argument, &r};
    ordering_begin(&r.ordering);
    lx_status status = command_parse(&warm_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&r, error);
    if (status == LX_OK)
        status = elsewhere_open(r.url, NULL, &dataset, error);
    if (status == LX_OK)
        status = warm(&r, dataset, error);
    lx_dataset_close(dataset);
    ordering_end(&r.ordering);
    free(r.fields);
    return status;
}

const command warm_command = {
    .name = "warm",
    .arguments = "URL --cache FOLDER [OPTION...]",
    .summary = "fetch into the cache what a rank will read in an epoch",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .fetches = true,
    .notes = ORDERING_NOTES
    "Reads the records of one epoch, as a loader with these options does, so that training\n"
    "finds them in the cache. The options of the order are those of 'loaderx sample'; N is\n"
    "the number of records unless --length is given. After an interruption, what was fetched\n"
    "stays. The cache admits what fits; the summary tells how much of it was stored.\n",
    .examples =
        "  loaderx warm s3://bucket/train --cache /nvme/cache --limit 500G\n"
        "  loaderx warm s3://bucket/train --cache /nvme/cache --order lanes --lanes 4096 \\\n"
        "      --block 64 --seed 42 --world 8 --rank 3 --field image --field label\n",
    .run = run};
