/* SPDX-License-Identifier: MIT */
/* A rebalance compared with cp of its result, both synced, in the current directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#include "bench.h"

/* Live bytes. */
#define LIVE ((uint64_t)1 << 30)
/* Records per append. */
#define BATCH 1024

static void must(lx_status status, const lx_error *error)
{
    char text[1024];
    if (status == LX_OK)
        return;
    lx_error_describe(error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    exit(EXIT_FAILURE);
}

static void shell(const char *command)
{
    if (system(command) != 0)
        exit(EXIT_FAILURE);
}

/** Runs @p job in a child, whose memory is its own. */
static long run_alone(void (*job)(uint64_t), uint64_t size)
{
    int status;
    struct rusage usage;
    pid_t child = fork();
    if (child == 0) {
        job(size);
        _exit(EXIT_SUCCESS);
    }
    if (child == -1 || wait4(child, &status, 0, &usage) == -1 || status != 0)
        exit(EXIT_FAILURE);
    return usage.ru_maxrss;
}

/** A dataset with twice the records, every second of which is then deleted, so that live and dead
 * bytes alternate and half of the records have moved. */
static void make(uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t count = 2 * LIVE / size;
    uint8_t *bytes = malloc(BATCH * size);
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = lx_writer_options_new();
    for (uint64_t i = 0; i < BATCH * size; i++)
        bytes[i] = (uint8_t)(i * i >> 7);
    must(lx_schema_add_field(schema, "data", LX_UINT8, &size, 1, LX_COMPRESSION_RAW, &error),
         &error);
    must(lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error),
         &error);
    must(lx_writer_create("bench-made", schema, options, &writer, &error), &error);
    for (uint64_t i = 0; i < count; i += BATCH)
        must(lx_writer_extend(writer, BATCH, (lx_values[]){{.data = bytes}, {.data = bytes}}, 2,
                              NULL, &error),
             &error);
    for (uint64_t i = 0; i < count / 2; i++)
        must(lx_writer_delete(writer, i + 1, NULL, &error), &error);
    must(lx_writer_checkpoint(writer, &error), &error);
    must(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    free(bytes);
}

static void rebalance(uint64_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    (void)size;
    must(lx_writer_open("bench-copied", NULL, &writer, &error), &error);
    must(lx_writer_rebalance(writer, NULL, NULL, NULL, &error), &error);
    must(lx_writer_close(writer, &error), &error);
}

static long memory;

/** A rebalance does not change the old files, so the dataset can consist of links to them. */
static void rebalance_links(void *context)
{
    (void)context;
    shell("rm -rf bench-copied && cp -al bench-made bench-copied");
    long used = run_alone(rebalance, 0);
    memory = used > memory ? used : memory;
}

static void copy(void *context)
{
    (void)context;
    shell("rm -rf bench-copied && cp --reflink=never -r bench-live bench-copied && "
          "sync bench-copied/* bench-copied/chunk/*");
}

static void compare(bench_run *bench, uint64_t size)
{
    char title[80];
    run_alone(make, size);
    rebalance_links(NULL);
    shell("rm -rf bench-live && mv bench-copied bench-live"); /* the result */
    double work = (double)LIVE / (double)(1 << 20);
    snprintf(title, sizeof title, "1 GiB of live records of %llu bytes, half of all",
             (unsigned long long)size);
    bench_compare(bench, title, "MiB",
                  (bench_case[]){{"cp and sync", copy, NULL, work},
                                 {"rebalance", rebalance_links, NULL, work}},
                  2);
    printf("resident memory of the rebalance, at most: %ld MiB\n", memory / 1024);
    shell("rm -rf bench-made bench-copied bench-live");
}

void bench_rebalance(bench_run *bench)
{
    static const uint64_t sizes[] = {65536, 4096, 256};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare(bench, sizes[i]);
}
