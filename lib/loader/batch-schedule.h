/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The steps of a run: which positions of each global batch are this rank's. Batches are so
 * many samples, or what the order was cut into.
 */
#ifndef LX_LOADER_BATCH_SCHEDULE_H
#define LX_LOADER_BATCH_SCHEDULE_H

#include "loader/loader-options.h"
#include "sampler/core/rank-assignment.h"

/** Where a loader stands among the steps. One thread at a time, but for what says otherwise. */
typedef struct lx__steps {
    lx_order *order; /**< Borrowed. */
    lx__shard shard;
    uint64_t batch_size;   /**< Samples a batch and rank; 0: those of the order's batches. */
    uint64_t global_batch; /**< batch_size * world. */
    uint64_t epochs;
    bool drop_last;
    uint64_t position;  /**< Behind the last step. */
    uint64_t entered;   /**< Where it was sent to last. */
    uint64_t run_begin; /**< Of the epochs that are gone through to the next LX_END; */
    uint64_t run_end;   /**< where that is returned; LX__POSITION_END: nowhere. */
    lx__epoch *cuts;    /**< Of the epoch it is in, if the order is cut. */
} lx__steps;

/** The batch of this rank in a step: @a count positions from @a first on, @a stride apart. */
typedef struct lx__step {
    uint64_t begin, end; /**< The global batch. */
    uint64_t first, stride, count;
} lx__step;

/**
 * Begins at position 0.
 *
 * @param order  Referenced by the caller, as long as the steps.
 * @retval LX_ERR_ARGUMENT  Options that exclude each other, or that are too large together.
 */
lx_status lx__steps_init(lx__steps *steps, lx_order *order, const lx_loader_options *options,
                         lx_error *error);

/** Gives up what it keeps of an order that is cut; also of one that is zero. */
void lx__steps_clear(lx__steps *steps);

/** Goes to a position, of the epochs that it is one of. */
void lx__steps_seek(lx__steps *steps, uint64_t position);

/**
 * Takes the next step in which this rank has a batch.
 *
 * @retval LX_END        There is none up to the end of these epochs, to which it has moved.
 * @retval LX_ERR_LIMIT  As lx__deal_next(); it stays.
 * @return Else as reading the order.
 */
lx_status lx__steps_next(lx__steps *steps, lx__step *step, lx_error *error);

/** Whether it still stands where it was sent to, and steps of these epochs are left, be they of
 * other ranks alone. */
bool lx__steps_begin(const lx__steps *steps);

/** Records of a batch, at most: no more than the rank gets of an epoch, whatever batch_size is. */
uint64_t lx__steps_rows(const lx__steps *steps);

/** Batches that this rank gets of the epoch of a position, when that is entered at its beginning;
 * of an order that is cut 0 if there is no memory to tell. Any thread. */
uint64_t lx__steps_count(const lx__steps *steps, uint64_t position);

#endif
