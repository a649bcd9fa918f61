/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A loader: a source, an order, and a pipeline between them.
 *
 * Lock order: loader.turn, then pipeline.mutex or ring.mutex; the executor's locks after those.
 */
#ifndef LX_LOADER_PRIVATE_H
#define LX_LOADER_PRIVATE_H

#include "loader/batch-schedule.h"
#include "loader/fair-mutex.h"
#include "loader/loader-options.h"
#include "loader/pipeline.h"
#include "sampler/core/order.h"

struct lx_loader {
    lx__turn turn;     /**< For scheduling and handing out; held while next waits. */
    lx_source *source; /**< Referenced. */
    lx_order *order;       /**< Referenced. */
    lx__scratch *scratch;
    uint32_t threads;
    lx_executor *executor; /**< Referenced. */
    bool own_executor;
    lx__ring *ring;
    lx__pipeline pipeline;
    lx__steps steps; /**< Stands behind what is in the pipeline. */

    /* Written by who has the turn, read by anybody. */
    _Atomic uint64_t position; /**< Behind what was handed out. */
    _Atomic uint64_t batches, records, failures, damaged, wait_ns, prefetched;
};

#endif
