/* SPDX-License-Identifier: MIT */
/*
 * Loading batches for training: shuffled, split between ranks, and resumed exactly after a stop in
 * the middle of an epoch.
 *
 *     cc loader.c $(pkg-config --cflags --libs loaderx)
 */
#include <loaderx/loaderx.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 2500, FEATURES = 1024, RANK = 1, WORLD = 4, BATCH = 64, STOP = 4 };

static int complain(const lx_error *error)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "loader: %s\n", line);
    return EXIT_FAILURE;
}

/* Training data: records of a vector and a label, all appended with one call. */
static lx_status make_data(const char *path, lx_error *error)
{
    static float data[RECORDS][FEATURES];
    static int64_t labels[RECORDS];
    const uint64_t shape[] = {FEATURES};
    const lx_values columns[] = {{.data = data}, {.data = labels}};
    for (int i = 0; i < RECORDS; i++) {
        labels[i] = i;
        for (int k = 0; k < FEATURES; k++)
            data[i][k] = (float)(i + k);
    }
    lx_writer *writer = NULL;
    lx_schema *schema = lx_schema_new();
    lx_status status = schema != NULL ? LX_OK : LX_ERR_NOMEM;
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "data", LX_FLOAT32, shape, 1, LX_COMPRESSION_RAW,
                                     error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, error);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, NULL, &writer, error);
    if (status == LX_OK)
        status = lx_writer_extend(writer, RECORDS, columns, sizeof columns / sizeof *columns, NULL,
                                  error);
    lx_status closed = lx_writer_close(writer, error); /* also commits */
    lx_schema_free(schema);
    return status != LX_OK ? status : closed;
}

static lx_status open_loader(lx_source *source, uint32_t threads, lx_loader **loader,
                             lx_error *error)
{
    lx_loader_options *options = lx_loader_options_new();
    lx_status status = options != NULL ? LX_OK : LX_ERR_NOMEM;
    if (status == LX_OK)
        status = lx_loader_options_set_batch_size(options, BATCH, error);
    if (status == LX_OK)
        status = lx_loader_options_set_shuffle(options, 42, error);
    if (status == LX_OK)
        status = lx_loader_options_set_rank(options, RANK, WORLD, error);
    if (status == LX_OK)
        status = lx_loader_options_set_reader_count(options, threads, error);
    if (status == LX_OK)
        status = lx_loader_open(source, options, loader, error);
    lx_loader_options_free(options);
    return status;
}

/* The training loop, for a maximum number of batches or to the end of the epoch. In place of a
 * model it computes a number that depends on every record and on their order. */
static lx_status train(lx_loader *loader, uint64_t most, uint64_t *digest, lx_error *error)
{
    lx_batch *batch = NULL;
    lx_status status = LX_OK;
    for (uint64_t i = 0; i < most && status == LX_OK; i++) {
        status = lx_loader_next(loader, &batch, error);
        if (status != LX_OK)
            break;
        const float *data = lx_batch_find_column(batch, "data")->data;
        const lx_column *labels = lx_batch_find_column(batch, "label");
        for (uint64_t k = 0; k < labels->rows; k++)
            *digest = *digest * 31 + (uint64_t)data[k * FEATURES] +
                      (uint64_t)((const int64_t *)labels->data)[k];
        lx_batch_unref(batch);
    }
    return status == LX_END ? LX_OK : status;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source = NULL;
    lx_loader *first = NULL, *second = NULL;
    char state[4096];
    uint64_t begun = 0, whole = 0, resumed = 0, count = 0;

    /* The source is chosen by the file type of the path: here a dataset, otherwise an .npy file. */
    if (make_data("vectors", &error) != LX_OK ||
        lx_source_open("vectors", NULL, &source, &error) != LX_OK ||
        open_loader(source, 2, &first, &error) != LX_OK)
        return complain(&error);
    if (train(first, STOP, &begun, &error) != LX_OK ||
        lx_loader_get_batch_count(first, &count, &error) != LX_OK ||
        lx_loader_save(first, state, sizeof state, NULL, &error) != LX_OK ||
        train(first, UINT64_MAX, &whole, &error) != LX_OK)
        return complain(&error);
    printf("of %" PRIu64 " batches %d are done: %s\n", count, STOP, state);
    lx_loader_close(first);

    /* Another process, with another number of threads (0: only the calling thread). */
    if (open_loader(source, 0, &second, &error) != LX_OK ||
        lx_loader_restore(second, state, &error) != LX_OK ||
        train(second, UINT64_MAX, &resumed, &error) != LX_OK)
        return complain(&error);
    lx_loader_close(second);
    lx_source_unref(source);
    printf("the rest of the epoch: %016" PRIx64 ", resumed: %016" PRIx64 "\n", whole, resumed);
    return whole == resumed && whole != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
