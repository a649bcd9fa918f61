/* SPDX-License-Identifier: MIT */
/* Finds the pieces in batches of packed documents. */
#include <loaderx/packing.h>

#include "base/bytes.h"
#include "base/error.h"

/* Elements compared per loop: a constant, so that compilers vectorize the loop. */
#define STEP 16

/** The pieces found so far. */
typedef struct runs {
    int32_t *starts;
    size_t capacity, count; /* count may exceed capacity */
    int32_t at;             /* start of the next run */
    int32_t longest;
} runs;

static void put(runs *self, int32_t place)
{
    if (self->count < self->capacity)
        self->starts[self->count] = place;
    self->count++;
}

static void add(runs *self, size_t length)
{
    self->at += (int32_t)length;
    if (self->longest < (int32_t)length)
        self->longest = (int32_t)length;
    put(self, self->at);
}

/** Finds the end of the run that contains element @p at of a row. */
static size_t find_end(const int32_t *row, size_t at, size_t length)
{
    const int32_t one = row[at];
    for (at++; at + STEP <= length; at += STEP) {
        int32_t differs = 0;
        for (size_t i = 0; i < STEP; i++)
            differs |= row[at + i] ^ one;
        if (differs != 0)
            break;
    }
    while (at < length && row[at] == one)
        at++;
    return at;
}

/** Checks that @p segments is a column "segments", and computes its number of elements. */
static lx_status check_column(const lx_column *segments, uint64_t *total, lx_error *error)
{
    if (segments->dtype != LX_INT32 || segments->ndim != 1)
        return lx_fail(error, LX_ERR_ARGUMENT, "segments is not a one-dimensional int32 column");
    if (!lx__multiply_fits(segments->rows, segments->shape[0], total) || *total > INT32_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "%llu rows of %llu tokens reach the limit of 2^31 tokens: pass fewer rows",
                       (unsigned long long)segments->rows, (unsigned long long)segments->shape[0]);
    return segments->data != NULL || *total == 0 ? LX_OK : lx__fail_null(error, "segments->data");
}

static void find_runs(const lx_column *segments, bool padding, runs *found)
{
    const size_t length = (size_t)segments->shape[0];
    for (uint64_t i = 0; i < segments->rows; i++) {
        const int32_t *row = (const int32_t *)segments->data + i * length;
        for (size_t at = 0, end; at < length; at = end) {
            end = find_end(row, at, length);
            if (padding || row[at] != 0)
                add(found, end - at);
        }
    }
}

lx_status lx_segments_get_sizes(const lx_column *segments, bool padding, int32_t *offsets,
                                size_t capacity, lx_segment_sizes *sizes, lx_error *error)
{
    uint64_t total;
    if (segments == NULL || sizes == NULL || (offsets == NULL && capacity != 0))
        return lx__fail_null(error, segments == NULL ? "segments"
                                    : sizes == NULL  ? "sizes"
                                                     : "offsets");
    lx_status status = check_column(segments, &total, error);
    if (status != LX_OK)
        return status;
    runs found = {.starts = offsets, .capacity = capacity};
    put(&found, 0);
    if (total != 0)
        find_runs(segments, padding, &found);
    *sizes = (lx_segment_sizes){.count = found.count, .longest = found.longest};
    if (capacity == 0 || found.count <= capacity)
        return LX_OK;
    return lx_fail(error, LX_ERR_LIMIT,
                   "there are %zu offsets, but the array has room for only %zu", found.count,
                   capacity);
}
