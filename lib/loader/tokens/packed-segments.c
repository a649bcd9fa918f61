/* SPDX-License-Identifier: MIT */
/* Finds the pieces in batches of packed documents. */
#include <loaderx/packing.h>

#include "base/bytes.h"
#include "base/error.h"

/* Elements compared per loop: a constant, so that compilers vectorize it. */
#define STEP 16

/** The pieces found so far. */
typedef struct runs {
    int32_t *starts;
    size_t room, count; /* count may exceed room */
    int32_t at;         /* start of the next one */
    int32_t longest;
} runs;

static void put(runs *self, int32_t place)
{
    if (self->count < self->room)
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

lx_status lx_segments_get_sizes(const int32_t *segments, size_t rows, size_t length, bool padding,
                                int32_t *cu_seqlens, size_t room, size_t *count,
                                int32_t *max_seqlen, lx_error *error)
{
    uint64_t total;
    if (count == NULL || max_seqlen == NULL)
        return lx__fail_null(error, count == NULL ? "count" : "max_seqlen");
    if (!lx__multiply_fits(rows, length, &total) || total > INT32_MAX)
        return lx__fail(error, LX_ERR_LIMIT,
                        "%zu rows of %zu tokens reach the limit of 2^31 "
                        "tokens: pass fewer rows",
                        rows, length);
    if ((segments == NULL && total != 0) || (cu_seqlens == NULL && room != 0))
        return lx__fail_null(error, cu_seqlens == NULL && room != 0 ? "cu_seqlens" : "segments");
    runs found = {.starts = cu_seqlens, .room = room};
    put(&found, 0);
    for (size_t i = 0; total != 0 && i < rows; i++)
        for (size_t at = 0, end; at < length; at = end) {
            const int32_t *row = segments + i * length;
            end = find_end(row, at, length);
            if (padding || row[at] != 0)
                add(&found, end - at);
        }
    *count = found.count;
    *max_seqlen = found.longest;
    if (room == 0 || *count <= room)
        return LX_OK;
    return lx__fail(error, LX_ERR_LIMIT,
                    "cu_seqlens needs room for %zu numbers, but has room for "
                    "%zu",
                    *count, room);
}
