/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Prefetches a bounded number of batches on the executor's readers, and delivers them in
 * order.
 *
 * The loader's lock serializes scheduling, taking and dropping; workers fill the batches.
 */
#ifndef LX_LOADER_PIPELINE_H
#define LX_LOADER_PIPELINE_H

#include <loaderx/loader.h>

#include "executor/clock.h"
#include "executor/task.h"
#include "loader/batch.h"
#include "loader/read-ahead.h"
#include "loader/trace.h"

/** Maximum number of batches in flight, however small they are. */
#define LX__DEPTH_MAX 64

typedef struct lx__pipeline lx__pipeline;

/** A batch in flight. */
typedef struct lx__job {
    lx__task task;
    lx__pipeline *pipeline;
    lx_batch *batch;
    lx_source *source;  /**< The source that all parts read, until the job is done; a snapshot if
                             the source is live. */
    uint64_t end;       /**< End of the job's global batch. */
    uint64_t part_rows; /**< Number of records per part. */
    lx__tracer tracer;  /**< The pipeline's when the job was added. */
    uint8_t *damaged;   /**< One byte per record of the largest batch, valid only if any_damaged is
                             set; allocated when the first damaged record is found. */
    /** @name Protected by the pipeline's mutex while parts run */
    /** @{ */
    lx_status status; /**< Status of the lowest-numbered part that failed; LX_OK if none did. */
    size_t failed_part;
    lx_error error;
    bool any_damaged;
    bool done;
    /** @} */
} lx__job;

struct lx__pipeline {
    lx_executor *executor; /**< Owned reference. */
    lx_source *source;     /**< Owned by the batch pool's layout. */
    lx_transform_function transform;
    void *transform_user;
    lx_damage_policy damage;    /**< The policy for damaged records. */
    bool fills;                 /**< Whether other records take the place of those left out. */
    lx__read_ahead *read_ahead; /**< The loader's. */
    lx__tracer tracer;          /**< Protected by the loader's lock. */
    bool remote;                /**< Records come from another machine. */
    bool on_caller; /**< The calling thread fills the batches: they are too small for threads, or
                          the executor has no readers. */
    uint64_t part_rows;
    uint64_t
        prefetch_bytes; /**< Maximum size of the batches in flight, unless there is only one. */
    size_t depth;       /**< Capacity of the ring of jobs. */
    lx__job *jobs;      /**< A ring of @a depth jobs. */
    size_t first;       /**< Index of the oldest job in flight. */
    size_t count;       /**< Number of jobs in flight. */
    _Atomic uint64_t fill_ns, map_ns, transform_ns; /**< map_ns is a part of fill_ns. */

    atomic_bool unwanted; /**< No batch in flight will be delivered: reads that wait for a network
                               are to end. */

    pthread_mutex_t mutex; /**< Protects canceled, and the jobs' failures and done flags. A leaf
                                lock. */
    pthread_cond_t changed;
    bool canceled;
};

/** Initializes a zeroed pipeline for batches of @p layout. */
lx_status lx__pipeline_open(lx__pipeline *pipeline, lx_executor *executor, const lx__layout *layout,
                            uint64_t prefetch_bytes, lx_transform_function transform, void *user,
                            lx_error *error);

/** Waits for the running jobs, and drops the other jobs. */
void lx__pipeline_close(lx__pipeline *pipeline);

/** Whether another batch of @p batch_bytes bytes may be prepared; if the size is not known, which 0
 * means, only one batch is. */
static inline bool lx__pipeline_has_room(const lx__pipeline *pipeline, uint64_t batch_bytes)
{
    return pipeline->count < pipeline->depth &&
           (pipeline->count == 0 ||
            (batch_bytes != 0 && (pipeline->count + 1) * batch_bytes <= pipeline->prefetch_bytes));
}

/** Adds a job for @p batch, whose indices must be filled in, and takes ownership of the batch. */
lx_status lx__pipeline_add(lx__pipeline *pipeline, lx_batch *batch, uint64_t end, lx_error *error);

/** Runs the loader's transform, if there is one, on a batch; returns the status of the batch. */
lx_status lx__pipeline_transform(lx__pipeline *pipeline, const lx__tracer *tracer, lx_batch *batch,
                                 lx_error *error);

/**
 * Waits for the oldest job until @p deadline (see clock.h), running its parts in the meantime, and
 * removes the job.
 * @retval LX_ERR_TIMEOUT   The job is not done; it stays in the pipeline.
 * @retval LX_ERR_CANCELED  lx__pipeline_cancel() was called.
 * @return Otherwise, LX_OK, with the batch in @p batch, or the status of the failed job. In both
 * cases, sets @p end.
 */
lx_status lx__pipeline_take(lx__pipeline *pipeline, uint64_t deadline, lx_batch **batch,
                            uint64_t *end, lx_error *error);

/** Records how many jobs are done in the trace, if there is one. */
void lx__pipeline_trace(lx__pipeline *pipeline);

/** Returns LX_ERR_CANCELED if lx__pipeline_cancel() was called. */
lx_status lx__pipeline_check(lx__pipeline *pipeline, lx_error *error);

/** Drops all jobs; waits for those that are running. */
void lx__pipeline_drop(lx__pipeline *pipeline);

/**
 * Drops all jobs as lx__pipeline_drop() does, but waits only until @p deadline.
 * @retval LX_ERR_TIMEOUT   Jobs that are not done stay in the pipeline.
 * @retval LX_ERR_CANCELED  lx__pipeline_cancel() was called; same.
 */
lx_status lx__pipeline_drop_by(lx__pipeline *pipeline, uint64_t deadline, lx_error *error);

/** Makes every current and future wait return LX_ERR_CANCELED. Thread-safe. */
void lx__pipeline_cancel(lx__pipeline *pipeline);

#endif
