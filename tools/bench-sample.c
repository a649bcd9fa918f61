/* SPDX-License-Identifier: MIT */
#include "bench-sample.h"

#include <stdlib.h>

#include <loaderx/sampler.h>

#include "failure.h"

/* So many values do not fit into the caches of a processor, and their places fit into memory. */
#define VALUES ((uint64_t)1 << 20)
#define RECORDS_MIN 1024
/* Groups have at most so many records and, unless a record has more, bytes. */
#define GROUP_RECORDS 4096
#define GROUP_BYTES ((uint64_t)16 << 20)

static lx_status choose(bench_sample *self, const bench *b, lx_error *error)
{
    uint64_t most = VALUES / b->field_count, taken = 0;
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    most = most < RECORDS_MIN ? RECORDS_MIN : most;
    self->count = b->length < most ? b->length : most;
    self->indices = malloc((size_t)self->count * sizeof *self->indices);
    if (self->indices == NULL)
        return fail_memory(error, "a sample");
    lx_status status = bench_make_order(b, b->length, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, self->count, self->indices, &taken, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return status;
}

static lx_status measure(bench_sample *self, const bench *b, lx_dataset *dataset, lx_error *error)
{
    lx_status status = LX_OK;
    self->offsets = calloc(b->field_count, sizeof *self->offsets);
    if (self->offsets == NULL)
        return fail_memory(error, "a sample");
    self->fields = b->field_count;
    for (size_t i = 0; status == LX_OK && i < self->fields; i++) {
        self->offsets[i] = malloc((size_t)(self->count + 1) * sizeof **self->offsets);
        status = self->offsets[i] != NULL
                     ? lx_dataset_get_sizes(dataset, b->fields[i], self->indices,
                                            (size_t)self->count, self->offsets[i], NULL, error)
                     : fail_memory(error, "a sample");
    }
    return status;
}

static uint64_t find_largest(const bench_sample *self)
{
    uint64_t largest = 0;
    for (uint64_t first = 0, rows; first < self->count; first += rows) {
        uint64_t bytes = 0;
        rows = bench_sample_rows(self, first);
        for (size_t i = 0; i < self->fields; i++)
            bytes += bench_sample_bytes(self, i, first, rows);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

lx_status bench_sample_begin(bench_sample *self, const bench *b, lx_dataset *dataset,
                             uint64_t batch_size, lx_error *error)
{
    *self = (bench_sample){.group = batch_size < GROUP_RECORDS ? batch_size : GROUP_RECORDS};
    lx_status status = choose(self, b, error);
    if (status == LX_OK)
        status = measure(self, b, dataset, error);
    if (status != LX_OK)
        return status;
    while ((self->largest = find_largest(self)) > GROUP_BYTES && self->group > 1)
        self->group = (self->group + 1) / 2;
    return LX_OK;
}

lx_status bench_sample_gather(const bench_sample *self, const bench *b, lx_dataset *dataset,
                              size_t field, uint64_t first, uint64_t count, uint64_t *offsets,
                              void *out, lx_error *error)
{
    for (uint64_t i = 0; i <= count; i++)
        offsets[i] = self->offsets[field][first + i] - self->offsets[field][first];
    return lx_dataset_gather_bytes(dataset, b->fields[field], self->indices + first, (size_t)count,
                                   offsets, out, error);
}

void bench_sample_end(bench_sample *self)
{
    for (size_t i = 0; i < self->fields; i++)
        free(self->offsets[i]);
    free(self->offsets);
    free(self->indices);
}
