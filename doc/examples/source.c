/* SPDX-License-Identifier: MIT */
/*
 * Defining your own source: this one computes its records, and fails for one of them. A transform
 * changes the batches.
 *
 *     cc source.c $(pkg-config --cflags --libs loaderx)
 */
#include <loaderx/loaderx.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 4096, SAMPLES = 2048, BATCH = 32, BROKEN = 777 };
enum { WAVE_COLUMN, PERIOD_COLUMN, COLUMNS };

typedef struct waves {
    uint64_t period; /* of the longest wave */
    int released;
} waves;

/* The destination of record i of the call; NULL if the column is not requested. */
static void *place(const lx_target *target, size_t i)
{
    return target->data != NULL ? (char *)target->data + i * target->stride : NULL;
}

/* Called by several threads concurrently, so it only reads the data of user. */
static lx_status fill_waves(const uint64_t *indices, size_t count, const lx_target *targets,
                            void *user, lx_error *error)
{
    const waves *all = user;
    for (size_t i = 0; i < count; i++) {
        int64_t period = 2 + (int64_t)(indices[i] % (all->period - 1));
        if (indices[i] == BROKEN) {
            /* After LX_ERR_IO, the loader would read the same batch again in the next call. */
            lx_fail(error, LX_ERR_CORRUPT, "the sensor was off");
            lx_error_locate(error, NULL, NULL, indices[i], LX_NONE);
            return LX_ERR_CORRUPT;
        }
        float *wave = place(&targets[WAVE_COLUMN], i);
        for (int k = 0; wave != NULL && k < SAMPLES; k++)
            wave[k] = (float)(k % period);
        int64_t *shown = place(&targets[PERIOD_COLUMN], i);
        if (shown != NULL)
            *shown = period;
    }
    return LX_OK;
}

static void release_waves(void *user)
{
    ((waves *)user)->released++;
}

/* Changes a whole batch in place, on a worker thread: scales waves to [0, 1]. */
static lx_status normalize(lx_batch *batch, void *user, lx_error *error)
{
    (void)user;
    (void)error;
    float *wave = lx_batch_find_column(batch, "wave")->data;
    const int64_t *periods = lx_batch_find_column(batch, "period")->data;
    for (uint64_t i = 0; i < lx_batch_get_row_count(batch) * SAMPLES; i++)
        wave[i] /= (float)(periods[i / SAMPLES] - 1);
    return LX_OK;
}

static void complain(const lx_error *error)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "source: %s\n", line);
}

static lx_status open_loader(waves *all, lx_loader **loader, lx_error *error)
{
    const uint64_t shape[] = {SAMPLES};
    const lx_column_info columns[COLUMNS] = {
        [WAVE_COLUMN] = {.name = "wave", .dtype = LX_FLOAT32, .ndim = 1, .shape = shape},
        [PERIOD_COLUMN] = {.name = "period", .dtype = LX_INT64}};
    lx_source *source = NULL;
    lx_source_options *functions = lx_source_options_new();
    lx_loader_options *options = lx_loader_options_new();
    lx_status status = options != NULL && functions != NULL ? LX_OK : LX_ERR_NOMEM;
    if (status == LX_OK)
        status = lx_source_options_set_fill(functions, fill_waves, all, error);
    if (status == LX_OK)
        status = lx_source_options_set_release(functions, release_waves, error);
    if (status == LX_OK)
        status = lx_source_options_set_identity(functions, "waves of 1", error);
    if (status == LX_OK)
        status = lx_source_new(RECORDS, columns, COLUMNS, functions, &source, error);
    lx_source_options_free(functions);
    if (status == LX_OK)
        status = lx_loader_options_set_batch_size(options, BATCH, error);
    if (status == LX_OK)
        status = lx_loader_options_set_transform(options, normalize, NULL, error);
    if (status == LX_OK)
        status = lx_loader_open(source, options, loader, error);
    lx_loader_options_free(options);
    lx_source_unref(source); /* the loader has its own reference */
    return status;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    waves all = {.period = 100};
    uint64_t batches = 0, failures = 0;
    lx_loader *loader = NULL;
    if (open_loader(&all, &loader, &error) != LX_OK) {
        complain(&error);
        return EXIT_FAILURE;
    }

    /* A batch that fails is reported at its place in the order; the next call continues after
     * it. */
    lx_batch *batch = NULL;
    lx_status status;
    while ((status = lx_loader_next(loader, &batch, &error)) != LX_END) {
        if (status == LX_OK) {
            batches++;
        } else {
            failures++;
            complain(&error);
            lx_error_clear(&error);
        }
        lx_batch_unref(batch); /* NULL after a failure, which unref ignores */
    }
    lx_loader_close(loader);
    printf("%" PRIu64 " batches, %" PRIu64 " failed\n", batches, failures);
    bool right = batches == RECORDS / BATCH - 1 && failures == 1 && all.released == 1;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
