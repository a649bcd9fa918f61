/* SPDX-License-Identifier: MIT */
/* A loader over values that exceed the memory of its control group reads each of them once. */
#include "loaders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "../../sanitizer.h"
#include "../scratch.h"
#include "../evict.h"
#include "../sampler/orders.h"

#define RECORD 16384
#define RECORDS 8192
#define BYTES ((uint64_t)RECORD * RECORDS)
#define LIMIT (BYTES / 4)

/* ---- control groups */

static char group[256];

static bool write_to(const char *name, uint64_t number)
{
    char path[512], text[32];
    snprintf(path, sizeof path, "%s/%s", group, name);
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool done = file != -1 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file != -1)
        close(file);
    return done;
}

/** Makes a control group with #LIMIT bytes of memory, of version 1 or 2. */
static bool make_group(void)
{
    static const char *const roots[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
    static const char *const limits[] = {"memory.limit_in_bytes", "memory.max"};
    for (int i = 0; i < 2; i++) {
        snprintf(group, sizeof group, "%s/loaderx-test-%d", roots[i], (int)getpid());
        if (mkdir(group, 0700) != 0)
            continue;
        if (write_to(limits[i], LIMIT))
            return true;
        rmdir(group);
    }
    return false;
}

/** Returns the number of bytes that the process has read from disks. */
static uint64_t bytes_read(void)
{
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "read_bytes: %llu", &bytes);
    if (file != NULL)
        fclose(file);
    return bytes;
}

/* ---- the dataset */

static void make_records(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    lx_schema *schema = lx_schema_new();
    uint64_t shape = RECORD / 8;
    uint64_t *record = malloc(RECORD);
    unit_ok(lx_schema_add_field(schema, "x", LX_UINT64, &shape, 1, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_writer_create("d", schema, NULL, &writer, &error));
    for (uint64_t i = 0; i < RECORDS; i++) {
        for (size_t k = 0; k < shape; k++)
            record[k] = i + k;
        const lx_value value = {record, RECORD};
        unit_ok(lx_writer_append(writer, &value, 1, NULL, &error));
    }
    unit_ok(lx_writer_seal(writer, &error));
    unit_ok(lx_writer_close(writer, &error));
    lx_schema_free(schema);
    free(record);
}

/** Whether a record of a batch is the one that the order asks for. */
static bool is_right(const lx_batch *batch, uint64_t row, uint64_t index)
{
    const uint64_t *record = (const uint64_t *)lx_batch_get_column(batch, 0)->data +
                             row * (RECORD / 8);
    return record[0] == index && record[RECORD / 8 - 1] == index + RECORD / 8 - 1;
}

/** Reads all records in a random order; in a child, which must not use Check. */
static bool read_all(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_dataset *dataset;
    lx_loader *loader;
    lx_batch *batch;
    lx_order *order;
    uint64_t seen = 0;
    bool right = lx_dataset_open("d", NULL, &dataset, &error) == LX_OK &&
                 lx_source_new_dataset(dataset, &source, &error) == LX_OK &&
                 lx_order_new_shuffle(RECORDS, 7, &order, &error) == LX_OK;
    lx_loader_options *options = lx_loader_options_new();
    right = right && lx_loader_options_set_order(options, order, &error) == LX_OK &&
            lx_loader_options_set_batch_size(options, 64, &error) == LX_OK &&
            lx_loader_open(source, options, &loader, &error) == LX_OK;
    while (right && lx_loader_next(loader, &batch, &error) == LX_OK) {
        const uint64_t *indices = lx_batch_get_indices(batch);
        for (uint64_t i = 0; i < lx_batch_get_row_count(batch); i++, seen++)
            right = right && is_right(batch, i, indices[i]);
        lx_batch_unref(batch);
    }
    return right && seen == RECORDS; /* exiting releases the rest */
}

START_TEST(reads_each_value_once)
{
    char *scratch = scratch_make();
    make_records();
    if (SANITIZED) {
        printf("skipped: sanitizers need more memory than the limit\n");
    } else if (!make_group()) {
        printf("skipped: cannot limit memory with a control group\n");
    } else {
        if (evict("d") && unit_in_child()) {
            uint64_t before = bytes_read();
            bool right = write_to("cgroup.procs", (uint64_t)getpid()) && read_all();
            uint64_t read = bytes_read() - before;
            _exit(!right ? 1 : read > BYTES + BYTES / 4 ? 2 : 0);
        }
        ck_assert_int_eq(rmdir(group), 0);
    }
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/memory-limit", reads_each_value_once)
