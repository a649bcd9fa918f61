/* SPDX-License-Identifier: MIT */
/* Runs one path of the library over a number of records, for check-instructions.sh: hot-paths PATH
 * RECORDS. What comes before does not depend on the number. Without arguments, it prints the name
 * of the build: the architecture and the compiler; or "other", if the compiler was not to optimise
 * as usual. */
#include "plain.h"

#include <string.h>
#include <unistd.h>

#include <loaderx/loaderx.h>

#include "../sanitizer.h"

#define DATASET "hot-paths"
#define STORED 2048 /* records of a dataset, which are all read in advance */
#define BATCH 256
#define IMAGE 784
#define SHORT 256

#if SANITIZED || !defined __OPTIMIZE__
#define BUILD "other"
#elif defined __x86_64__
#define BUILD "x86_64-" COMPILER
#elif defined __aarch64__
#define BUILD "aarch64-" COMPILER
#else
#define BUILD "other"
#endif
#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

static uint8_t bytes[BATCH * (IMAGE + 8)];

/* ---- the data */

static lx_writer *create(const char *name, lx_dtype dtype, uint64_t size, bool label)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    lx_writer_options *options = lx_writer_options_new();
    lx_writer *writer = NULL;
    must_be_ok(lx_schema_add_field(schema, name, dtype, &size, dtype == LX_BYTES ? 0 : 1,
                                   LX_COMPRESSION_RAW, &error),
               &error);
    if (label)
        must_be_ok(
            lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, &error),
            &error);
    must_be_ok(lx_writer_options_set_durability(options, LX_DURABILITY_NONE, &error), &error);
    must_be_ok(lx_writer_create(DATASET, schema, options, &writer, &error), &error);
    lx_writer_options_free(options);
    lx_schema_free(schema);
    return writer;
}

static void append(lx_writer *writer, size_t size, bool label, size_t records)
{
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < records; i++) {
        int64_t number = (int64_t)i;
        const lx_value values[] = {{bytes, size}, {&number, sizeof number}};
        must_be_ok(lx_writer_append(writer, values, label ? 2 : 1, NULL, &error), &error);
    }
}

static lx_dataset *finish(lx_writer *writer)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    must_be_ok(lx_writer_close(writer, &error), &error);
    must_be_ok(lx_dataset_options_set_access(options, LX_ACCESS_MMAP, &error), &error);
    must_be_ok(lx_dataset_open(DATASET, options, &dataset, &error), &error);
    lx_dataset_options_free(options);
    return dataset;
}

/** The indices of the next batch. */
static const uint64_t *draw(void)
{
    static uint64_t indices[BATCH], random = 1;
    for (int i = 0; i < BATCH; i++)
        indices[i] = next_random(&random) % STORED;
    return indices;
}

/* ---- the paths */

static void gather(size_t records)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = create("data", LX_UINT8, SHORT, false);
    append(writer, SHORT, false, STORED);
    lx_dataset *dataset = finish(writer);
    for (size_t i = 0; i < records; i += BATCH)
        must_be_ok(lx_dataset_gather(dataset, 0, draw(), BATCH, bytes, SHORT, &error), &error);
    lx_dataset_close(dataset);
}

static void gather_texts(size_t records)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t offsets[BATCH + 1];
    lx_writer *writer = create("text", LX_BYTES, 0, false);
    for (size_t i = 0; i < STORED; i++)
        append(writer, SHORT + i % 256, false, 1);
    lx_dataset *dataset = finish(writer);
    for (size_t i = 0; i < records; i += BATCH) {
        const uint64_t *indices = draw();
        must_be_ok(lx_dataset_get_sizes(dataset, 0, indices, BATCH, offsets, NULL, &error), &error);
        must_be_ok(lx_dataset_gather_bytes(dataset, 0, indices, BATCH, offsets, bytes, &error),
                   &error);
    }
    lx_dataset_close(dataset);
}

static void load(size_t records)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_loader *loader;
    lx_batch *batch;
    lx_loader_options *options = lx_loader_options_new();
    lx_writer *writer = create("image", LX_UINT8, IMAGE, true);
    append(writer, IMAGE, true, STORED);
    lx_dataset *dataset = finish(writer);
    must_be_ok(lx_source_new_dataset(dataset, &source, &error), &error);
    must_be_ok(lx_loader_options_set_batch_size(options, BATCH, &error), &error);
    must_be_ok(lx_loader_options_set_shuffle(options, 1, &error), &error);
    must_be_ok(lx_loader_options_set_epoch_count(options, 0, &error), &error);
    must_be_ok(lx_loader_options_set_reader_count(options, 0, &error), &error);
    must_be_ok(lx_loader_open(source, options, &loader, &error), &error);
    for (size_t i = 0; i < records; i += BATCH) {
        must_be_ok(lx_loader_next(loader, &batch, &error), &error);
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
    lx_loader_options_free(options);
    lx_source_unref(source);
    lx_dataset_close(dataset);
}

static void shuffle(size_t records)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_sampler *sampler;
    uint64_t indices[BATCH], taken;
    must_be_ok(lx_order_new_shuffle(100000000, 1, &order, &error), &error);
    must_be_ok(lx_sampler_new(order, 0, 1, &sampler, &error), &error);
    for (size_t i = 0; i < records; i += BATCH)
        must_be_ok(lx_sampler_take(sampler, BATCH, indices, &taken, &error), &error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

static void append_short(size_t records)
{
    lx_writer *writer = create("data", LX_UINT8, SHORT, false);
    append(writer, SHORT, false, records);
    lx_dataset_close(finish(writer));
}

static const struct {
    const char *name;
    void (*run)(size_t records);
} paths[] = {
    {"append", append_short}, {"gather", gather},      {"loader", load},
    {"shuffle", shuffle},     {"texts", gather_texts},
};

int main(int argc, char **argv)
{
    if (argc == 1)
        puts(BUILD);
    for (size_t i = 0; argc == 3 && i < sizeof paths / sizeof *paths; i++)
        if (strcmp(argv[1], paths[i].name) == 0) {
            paths[i].run(strtoul(argv[2], NULL, 10));
            return 0;
        }
    return argc == 1 ? 0 : 2;
}
