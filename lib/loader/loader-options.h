/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of a loader.
 */
#ifndef LX_LOADER_LOADER_OPTIONS_H
#define LX_LOADER_LOADER_OPTIONS_H

#include <loaderx/loader-options.h>

#include "loader/batch.h"

/** What to do with the missing values of a column. */
typedef struct lx__missing_rule {
    char *column; /**< Owned; NULL: every column that has no rule of its own. */
    lx_missing_policy policy;
    uint8_t *value; /**< Owned; replaces missing values. NULL: none. */
    size_t size;    /**< Size of @ref value in bytes. */
} lx__missing_rule;

/** The global batches with positions from @a first up to, but not including, @a end. */
typedef struct lx__skipped_range {
    uint64_t first, end;
} lx__skipped_range;

struct lx_loader_options {
    uint64_t batch_size;
    bool batch_size_set;
    lx_order *order; /**< Owned reference; NULL: sequential, or shuffled if @ref shuffle is set. */
    bool shuffle;
    uint64_t seed;
    uint64_t rank, world;
    uint64_t epochs; /**< 0: endless. */
    uint64_t first_epoch;
    uint64_t start;
    bool drop_last, uneven, pad_last;
    lx__skipped_range *skipped; /**< Not sorted; may overlap. */
    size_t skipped_count;
    char **fields; /**< NULL: all. */
    size_t field_count;
    bool threads_set;
    uint32_t threads;
    lx_executor *executor; /**< Owned reference; NULL: the loader opens its own. */
    uint64_t prefetch_bytes;
    lx_damage_policy damage;
    lx__missing_rule *missing; /**< At most one for each column. */
    size_t missing_count;
    lx_transform_function transform;
    void *transform_user;
    lx__memory_functions memory;
};

extern const lx_loader_options lx__loader_defaults;

#endif
