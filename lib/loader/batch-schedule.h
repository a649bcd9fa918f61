/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The batch schedule, which determines the positions of each global batch that belong to
 * this rank. A batch has batch_size samples per rank, unless the order forms its own batches and
 * thus determines their bounds.
 */
#ifndef LX_LOADER_BATCH_SCHEDULE_H
#define LX_LOADER_BATCH_SCHEDULE_H

#include "loader/loader-options.h"
#include "sampler/core/rank-assignment.h"

/** A loader's place in the batch schedule. Not thread-safe, except where a function says so. */
typedef struct lx__batch_schedule {
    lx_order *order; /**< Borrowed. */
    lx__shard shard;
    uint64_t batch_size;   /**< Number of samples per batch and rank; 0 if the order forms its own
                                batches. */
    uint64_t global_batch; /**< batch_size * world. */
    uint64_t epochs;
    lx__last_step last;
    bool fills;                 /**< Whether padding fills all batches. */
    uint64_t position;          /**< End of the last batch scheduled. */
    uint64_t seek_position;     /**< Position of the last seek. */
    uint64_t run_begin;         /**< Start of the run: the epochs up to the next LX_END. */
    uint64_t run_end;           /**< End of the run, where LX_END is returned; LX__POSITION_END if
                                  there is none. */
    lx__skipped_range *skipped; /**< Owned. */
    size_t skipped_count;
    lx__epoch_table *bounds; /**< Bounds of the current epoch's batches, if the order forms them. */
} lx__batch_schedule;

/** This rank's part of a global batch: @a count positions starting at @a first, @a stride apart;
 * then, as padding, @a padding positions starting at @a repeated, @a stride apart, which repeat
 * samples of the epoch. After its last position comes its first again. */
typedef struct lx__batch_slice {
    uint64_t begin, end; /**< Positions of the global batch. */
    uint64_t first, stride, count;
    uint64_t repeated, padding;
} lx__batch_slice;

/**
 * Starts a schedule at position 0.
 *
 * @param order  Borrowed; must outlive the schedule.
 * @retval LX_ERR_ARGUMENT  batch_size is set, but the order forms its own batches; batch_size times
 *                          world is too large; or drop_last and uneven are both set.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
lx_status lx__batch_schedule_init(lx__batch_schedule *schedule, lx_order *order,
                                  const lx_loader_options *options, lx_error *error);

/** Frees the batch bounds and the skipped ranges. A zeroed struct is allowed. */
void lx__batch_schedule_clear(lx__batch_schedule *schedule);

/** Makes @p copy visit the same batches, after lx__batch_schedule_seek(); it borrows the skipped
 * ranges. Thread-safe. */
void lx__batch_schedule_copy(const lx__batch_schedule *schedule, lx__batch_schedule *copy);

/** Frees the batch bounds of a copy. A zeroed struct is allowed. */
void lx__batch_schedule_clear_copy(lx__batch_schedule *copy);

/** Moves to a position, and to the run of epochs that contains this position. */
void lx__batch_schedule_seek(lx__batch_schedule *schedule, uint64_t position);

/**
 * Advances to the next global batch in which this rank has samples, and which is not skipped.
 *
 * @retval LX_END        No batch is left in the run; the position is now the end of the run.
 * @retval LX_ERR_LIMIT  Same as lx__rank_assignment_next(); the position is unchanged.
 * @return Otherwise, any status that lx__rank_assignment_next() returns.
 */
lx_status lx__batch_schedule_next(lx__batch_schedule *schedule, lx__batch_slice *slice,
                                  lx_error *error);

/** Whether the position is still that of the last seek and the run has batches left, even if all of
 * them belong to other ranks. */
bool lx__batch_schedule_at_start(const lx__batch_schedule *schedule);

/** Returns the maximum number of records in a batch, which is at most the number of the rank's
 * samples per epoch, however large batch_size is. */
uint64_t lx__batch_schedule_max_rows(const lx__batch_schedule *schedule);

/** Counts this rank's batches in the epoch that contains a position, from the start of that epoch,
 * without those that are skipped. Thread-safe. */
lx_status lx__batch_schedule_count(const lx__batch_schedule *schedule, uint64_t position,
                                   uint64_t *count, lx_error *error);

#endif
