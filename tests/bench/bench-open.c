/* SPDX-License-Identifier: MIT */
/* Opening a dataset whose writer was killed, compared with reading its log and computing its
 * CRC. */
#include "plain.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#include "base/crc32c.h"

#define DATASET "bench-dataset"
/* Records of the dataset; and changes in the log, with that many per frame. Updates stay in the log
 * while they are fewer than an eighth of the records. */
#define RECORDS ((size_t)8 << 20)
#define STEP ((size_t)1 << 13)
#define CHANGES ((size_t)1000000)
#define COMMIT_EVERY 1000

static void make(void)
{
    static uint64_t numbers[STEP];
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    must_be_ok(
        lx_schema_add_field(schema, "number", LX_UINT64, NULL, 0, LX_COMPRESSION_RAW, &error),
        &error);
    must_be_ok(lx_writer_create(DATASET, schema, NULL, &writer, &error), &error);
    lx_values column = {.data = numbers};
    for (size_t i = 0; i < RECORDS; i += STEP)
        must_be_ok(lx_writer_extend(writer, STEP, &column, 1, NULL, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_schema_free(schema);
}

/** Changes records in a process that exits without closing the writer. */
static void crash(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t random = 1;
    pid_t child = fork();
    must(child != -1, "fork");
    if (child != 0) {
        int status;
        must(waitpid(child, &status, 0) == child && status == 0, "the process that crashes");
        return;
    }
    lx_writer_options *options = lx_writer_options_new();
    must_be_ok(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error), &error);
    must_be_ok(lx_writer_open(DATASET, options, &writer, &error), &error);
    for (size_t i = 1; i <= CHANGES; i++) {
        size_t field = 0;
        lx_value value = {&i, sizeof(uint64_t)};
        must_be_ok(
            lx_writer_modify(writer, next_random(&random) % RECORDS, &field, &value, 1, &error),
            &error);
        if (i % COMMIT_EVERY == 0)
            must_be_ok(lx_writer_commit(writer, &error), &error);
    }
    _exit(0);
}

/** The log of the newest generation. */
static int open_log(void)
{
    char path[64];
    for (int generation = 9; generation > 0; generation--) {
        snprintf(path, sizeof path, DATASET "/LOG.%d", generation);
        int file = open(path, O_RDONLY);
        if (file != -1)
            return file;
    }
    return open(DATASET "/LOG", O_RDONLY);
}

static volatile uint32_t result;

static void read_log(void *context)
{
    static uint8_t window[1 << 18];
    ssize_t got;
    uint32_t crc = 0;
    (void)context;
    int file = open_log();
    must(file != -1, "open");
    while ((got = read(file, window, sizeof window)) > 0)
        crc = lx__crc32c(crc, window, (size_t)got);
    result = crc;
    close(file);
}

static void open_to_read(void *context)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    (void)context;
    must_be_ok(lx_dataset_open(DATASET, NULL, &dataset, &error), &error);
    lx_dataset_close(dataset);
}

/** Also in a process that exits without closing, so that the next one finds the same log. */
static void open_to_write(void *context)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    int status;
    (void)context;
    pid_t child = fork();
    must(child != -1, "fork");
    if (child == 0) {
        must_be_ok(lx_writer_open(DATASET, NULL, &writer, &error), &error);
        _exit(0);
    }
    must(waitpid(child, &status, 0) == child && status == 0, "the writer");
}

void bench_open(bench_run *bench)
{
    make();
    crash();
    off_t size = lseek(open_log(), 0, SEEK_END);
    must(size > (off_t)(CHANGES * 40), "a log with all changes in it");
    const bench_case cases[] = {{"the log and its CRC", read_log, NULL, 1},
                                {"opening to read", open_to_read, NULL, 1},
                                {"opening to write", open_to_write, NULL, 1}};
    bench_compare(bench, "opening after a crash, 1,000,000 changes in the log", "open", cases, 3);
    lx_error error = LX_ERROR_INIT;
    must_be_ok(lx_dataset_remove(DATASET, &error), &error);
}
