/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Memory for batches that is mapped once and reused.
 *
 * Released blocks are kept, warm, and reused for requests of about their size, last in first out.
 * Once the pool has as many blocks as are in use at a time, taking and releasing a block costs one
 * lock held for a short time, and no mmap, malloc or page fault. Kept blocks beyond a limit are
 * unmapped by a cleaner, least recently used first.
 *
 * The pool does not touch the pages of a block before its first use, so they are allocated on the
 * NUMA node of the thread that fills them first, and stay in the same pool. On a machine with
 * several NUMA nodes, make one pool for each set of threads bound to a node.
 *
 * @par Thread safety
 * Full. A block may be released on any thread, and after its pool and executor are gone.
 */
#ifndef LX_EXECUTOR_POOL_H
#define LX_EXECUTOR_POOL_H

#include "executor/task.h"

/** Maximum size of a block. */
#define LX__BLOCK_MAX ((uint64_t)1 << 46)

typedef struct lx__pool lx__pool;

/** A block of memory. All but the first two fields are private to the pool. */
typedef struct lx__block {
    uint8_t *data;   /**< Aligned to a page, and to 2 MiB if large enough. Uninitialized. */
    size_t capacity; /**< Size of data in bytes, at least the requested size. */
    lx__pool *pool;
    size_t size_class;
    lx__link age_link; /**< While kept: link in the pool's list, least recently used first. */
    lx__link
        class_link; /**< While kept: link in the list of its class, least recently used first. */
    lx__task task;  /**< Unmaps the block. */
} lx__block;

/** Statistics of a pool. */
typedef struct lx__pool_stats {
    uint64_t blocks_made;  /**< Blocks mapped since the start: constant once the pool is warm. */
    uint64_t blocks_out;   /**< Taken and not yet released. */
    uint64_t bytes_mapped; /**< Bytes of all blocks, including those waiting to be unmapped. */
    uint64_t bytes_out;    /**< Capacity of the blocks in use. */
    uint64_t bytes_kept;   /**< Capacity of the kept blocks. */
} lx__pool_stats;

/** The capacity of a block for @p size bytes, 1 to #LX__BLOCK_MAX. */
LX_API uint64_t lx__pool_capacity(uint64_t size);

/**
 * Makes an empty pool.
 *
 * @param executor    Its cleaners unmap blocks. The pool holds its memory but not its threads:
 *                    after it is closed, the releasing thread unmaps.
 * @param keep_bytes  Maximum size of all kept blocks.
 * @retval LX_ERR_NOMEM  Out of memory.
 */
LX_API lx_status lx__pool_new(lx_executor *executor, uint64_t keep_bytes, lx__pool **pool,
                              lx_error *error);

/** Releases the pool and its kept blocks; blocks in use stay valid until they are released. */
LX_API void lx__pool_free(lx__pool *pool);

/**
 * Takes a block of at least @p size bytes.
 *
 * @retval LX_ERR_NOMEM   Out of memory, even after unmapping all kept blocks.
 * @retval LX_ERR_LIMIT   @p size is 0 or above #LX__BLOCK_MAX.
 * @retval LX_ERR_FORKED  The executor belongs to the parent process.
 */
LX_API lx_status lx__pool_take(lx__pool *pool, uint64_t size, lx__block **block, lx_error *error);

/** Releases a block; NULL is a no-op. Does nothing in a child process. */
LX_API void lx__block_release(lx__block *block);

/** Copies the statistics. */
LX_API void lx__pool_read_stats(lx__pool *pool, lx__pool_stats *stats);

#endif
