/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A loader: a source, an order, and a pipeline between them.
 *
 * Lock order: loader.mutex, then pipeline.mutex or batch_pool.mutex, then the executor's locks.
 */
#ifndef LX_LOADER_PRIVATE_H
#define LX_LOADER_PRIVATE_H

#include "loader/batch-schedule.h"
#include "loader/fair-mutex.h"
#include "loader/loader-options.h"
#include "loader/pipeline.h"
#include "sampler/core/order.h"

struct lx_loader {
    lx__fair_mutex mutex; /**< Serializes scheduling and delivery; held while lx_loader_next()
                               waits. */
    lx_source *source;    /**< Owned reference. */
    lx_order *order;      /**< Owned reference. */
    lx__scratch *scratch;
    uint64_t first_epoch; /**< Added to the epochs of samples. */
    uint32_t threads;
    lx_executor *executor; /**< Owned reference. */
    bool own_executor;
    lx__batch_pool *batch_pool;
    lx__pipeline pipeline;
    lx__read_ahead read_ahead;
    lx__span consumer;         /**< While the loader is traced, what the consumer does with the last
                                    batch; its name is NULL if no batch was returned. */
    pthread_t consumer_thread; /**< The thread that got this batch. */
    lx__batch_schedule schedule; /**< Ahead of @ref position by the batches in the pipeline. */
    bool stays; /**< The batch at @ref position could not be read, so the next call begins there
                     anew. */

    /* Written with the lock held, read by any thread. */
    _Atomic uint64_t position; /**< End of the last batch delivered. */
    _Atomic uint64_t batches, records, varying_bytes, failures, damaged, wait_ns, prefetched;
};

#endif
