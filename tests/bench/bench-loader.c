/* SPDX-License-Identifier: MIT */
/* A loader compared with plain loops over the same records in the same order. The loader computes
 * the order, delivers and releases batches, and has verified the records in the previous epoch; the
 * loops use precomputed indices. The data, several times the last-level cache, is made in the
 * current folder and removed. */
#include "plain.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <loaderx/loaderx.h>

#define DATASET "bench-dataset"
#define BATCHES 16 /* taken by a run */
#define SEED 42
#define THREADS 3 /* loaders with 0, 1 and 2 threads */
#define MIB ((size_t)1 << 20)
#define BYTES_MIN (256 * MIB)

/** One shape of training data. */
struct shape {
    const char *name;
    size_t record; /* bytes of the large column */
    bool label;    /* the other column is an int64 */
    size_t batch;
};

/** The data, in a dataset and in the form for plain loops. */
struct data {
    const struct shape *shape;
    size_t records;
    const uint8_t *plain; /* the only chunk, without gaps */
    int64_t *labels;
    uint64_t *indices; /* indices of an epoch, in the loader's order */
    lx_dataset *dataset;
    lx_source *source;
};

/* ---- memory, counted */

static atomic_size_t allocations;

static void *count_alloc(size_t size, void *user)
{
    (void)user;
    atomic_fetch_add(&allocations, 1);
    return malloc(size);
}

static void *count_resize(void *memory, size_t size, void *user)
{
    (void)user;
    atomic_fetch_add(&allocations, 1);
    return realloc(memory, size);
}

static void count_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/* ---- data */

/** Four times the last-level cache, or less if memory does not have three times that. */
static size_t data_bytes(size_t *cache)
{
    long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t room = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 3;
    *cache = level3 > 0 ? (size_t)level3 : 0;
    size_t bytes = 4 * *cache > BYTES_MIN ? 4 * *cache : BYTES_MIN;
    return bytes < room ? bytes : room;
}

