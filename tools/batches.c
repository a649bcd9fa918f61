/* SPDX-License-Identifier: MIT */
#include "batches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "failure.h"

/* Number of indices to reserve room for at first: enough for most batches. */
#define FEW 4096

/** The current batch. */
typedef struct batch {
    uint64_t *indices;
    uint64_t count, room;
} batch;

/** The totals of all batches. */
typedef struct total {
    uint64_t samples, batches;
    double cost, rectangles; /* the sum of the costs, and what it would be if each record cost as
                                much as the most expensive one in its batch */
} total;

static lx_status make_room(batch *self, uint64_t room, lx_error *error)
{
    uint64_t *larger = room <= SIZE_MAX / sizeof *larger
                           ? realloc(self->indices, (size_t)room * sizeof *larger)
                           : NULL;
    if (larger == NULL)
        return fail_memory(error, "a batch");
    self->indices = larger;
    self->room = room;
    return LX_OK;
}

static lx_status take(lx_sampler *sampler, batch *self, lx_error *error)
{
    lx_error too_long = LX_ERROR_INIT;
    lx_status status = self->room == 0 ? make_room(self, FEW, error) : LX_OK;
    if (status != LX_OK)
        return status;
    status = lx_sampler_take_batch(sampler, self->indices, self->room, &self->count, &too_long);
    if (status >= 0)
        return status;
    if (status != LX_ERR_LIMIT || self->count <= self->room) {
        *error = too_long;
        return status;
    }
    status = make_room(self, self->count, error);
    return status == LX_OK ? take(sampler, self, error) : status;
}

static void print_indices(const batch *self, const char *between)
{
    for (uint64_t i = 0; i < self->count; i++)
        printf("%s%" PRIu64, i != 0 ? between : "", self->indices[i]);
}

lx_status batches_print(lx_sampler *sampler, uint64_t count, lx_error *error)
{
    batch taken = {NULL, 0, 0};
    lx_status status = LX_OK;
    for (uint64_t i = 0; i < count && status == LX_OK && !ferror(stdout); i++) {
        status = take(sampler, &taken, error);
        if (status == LX_OK) {
            print_indices(&taken, " ");
            putchar('\n');
        }
    }
    free(taken.indices);
    return status == LX_END ? LX_OK : status;
}

static void add(total *sum, const batch *self, const uint64_t *costs)
{
    uint64_t largest = 0;
    for (uint64_t i = 0; i < self->count; i++) {
        uint64_t cost = costs[self->indices[i]];
        sum->cost += (double)cost;
        largest = cost > largest ? cost : largest;
    }
    sum->rectangles += (double)largest * (double)self->count;
    sum->samples += self->count;
    sum->batches++;
}

/** The ratios are 0 if there are no batches. */
static void print_total(const total *sum, const batches_budget *by)
{
    double used = by->padded ? sum->rectangles : sum->cost;
    double all = (double)by->budget * (double)sum->batches;
    printf("  \"samples\": %" PRIu64 ",\n  \"cost\": %.0f,\n", sum->samples, sum->cost);
    printf("  \"fill\": %.6g,\n", sum->batches != 0 ? used / all : 0);
    printf("  \"padding\": %.6g,\n",
           sum->batches != 0 ? (sum->rectangles - sum->cost) / sum->rectangles : 0);
}

lx_status batches_print_json(lx_sampler *sampler, uint64_t count, const batches_budget *by,
                             lx_error *error)
{
    batch taken = {NULL, 0, 0};
    total sum = {0, 0, 0, 0};
    lx_status status = LX_OK;
    printf("  \"batches\": [");
    for (uint64_t i = 0; i < count && status == LX_OK && !ferror(stdout); i++) {
        status = take(sampler, &taken, error);
        if (status != LX_OK)
            break;
        printf("%s\n    [", i != 0 ? "," : "");
        print_indices(&taken, ", ");
        printf("]");
        add(&sum, &taken, by->costs);
    }
    free(taken.indices);
    printf("%s],\n", sum.batches != 0 ? "\n  " : "");
    print_total(&sum, by);
    return status == LX_END ? LX_OK : status;
}
