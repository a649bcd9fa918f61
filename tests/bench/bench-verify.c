/* SPDX-License-Identifier: MIT */
/* Verification compared with its two bounds: the CRC of the same bytes, and reading them from the
 * disk. 512 MiB of data are made in the current folder and removed. On a tmpfs, files cannot be
 * evicted from memory, so the cold comparison is meaningless. */
#include "dense-dataset.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#include "base/crc32c.h"

#define BYTES ((size_t)512 << 20)
#define READ ((size_t)1 << 20) /* at least the block size of cat and dd */

struct verifying {
    bool cold; /* evict all files from memory first */
    const uint8_t *map;
    size_t record;
    lx_executor *executor;
};

static void sum_records(void *context)
{
    const struct verifying *v = context;
    volatile uint32_t sum = 0;
    for (size_t at = 0; at + v->record <= BYTES; at += v->record)
        sum ^= lx__crc32c(0, v->map + at, v->record);
}

static void read_files(void *context)
{
    const struct verifying *v = context;
    uint8_t *buffer = malloc(READ);
    if (v->cold)
        evict_dataset();
    for (size_t i = 0; i < DATASET_FILES; i++) {
        int file = open(dataset_files[i], O_RDONLY);
        ssize_t got;
        must(file != -1, "open");
        while ((got = read(file, buffer, READ)) > 0)
            continue;
        must(got == 0, "read");
        close(file);
    }
    free(buffer);
}

static void verify(void *context)
{
    const struct verifying *v = context;
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    if (v->cold)
        evict_dataset();
    must_be_ok(lx_dataset_options_set_executor(options, v->executor, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, options, &dataset, &error), &error);
    must_be_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error), &error);
    lx_dataset_close(dataset);
    lx_dataset_options_free(options);
}

static lx_executor *open_executor(uint32_t readers)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor;
    lx_executor_options *options = lx_executor_options_new();
    must_be_ok(lx_executor_options_set_reader_count(options, readers, &error), &error);
    must_be_ok(lx_executor_open(options, &executor, &error), &error);
    lx_executor_options_free(options);
    return executor;
}

static void compare_verify(bench_run *bench, size_t record)
{
    char title[96];
    make_dataset(record, BYTES / record, LX_COMPRESSION_RAW);
    int file = open(dataset_files[0], O_RDONLY);
    must(file != -1, "open");
    const uint8_t *map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
    must(map != MAP_FAILED, "mmap");
    close(file);
    lx_executor *none = open_executor(0);
    struct verifying sums = {.map = map, .record = record}, serial = {.executor = none},
                     threads = {0}, cold = {.cold = true};
    double work = (double)BYTES / (1 << 20);
    const bench_case warm_cases[] = {{"bare CRC of the records", sum_records, &sums, work},
                                     {"verify, no threads", verify, &serial, work},
                                     {"verify, as many as CPUs", verify, &threads, work}};
    snprintf(title, sizeof title, "verification of %zu-byte records in memory", record);
    bench_compare(bench, title, "MiB", warm_cases, 3);
    /* Mapped pages would stay in memory. */
    munmap((void *)map, BYTES);
    const bench_case cold_cases[] = {{"reading the files", read_files, &cold, work},
                                     {"verify, as many as CPUs", verify, &cold, work}};
    snprintf(title, sizeof title, "verification of %zu-byte records from the disk", record);
    bench_compare(bench, title, "MiB", cold_cases, 2);
    lx_executor_close(none);
    must(system("rm -rf " DATASET) == 0, "rm");
}

void bench_verify(bench_run *bench)
{
    static const size_t sizes[] = {4096, 256};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare_verify(bench, sizes[i]);
}
