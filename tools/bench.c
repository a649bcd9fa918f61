/* SPDX-License-Identifier: MIT */
/* loaderx bench: measures what the machine could give for a dataset, what a loader reaches, and
 * says what limits it. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "command.h"
#include "dataset.h"
#include "elsewhere.h"
#include "failure.h"
#include "number.h"
#include "progress.h"
#include "threads.h"

enum {
    OPTION_FIELD = OPTION_OWN,
    OPTION_BATCH_SIZE,
    OPTION_THREADS,
    OPTION_ORDER,
    OPTION_SECONDS,
    OPTION_COLD
};

/* The seed of the order, which only has to be the same for all measurements. */
#define SEED 42
/* Larger batches are measured if the batches have fewer bytes than this, with so many of them
 * joined. */
#define SMALL_BATCH ((double)(1 << 20))
#define JOINED 16

static const command_option options[] = {
    {OPTION_FIELD, "field", "F", "a field to read; can be repeated (all)"},
    {OPTION_BATCH_SIZE, "batch-size", "B", "number of records in a batch (256)"},
    {OPTION_THREADS, "threads", "T", "number of threads of the loader (one per processor)"},
    {OPTION_ORDER, "order", "shuffle|sequential", "the order of the records (shuffle)"},
    {OPTION_SECONDS, "seconds", "S", "how long to measure (5)"},
    {OPTION_COLD, "cold", NULL, "remove the values from memory before each turn"},
    QUIET_OPTION("suppress the progress bar"),
    JSON_OPTION("print all results as JSON"),
};

static lx_status add_field(bench *b, const char *name, lx_error *error)
{
    const char **more = realloc(b->names, (b->name_count + 1) * sizeof *more);
    if (more == NULL)
        return fail_memory(error, "a field");
    b->names = more;
    b->names[b->name_count++] = name;
    return LX_OK;
}

static lx_status take_order(bench *b, const char *text, lx_error *error)
{
    b->sequential = strcmp(text, "sequential") == 0;
    if (!b->sequential && strcmp(text, "shuffle") != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "--order '%.64s' is invalid: use shuffle or sequential", text);
    return LX_OK;
}

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    bench *b = user;
    switch (option->id) {
    case OPTION_FIELD:
        return add_field(b, value, error);
    case OPTION_BATCH_SIZE:
        return number_parse_within("--batch-size", value, 1, UINT32_MAX, &b->batch_size, error);
    case OPTION_THREADS:
        return threads_parse(&b->asked, value, error);
    case OPTION_SECONDS:
        return number_parse_within("--seconds", value, 1, 3600, &b->seconds, error);
    case OPTION_ORDER:
        return take_order(b, value, error);
    case OPTION_COLD:
        b->cold = true;
        return LX_OK;
    default:
        b->json = b->json || option->id == OPTION_JSON;
        b->quiet = b->quiet || option->id != OPTION_JSON;
        return LX_OK;
    }
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    bench *b = user;
    return command_take_directory(&b->path, text, error);
}

/* ---- what all measurements use */

double bench_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

lx_status bench_make_order(const bench *b, uint64_t length, lx_order **order, lx_error *error)
{
    return b->sequential ? lx_order_new_sequential(length, 0, 0, order, error)
                         : lx_order_new_shuffle(length, SEED, order, error);
}

lx_status bench_open(const bench *b, lx_access access, bool plain, lx_dataset **dataset,
                     lx_error *error)
{
    lx_dataset_options *made = lx_dataset_options_new();
    lx_status status = made != NULL ? LX_OK : fail_memory(error, "options");
    if (status == LX_OK)
        status = lx_dataset_options_set_access(made, access, error);
    if (status == LX_OK)
        status = lx_dataset_options_set_verify_policy(
            made, plain ? LX_VERIFY_NEVER : LX_VERIFY_FIRST, error);
    if (status == LX_OK && b->length != 0) /* a writer may add records in the meantime */
        status = lx_dataset_options_set_length(made, b->length, error);
    if (status == LX_OK)
        status = dataset_open_with(b->path, made, dataset, error);
    lx_dataset_options_free(made);
    return status;
}

