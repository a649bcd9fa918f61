/* SPDX-License-Identifier: MIT */
/* The store compared with plain memory and plain files: warm random gather, open. 2 GiB of data
 * are made in the current folder and removed. */
#include "dense-dataset.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#define GATHER_BYTES ((size_t)2 << 30) /* several times a typical last-level cache */
#define PLACED_BYTES ((size_t)256 << 20)
#define BATCH 256
#define BATCHES 64 /* gathered by a run, and more of short records */
#define SHORT_BATCHES 1024
#define OPEN_RECORDS 1000000
#define RECORDS_MAX 20000000 /* for short records: limits the tables */

/* ---- gather */

#define MEMBERS_MAX 4

struct gathering {
    const uint8_t *plain; /* the records in plain memory */
    lx_dataset *dataset;  /* the records in a dataset */
    int kicks;
    size_t record, records, batches;
    uint64_t random;
    uint64_t indices[BATCH];
    uint8_t *out;
};

static void draw(struct gathering *g)
{
    for (int i = 0; i < BATCH; i++)
        g->indices[i] = next_random(&g->random) % g->records;
}

static void *gather_plain(void *context)
{
    struct gathering *g = context;
    for (size_t b = 0; b < g->batches; b++) {
        draw(g);
        for (int i = 0; i < BATCH; i++) {
            if (g->kicks && i + 1 < BATCH)
                kick(g->plain + g->indices[i + 1] * g->record, g->record);
            memcpy(g->out + (size_t)i * g->record, g->plain + g->indices[i] * g->record, g->record);
        }
    }
    return NULL;
}

static void *gather_dataset(void *context)
{
    struct gathering *g = context;
    lx_error error = LX_ERROR_INIT;
    for (size_t b = 0; b < g->batches; b++) {
        draw(g);
        must_be_ok(lx_dataset_gather(g->dataset, 0, g->indices, BATCH, g->out, g->record, &error),
                   &error);
    }
    return NULL;
}

/** The same on each of several threads. */
struct team {
    size_t threads;
    struct gathering members[THREADS_MAX];
};

static struct team make_team(size_t threads, struct gathering member)
{
    struct team team = {.threads = threads};
    member.batches = member.record < 4096 ? SHORT_BATCHES : BATCHES;
    for (size_t i = 0; i < threads; i++) {
        team.members[i] = member;
        team.members[i].random = i + 1;
        team.members[i].out = malloc(BATCH * member.record);
    }
    return team;
}

static void free_team(struct team *team)
{
    for (size_t i = 0; i < team->threads; i++)
        free(team->members[i].out);
}

static void run_team(void *context)
{
    struct team *team = context;
    void *(*run)(void *) = team->members->plain != NULL ? gather_plain : gather_dataset;
    run_on_threads(run, team->members, sizeof *team->members, team->threads);
}

static double work_of(const struct team *team)
{
    return (double)(team->threads * team->members->batches * BATCH);
}

/** Compares teams of one of @p members each. */
static void compare_teams(bench_run *bench, const char *title, const char *const *names,
                          const struct gathering *members, size_t count, size_t threads)
{
    struct team teams[MEMBERS_MAX];
    bench_case cases[MEMBERS_MAX];
    for (size_t i = 0; i < count; i++) {
        teams[i] = make_team(threads, members[i]);
        cases[i] = (bench_case){names[i], run_team, &teams[i], work_of(&teams[i])};
    }
    bench_compare(bench, title, "record", cases, count);
    for (size_t i = 0; i < count; i++)
        free_team(&teams[i]);
}

static size_t limit_records(size_t records)
{
    return records < RECORDS_MAX ? records : RECORDS_MAX;
}

/** Maps the records in the only chunk of the dataset, without gaps, for plain loops. */
static const uint8_t *map_chunk(size_t bytes)
{
    int file = open(CHUNK, O_RDONLY);
    must(file != -1, "open");
    const uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    must(map != MAP_FAILED, "mmap");
    close(file);
    return map;
}

/** Reads every record once, so that all pages are mapped and all records are verified. */
static void warm_up(lx_dataset *dataset, size_t record, size_t records)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t *bytes = malloc(record);
    for (uint64_t i = 0; i < records; i++)
        must_be_ok(lx_dataset_gather(dataset, 0, &i, 1, bytes, record, &error), &error);
    free(bytes);
}

static void compare_gather(bench_run *bench, size_t record)
{
    static const char *const names[] = {"plain memcpy", "plain memcpy, pages kicked",
                                        "gather, verified before", "gather, verified always"};
    char title[96];
    size_t records = limit_records(GATHER_BYTES / record);
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset, *always;
    lx_dataset_options *options = lx_dataset_options_new();
    make_dataset(record, records, LX_COMPRESSION_RAW);
    must_be_ok(lx_dataset_open(DATASET, NULL, &dataset, &error), &error);
    must_be_ok(lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, options, &always, &error), &error);
    const uint8_t *plain = map_chunk(record * records);
    warm_up(dataset, record, records);
    warm_up(always, record, records);
    const struct gathering members[] = {
        {.plain = plain, .record = record, .records = records},
        {.plain = plain, .kicks = 1, .record = record, .records = records},
        {.dataset = dataset, .record = record, .records = records},
        {.dataset = always, .record = record, .records = records}};
    for (size_t threads = 1; threads <= THREADS_MAX; threads++) {
        snprintf(title, sizeof title, "warm random gather of %zu-byte records, %zu thread%s",
                 record, threads, threads == 1 ? "" : "s");
        compare_teams(bench, title, names, members, 4, threads);
    }
    munmap((void *)plain, record * records);
    lx_dataset_options_free(options);
    lx_dataset_close(always);
    lx_dataset_close(dataset);
    remove_dataset();
}

