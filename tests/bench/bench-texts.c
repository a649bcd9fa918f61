/* SPDX-License-Identifier: MIT */
/* Batches of records that vary in size, like texts, compared with plain loops that copy the same
 * records into one buffer. The data is synthetic: sizes around 1.3 KB, stored raw. It is made in
 * the current folder and removed. */
#include "plain.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <loaderx/loaderx.h>

#define DATASET "bench-dataset"
#define RECORDS ((size_t)400000)
#define SIZE_MIN 300
#define SIZE_RANGE 2048
#define BATCH 256
#define BATCHES 16 /* taken by a run */
#define SEED 42
#define THREADS 3 /* loaders with 0, 1 and 2 threads */

/** The data, in a dataset and in the form for plain loops. */
struct data {
    uint64_t *starts, *sizes; /* of each record in the only chunk */
    uint64_t *indices;        /* of an epoch, in the loader's order */
    const uint8_t *plain;
    size_t bytes;
    lx_dataset *dataset;
    lx_source *source;
};

struct loop {
    const struct data *data;
    bool kicks;
    size_t position;
    uint64_t offsets[BATCH + 1];
    uint8_t *out;
};

/** Writes the dataset. Values are aligned to 8 bytes in its chunk. */
static void make_dataset(struct data *data)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = lx_writer_options_new();
    lx_writer *writer = NULL;
    uint64_t random = 1, end = 0;
    static uint8_t bytes[SIZE_MIN + SIZE_RANGE];
    must_be_ok(lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error),
               &error);
    must_be_ok(lx_writer_options_set_chunk_limits(options, UINT32_MAX, (uint64_t)1 << 40, &error),
               &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    for (size_t i = 0; i < RECORDS; i++) {
        uint64_t size = SIZE_MIN + next_random(&random) % SIZE_RANGE;
        const lx_value value = {bytes, size};
        memset(bytes, (int)i, size);
        must_be_ok(lx_writer_append(writer, &value, 1, NULL, &error), &error);
        data->starts[i] = end;
        data->sizes[i] = size;
        end = (end + size + 7) & ~(uint64_t)7;
    }
    data->bytes = end;
    must_be_ok(lx_writer_seal(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
}

static void make_data(struct data *data)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_sampler *sampler;
    uint64_t taken;
    data->starts = malloc(RECORDS * sizeof *data->starts);
    data->sizes = malloc(RECORDS * sizeof *data->sizes);
    data->indices = malloc(RECORDS * sizeof *data->indices);
    make_dataset(data);
    int file = open(DATASET "/chunk/0.zr", O_RDONLY);
    must(file != -1, "open");
    data->plain = mmap(NULL, data->bytes, PROT_READ, MAP_SHARED, file, 0);
    must(data->plain != MAP_FAILED, "mmap");
    close(file);
    must_be_ok(lx_order_new_shuffle(RECORDS, SEED, &order, &error), &error);
    must_be_ok(lx_sampler_new(order, 0, 1, &sampler, &error), &error);
    must_be_ok(lx_sampler_take(sampler, RECORDS, data->indices, &taken, &error), &error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    must_be_ok(lx_dataset_open(DATASET, NULL, &data->dataset, &error), &error);
    must_be_ok(lx_source_new_dataset(data->dataset, &data->source, &error), &error);
}

static void free_data(struct data *data)
{
    lx_source_unref(data->source);
    lx_dataset_close(data->dataset);
    munmap((void *)data->plain, data->bytes);
    free(data->starts);
    free(data->sizes);
    free(data->indices);
    must(system("rm -rf " DATASET) == 0, "rm");
}

/* ---- the cases */

static const uint64_t *next_indices(struct loop *loop)
{
    const uint64_t *indices = loop->data->indices + loop->position;
    loop->position += BATCH;
    if (loop->position + BATCH > RECORDS)
        loop->position = 0;
    return indices;
}

static void run_loop(void *context)
{
    struct loop *loop = context;
    const struct data *data = loop->data;
    for (int b = 0; b < BATCHES; b++) {
        const uint64_t *indices = next_indices(loop);
        for (size_t i = 0; i < BATCH; i++)
            loop->offsets[i + 1] = loop->offsets[i] + data->sizes[indices[i]];
        for (size_t i = 0; i < BATCH; i++) {
            if (loop->kicks && i + 1 < BATCH)
                kick(data->plain + data->starts[indices[i + 1]], data->sizes[indices[i + 1]]);
            memcpy(loop->out + loop->offsets[i], data->plain + data->starts[indices[i]],
                   data->sizes[indices[i]]);
        }
    }
}

static void run_gather(void *context)
{
    lx_error error = LX_ERROR_INIT;
    struct loop *loop = context;
    for (int b = 0; b < BATCHES; b++) {
        const uint64_t *indices = next_indices(loop);
        must_be_ok(lx_dataset_get_sizes(loop->data->dataset, 0, indices, BATCH, loop->offsets, NULL,
                                        &error),
                   &error);
        must_be_ok(lx_dataset_gather_bytes(loop->data->dataset, 0, indices, BATCH, loop->offsets,
                                           loop->out, &error),
                   &error);
    }
}

static void run_loader(void *context)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    for (int b = 0; b < BATCHES; b++) {
        must_be_ok(lx_loader_next(context, &batch, &error), &error);
        lx_batch_unref(batch);
    }
}

static lx_loader *open_loader(const struct data *data, uint32_t threads)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = lx_loader_options_new();
    must_be_ok(lx_loader_options_set_batch_size(options, BATCH, &error), &error);
    must_be_ok(lx_loader_options_set_shuffle(options, SEED, &error), &error);
    must_be_ok(lx_loader_options_set_epoch_count(options, 0, &error), &error);
    must_be_ok(lx_loader_options_set_reader_count(options, threads, &error), &error);
    must_be_ok(lx_loader_open(data->source, options, &loader, &error), &error);
    lx_loader_options_free(options);
    return loader;
}

void bench_texts(bench_run *bench)
{
    static const char *const names[THREADS] = {"loader, the caller fills", "loader, 1 thread",
                                               "loader, 2 threads"};
    struct data data = {0};
    struct loop loops[3] = {{.data = &data}, {.data = &data, .kicks = true}, {.data = &data}};
    lx_loader *loaders[THREADS];
    bench_case cases[3 + THREADS] = {
        {"plain memcpy", run_loop, &loops[0], BATCHES * BATCH},
        {"plain memcpy, pages kicked", run_loop, &loops[1], BATCHES * BATCH},
        {"sizes, and gather of bytes", run_gather, &loops[2], BATCHES * BATCH}};
    make_data(&data);
    for (int i = 0; i < 3; i++)
        loops[i].out = calloc(BATCH, SIZE_MIN + SIZE_RANGE);
    for (int i = 0; i < THREADS; i++) {
        loaders[i] = open_loader(&data, (uint32_t)i);
        cases[3 + i] = (bench_case){names[i], run_loader, loaders[i], BATCHES * BATCH};
    }
    for (size_t b = 0; b < RECORDS / BATCH / BATCHES; b++) /* maps and verifies */
        run_loader(loaders[0]);
    bench_compare(bench, "shuffled texts of 300 to 2347 bytes, 256 a batch", "record", cases,
                  3 + THREADS);
    for (int i = 0; i < THREADS; i++)
        lx_loader_close(loaders[i]);
    for (int i = 0; i < 3; i++)
        free(loops[i].out);
    free_data(&data);
}
