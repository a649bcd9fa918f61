/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Batches, and the ring that they come from and go back to.
 *
 * The ring outlives its loader: each batch that is out holds a reference. What a batch has beside
 * its memory (the struct, its columns) is kept by the ring too, so that a warm loader takes no
 * memory from anywhere.
 */
#ifndef LX_LOADER_BATCH_H
#define LX_LOADER_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include <loaderx/loader.h>

#include "executor/pool.h"

/** What all batches of a loader have in common: the columns that were asked for. */
typedef struct lx__layout {
    lx_source *source;      /**< Referenced: names and shapes are its. */
    size_t *positions;      /**< Of the columns in the source, in the order asked for. */
    size_t count;
    uint64_t batch_rows;    /**< Most records of a batch. */
    uint64_t *starts;       /**< Of each column in a batch's memory, for that many. */
    uint64_t indices_start; /**< Of the records' indices. */
    uint64_t bytes;         /**< Of a batch's memory. */
    uint64_t record_bytes;  /**< Of all columns. */
} lx__layout;

typedef struct lx__ring {
    atomic_size_t references;
    lx__layout layout;
    lx_executor *executor; /**< Kept by the pool, as memory. */
    lx__pool *pool;
    pthread_mutex_t mutex; /**< For the list. A leaf. */
    lx_batch *idle;
} lx__ring;

struct lx_batch {
    atomic_size_t references;
    lx__ring *ring;
    lx_batch *next;   /**< In the ring's list. */
    lx__block *block; /**< NULL while it is idle. */
    uint64_t rows;
    uint64_t damaged; /**< Records that were left out, or have zeros for values. */
    uint64_t position;
    uint64_t epoch; /**< Of the order; the caller of lx__ring_take() sets it. */
    uint64_t *indices;
    lx_column *columns;
    lx_target *targets; /**< One for each column of the source. */
    void *result;
    void (*release_result)(void *result);
};

/** Looks up the columns (none: all) and lays a batch out. */
lx_status lx__layout_make(lx__layout *layout, lx_source *source, char *const *fields,
                          size_t field_count, uint64_t batch_rows, lx_error *error);

/** Ends a layout that no ring has taken over. */
void lx__layout_free(lx__layout *layout);

/** Makes a ring, which takes over @p layout in any case. */
lx_status lx__ring_new(lx_executor *executor, lx__layout *layout, uint64_t keep_bytes,
                       lx__ring **ring, lx_error *error);

/** Gives the loader's reference up. */
void lx__ring_unref(lx__ring *ring);

/** A batch of @p rows records at @p position, its indices and columns not filled in. */
lx_status lx__ring_take(lx__ring *ring, uint64_t rows, uint64_t position, lx_batch **batch,
                        lx_error *error);

#endif
