/* SPDX-License-Identifier: MIT */
/* loaderx plan: tells, before a run, what an epoch in the order `lanes` will cost. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <loaderx/order.h>
#include <loaderx/sampler.h>
#include <loaderx/zrecord.h>

#include "command.h"
#include "dataset.h"
#include "failure.h"
#include "number.h"
#include "report.h"

enum {
    OPTION_WINDOW = OPTION_OWN,
    OPTION_BLOCK,
    OPTION_WORLD,
    OPTION_HOSTS,
    OPTION_BATCH_SIZE,
    OPTION_SPACE
};

/* The same as in Python's lx.Lanes: the size of a record is the mean of so many. */
#define MEASURED 1000
/* The most bytes that are read with one request (lib/remote/remote-read.c). */
#define REQUEST_BYTES ((uint64_t)8 << 20)
/* What a process needs for what is under way (doc/remote.md, 1.2). */
#define UNDER_WAY ((uint64_t)128 << 20)
/* The number of consecutive batches for which the mixing is printed, too. */
#define SOME_BATCHES 32

static const command_option options[] = {
    {OPTION_WINDOW, "window", "SIZE", "the size of all blocks that are in use at a time (4G)"},
    {OPTION_BLOCK, "block", "SIZE", "the size of a block (1M)"},
    {OPTION_WORLD, "world", "W", "the number of ranks (1)"},
    {OPTION_HOSTS, "hosts", "H", "the number of hosts, each with as many ranks (1)"},
    {OPTION_BATCH_SIZE, "batch-size", "B", "number of records in a batch of a rank (256)"},
    {OPTION_SPACE, "limit", "SIZE", "the most bytes in the cache of a host (enough)"},
    JSON_OPTION("print the plan as JSON"),
};

/** The arguments, and what follows from them. */
typedef struct plan {
    const char *path;
    uint64_t window_bytes, block_bytes, world, hosts, batch_size, limit;
    bool json;

    uint64_t length, stored; /**< Records, and bytes of their values. */
    uint64_t tables;         /**< Bytes. */
    uint64_t record_bytes;   /**< Mean size of a record, decompressed. */
    uint64_t lanes, block;   /**< Both in numbers of records. */
    uint64_t batch;          /**< Records in a batch of all ranks. */
    uint64_t sharing;        /**< How many ranks read each block. */
    uint64_t reads;          /**< How many hosts do. */
    uint64_t requests;       /**< Of all hosts in an epoch. */
    uint64_t share;          /**< Bytes that a host reads in an epoch, with tables. */
    uint64_t memory;         /**< Bytes of a process for what the cache does not hold. */
    double mixing, mixing_some;
    uint64_t better; /**< A number of lanes that is better; 0: this one is good. */
} plan;

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    plan *p = user;
    switch (option->id) {
    case OPTION_WINDOW:
        return number_parse_size("--window", value, &p->window_bytes, error);
    case OPTION_BLOCK:
        return number_parse_size("--block", value, &p->block_bytes, error);
    case OPTION_WORLD:
        return number_parse_within("--world", value, 1, UINT32_MAX, &p->world, error);
    case OPTION_HOSTS:
        return number_parse_within("--hosts", value, 1, UINT32_MAX, &p->hosts, error);
    case OPTION_BATCH_SIZE:
        return number_parse_within("--batch-size", value, 1, UINT32_MAX, &p->batch_size, error);
    case OPTION_SPACE:
        return number_parse_size("--limit", value, &p->limit, error);
    default:
        p->json = true;
        return LX_OK;
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    plan *p = user;
    return command_take_directory(&p->path, text, error);
}

static lx_status check_request(const plan *p, lx_error *error)
{
    if (p->path == NULL)
        return command_need_directory(p->path, error);
    if (p->window_bytes == 0 || p->block_bytes == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "--window and --block must be at least 1");
    if (p->world % p->hosts != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--hosts %" PRIu64 " must divide --world %" PRIu64
                       ": each host has as many ranks",
                       p->hosts, p->world);
    return LX_OK;
}

/* ---- the dataset; only its tables are read */

