/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory for batches that is mapped once and used again.
 *
 * Blocks that come back are kept, warm, and given out again, last in first out, to requests of
 * about their size. Once there are as many as are out at a time, taking and releasing cost a lock
 * that nobody holds for long, and no map, no malloc and no page fault. What is kept beyond a limit
 * is unmapped by a cleaner, the longest unused first.
 *
 * A block's pages are touched by nobody before they are given out for the first time, so they lie
 * where the thread runs that fills them first, and go on being used by the same pool. On a machine
 * of several NUMA nodes, make a pool for each set of threads that is bound to a node.
 *
 * @par Thread safety
 * Full. A block may be released on any thread, and after its pool and executor are gone.
 */
#ifndef LX_EXECUTOR_POOL_H
#define LX_EXECUTOR_POOL_H

#include "executor/task.h"

/** Largest block. */
#define LX__BLOCK_MAX ((uint64_t)1 << 46)

typedef struct lx__pool lx__pool;

/** Memory given out. All but the first two fields is the pool's. */
typedef struct lx__block {
    uint8_t *data;   /**< Aligned to a page, to 2 MiB where it is that large. Of any content. */
    size_t capacity; /**< Bytes at data, at least what was asked for. */
    lx__pool *pool;
    size_t size_class;
    lx__link age;  /**< Kept: in the pool's, longest unused first. */
    lx__link peer; /**< Kept: in its class's, longest unused first. */
    lx__task task; /**< To be unmapped. */
} lx__block;

/** What a pool has. */
typedef struct lx__pool_stats {
    uint64_t blocks_made;  /**< Blocks ever mapped: constant once the pool is warm. */
    uint64_t blocks_out;   /**< Taken and not yet released. */
    uint64_t bytes_mapped; /**< Of all blocks, those waiting to be unmapped too. */
    uint64_t bytes_out;    /**< Of blocks that are out, by their capacity. */
    uint64_t bytes_kept;   /**< Of blocks that wait to be taken. */
} lx__pool_stats;

/** Bytes of the block that is made for @p size, 1 to #LX__BLOCK_MAX. */
LX_API uint64_t lx__pool_capacity(uint64_t size);

/**
 * Makes an empty pool.
 *
 * @param executor    Whose cleaners unmap. Its memory is held, its threads are not: once it is
 *                    closed, who releases unmaps.
 * @param keep_bytes  Most that is kept of what is released.
 * @retval LX_ERR_NOMEM  There is no memory.
 */
LX_API lx_status lx__pool_new(lx_executor *executor, uint64_t keep_bytes, lx__pool **pool,
                              lx_error *error);

/** Gives the pool up, and all that it keeps; blocks that are out stay until they are released. */
LX_API void lx__pool_free(lx__pool *pool);

/**
 * Takes a block of at least @p size bytes.
 *
 * @retval LX_ERR_NOMEM   The system gives no more, even with all that was kept given back.
 * @retval LX_ERR_LIMIT   @p size is 0 or above #LX__BLOCK_MAX.
 * @retval LX_ERR_FORKED  The executor belongs to the parent process.
 */
LX_API lx_status lx__pool_take(lx__pool *pool, uint64_t size, lx__block **block, lx_error *error);

/** Gives a block back; NULL is nothing. In a child process it does nothing. */
LX_API void lx__block_release(lx__block *block);

/** Copies the statistics. */
LX_API void lx__pool_read_stats(lx__pool *pool, lx__pool_stats *stats);

#endif
