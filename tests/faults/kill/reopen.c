/* SPDX-License-Identifier: MIT */
#include "reopen.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

/* Records of one call; changes of one commit, and the time between two; kills, and the lifetime of
 * a writer. Times are in microseconds. */
#define STEP 100000u
#define CHANGES 50
#define PAUSE 500
#define KILLS_HERE 5
#define LIFE 200000

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void expect(lx_status status, const lx_error *error)
{
    char text[1024];
    if (status == LX_OK)
        return;
    lx_error_describe(error, text, sizeof text);
    fprintf(stderr, "the writer of a large dataset: %s\n", text);
    _exit(EXIT_FAILURE);
}

static void make(const char *path, lx_writer **writer)
{
    static uint8_t blocks[STEP][16];
    static int64_t numbers[STEP];
    const uint64_t shape = sizeof blocks[0];
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = need(lx_schema_new());
    const lx_values columns[] = {{.data = numbers}, {.data = blocks}};
    expect(lx_schema_add_field(schema, "number", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error),
           &error);
    expect(lx_schema_add_field(schema, "block", LX_UINT8, &shape, 1, LX_COMPRESSION_RAW, &error),
           &error);
    expect(lx_writer_create(path, schema, NULL, writer, &error), &error);
    for (uint32_t i = 0; i < REOPEN_RECORDS; i += STEP)
        expect(lx_writer_extend(*writer, STEP, columns, sizeof columns / sizeof *columns, NULL,
                                &error),
               &error);
    expect(lx_writer_sync(*writer, &error), &error);
    lx_schema_free(schema);
}

/** Changes records, until it is killed. */
static void change(const struct load *load)
{
    lx_writer *writer;
    lx_error error = LX_ERROR_INIT;
    struct rng rng = {load->seed};
    if (load->serial == 0)
        make(load->path, &writer);
    else
        expect(lx_writer_open(load->path, NULL, &writer, &error), &error);
    mark_say(MARK_OPENED, 0, 0);
    for (;;) {
        for (unsigned i = 0; i < CHANGES; i++) {
            const size_t fields[] = {0, 1};
            const uint64_t data[2] = {rng_next(&rng), 1};
            const lx_value values[] = {{data, sizeof data[0]}, {data, sizeof data}};
            expect(lx_writer_modify(writer, rng_below(&rng, REOPEN_RECORDS), fields, values, 2,
                                    &error),
                   &error);
        }
        expect(lx_writer_commit(writer, &error), &error);
        usleep(PAUSE);
    }
}

static void hear(void *user, const struct mark *mark)
{
    if (mark->kind == MARK_OPENED)
        *(bool *)user = true;
}

/** Lets a writer change something, and kills it. */
static bool kill_one(const char *path, uint32_t number)
{
    bool opened = false;
    struct victim victim;
    const struct load load = {.path = path, .seed = number, .serial = number};
    victim_start(&victim, change, &load);
    while (!opened && victim_listen(&victim, -1, hear, &opened))
        ;
    usleep(LIFE);
    return victim_kill(&victim, hear, &opened) && opened;
}

struct timer {
    double start, processor_start;
};

static void start_timer(struct timer *timer)
{
    timer->start = now(CLOCK_MONOTONIC);
    timer->processor_start = now(CLOCK_THREAD_CPUTIME_ID);
}

static void stop_timer(const struct timer *timer, double *time, double *processor_time)
{
    double took = now(CLOCK_MONOTONIC) - timer->start;
    double processor_took = now(CLOCK_THREAD_CPUTIME_ID) - timer->processor_start;
    if (*time == 0 || took < *time)
        *time = took;
    if (*processor_time == 0 || processor_took < *processor_time)
        *processor_time = processor_took;
}

static bool open_both(const char *path, struct reopening *reopening, lx_error *error)
{
    lx_dataset *dataset;
    lx_writer *writer;
    struct timer timer;
    start_timer(&timer);
    if (lx_dataset_open(path, NULL, &dataset, error) != LX_OK)
        return false;
    stop_timer(&timer, &reopening->reader, &reopening->reader_processor);
    uint64_t length = lx_dataset_get_length(dataset);
    lx_dataset_close(dataset);
    start_timer(&timer);
    if (lx_writer_open(path, NULL, &writer, error) != LX_OK)
        return false;
    stop_timer(&timer, &reopening->writer, &reopening->writer_processor);
    return lx_writer_close(writer, error) == LX_OK && length == REOPEN_RECORDS;
}

bool reopen_measure(const char *path, struct reopening *reopening, char *why, size_t size)
{
    char log[4300];
    struct stat about;
    lx_error error = LX_ERROR_INIT;
    *reopening = (struct reopening){0};
    snprintf(why, size, "the writer of a large dataset has failed, or records are lost");
    snprintf(log, sizeof log, "%s/LOG", path);
    for (uint32_t i = 0; i < KILLS_HERE; i++) {
        if (!kill_one(path, i))
            return false;
        if (stat(log, &about) == 0 && reopening->log < (uint64_t)about.st_size)
            reopening->log = (uint64_t)about.st_size;
        if (!open_both(path, reopening, &error)) {
            if (error.status != LX_OK)
                lx_error_describe(&error, why, size);
            return false;
        }
    }
    return lx_dataset_remove(path, NULL) == LX_OK;
}