/** Draws the records that are measured, the same ones as lx.Lanes. */
static lx_status draw(uint64_t length, uint64_t *indices, uint64_t *count, lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t wanted = length < MEASURED ? length : MEASURED;
    lx_status status = lx_order_new_shuffle(length, 0, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, wanted, indices, count, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return status;
}

static lx_status measure(plan *p, lx_dataset *dataset, lx_error *error)
{
    uint64_t indices[MEASURED], offsets[MEASURED + 1], count = 0, total = 0;
    size_t fields = lx_schema_get_field_count(lx_dataset_get_schema(dataset));
    lx_status status = draw(p->length, indices, &count, error);
    for (size_t i = 0; status == LX_OK && i < fields; i++) {
        status = lx_dataset_get_sizes(dataset, i, indices, (size_t)count, offsets, NULL, error);
        total += status == LX_OK ? offsets[count] : 0;
    }
    if (status != LX_OK)
        return status;
    double mean = nearbyint((double)total / (double)count);
    p->record_bytes = mean > 1 ? (uint64_t)mean : 1;
    return LX_OK;
}

static lx_status examine(plan *p, lx_error *error)
{
    lx_dataset *dataset = NULL;
    lx_storage_stats totals;
    lx_status status = dataset_open(p->path, &dataset, error);
    if (status == LX_OK)
        status = lx_dataset_stat(dataset, &totals, NULL, error);
    if (status == LX_OK && totals.length == 0)
        status = lx_fail(error, LX_ERR_ARGUMENT, "'%s' has no records", p->path);
    if (status == LX_OK) {
        p->length = totals.length;
        p->stored = totals.live_bytes;
        p->tables = totals.table_bytes;
        status = measure(p, dataset, error);
    }
    lx_dataset_close(dataset);
    return status;
}

/* ---- the plan */

/** Fails if the dataset has too few records for the lanes. */
static lx_status check_length(const plan *p, lx_error *error)
{
    char window[REPORT_SIZE_TEXT], block[REPORT_SIZE_TEXT];
    uint64_t segment = p->block > 2 ? p->block : 2, fitting = p->length / segment;
    if (p->lanes <= fitting)
        return LX_OK;
    if (fitting == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the dataset is too small for a block of %s: choose a smaller --block, or "
                       "use the order lx.Shuffle",
                       report_size(p->block_bytes, block));
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "the dataset is too small for a window of %s in blocks of %s: choose --window "
                   "%" PRIu64 " or less, or use the order lx.Shuffle",
                   report_size(p->window_bytes, window), report_size(p->block_bytes, block),
                   fitting * p->block * p->record_bytes);
}

/** Computes lanes and block as lx.Lanes(dataset, window=, block=) does, and checks them. */
static lx_status cut(plan *p, lx_error *error)
{
    lx_order *order = NULL;
    uint64_t record = p->record_bytes, bytes = p->block_bytes;
    p->block = bytes > record ? bytes / record : 1;
    p->lanes = p->window_bytes / (bytes > record ? bytes : record);
    lx_status status = check_length(p, error);
    if (status != LX_OK)
        return status;
    status = lx_order_new_lanes(p->length, p->lanes, p->block, 0, &order, error);
    lx_order_unref(order);
    advise(error, LX_ERR_ARGUMENT, "choose another --window or --block");
    return status;
}

static uint64_t get_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t divide_up(uint64_t number, uint64_t by)
{
    return number / by + (number % by != 0);
}

/** How much more than by chance the numbers of records of a class vary among @p records consecutive
 * samples, if the data is sorted by class: those from one block, which are as many as min(records /
 * lanes, block), have the same class (chi-squared per degree of freedom). */
static double get_mixing(const plan *p, double records)
{
    double together = records / (double)p->lanes;
    together = together < (double)p->block ? together : (double)p->block;
    return together > 1 ? together : 1;
}

/** Finds a number of lanes that is a multiple of the ranks and at least a batch of all of them. */
static uint64_t find_better(const plan *p)
{
    uint64_t unit = p->lanes < p->batch || p->lanes % p->batch == 0 ? p->batch : p->world;
    uint64_t better = p->lanes < unit ? unit : p->lanes - p->lanes % unit;
    uint64_t segment = p->block > 2 ? p->block : 2;
    return better != p->lanes && better <= LX_MAX_LANES && p->length / better >= segment ? better
                                                                                         : 0;
}

static void compute(plan *p)
{
    uint64_t blocks = divide_up(p->length / p->lanes, p->block) * p->lanes;
    double block_stored = (double)p->stored / (double)p->length * (double)p->block;
    double window = block_stored * (double)p->lanes;
    p->batch = p->batch_size * p->world;
    p->sharing = p->world / get_divisor(p->world, p->lanes);
    p->reads = p->sharing < p->hosts ? p->sharing : p->hosts;
    p->requests = blocks * divide_up((uint64_t)block_stored, REQUEST_BYTES) * p->reads;
    p->share = divide_up(p->stored * p->reads, p->hosts) + p->tables;
    p->memory = (uint64_t)(2 * window * (double)p->sharing / (double)p->world) + UNDER_WAY;
    p->mixing = get_mixing(p, (double)p->batch);
    p->mixing_some = get_mixing(p, (double)p->batch * SOME_BATCHES);
    p->better = find_better(p);
}

/* ---- the output */

static bool fits(const plan *p)
{
    return p->limit >= p->share;
}