/* ---- the measurements */

static lx_status find_fields(bench *b, lx_error *error)
{
    const lx_schema *schema = lx_dataset_get_schema(b->dataset);
    b->field_count = b->names != NULL ? b->name_count : lx_schema_get_field_count(schema);
    b->fields = calloc(b->field_count, sizeof *b->fields);
    b->field_seconds = calloc(b->field_count, sizeof *b->field_seconds);
    b->measures = calloc(BENCH_MEASURES, sizeof *b->measures);
    if (b->fields == NULL || b->field_seconds == NULL || b->measures == NULL)
        return fail_memory(error, "measurements");
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < b->field_count; i++) {
        b->fields[i] = i;
        if (b->names != NULL)
            status = lx_schema_find_field(schema, b->names[i], &b->fields[i], error);
    }
    return status;
}

static lx_status prepare(bench *b, lx_error *error)
{
    const threads available = {0};
    lx_executor *executor = NULL;
    lx_status status = bench_open(b, LX_ACCESS_AUTO, false, &b->dataset, error);
    if (status == LX_OK)
        status = find_fields(b, error);
    if (status == LX_OK)
        status = threads_open(&available, &executor, error);
    if (status != LX_OK)
        return status;
    b->processors = lx_executor_get_reader_count(executor);
    lx_executor_close(executor);
    b->threads = b->asked.given ? b->asked.count : b->processors;
    b->length = lx_dataset_get_length(b->dataset);
    if (b->length == 0)
        return lx_fail(error, LX_ERR_STATE, "the dataset has no records: there is nothing to read");
    return LX_OK;
}

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/** Runs a turn; keeps its result if @p counts. */
static lx_status run_turn(bench_measure *m, double seconds, bool counts, lx_error *error)
{
    bench_turn turn = {0};
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    lx_status status = m->run(m->state, seconds, &turn, error);
    getrusage(RUSAGE_SELF, &after);
    if (status != LX_OK || turn.records == 0)
        return status;
    turn.busy = seconds_of(&after.ru_utime) + seconds_of(&after.ru_stime) -
                seconds_of(&before.ru_utime) - seconds_of(&before.ru_stime);
    turn.from_disk += (double)(after.ru_majflt - before.ru_majflt);
    m->bytes = (double)turn.bytes / (double)turn.records;
    if (counts)
        m->turns[m->count++] = turn;
    return LX_OK;
}

/** Adds a measurement, and runs a turn that does not count: it brings the values into memory. */
static lx_status add_measure(bench *b, bench_kind kind, uint64_t readers, uint64_t batch_size,
                             double seconds, lx_error *error)
{
    bench_measure *m = &b->measures[b->measure_count++];
    uint64_t rows = batch_size < b->length ? batch_size : b->length;
    *m = (bench_measure){
        .kind = kind, .threads = readers, .batch_size = batch_size, .rows = (double)rows};
    lx_status status = kind == BENCH_COPY   ? bench_copy_begin(b, m, error)
                       : kind == BENCH_DISK ? bench_disk_begin(b, m, error)
                                            : bench_loader_begin(b, m, error);
    return status == LX_OK && !b->cold ? run_turn(m, seconds, false, error) : status;
}

/** Another number of threads to compare with: more, or one; 0 if there is none. */
static uint64_t other_threads(const bench *b)
{
    if (b->threads < b->processors)
        return b->threads * 2 < b->processors && b->threads != 0 ? b->threads * 2
               : b->threads == 0                                 ? 1
                                                                 : b->processors;
    return b->threads > 1 ? 1 : 0;
}

