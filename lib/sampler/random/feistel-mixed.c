/* SPDX-License-Identifier: MIT */
#include "sampler/random/feistel-mixed.h"

#include <stdbool.h>
#include <string.h>

/* Numbers per batch, as in feistel.c. */
#define BATCH 1024
/* Length of a run of one permutation that is mapped on its own, and the stride of the search for
 * such runs. */
#define ALIKE 64
#define STRIDE 8

struct kernels {
    lx__feistel_kernel *alike;
    lx__feistel_mixed_kernel *mixed;
};

void lx__feistel_mixed_pass_scalar(const lx__feistel *const *feistels, const uint16_t *of,
                                   uint64_t *values, const uint16_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lx__feistel_pass_scalar(feistels[of[places[i]]], &values[places[i]], 1);
}

/** Whether the next ALIKE values use one permutation. */
static bool are_alike(const uint16_t *of)
{
    return of[0] == of[ALIKE - 1] && memcmp(of, of + 1, (ALIKE - 1) * sizeof *of) == 0;
}

/** Passes all values of a batch through their networks once. @p places has room for the batch. */
static void pass_all(const struct kernels *by, const lx__feistel *const *feistels,
                     const uint16_t *of, uint64_t *values, uint16_t *places, size_t count)
{
    size_t at = 0, rest = 0;
    while (at + ALIKE <= count)
        if (are_alike(of + at)) {
            by->alike(feistels[of[at]], values + at, ALIKE);
            at += ALIKE;
        } else {
            for (size_t end = at + STRIDE; at < end; at++)
                places[rest++] = (uint16_t)at;
        }
    for (; at < count; at++)
        places[rest++] = (uint16_t)at;
    by->mixed(feistels, of, values, places, rest);
}

/** Finds the values of a batch that are beyond their lengths; returns their number. */
static size_t find_all_beyond(const lx__feistel *const *feistels, const uint16_t *of,
                              const uint64_t *values, uint16_t *places, size_t count)
{
    size_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        places[beyond] = (uint16_t)i;
        beyond += values[i] >= feistels[of[i]]->length;
    }
    return beyond;
}

/** Filters the places whose values are beyond their lengths; returns their number. */
static size_t find_beyond(const lx__feistel *const *feistels, const uint16_t *of,
                          const uint64_t *values, uint16_t *places, size_t count)
{
    size_t beyond = 0;
    /* Always stores and conditionally advances: avoids a branch that would be mispredicted half the
     * time. */
    for (size_t i = 0; i < count; i++) {
        uint16_t place = places[i];
        places[beyond] = place;
        beyond += values[place] >= feistels[of[place]]->length;
    }
    return beyond;
}

/* Maps at most one batch. */
static void map_batch(const struct kernels *by, const lx__feistel *const *feistels,
                      const uint16_t *of, uint64_t *values, size_t count)
{
    uint16_t places[BATCH];
    pass_all(by, feistels, of, values, places, count);
    size_t left = find_all_beyond(feistels, of, values, places, count);
    while (left != 0) {
        by->mixed(feistels, of, values, places, left);
        left = find_beyond(feistels, of, values, places, left);
    }
}

void lx__feistel_map_mixed_by(lx__feistel_kernel *alike, lx__feistel_mixed_kernel *mixed,
                              const lx__feistel *const *feistels, const uint16_t *of,
                              uint64_t *values, size_t count)
{
    const struct kernels by = {alike, mixed};
    for (size_t done = 0, batch; done < count; done += batch) {
        batch = count - done < BATCH ? count - done : BATCH;
        map_batch(&by, feistels, of + done, values + done, batch);
    }
}
