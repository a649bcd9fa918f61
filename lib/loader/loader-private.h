/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A loader: a source, an order, and a pipeline between them.
 *
 * Lock order: loader.turn, then pipeline.mutex or ring.mutex; the executor's locks after those.
 */
#ifndef LX_LOADER_PRIVATE_H
#define LX_LOADER_PRIVATE_H

#include "loader/options.h"
#include "loader/pipeline.h"
#include "loader/turn.h"
#include "sampler/order/order.h"
#include "sampler/walk/shard.h"

struct lx_loader {
    lx__turn turn;     /**< For scheduling and handing out; held while next waits. */
    lx_source *source; /**< Referenced. */
    lx_order *order;       /**< Referenced. */
    lx__scratch *scratch;
    lx__shard shard;
    uint64_t batch_size;
    uint64_t global_batch; /**< batch_size * world. */
    uint64_t epochs;
    bool drop_last;
    uint32_t threads;
    lx_executor *executor; /**< Referenced. */
    bool own_executor;
    lx__ring *ring;
    lx__pipeline pipeline;
    uint64_t scheduled; /**< Behind what is in the pipeline. */
    uint64_t run_end;   /**< Where LX_END is returned; LX__POSITION_END: nowhere. */

    /* Written by who has the turn, read by anybody. */
    _Atomic uint64_t position; /**< Behind what was handed out. */
    _Atomic uint64_t batches, records, failures, damaged, wait_ns, prefetched;
};

/** Goes to a position; by who has the turn. */
lx_status lx__loader_seek_locked(lx_loader *loader, uint64_t position, lx_error *error);

#endif
