/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Batches, and the pool that they are taken from and returned to.
 *
 * The batch pool outlives its loader: each batch in use holds a reference. The pool also keeps the
 * batch structs and their column arrays, so a warm loader allocates no memory.
 */
#ifndef LX_LOADER_BATCH_H
#define LX_LOADER_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include <loaderx/batch.h>

#include "executor/pool.h"

/** The memory layout that all batches of a loader share, for the selected columns. */
typedef struct lx__layout {
    lx_source *source; /**< Referenced: owns the names and shapes. */
    size_t *positions; /**< Of the columns in the source, in the requested order. */
    size_t count;
    uint64_t batch_rows;    /**< Most records per batch. */
    uint64_t *starts;       /**< Offset of each column in a batch's memory. */
    uint64_t indices_start; /**< Offset of the record indices. */
    uint64_t bytes;         /**< Size of a batch's memory. */
    uint64_t record_bytes;  /**< Bytes per record, over all columns. */
} lx__layout;

typedef struct lx__batch_pool {
    atomic_size_t references;
    lx__layout layout;
    lx_executor *executor; /**< The pool keeps its memory alive. */
    lx__pool *pool;
    pthread_mutex_t mutex; /**< Protects the list. A leaf lock. */
    lx_batch *idle;
} lx__batch_pool;

struct lx_batch {
    atomic_size_t references;
    lx__batch_pool *batch_pool;
    lx_batch *next;   /**< In the pool's free list. */
    lx__block *block; /**< NULL while the batch is in the free list. */
    uint64_t rows;
    uint64_t damaged; /**< Records skipped or filled with zeros. */
    uint64_t position;
    uint64_t epoch; /**< Epoch of the order; the caller of lx__batch_pool_take() sets it. */
    uint64_t *indices;
    lx_column *columns;
    lx_target *targets; /**< One for each column of the source. */
    void *result;
    void (*release_result)(void *result);
};

/** Looks up the columns (no names: all) and computes the layout of a batch. */
lx_status lx__layout_init(lx__layout *layout, lx_source *source, char *const *fields,
                          size_t field_count, uint64_t batch_rows, lx_error *error);

/** Frees a layout that was not passed to a batch pool. */
void lx__layout_free(lx__layout *layout);

/** Creates a batch pool. It owns @p layout even on failure. */
lx_status lx__batch_pool_new(lx_executor *executor, lx__layout *layout, uint64_t keep_bytes,
                             lx__batch_pool **batch_pool, lx_error *error);

/** Drops the loader's reference. */
void lx__batch_pool_unref(lx__batch_pool *batch_pool);

/** Returns a batch of @p rows records at @p position; its indices and columns are uninitialized. */
lx_status lx__batch_pool_take(lx__batch_pool *batch_pool, uint64_t rows, uint64_t position,
                              lx_batch **batch, lx_error *error);

#endif