static lx_status add_measures(bench *b, double seconds, lx_error *error)
{
    uint64_t others = other_threads(b);
    lx_status status = add_measure(b, BENCH_LOADER, b->threads, b->batch_size, seconds, error);
    if (status != LX_OK)
        return status;
    double bytes = b->measures[0].bytes * (double)b->batch_size;
    status = b->cold ? add_measure(b, BENCH_DISK, BENCH_READS, 1, seconds, error)
                     : add_measure(b, BENCH_COPY, b->threads, b->batch_size, seconds, error);
    if (status == LX_OK && !b->cold && others != 0)
        status = add_measure(b, BENCH_THREADS, others, b->batch_size, seconds, error);
    if (status == LX_OK && !b->cold && bytes < SMALL_BATCH && b->batch_size * JOINED <= b->length)
        status = add_measure(b, BENCH_BATCHES, b->threads, b->batch_size * JOINED, seconds, error);
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Computes the results of all turns. */
static void sum_up(bench_measure *m)
{
    double rates[BENCH_ROUNDS], seconds = 0, busy = 0, records = 0, batches = 0, from_disk = 0;
    for (size_t i = 0; i < m->count; i++) {
        const bench_turn *turn = &m->turns[i];
        rates[i] = (double)turn->records / turn->seconds;
        seconds += turn->seconds;
        busy += turn->busy;
        records += (double)turn->records;
        batches += (double)turn->batches;
        from_disk += turn->from_disk;
    }
    if (m->count == 0)
        return;
    qsort(rates, m->count, sizeof *rates, compare);
    m->rate = rates[m->count / 2];
    if (batches != 0)
        m->rows = records / batches;
    m->busy = busy / seconds;
    m->on_disk = from_disk < records ? from_disk / records : 1;
}

static lx_status measure_all(bench *b, lx_error *error)
{
    progress bar;
    double begun = bench_now(), turn = (double)b->seconds / (BENCH_ROUNDS + 1) / 3;
    progress_begin(&bar, "bench", b->quiet);
    lx_status status = add_measures(b, turn, error);
    for (size_t round = 0; status == LX_OK && round < BENCH_ROUNDS; round++) {
        double left = begun + (double)b->seconds - bench_now();
        if (round != 0 && left <= 0) /* the first turns took longer than planned */
            break;
        turn = left / (double)(BENCH_ROUNDS - round) / (double)b->measure_count;
        for (size_t i = 0; status == LX_OK && i < b->measure_count; i++) {
            progress_update(&bar, round * b->measure_count + i, BENCH_ROUNDS * b->measure_count, 0);
            status = run_turn(&b->measures[i], turn, true, error);
        }
    }
    progress_clear(&bar);
    for (size_t i = 0; i < b->measure_count; i++)
        sum_up(&b->measures[i]);
    return status;
}

static void end(bench *b)
{
    for (size_t i = 0; i < b->measure_count; i++)
        if (b->measures[i].end != NULL)
            b->measures[i].end(b->measures[i].state);
    free(b->measures);
    free(b->fields);
    free(b->field_seconds);
    free(b->names);
    lx_dataset_close(b->dataset);
}

static lx_status run(int argc, char **argv, lx_error *error)
{
    bench b = {.batch_size = 256, .seconds = 5};
    const command_line line = {take_option, take_argument, &b};
    lx_status status = command_parse(&bench_command, argc, argv, &line, error);
    if (status == LX_OK)
        status = command_need_directory(b.path, error);
    if (status == LX_OK && elsewhere_is(b.path))
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "this command measures this machine, but the dataset is remote: 'loaderx "
                         "warm' tells how fast it is fetched, 'loaderx pull' copies it here");
    if (status == LX_OK)
        status = prepare(&b, error);
    if (status == LX_OK)
        status = measure_all(&b, error);
    dataset_advise_repair(error);
    if (status == LX_OK)
        status = bench_report(&b, error);
    end(&b);
    return status;
}

const command bench_command = {
    .name = "bench",
    .arguments = "DIR [OPTION...]",
    .summary = "measure how fast a dataset is loaded, and what limits that",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .notes = "Measures a loader, and the same reads without one, in short turns. Without --cold,\n"
             "values that were read once stay in memory. Close other programs first.\n",
    .examples = "  loaderx bench fashion\n"
                "  loaderx bench texts --field text --threads 1\n"
                "  loaderx bench images --cold --batch-size 64 --seconds 20\n",
    .run = run};
