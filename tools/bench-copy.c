/* SPDX-License-Identifier: MIT */
/* What the memory and the codecs give: threads copy the values from their mappings with memcpy(),
 * and decompress those that are compressed, with nothing of a loader in between. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench-sample.h"
#include "failure.h"

/* Copies go round a buffer that is larger than the nearest caches, as they do in a loader. */
#define BUFFER ((uint64_t)4 << 20)

typedef struct copying copying;

typedef struct copier {
    uint8_t *buffer;
    uint64_t *offsets;
    uint64_t used;   /* bytes of the buffer */
    uint64_t next;   /* the record with which the next group begins */
    double *seconds; /* for each field, in this turn */
    bench_turn turn;
} copier;

struct copying {
    bench *b;
    lx_dataset *dataset;
    lx_executor *executor;
    bench_sample sample;
    lx_slice **slices; /* of each field; NULL if it is compressed */
    lx_view **views;
    copier *copiers;
    size_t count; /* of copiers */
    uint64_t capacity;
    double until;
};

static void copy_slices(const lx_slice *slices, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++) {
        if (slices[i].size != 0)
            memcpy(out, slices[i].data, (size_t)slices[i].size);
        out += slices[i].size;
    }
}

static lx_status copy_group(copying *c, copier *own, uint64_t first, uint64_t rows, lx_error *error)
{
    lx_status status = LX_OK;
    if (c->capacity - own->used < c->sample.largest)
        own->used = 0;
    for (size_t i = 0; status == LX_OK && i < c->sample.fields; i++) {
        uint64_t bytes = bench_sample_bytes(&c->sample, i, first, rows);
        double begun = bench_now();
        if (c->slices[i] != NULL)
            copy_slices(c->slices[i] + first, rows, own->buffer + own->used);
        else
            status = bench_sample_gather(&c->sample, c->b, c->dataset, i, first, rows, own->offsets,
                                         own->buffer + own->used, error);
        own->seconds[i] += bench_now() - begun;
        own->used += bytes;
        own->turn.bytes += bytes;
    }
    own->turn.records += rows;
    return status;
}

/** Copies every count-th group until the time is up. */
static lx_status copy_part(size_t part, void *user, lx_error *error)
{
    copying *c = user;
    copier *own = &c->copiers[part];
    lx_status status;
    do {
        uint64_t first = own->next < c->sample.count ? own->next : part * c->sample.group;
        if (first >= c->sample.count)
            first = 0; /* there are fewer groups than threads */
        status = copy_group(c, own, first, bench_sample_rows(&c->sample, first), error);
        own->next = first + c->count * c->sample.group;
    } while (status == LX_OK && bench_now() < c->until);
    return status;
}

static lx_status run(void *state, double seconds, bench_turn *turn, lx_error *error)
{
    copying *c = state;
    lx_ticket *ticket = NULL;
    double begun = bench_now();
    c->until = begun + seconds;
    for (size_t i = 0; i < c->count; i++)
        c->copiers[i].turn = (bench_turn){0};
    lx_status status = lx_executor_submit(c->executor, LX_QUEUE_READ, copy_part, c, c->count,
                                          &ticket, error);
    if (status == LX_OK)
        status = lx_ticket_wait(ticket, error);
    lx_ticket_unref(ticket);
    turn->seconds = bench_now() - begun;
    for (size_t i = 0; i < c->count; i++) {
        turn->records += c->copiers[i].turn.records;
        turn->bytes += c->copiers[i].turn.bytes;
        for (size_t k = 0; k < c->sample.fields; k++) {
            c->b->field_seconds[k] += c->copiers[i].seconds[k];
            c->copiers[i].seconds[k] = 0;
        }
    }
    return status;
}

static void end(void *state)
{
    copying *c = state;
    lx_executor_close(c->executor);
    for (size_t i = 0; c->copiers != NULL && i < c->count; i++) {
        free(c->copiers[i].buffer);
        free(c->copiers[i].offsets);
        free(c->copiers[i].seconds);
    }
    for (size_t i = 0; i < c->sample.fields; i++) {
        if (c->views != NULL)
            lx_view_free(c->views[i]);
        if (c->slices != NULL)
            free(c->slices[i]);
    }
    free(c->views);
    free(c->slices);
    free(c->copiers);
    bench_sample_end(&c->sample);
    lx_dataset_close(c->dataset);
    free(c);
}

/** Locates the values of a field, unless they are compressed or cannot be mapped. */
static lx_status locate(copying *c, size_t field, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    if (lx_dataset_get_access(c->dataset) != LX_ACCESS_MMAP)
        return LX_OK;
    c->slices[field] = calloc((size_t)c->sample.count, sizeof **c->slices);
    if (c->slices[field] == NULL)
        return fail_memory(error, "a sample");
    lx_status status = lx_dataset_view(c->dataset, c->b->fields[field], c->sample.indices,
                                       (size_t)c->sample.count, c->slices[field], &c->views[field],
                                       &why);
    if (status == LX_OK)
        return LX_OK;
    free(c->slices[field]);
    c->slices[field] = NULL;
    if (status != LX_ERR_UNSUPPORTED)
        *error = why;
    return status == LX_ERR_UNSUPPORTED ? LX_OK : status;
}

static lx_status prepare_copiers(copying *c, lx_error *error)
{
    c->capacity = c->sample.largest > BUFFER / 2 ? c->sample.largest * 2 : BUFFER;
    c->copiers = calloc(c->count, sizeof *c->copiers);
    if (c->copiers == NULL)
        return fail_memory(error, "threads");
    for (size_t i = 0; i < c->count; i++) {
        copier *own = &c->copiers[i];
        own->buffer = malloc((size_t)c->capacity + 1);
        own->offsets = malloc((size_t)(c->sample.group + 1) * sizeof *own->offsets);
        own->seconds = calloc(c->sample.fields, sizeof *own->seconds);
        own->next = i * c->sample.group;
        if (own->buffer == NULL || own->offsets == NULL || own->seconds == NULL)
            return fail_memory(error, "threads");
    }
    return LX_OK;
}

lx_status bench_copy_begin(bench *b, bench_measure *measure, lx_error *error)
{
    copying *c = calloc(1, sizeof *c);
    if (c == NULL)
        return fail_memory(error, "a sample");
    *c = (copying){.b = b, .count = measure->threads != 0 ? (size_t)measure->threads : 1};
    measure->state = c;
    measure->end = end;
    measure->run = run;
    lx_status status = bench_open(b, LX_ACCESS_AUTO, true, &c->dataset, error);
    if (status == LX_OK)
        status = bench_sample_begin(&c->sample, b, c->dataset, measure->batch_size, error);
    if (status == LX_OK) {
        c->slices = calloc(b->field_count, sizeof *c->slices);
        c->views = calloc(b->field_count, sizeof *c->views);
        if (c->slices == NULL || c->views == NULL)
            status = fail_memory(error, "a sample");
    }
    for (size_t i = 0; status == LX_OK && i < b->field_count; i++)
        status = locate(c, i, error);
    if (status == LX_OK)
        status = prepare_copiers(c, error);
    return status == LX_OK ? threads_open(&(threads){true, measure->threads}, &c->executor, error)
                           : status;
}
