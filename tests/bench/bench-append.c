/* SPDX-License-Identifier: MIT */
/* Appends, compared with plain files, which are synced once, like the dataset when it is closed. */
#include "dense-dataset.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <loaderx/zrecord.h>

#include "base/crc32c.h"

#define APPEND_BYTES ((size_t)256 << 20)
#define SOURCE_BYTES ((size_t)32 << 20)
#define BUFFER ((size_t)1 << 20)

struct appending {
    size_t record, records;
    bool at_once;   /* many records in one call */
    uint8_t *bytes; /* SOURCE_BYTES, which are appended again and again */
};

static const uint8_t *record_of(const struct appending *a, size_t i)
{
    return a->bytes + i % (SOURCE_BYTES / a->record) * a->record;
}

static void append_plain(void *context)
{
    const struct appending *a = context;
    uint8_t *buffer = malloc(BUFFER);
    int file = open("bench-file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t used = 0;
    off_t at = 0;
    must(file != -1, "open");
    for (size_t i = 0;; i++) {
        if (i == a->records || used + a->record > BUFFER) {
            must(pwrite(file, buffer, used, at) == (ssize_t)used, "pwrite");
            at += (off_t)used;
            used = 0;
        }
        if (i == a->records)
            break;
        memcpy(buffer + used, record_of(a, i), a->record);
        used += a->record;
    }
    must(fdatasync(file) == 0, "fdatasync");
    close(file);
    unlink("bench-file");
    free(buffer);
}

/** What any store with checksums and tables has to do: copies and checksums the records, and adds a
 * row of 24 bytes for each of them to two tables. */
static void append_checked(void *context)
{
    const struct appending *a = context;
    static const char *const names[] = {"bench-file", "bench-offsets", "bench-checks"};
    size_t row_bytes[] = {a->record, 16, 8}, used[3] = {0};
    uint8_t *buffers[3];
    int files[3];
    for (int i = 0; i < 3; i++) {
        files[i] = open(names[i], O_WRONLY | O_CREAT | O_TRUNC, 0600);
        must(files[i] != -1, names[i]);
        buffers[i] = malloc(BUFFER);
    }
    for (size_t i = 0;; i++) {
        for (int k = 0; k < 3; k++) {
            if (i == a->records || used[k] + row_bytes[k] > BUFFER) {
                must(write(files[k], buffers[k], used[k]) == (ssize_t)used[k], "write");
                used[k] = 0;
            }
        }
        if (i == a->records)
            break;
        uint64_t row[] = {i * a->record, a->record};
        memcpy(buffers[0] + used[0], record_of(a, i), a->record);
        uint64_t check = lx__crc32c(0, buffers[0] + used[0], a->record);
        memcpy(buffers[1] + used[1], row, sizeof row);
        memcpy(buffers[2] + used[2], &check, sizeof check);
        for (int k = 0; k < 3; k++)
            used[k] += row_bytes[k];
    }
    for (int i = 0; i < 3; i++) {
        must(fdatasync(files[i]) == 0, "fdatasync");
        close(files[i]);
        unlink(names[i]);
        free(buffers[i]);
    }
}

static void append_dataset(void *context)
{
    const struct appending *a = context;
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = lx_writer_options_new();
    lx_writer *writer = NULL;
    uint64_t shape = a->record;
    must_be_ok(lx_schema_add_field(schema, "data", LX_UINT8, &shape, 1, LX_COMPRESSION_RAW, &error),
               &error);
    must_be_ok(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error), &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    must_be_ok(lx_writer_begin_transaction(writer, &error), &error);
    size_t step = a->at_once ? SOURCE_BYTES / a->record : 1;
    for (size_t i = 0; i < a->records; i += step) {
        lx_value value = {record_of(a, i), a->record};
        lx_values column = {.data = value.data};
        if (a->at_once)
            must_be_ok(lx_writer_extend(writer, step, &column, 1, NULL, &error), &error);
        else
            must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
    }
    must_be_ok(lx_writer_end_transaction(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    remove_dataset();
}

static void compare_append(bench_run *bench, size_t record)
{
    char title[96];
    struct appending one = {.record = record, .records = APPEND_BYTES / record};
    one.bytes = malloc(SOURCE_BYTES);
    memset(one.bytes, 1, SOURCE_BYTES);
    struct appending all = one;
    all.at_once = true;
    const bench_case cases[] = {
        {"plain files with checksums and tables", append_checked, &one, (double)one.records},
        {"plain file", append_plain, &one, (double)one.records},
        {"append", append_dataset, &one, (double)one.records},
        {"extend", append_dataset, &all, (double)all.records}};
    snprintf(title, sizeof title, "append of %zu-byte records (creation, sync, removal included)",
             record);
    bench_compare(bench, title, "record", cases, sizeof cases / sizeof *cases);
    free(one.bytes);
}

void bench_append(bench_run *bench)
{
    compare_append(bench, 65536);
    compare_append(bench, 4096);
    compare_append(bench, 256);
}
