/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Prepares batches ahead: a bounded number of them, on the executor's readers, in order.
 *
 * One thread at a time schedules, takes and drops (the loader's turn sees to that); workers fill.
 */
#ifndef LX_LOADER_PIPELINE_H
#define LX_LOADER_PIPELINE_H

#include "executor/clock.h"
#include "executor/task.h"
#include "loader/batch.h"

/** Most batches in flight, however small they are. */
#define LX__DEPTH_MAX 64

typedef struct lx__pipeline lx__pipeline;

/** One batch on its way. */
typedef struct lx__job {
    lx__task task;
    lx__pipeline *pipeline;
    lx_batch *batch;
    lx_source *source;  /**< What all parts read: of a live source one state. Until it is done. */
    uint64_t end;       /**< Position behind its global batch. */
    uint64_t part_rows; /**< Records a part. */
    uint8_t *damaged;   /**< A byte for each record of the largest batch; made for the first damage,
                             of use while any_damaged. */
    /** @name Under the pipeline's mutex while parts run */
    /** @{ */
    lx_status status; /**< Of the lowest part that failed; LX_OK while none has. */
    size_t failed_part;
    lx_error error;
    bool any_damaged;
    bool done;
    /** @} */
} lx__job;

struct lx__pipeline {
    lx_executor *executor; /**< Referenced. */
    lx_source *source;     /**< Of the ring's layout. */
    lx_transform_function transform;
    void *transform_user;
    lx_damage_policy damage; /**< What is done about damaged records. */
    bool on_caller;  /**< Batches are too small for threads, or there are none. */
    uint64_t part_rows;
    size_t depth;    /**< Jobs at most. */
    lx__job *jobs;   /**< A ring of depth. */
    size_t first;    /**< The oldest in flight. */
    size_t count;    /**< In flight. */
    _Atomic uint64_t fill_ns, transform_ns;

    pthread_mutex_t mutex; /**< For the jobs' failures and done, and canceled. A leaf. */
    pthread_cond_t changed;
    bool canceled;
};

/** Prepares a zeroed pipeline for batches of @p layout. */
lx_status lx__pipeline_open(lx__pipeline *pipeline, lx_executor *executor,
                            const lx__layout *layout, uint64_t prefetch_bytes,
                            lx_transform_function transform, void *user, lx_error *error);

/** Waits for what runs, drops the rest. */
void lx__pipeline_close(lx__pipeline *pipeline);

/** Whether another job may be added. */
static inline bool lx__pipeline_has_room(const lx__pipeline *pipeline)
{
    return pipeline->count < pipeline->depth;
}

/** Adds a job for @p batch, whose indices are filled in; it belongs to the pipeline. */
lx_status lx__pipeline_add(lx__pipeline *pipeline, lx_batch *batch, uint64_t end,
                           lx_error *error);

/**
 * Waits for the oldest job, helping, until @p deadline (of clock.h), and takes it away.
 * @retval LX_ERR_TIMEOUT   It is not ready; it stays.
 * @retval LX_ERR_CANCELED  lx__pipeline_cancel() was called.
 * @return Else LX_OK with the batch, or what the job failed with; @p end is set for both.
 */
lx_status lx__pipeline_take(lx__pipeline *pipeline, uint64_t deadline, lx_batch **batch,
                            uint64_t *end, lx_error *error);

/** LX_ERR_CANCELED once lx__pipeline_cancel() was called. */
lx_status lx__pipeline_check(lx__pipeline *pipeline, lx_error *error);

/** Drops all jobs, waiting for those that run. */
void lx__pipeline_drop(lx__pipeline *pipeline);

/** Makes every wait end with LX_ERR_CANCELED, now and later. From any thread. */
void lx__pipeline_cancel(lx__pipeline *pipeline);

#endif
