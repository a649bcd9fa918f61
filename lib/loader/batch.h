/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Batches, and the pool that they are taken from and returned to.
 *
 * The batch pool outlives its loader: each batch in use holds a reference. A released batch keeps
 * its memory while it is idle, unless the allocator of the caller reuses memory itself, and the
 * batch released last is taken first. A warm loader therefore
 * neither allocates memory nor causes page faults. The memory of a batch is not touched before the
 * batch is filled, so its pages are allocated on the NUMA node of the thread that fills them first.
 *
 * @par Thread safety
 * Thread-safe. A batch may be released on any thread, even after its loader and executor are
 * closed. A child of fork() may release batches and close the pool, which leaks the memory, because
 * a thread that does not exist in the child may hold the mutex.
 */
#ifndef LX_LOADER_BATCH_H
#define LX_LOADER_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include <loaderx/batch.h>
#include <loaderx/loader.h>

/** Maximum size of a batch's memory. */
#define LX__BATCH_MAX ((uint64_t)1 << 46)

/** What to do with the missing values of a column. */
typedef struct lx__missing_column {
    lx_missing_policy policy;
    uint8_t *value; /**< Owned; replaces missing values. NULL: none. */
    uint64_t start; /**< With MASK, the offset of the marks in a batch's memory. */
} lx__missing_column;

/** The memory layout that all batches of a loader share, for the selected columns. */
typedef struct lx__layout {
    lx_source *source; /**< Owned reference; the source owns the names and shapes. */
    size_t *positions; /**< Positions of the columns in the source, in the requested order. */
    size_t count;
    uint64_t batch_rows;         /**< Maximum number of records per batch. */
    uint64_t *starts;            /**< Offset of each column in a batch's memory; if its records vary
                                      in size, of their offsets. */
    lx__missing_column *missing; /**< One for each column. */
    uint64_t indices_start;      /**< Offset of the record indices. */
    uint64_t positions_start;    /**< Offset of the records' positions. */
    uint64_t bytes;              /**< Size of a batch's memory. */
    uint64_t record_bytes;       /**< Bytes per record, over all columns of fixed size. */
    bool varying;                /**< Whether a column's records vary in size. */
} lx__layout;

/** How to allocate the memory of batches. */
typedef struct lx__memory_functions {
    lx_allocate_memory_function allocate; /**< NULL: lx__pages_alloc(). */
    lx_release_memory_function release;
    void *user;
    bool keep; /**< Whether an idle batch keeps its memory. */
} lx__memory_functions;

typedef struct lx__batch_pool {
    atomic_size_t references; /**< One for the loader, and one for each batch in use. */
    lx__layout layout;
    lx__memory_functions memory;
    lx_executor *executor;             /**< Kept alive by a hold. */
    _Atomic(uint64_t) blocks;          /**< Number of blocks mapped so far. */
    _Atomic(uint64_t) block_bytes;     /**< Total size, in bytes, of the blocks that are currently
                                        mapped. */
    _Atomic(uint64_t) values_estimate; /**< How many bytes the values of a batch may have; 0 before
                                            the first batch. */
    pthread_mutex_t mutex;             /**< Protects all members below. A leaf lock. */
    lx_batch *idle;                    /**< The batch released last comes first. */
    size_t idle_count;
    size_t idle_max; /**< 0 after the pool is closed. */
} lx__batch_pool;

struct lx_batch {
    atomic_size_t references;
    lx__batch_pool *batch_pool;
    lx_batch *next;   /**< Next batch in the pool's list of idle batches. */
    lx_memory block;  /**< Without a caller's allocator, aligned to a page, and to 2 MiB if large
                           enough. */
    lx_memory values; /**< The values of columns whose records vary in size. */
    uint64_t rows;
    uint64_t real;    /**< Number of rows, from the first on, that are not padding. */
    uint64_t damaged; /**< Number of records skipped or filled with zeros. */
    uint64_t position;
    uint64_t epoch; /**< Epoch of the order; the caller of lx__batch_pool_take() sets it. */
    uint64_t *indices;
    uint64_t *positions; /**< Position of each record in the global order. */
    lx_column *columns;
    lx_target *targets; /**< One for each column of the source. */
    void *result;
    void (*release_result)(void *result);
};

/** Looks up the columns named in @p fields (or all columns if there are no names), and computes the
 * layout of a batch. */
lx_status lx__layout_init(lx__layout *layout, lx_source *source, char *const *fields,
                          size_t field_count, uint64_t batch_rows, lx_error *error);

/** Reserves @p bytes per record at the end of the layout. */
lx_status lx__layout_add(lx__layout *layout, uint64_t bytes, uint64_t *start, lx_error *error);

/** Frees a layout that was not passed to a batch pool. */
void lx__layout_free(lx__layout *layout);

/**
 * Creates a batch pool. Takes ownership of @p layout, even on failure.
 *
 * @param memory    How to allocate the memory of batches.
 * @param idle_max  Maximum number of idle batches. A batch that is released while that many are
 *                  idle is freed.
 */
lx_status lx__batch_pool_new(lx_executor *executor, lx__layout *layout,
                             const lx__memory_functions *memory, size_t idle_max,
                             lx__batch_pool **batch_pool, lx_error *error);

/** Frees the idle batches; batches in use stay valid, and are freed when they are released. */
void lx__batch_pool_close(lx__batch_pool *batch_pool);

/**
 * Returns a batch of @p rows records at @p position; its indices, the positions of its records and
 * its columns are uninitialized.
 *
 * @retval LX_ERR_NOMEM   Out of memory, even after the idle batches are freed.
 * @retval LX_ERR_FORKED  The executor belongs to the parent process.
 */
lx_status lx__batch_pool_take(lx__batch_pool *batch_pool, uint64_t rows, uint64_t position,
                              lx_batch **batch, lx_error *error);

/** Makes room for @p bytes of values in @p batch. Their former contents are lost. */
lx_status lx__batch_reserve(lx_batch *batch, uint64_t bytes, lx_error *error);

/** Returns the address of the byte at offset @p start of a batch's memory. */
static inline uint8_t *lx__batch_at(const lx_batch *batch, uint64_t start)
{
    return (uint8_t *)batch->block.data + start;
}

/** Returns @p rows records of a batch, beginning with record @p first. */
static inline lx_samples lx__batch_samples(const lx_batch *batch, uint64_t first, uint64_t rows)
{
    return (lx_samples){.count = (size_t)rows,
                        .indices = batch->indices + first,
                        .positions = batch->positions + first,
                        .epoch = batch->epoch};
}

/** Changes the number of records of a batch; the number must not exceed the maximum in the
 * layout. */
void lx__batch_set_rows(lx_batch *batch, uint64_t rows);

#endif
