/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The records that are read without a loader: the first of the order, in groups.
 */
#ifndef LX_TOOLS_BENCH_SAMPLE_H
#define LX_TOOLS_BENCH_SAMPLE_H

#include "bench.h"

/** Records in the order of a loader, and the sizes of their values. */
typedef struct bench_sample {
    uint64_t count;
    uint64_t *indices;
    uint64_t **offsets; /**< For each field, @ref count + 1 offsets of its values. */
    size_t fields;
    uint64_t group;   /**< Number of records per group. */
    uint64_t largest; /**< Size of the largest group, in bytes. */
} bench_sample;

/** Chooses the records, in groups of up to @p batch_size records. */
lx_status bench_sample_begin(bench_sample *self, const bench *b, lx_dataset *dataset,
                             uint64_t batch_size, lx_error *error);

/** Returns the size of the values of a field. */
static inline uint64_t bench_sample_bytes(const bench_sample *self, size_t field, uint64_t first,
                                          uint64_t count)
{
    return self->offsets[field][first + count] - self->offsets[field][first];
}

/** Number of records in the group that begins at @p first. */
static inline uint64_t bench_sample_rows(const bench_sample *self, uint64_t first)
{
    return self->count - first < self->group ? self->count - first : self->group;
}

/** Gathers the values of a field of a group. @p offsets has room for a group and one more. */
lx_status bench_sample_gather(const bench_sample *self, const bench *b, lx_dataset *dataset,
                              size_t field, uint64_t first, uint64_t count, uint64_t *offsets,
                              void *out, lx_error *error);

void bench_sample_end(bench_sample *self);

#endif