static lx_status print_json(const plan *p, lx_error *error)
{
    return report_print(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, "
                  "s:f, s:f, s:o}",
                  "path", report_text(p->path), "length", report_number(p->length), "bytes",
                  report_number(p->stored), "table_bytes", report_number(p->tables), "record_bytes",
                  report_number(p->record_bytes), "lanes", report_number(p->lanes), "block",
                  report_number(p->block), "batch", report_number(p->batch), "ranks_per_block",
                  report_number(p->sharing), "hosts_per_block", report_number(p->reads), "requests",
                  report_number(p->requests), "host_requests",
                  report_number(divide_up(p->requests, p->hosts)), "host_bytes",
                  report_number(p->share), "fits", fits(p), "memory_bytes",
                  report_number(p->memory), "mixing", p->mixing, "mixing_32_batches",
                  p->mixing_some, "better_lanes",
                  p->better != 0 ? report_number(p->better) : json_null()),
        error);
}

/** Prints a better order if there is one, and why. */
static void print_order_advice(const plan *p)
{
    char size[REPORT_SIZE_TEXT];
    if (p->better != 0)
        printf("advice    use lx.Lanes(dataset, lanes=%" PRIu64 ", block=%" PRIu64
               "), a window of %s:\n",
               p->better, p->block, report_size(p->better * p->block * p->record_bytes, size));
    else if (p->sharing > 1 || p->lanes < p->batch)
        printf("advice    use lx.Shuffle, with a cache that holds the dataset, which is too small "
               "for enough lanes:\n");
    if (p->sharing > 1)
        printf("          the number of lanes is no multiple of that of the ranks: blocks are read "
               "more than once\n");
    if (p->lanes < p->batch)
        printf("          there are fewer lanes than records in a batch of all ranks, %" PRIu64
               ": neighbors meet in it\n",
               p->batch);
}

/** Prints what should be changed. */
static void print_advice(const plan *p)
{
    char size[REPORT_SIZE_TEXT];
    print_order_advice(p);
    if (!fits(p))
        printf(
            "advice    the cache holds %.0f %% of what a host reads; the rest is fetched in each "
            "epoch, unless it has %s\n",
            100 * (double)p->limit / (double)p->share, report_size(p->share, size));
}

static void print_text(const plan *p)
{
    char a[REPORT_SIZE_TEXT], b[REPORT_SIZE_TEXT];
    printf("%s: %" PRIu64 " records of %s, %s stored\n", p->path, p->length,
           report_size(p->record_bytes, a), report_size(p->stored, b));
    printf("order     %" PRIu64 " lanes, blocks of %" PRIu64 " records\n", p->lanes, p->block);
    printf("epoch     about %" PRIu64 " requests for %s\n", p->requests,
           report_size(p->stored * p->reads, a));
    printf("host      about %" PRIu64 " requests for %s, of which the tables are %s\n",
           divide_up(p->requests, p->hosts), report_size(p->share, a), report_size(p->tables, b));
    printf("cache     %s\n", p->limit == LX_NONE ? "holds that, if the disk does"
                             : fits(p)           ? "holds that"
                                                 : "does not hold that");
    printf("memory    %s for each process, unless the cache holds everything\n",
           report_size(p->memory, a));
    printf("sharing   each block is read by %" PRIu64 " of %" PRIu64 " ranks, on %" PRIu64
           " of %" PRIu64 " hosts\n",
           p->sharing, p->world, p->reads, p->hosts);
    printf("mixing    data sorted by class, the worst case, varies up to %.1f times as much as by "
           "chance\n"
           "          in a batch of all ranks, and %.1f times in %d batches\n",
           p->mixing, p->mixing_some, SOME_BATCHES);
    print_advice(p);
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    plan p = {.window_bytes = (uint64_t)4 << 30,
              .block_bytes = (uint64_t)1 << 20,
              .world = 1,
              .hosts = 1,
              .batch_size = 256,
              .limit = LX_NONE};
    const command_line line = {take_option, take_argument, &p};
    lx_status status = command_parse(&plan_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = check_request(&p, error);
    if (status == LX_OK)
        status = examine(&p, error);
    if (status == LX_OK)
        status = cut(&p, error);
    if (status != LX_OK)
        return status;
    compute(&p);
    if (p.json)
        return print_json(&p, error);
    print_text(&p);
    return LX_OK;
}

const command plan_command = {
    .name = "plan",
    .arguments = "DIR [OPTION...]",
    .summary = "tell what an epoch of a remote dataset will cost",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Reads only the tables. The order is that of lx.Lanes(dataset, window=, block=) in\n"
             "Python. SIZE may end in k, M, G or T, or KiB, MiB, GiB or TiB.\n",
    .examples =
        "  loaderx plan s3://bucket/train --world 64 --hosts 8\n"
        "  loaderx plan s3://bucket/train --window 8GiB --world 64 --hosts 8 --limit 500G\n",
    .connects = true,
    .run = run};