static void make_dataset(const struct shape *shape, size_t records)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = lx_writer_options_new();
    lx_writer *writer = NULL;
    uint64_t extent = shape->record, random = 1;
    uint8_t *bytes = malloc(shape->record);
    must_be_ok(
        lx_schema_add_field(schema, "data", LX_UINT8, &extent, 1, LX_COMPRESSION_RAW, &error),
        &error);
    if (shape->label)
        must_be_ok(
            lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error),
            &error);
    must_be_ok(lx_writer_options_set_chunk_limits(options, UINT32_MAX, (uint64_t)1 << 40, &error),
               &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    for (size_t i = 0; i < records; i++) {
        int64_t label = (int64_t)i;
        const lx_value values[] = {{bytes, shape->record}, {&label, sizeof label}};
        memset(bytes, (int)next_random(&random), shape->record);
        must_be_ok(lx_writer_append(writer, values, shape->label ? 2 : 1, NULL, &error), &error);
    }
    must_be_ok(lx_writer_seal(writer, &error), &error);
    must_be_ok(lx_writer_close(writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    free(bytes);
}

static void make_indices(struct data *data)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_sampler *sampler;
    uint64_t taken;
    data->indices = malloc(data->records * sizeof *data->indices);
    must_be_ok(lx_order_new_shuffle(data->records, SEED, &order, &error), &error);
    must_be_ok(lx_sampler_new(order, 0, 1, &sampler, &error), &error);
    must_be_ok(lx_sampler_take(sampler, data->records, data->indices, &taken, &error), &error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

static struct data make_data(const struct shape *shape, size_t bytes)
{
    lx_error error = LX_ERROR_INIT;
    /* Whole batches, so that each has as much work. */
    size_t records = bytes / shape->record / shape->batch * shape->batch;
    struct data data = {.shape = shape, .records = records};
    make_dataset(shape, records);
    int file = open(DATASET "/chunk/0.zr", O_RDONLY);
    must(file != -1, "open");
    data.plain = mmap(NULL, records * shape->record, PROT_READ, MAP_SHARED, file, 0);
    must(data.plain != MAP_FAILED, "mmap");
    close(file);
    data.labels = malloc(records * sizeof *data.labels);
    for (size_t i = 0; i < records; i++)
        data.labels[i] = (int64_t)i;
    make_indices(&data);
    must_be_ok(lx_dataset_open(DATASET, NULL, &data.dataset, &error), &error);
    must_be_ok(lx_source_new_dataset(data.dataset, &data.source, &error), &error);
    return data;
}

static void free_data(struct data *data)
{
    lx_source_unref(data->source);
    lx_dataset_close(data->dataset);
    munmap((void *)data->plain, data->records * data->shape->record);
    free(data->labels);
    free(data->indices);
    must(system("rm -rf " DATASET) == 0, "rm");
}

/* ---- the cases */

struct loop {
    const struct data *data;
    bool kicks;
    size_t position;
    uint8_t *out; /* one batch */
};

static void run_loop(void *context)
{
    struct loop *loop = context;
    const struct data *data = loop->data;
    size_t record = data->shape->record, batch = data->shape->batch;
    for (int b = 0; b < BATCHES; b++) {
        const uint64_t *indices = data->indices + loop->position;
        int64_t *labels = (int64_t *)(void *)(loop->out + batch * record);
        for (size_t i = 0; i < batch; i++) {
            if (loop->kicks && i + 1 < batch)
                kick(data->plain + indices[i + 1] * record, record);
            memcpy(loop->out + i * record, data->plain + indices[i] * record, record);
            if (data->shape->label)
                labels[i] = data->labels[indices[i]];
        }
        loop->position = (loop->position + batch) % data->records;
    }
}

static lx_loader *open_loader(const struct data *data, uint32_t threads)
{
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader;
    lx_loader_options *options = lx_loader_options_new();
    must_be_ok(lx_loader_options_set_batch_size(options, data->shape->batch, &error), &error);
    must_be_ok(lx_loader_options_set_shuffle(options, SEED, &error), &error);
    must_be_ok(lx_loader_options_set_epoch_count(options, 1, &error), &error);
    must_be_ok(lx_loader_options_set_reader_count(options, threads, &error), &error);
    must_be_ok(lx_loader_open(data->source, options, &loader, &error), &error);
    lx_loader_options_free(options);
    return loader;
}

/** Takes one batch; at the end of the epoch seeks to its start, as the loops do. */
static void take_batch(lx_loader *loader)
{
    lx_error error = LX_ERROR_INIT;
    lx_batch *batch;
    lx_status status = lx_loader_next(loader, &batch, &error);
    if (status == LX_END) {
        must_be_ok(lx_loader_seek(loader, 0, &error), &error);
        status = lx_loader_next(loader, &batch, &error);
    }
    must_be_ok(status, &error);
    lx_batch_unref(batch);
}

static void run_loader(void *context)
{
    for (int b = 0; b < BATCHES; b++)
        take_batch(context);
}

static double median_of(const bench_run *bench, size_t position)
{
    const json_t *group = json_array_get(bench->groups, json_array_size(bench->groups) - 1);
    const json_t *one = json_array_get(json_object_get(group, "cases"), position);
    return json_real_value(json_object_get(one, "median_seconds"));
}

/** Batches per second compared with the faster of the two loops. */
static void report_ratios(bench_run *bench, const bench_case *cases)
{
    double first = median_of(bench, 0), second = median_of(bench, 1);
    double best = first < second ? first : second;
    json_t *ratios = json_array();
    printf("%-34s", "as fast as the faster loop, times");
    for (size_t i = 2; i < 2 + THREADS; i++) {
        double ratio = best / median_of(bench, i);
        printf(" %6.2f (%d threads)", ratio, (int)i - 2);
        json_array_append_new(ratios,
                              json_pack("{s:s, s:f}", "name", cases[i].name, "of_limit", ratio));
    }
    printf("\n");
    json_t *group = json_array_get(bench->groups, json_array_size(bench->groups) - 1);
    json_object_set_new(group, "of_limit", ratios);
}

/** The allocations of a whole epoch of a warm loader: blocks of the ring, and small ones. */
static void report_memory(bench_run *bench, const struct data *data, lx_loader *loader, int threads)
{
    lx_loader_stats before, after;
    lx_loader_get_stats(loader, &before);
    size_t calls = atomic_load(&allocations), batches = data->records / data->shape->batch;
    for (size_t b = 0; b < batches; b++)
        take_batch(loader);
    lx_loader_get_stats(loader, &after);
    calls = atomic_load(&allocations) - calls;
    printf("%d threads: %zu batches took %llu blocks more and %zu allocations; the ring has %llu "
           "blocks, %.1f MiB\n",
           threads, batches, (unsigned long long)(after.blocks - before.blocks), calls,
           (unsigned long long)after.blocks, (double)after.block_bytes / (double)MIB);
    json_array_append_new(
        bench->groups,
        json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I}", "title", "memory of an epoch", "data",
                  data->shape->name, "threads", threads, "batches", (json_int_t)batches,
                  "blocks_made", (json_int_t)(after.blocks - before.blocks), "allocations",
                  (json_int_t)calls, "ring_bytes", (json_int_t)after.block_bytes));
}

static void compare(bench_run *bench, const struct shape *shape, size_t bytes, size_t cache)
{
    struct data data = make_data(shape, bytes);
    size_t batch_bytes = shape->batch * (shape->record + sizeof(int64_t));
    struct loop loops[2] = {{.data = &data}, {.data = &data, .kicks = true}};
    lx_loader *loaders[THREADS];
    bench_case cases[2 + THREADS] = {{"plain memcpy", run_loop, &loops[0], BATCHES},
                                     {"plain memcpy, pages kicked", run_loop, &loops[1], BATCHES}};
    static const char *const names[THREADS] = {"loader, the caller fills", "loader, 1 thread",
                                               "loader, 2 threads"};
    char title[160];
    for (int i = 0; i < 2; i++)
        loops[i].out = calloc(1, batch_bytes);
    for (int i = 0; i < THREADS; i++) {
        loaders[i] = open_loader(&data, (uint32_t)i);
        cases[2 + i] = (bench_case){names[i], run_loader, loaders[i], BATCHES};
        /* The first epoch maps the pages, verifies the records, and grows the ring to its full
         * size. */
        for (size_t b = 0; b < data.records / shape->batch; b++)
            take_batch(loaders[i]);
    }
    snprintf(title, sizeof title,
             "shuffled %s, %zu a batch, of %zu MiB (last-level cache: %zu MiB)", shape->name,
             shape->batch, data.records * shape->record / MIB, cache / MIB);
    bench_compare(bench, title, "batch", cases, 2 + THREADS);
    report_ratios(bench, cases);
    for (int i = 0; i < THREADS; i++)
        report_memory(bench, &data, loaders[i], i);
    for (int i = 0; i < THREADS; i++)
        lx_loader_close(loaders[i]);
    for (int i = 0; i < 2; i++)
        free(loops[i].out);
    free_data(&data);
}

void bench_loader(bench_run *bench)
{
    static const lx_allocator counting = {count_alloc, count_resize, count_release, NULL};
    static const struct shape shapes[] = {
        {"28x28 uint8 images and int64 labels", 784, true, 256},
        {"records of 16 KiB", 16384, false, 128},
    };
    size_t cache, bytes = data_bytes(&cache);
    if (bytes < 4 * cache)
        fprintf(stderr, "bench: there is memory for %zu MiB of data, less than 4 times the cache\n",
                bytes / MIB);
    lx_set_allocator(&counting, NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare(bench, &shapes[i], bytes, cache);
    lx_set_allocator(NULL, NULL);
}