/* ---- gather in each access mode */

static lx_dataset *open_placed(lx_access access)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    must_be_ok(lx_dataset_options_set_access(options, access, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, options, &dataset, &error), &error);
    lx_dataset_options_free(options);
    return dataset;
}

static void compare_access(bench_run *bench, size_t record)
{
    char title[96];
    static const lx_access access_modes[] = {LX_ACCESS_MMAP, LX_ACCESS_PREAD};
    static const char *const names[] = {"mmap", "pread"};
    size_t records = PLACED_BYTES / record;
    make_dataset(record, records, LX_COMPRESSION_RAW);
    struct gathering members[2];
    for (size_t i = 0; i < 2; i++) {
        members[i] = (struct gathering){
            .dataset = open_placed(access_modes[i]), .record = record, .records = records};
        warm_up(members[i].dataset, record, records);
    }
    snprintf(title, sizeof title, "warm random gather of %zu-byte records by access mode", record);
    compare_teams(bench, title, names, members, 2, 1);
    for (size_t i = 0; i < 2; i++)
        lx_dataset_close(members[i].dataset);
    remove_dataset();
}

void bench_access(bench_run *bench)
{
    compare_access(bench, 784);
    compare_access(bench, 4096);
    compare_access(bench, 150528);
}

/* ---- gather with changes */

/** Changes one in @p every records with one commit, which stays in the log. */
static void change_records(size_t record, size_t records, size_t every)
{
    static const size_t field = 0;
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = lx_writer_options_new();
    lx_writer *writer = NULL;
    uint64_t random = 5;
    uint8_t *bytes = malloc(record);
    must_be_ok(lx_dataset_unseal(DATASET, &error), &error);
    must_be_ok(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error), &error);
    must_be_ok(lx_writer_open(DATASET, options, &writer, &error), &error);
    must_be_ok(lx_writer_begin_transaction(writer, &error), &error);
    for (size_t i = 0; i < records; i += every) {
        memset(bytes, (int)next_random(&random), record);
        lx_value value = {bytes, record};
        must_be_ok(lx_writer_modify(writer, i, &field, &value, 1, &error), &error);
    }
    must_be_ok(lx_writer_end_transaction(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    free(bytes);
}

static void compare_changed(bench_run *bench, size_t record)
{
    static const char *const names[] = {"no changes in the log", "1 % of the rows changed"};
    char title[96];
    size_t records = limit_records(GATHER_BYTES / record);
    lx_error error = LX_ERROR_INIT;
    lx_dataset *before, *after;
    make_dataset(record, records, LX_COMPRESSION_RAW);
    must_be_ok(lx_dataset_open(DATASET, NULL, &before, &error), &error);
    change_records(record, records, 100);
    must_be_ok(lx_dataset_open(DATASET, NULL, &after, &error), &error);
    warm_up(before, record, records);
    warm_up(after, record, records);
    const struct gathering members[] = {{.dataset = before, .record = record, .records = records},
                                        {.dataset = after, .record = record, .records = records}};
    snprintf(title, sizeof title, "warm random gather of %zu-byte records with changes", record);
    compare_teams(bench, title, names, members, 2, 1);
    lx_dataset_close(after);
    lx_dataset_close(before);
    remove_dataset();
}

void bench_changed(bench_run *bench)
{
    static const size_t sizes[] = {4096, 784, 64, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare_changed(bench, sizes[i]);
}

/* ---- open */

static void open_dataset(void *context)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    uint64_t index = *(uint64_t *)context;
    uint8_t record[64];
    must_be_ok(lx_dataset_open(DATASET, NULL, &dataset, &error), &error);
    must_be_ok(lx_dataset_gather(dataset, 0, &index, 1, record, sizeof record, &error), &error);
    lx_dataset_close(dataset);
}

static void open_plain(void *context)
{
    uint64_t index = *(uint64_t *)context;
    int file = open(DATASET "/data.offset", O_RDONLY);
    must(file != -1, "open");
    const volatile uint8_t *map = mmap(NULL, (size_t)OPEN_RECORDS * 16, PROT_READ, MAP_SHARED, file,
                                       0);
    must(map != MAP_FAILED, "mmap");
    (void)map[index * 16];
    munmap((void *)map, (size_t)OPEN_RECORDS * 16);
    close(file);
}

static void compare_open(bench_run *bench)
{
    uint64_t index = OPEN_RECORDS / 2;
    make_dataset(64, OPEN_RECORDS, LX_COMPRESSION_RAW);
    const bench_case cases[] = {{"one mmap, one page", open_plain, &index, 1},
                                {"open, one record, close", open_dataset, &index, 1}};
    bench_compare(bench, "open of a sealed dataset of 1,000,000 records", "open", cases, 2);
    remove_dataset();
}

void bench_zrecord(bench_run *bench)
{
    static const size_t sizes[] = {64, 256, 4096, 16384, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare_gather(bench, sizes[i]);
    compare_open(bench);
}
