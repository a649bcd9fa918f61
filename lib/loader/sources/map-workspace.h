/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a map's function reads: the inputs of one call of it.
 */
#ifndef LX_LOADER_MAP_WORKSPACE_H
#define LX_LOADER_MAP_WORKSPACE_H

#include <pthread.h>

#include <loaderx/map.h>

#include "loader/sources/source.h"

/** How many samples the function receives at most, and how many bytes of input, unless a single
 * sample has more. */
#define LX__MAP_BLOCK 32
#define LX__MAP_BLOCK_BYTES ((uint64_t)16 << 20)

/** The inputs of one call of the function. */
typedef struct lx__workspace {
    struct lx__workspace *next; /**< The next idle one. */
    lx_column *inputs;
    size_t *capacities;                     /**< Of the data of each input. */
    uint64_t (*offsets)[LX__MAP_BLOCK + 1]; /**< One for each input. */
    lx_target *targets;                     /**< One for each column of the part. */
    lx_target *outputs;
    void *worker;
} lx__workspace;

/** What a map and its snapshots share. */
typedef struct lx__mapping {
    size_t input_count, output_count;
    size_t passed_count; /**< Columns that the map takes from its part. */
    size_t *inputs;      /**< Positions in the part. */
    size_t *passed;
    size_t *followed; /**< For each output: the input whose sizes its values have; SIZE_MAX if all
                           have the same size. */
    lx_map_function map;
    lx_new_worker_function new_worker;
    lx_free_worker_function free_worker;
    lx_release_function release;
    void *user;
    char *identity;
    pthread_mutex_t mutex; /**< Protects @ref idle. Only tried: in a child of fork(), it may stay
                                locked. */
    lx__workspace *idle;
} lx__mapping;

/** Takes an idle workspace, or makes one. @p part is the source of the inputs. */
lx_status lx__workspace_take(lx__mapping *mapping, const lx_source *part, lx__workspace **taken,
                             lx_error *error);

/** Returns a workspace for later calls. */
void lx__workspace_return(lx__mapping *mapping, lx__workspace *workspace);

/** Frees the idle workspaces. */
void lx__workspaces_free(lx__mapping *mapping);

/** Reads the inputs of the first samples; lowers the number of samples until their inputs fit into
 * a block. */
lx_status lx__workspace_read(const lx__mapping *mapping, lx_source *part, lx__workspace *workspace,
                             lx_samples *samples, lx_error *error);

#endif
