/* SPDX-License-Identifier: MIT */
#include "verify-sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/sampler.h>

#include "failure.h"
#include "number.h"

/* The number of records that are verified at a time. */
#define BLOCK 1024

lx_status verify_sample_parse(verify_sample *self, char *text, lx_error *error)
{
    bool valid = number_take_real(&text, &self->part);
    if (valid && *text == '%') {
        self->part /= 100;
        text++;
    }
    if (valid && *text == '\0' && self->part > 0 && self->part <= 1)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "--sample requires a fraction or a percentage of the records, such as 0.01 or "
                   "1%%");
}

static int compare(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/** Draws records without replacement, and sorts them. */
static lx_status draw(uint64_t length, uint64_t seed, uint64_t *indices, uint64_t count,
                      lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t taken = 0;
    lx_status status = lx_order_new_shuffle(length, seed, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, count, indices, &taken, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    qsort(indices, (size_t)taken, sizeof *indices, compare);
    return status;
}

/** A finding: the caller of verify_sample_run() gets it as an error. */
static lx_error describe(const lx_field *field, uint64_t record)
{
    lx_error damage = LX_ERROR_INIT;
    lx_fail(&damage, LX_ERR_CORRUPT,
            "the value is damaged; without --sample, 'loaderx verify' "
            "tells where and how");
    lx_error_locate(&damage, NULL, field->name, record, LX_NONE);
    return damage;
}

/** Verifies the values of one field. */
static lx_status probe(lx_dataset *dataset, size_t position, const uint64_t *indices, size_t count,
                       lx_damage_function damaged, void *user, lx_verify_result *result,
                       lx_error *error)
{
    const lx_field *field = lx_schema_get_field(lx_dataset_get_schema(dataset), position);
    uint8_t marks[BLOCK];
    lx_status status = lx_dataset_probe(dataset, &position, 1, indices, count, marks, error);
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        if (!marks[i])
            continue;
        lx_error damage = describe(field, indices[i]);
        result->damages++;
        status = damaged(&damage, user, error);
    }
    result->values += count;
    return status;
}

static lx_status probe_all(lx_dataset *dataset, const uint64_t *indices, uint64_t count,
                           lx_damage_function damaged, lx_progress_function progress, void *user,
                           lx_verify_result *result, lx_error *error)
{
    size_t fields = lx_schema_get_field_count(lx_dataset_get_schema(dataset));
    lx_status status = LX_OK;
    while (status == LX_OK && result->records < count) {
        size_t now = count - result->records < BLOCK ? (size_t)(count - result->records) : BLOCK;
        for (size_t i = 0; status == LX_OK && i < fields; i++)
            status = probe(dataset, i, indices + result->records, now, damaged, user, result,
                           error);
        result->records += now;
        if (status == LX_OK)
            status = progress(result->records, count, user, error);
    }
    if (status == LX_OK && result->damages != 0)
        status = lx_fail(error, LX_ERR_CORRUPT, "the sample has damaged values");
    return status;
}

lx_status verify_sample_run(const verify_sample *self, lx_dataset *dataset,
                            lx_damage_function damaged, lx_progress_function progress, void *user,
                            lx_verify_result *result, lx_error *error)
{
    uint64_t length = lx_dataset_get_length(dataset);
    uint64_t count = (uint64_t)ceil((double)length * self->part);
    count = count < length ? count : length;
    uint64_t *indices = calloc((size_t)count + 1, sizeof *indices);
    if (indices == NULL)
        return fail_memory(error, "the sample");
    lx_status status = count != 0 ? draw(length, self->seed, indices, count, error) : LX_OK;
    if (status == LX_OK)
        status = probe_all(dataset, indices, count, damaged, progress, user, result, error);
    free(indices);
    return status;
}
