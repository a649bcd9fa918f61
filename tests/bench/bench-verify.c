/* SPDX-License-Identifier: MIT */
/* Verification compared with its two bounds: the CRC of the same bytes, and reading them from the
 * disk. 512 MiB of data are made in the current folder and removed. On a tmpfs, files cannot be
 * evicted from memory, so the cold comparison is meaningless. */
#include "plain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#include "base/crc32c.h"

#define DATASET "bench-dataset"
#define BYTES ((size_t)512 << 20)
#define READ ((size_t)1 << 20) /* at least the block size of cat and dd */

static const char *const files[] = {DATASET "/chunk/0.zr", DATASET "/data.offset",
                                    DATASET "/data.check"};
#define FILES (sizeof files / sizeof *files)

struct verifying {
    bool cold; /* evict all files from memory first */
    const uint8_t *map;
    size_t record;
    lx_executor *executor;
};

static void put_out(void)
{
    for (size_t i = 0; i < FILES; i++) {
        int file = open(files[i], O_RDONLY);
        must(file != -1, "open");
        must(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
        close(file);
    }
}

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
        put_out();
    for (size_t i = 0; i < FILES; i++) {
        int file = open(files[i], O_RDONLY);
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
        put_out();
    must_be_ok(lx_dataset_options_set_executor(options, v->executor, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, options, &dataset, &error), &error);
    must_be_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error), &error);
    lx_dataset_close(dataset);
    lx_dataset_options_free(options);
}

static void make_dataset(size_t record)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer *writer = NULL;
    uint64_t shape = record, random = 1;
    uint8_t *bytes = malloc(record);
    must_be_ok(lx_schema_add_field(schema, "data", LX_UINT8, &shape, 1, LX_COMPRESSION_RAW, &error),
               &error);
    lx_writer_options *options = lx_writer_options_new();
    must_be_ok(lx_writer_options_set_chunk_limits(options, UINT32_MAX, (uint64_t)1 << 40, &error),
               &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    lx_writer_options_free(options);
    for (size_t i = 0; i < BYTES / record; i++) {
        memset(bytes, (int)next_random(&random), record);
        lx_value value = {bytes, record};
        must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
    }
    must_be_ok(lx_writer_seal(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_schema_free(schema);
    free(bytes);
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
    make_dataset(record);
    int file = open(files[0], O_RDONLY);
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
