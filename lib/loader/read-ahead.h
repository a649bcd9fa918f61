/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads ahead of the batches in preparation while the source's values come from disk.
 *
 * An order is known in advance, so the values of many batches can be requested from the system
 * before the first of them is copied, which keeps the disk busy. The threads that fill batches do
 * this in between: see lx__read_ahead_step(). While values are in memory, nothing is done.
 *
 * If the values come from another machine, and the order reads its indices in blocks, whole blocks
 * are requested, because each request costs time or money there: see block-plan.h.
 */
#ifndef LX_LOADER_READ_AHEAD_H
#define LX_LOADER_READ_AHEAD_H

#include <pthread.h>

#include "loader/batch-schedule.h"
#include "loader/batch.h"
#include "loader/block-plan.h"
#include "sampler/core/order.h"

typedef struct lx__read_ahead {
    const lx__layout *layout; /**< Borrowed from the batch pool. NULL: the source does not read from
                                   a disk, or out of memory, so nothing is read ahead. */
    bool *wanted;             /**< Whether each column of the source is read. */
    bool remote;              /**< Values come from another machine. */
    atomic_bool active;       /**< Values may be on disk, or come from another machine. */
    /** @name Set by the loader: positions in the order */
    /** @{ */
    _Atomic uint64_t first;   /**< Earlier batches were delivered. */
    _Atomic uint64_t last;    /**< Up to here, values are to be requested. */
    _Atomic uint64_t run_end; /**< Where to end: see lx__batch_schedule. */
    atomic_bool by_block;     /**< Whole blocks are to be requested. */
    atomic_bool moved;        /**< The loader has moved to another position. */
    /** @} */
    /** @name Used by the loader, which holds its lock */
    /** @{ */
    uint64_t batches; /**< Number of batches that were scheduled. */
    uint64_t faults;  /**< Page faults of the process that waited for a disk, at the last look. */
    uint64_t until;   /**< Up to this number of batches, mapped values are taken to be on disk. */
    /** @} */
    _Atomic uint64_t covered;   /**< Records before this position were requested. */
    _Atomic uint64_t requested; /**< Number of records in batches that were requested since the
                                     loader was opened, and not found in memory. */

    pthread_mutex_t mutex; /**< Guards the members below. Locked before the locks of the order and
                                      the source. */
    lx__batch_schedule schedule; /**< Where to continue. */
    lx_order *order;             /**< Borrowed. */
    lx__scratch *scratch;
    lx__block_plan plan;
    uint64_t *indices; /**< Room for the records of a batch, and for those of some blocks. */
} lx__read_ahead;

/** Initializes a zeroed object for batches of @p layout. All pointers are borrowed and must outlive
 * the object. */
void lx__read_ahead_open(lx__read_ahead *self, const lx__layout *layout, lx_order *order,
                         const lx__batch_schedule *schedule);

void lx__read_ahead_close(lx__read_ahead *self);

/** Forgets where to continue: the loader has moved to another position. */
void lx__read_ahead_move(lx__read_ahead *self);

/**
 * Tells how far the loader is, after it has scheduled a batch.
 *
 * @param first         End of the last batch that was delivered.
 * @param schedule      Its position is the end of the last batch that was scheduled.
 * @param record_bytes  Approximate size of a record; 0 if unknown.
 */
void lx__read_ahead_follow(lx__read_ahead *self, uint64_t first, const lx__batch_schedule *schedule,
                           uint64_t record_bytes);

/** Requests values of the next batches, unless enough of them are requested or another thread is
 * doing so. To be called before a batch that ends at position @p end is filled: if its records come
 * from another machine and were not requested, waits for the other thread. Returns the number of
 * records in batches that were not found in memory. */
uint64_t lx__read_ahead_step(lx__read_ahead *self, uint64_t end);

#endif
