/* SPDX-License-Identifier: MIT */
#include "speed.h"

#include <stdlib.h>

#include "failure.h"
#include "progress.h"

/* The sample: so many records, or fewer if their values have more bytes than this. */
#define RECORDS 4096
#define BYTES ((uint64_t)64 << 20)
/* Values are read in batches, as a loader does. */
#define BATCH 256
/* The first time brings the values into memory and verifies their checksums. */
#define TIMES 4

typedef struct sample {
    lx_dataset *dataset;
    size_t field;
    uint64_t indices[RECORDS];
    uint64_t offsets[RECORDS + 1];
    size_t count;
    uint8_t *out; /* for the largest batch */
} sample;

static size_t batch_end(const sample *s, size_t at)
{
    return s->count - at < BATCH ? s->count : at + BATCH;
}

/** Chooses the records and measures their values. */
static lx_status choose(sample *s, lx_error *error)
{
    uint64_t length = lx_dataset_get_length(s->dataset), largest = 0;
    s->count = length < RECORDS ? (size_t)length : RECORDS;
    for (size_t i = 0; i < s->count; i++)
        s->indices[i] = length / s->count * i;
    lx_status status = lx_dataset_get_sizes(s->dataset, s->field, s->indices, s->count, s->offsets,
                                            NULL, error);
    if (status != LX_OK)
        return status;
    while (s->count > 1 && s->offsets[s->count] > BYTES)
        s->count--;
    for (size_t at = 0; at < s->count; at = batch_end(s, at)) {
        uint64_t bytes = s->offsets[batch_end(s, at)] - s->offsets[at];
        largest = bytes > largest ? bytes : largest;
    }
    s->out = malloc((size_t)largest + 1);
    return s->out != NULL ? LX_OK : fail_memory(error, "a sample");
}

static lx_status read_all(const sample *s, lx_error *error)
{
    uint64_t offsets[BATCH + 1];
    lx_status status = LX_OK;
    for (size_t at = 0, end; status == LX_OK && at < s->count; at = end) {
        end = batch_end(s, at);
        for (size_t i = at; i <= end; i++)
            offsets[i - at] = s->offsets[i] - s->offsets[at];
        status = lx_dataset_gather_bytes(s->dataset, s->field, s->indices + at, end - at, offsets,
                                         s->out, error);
    }
    return status;
}

lx_status speed_measure(lx_dataset *dataset, size_t field, double *speed, lx_error *error)
{
    sample *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail_memory(error, "a sample");
    s->dataset = dataset;
    s->field = field;
    *speed = 0;
    lx_status status = choose(s, error);
    for (int i = 0; status == LX_OK && i < TIMES; i++) {
        progress clock;
        progress_begin(&clock, "measure", true);
        status = read_all(s, error);
        double seconds = progress_seconds(&clock);
        if (status == LX_OK && i != 0 && seconds > 0 &&
            (double)s->offsets[s->count] / seconds > *speed)
            *speed = (double)s->offsets[s->count] / seconds;
    }
    free(s->out);
    free(s);
    return status;
}
