/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "executor/executor.h"
#include "loader/damaged-records.h"
#include "loader/loader-private.h"
#include "loader/missing-values.h"
#include "loader/varying-values.h"
#include "loader/sources/source.h"

/* ---- opening and closing */

static lx_status make_order(lx_loader *loader, const lx_loader_options *options, lx_error *error)
{
    uint64_t length = lx_source_get_length(loader->source);
    lx_status status = LX_OK;
    if (options->order != NULL)
        loader->order = lx_order_ref(options->order);
    else if (options->shuffle)
        status = lx_order_new_shuffle(length, options->seed, &loader->order, error);
    else
        status = lx_order_new_sequential(length, 0, 0, &loader->order, error);
    if (status != LX_OK)
        return status;
    if (lx__order_get_bound(loader->order) > length)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the order requires a source with at least %llu records, but this source "
                       "has only %llu: create an order for this source",
                       (unsigned long long)lx__order_get_bound(loader->order),
                       (unsigned long long)length);
    return lx__scratch_new(loader->order, &loader->scratch, error);
}

static lx_status make_executor(lx_loader *loader, const lx_loader_options *options, lx_error *error)
{
    if (options->executor != NULL && options->threads_set)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "reader_count and executor are both set: set only one of them");
    if (options->executor != NULL) {
        loader->executor = lx_executor_ref(options->executor);
        return LX_OK;
    }
    lx_executor_options *own = lx_executor_options_new();
    if (own == NULL)
        return lx__fail_memory(error, "an executor");
    lx_status status = options->threads_set
                           ? lx_executor_options_set_reader_count(own, options->threads, error)
                           : LX_OK;
    if (status == LX_OK)
        status = lx_executor_open(own, &loader->executor, error);
    lx_executor_options_free(own);
    loader->own_executor = status == LX_OK;
    return status;
}

static lx_status make_pipeline(lx_loader *loader, const lx_loader_options *options, lx_error *error)
{
    lx__layout layout;
    uint64_t rows = lx__batch_schedule_max_rows(&loader->schedule);
    lx_status status = lx__layout_init(&layout, loader->source, options->fields,
                                       options->field_count, rows, error);
    if (status == LX_OK)
        status = lx__missing_lay_out(&layout, options, error);
    if (status == LX_OK)
        status = lx__missing_check(&layout, error);
    if (status == LX_OK)
        status = lx__pipeline_open(&loader->pipeline, loader->executor, &layout,
                                   options->prefetch_bytes, options->transform,
                                   options->transform_user, error);
    if (status != LX_OK) {
        lx__layout_free(&layout);
        return status;
    }
    loader->pipeline.damage = options->damage;
    loader->pipeline.fills = options->pad_last;
    loader->pipeline.read_ahead = &loader->read_ahead;
    /* Enough for the batches in flight and two that the consumer may hold. */
    size_t idle_max = loader->pipeline.depth + 2;
    status = lx__batch_pool_new(loader->executor, &layout, &options->memory, idle_max,
                                &loader->batch_pool, error);
    if (status == LX_OK)
        lx__read_ahead_open(&loader->read_ahead, &loader->batch_pool->layout, loader->order,
                            &loader->schedule);
    return status;
}

/** Moves to a position. The caller holds the lock. */
static void seek(lx_loader *loader, uint64_t position)
{
    lx__pipeline_drop(&loader->pipeline);
    lx__batch_schedule_seek(&loader->schedule, position);
    lx__read_ahead_move(&loader->read_ahead);
    loader->stays = false;
    atomic_store_explicit(&loader->position, position, memory_order_relaxed);
    atomic_store_explicit(&loader->prefetched, 0, memory_order_relaxed);
}

static lx_status open_parts(lx_loader *loader, const lx_loader_options *options, lx_error *error)
{
    lx_status status = make_order(loader, options, error);
    if (status == LX_OK)
        status = lx__batch_schedule_init(&loader->schedule, loader->order, options, error);
    if (status == LX_OK)
        status = make_executor(loader, options, error);
    if (status == LX_OK)
        status = make_pipeline(loader, options, error);
    loader->first_epoch = options->first_epoch;
    if (status == LX_OK)
        seek(loader, options->start);
    return status;
}

lx_status lx_loader_open(lx_source *source, const lx_loader_options *options, lx_loader **loader,
                         lx_error *error)
{
    LX__CLEAR(loader);
    if (source == NULL || loader == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "source or loader is NULL");
    lx_loader *opened = lx__alloc_array(1, sizeof *opened);
    if (opened == NULL)
        return lx__fail_memory(error, "a loader");
    lx__fair_mutex_init(&opened->mutex);
    opened->source = lx_source_ref(source);
    lx_status status = open_parts(opened, options != NULL ? options : &lx__loader_defaults, error);
    if (status == LX_OK)
        *loader = opened;
    else
        lx_loader_close(opened);
    return status;
}

/** A child of fork() has only the calling thread, and inherits locks in any state: it must not use
 * them. */
static bool is_in_child(const lx_loader *loader)
{
    return loader->executor != NULL && lx__executor_check(loader->executor, NULL) != LX_OK;
}

void lx_loader_close(lx_loader *loader)
{
    if (loader == NULL)
        return;
    lx_loader_cancel(loader);
    if (!is_in_child(loader))
        lx__fair_mutex_destroy(&loader->mutex); /* waits until all calls to next have returned */
    if (loader->pipeline.executor != NULL)
        lx__pipeline_close(&loader->pipeline);
    lx__read_ahead_close(&loader->read_ahead);
    if (loader->batch_pool != NULL)
        lx__batch_pool_close(loader->batch_pool);
    if (loader->own_executor)
        lx_executor_close(loader->executor);
    else
        lx_executor_unref(loader->executor);
    lx__batch_schedule_clear(&loader->schedule);
    lx__scratch_free(loader->scratch);
    lx_order_unref(loader->order);
    lx_source_unref(loader->source);
    lx__free(loader);
}

/* ---- positions */

/** Reads the indices of a slice: those of the rank's own samples, then those that it repeats. */
static lx_status read_indices(lx_loader *loader, const lx__batch_slice *slice, lx_batch *batch,
                              lx_error *error)
{
    uint64_t length = lx_order_get_length(loader->order), stride = slice->stride % length;
    uint64_t epoch = slice->begin / length, offset = slice->repeated - epoch * length;
    batch->epoch = loader->first_epoch + epoch;
    batch->real = slice->count;
    for (uint64_t i = 0; i < slice->count; i++)
        batch->positions[i] = slice->first + i * slice->stride;
    lx_status status = lx__order_read(loader->order, loader->scratch, slice->first, slice->stride,
                                      slice->count, batch->indices, error);
    for (uint64_t i = slice->count; status == LX_OK && i < slice->count + slice->padding; i++) {
        batch->positions[i] = epoch * length + offset;
        status = lx__order_read(loader->order, loader->scratch, batch->positions[i], 1, 1,
                                &batch->indices[i], error);
        offset = offset < length - stride ? offset + stride : offset - (length - stride);
    }
    return status;
}

/** Returns the size of the next batch. Where sizes vary, it is estimated from earlier batches, and
 * 0 until the first one is filled. */
static uint64_t next_bytes(const lx_loader *loader)
{
    const lx__batch_pool *pool = loader->batch_pool;
    uint64_t values = atomic_load_explicit(&pool->values_estimate, memory_order_relaxed);
    if (!pool->layout.varying)
        return pool->layout.bytes;
    return values != 0 ? pool->layout.bytes + values : 0;
}

/** Returns the approximate size of a record; 0 if it is unknown. */
static uint64_t record_bytes(const lx_loader *loader)
{
    uint64_t rows = loader->batch_pool->layout.batch_rows;
    return rows != 0 ? next_bytes(loader) / rows : 0;
}

/** Tells how far the loader is. This comes before a thread can fill the batch: the records of the
 * first batch would otherwise be requested one by one, before their blocks. */
static void follow(lx_loader *loader)
{
    lx__read_ahead_follow(&loader->read_ahead,
                          atomic_load_explicit(&loader->position, memory_order_relaxed),
                          &loader->schedule, record_bytes(loader));
}

/** Adds the next batch to the pipeline, or returns LX_END. */
static lx_status add_batch(lx_loader *loader, lx_error *error)
{
    lx__batch_slice slice;
    uint64_t before = loader->schedule.position;
    lx_batch *batch;
    lx_status status = lx__batch_schedule_next(&loader->schedule, &slice, error);
    if (status != LX_OK)
        return status;
    status = lx__batch_pool_take(loader->batch_pool, slice.count + slice.padding, slice.begin,
                                 &batch, error);
    if (status == LX_OK) {
        status = read_indices(loader, &slice, batch, error);
        if (status == LX_OK) {
            follow(loader);
            status = lx__pipeline_add(&loader->pipeline, batch, slice.end, error);
        } else {
            lx_batch_unref(batch);
        }
    }
    if (status != LX_OK)
        loader->schedule.position = before;
    return status;
}

static void count_prefetched(lx_loader *loader)
{
    uint64_t count = loader->pipeline.on_caller ? 0 : loader->pipeline.count;
    atomic_store_explicit(&loader->prefetched, count, memory_order_relaxed);
}

/** Fills the pipeline. A failure is returned only while the pipeline is empty. */
static lx_status fill_pipeline(lx_loader *loader, lx_error *error)
{
    lx_status status = LX_OK;
    lx_error ignored = LX_ERROR_INIT;
    while (status == LX_OK && lx__pipeline_has_room(&loader->pipeline, next_bytes(loader)))
        status = add_batch(loader, loader->pipeline.count == 0 ? error : &ignored);
    count_prefetched(loader);
    return loader->pipeline.count != 0 ? LX_OK : status;
}

/* ---- delivery */

/** Publishes the end of the finished epochs as the position. */
static void end_run(lx_loader *loader)
{
    atomic_store_explicit(&loader->position, loader->schedule.position, memory_order_relaxed);
}

static void count_batch(lx_loader *loader, const lx_batch *batch)
{
    atomic_fetch_add_explicit(&loader->damaged, batch->damaged, memory_order_relaxed);
    atomic_fetch_add_explicit(&loader->batches, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&loader->records, batch->rows, memory_order_relaxed);
    atomic_fetch_add_explicit(&loader->varying_bytes, lx__varying_bytes(batch),
                              memory_order_relaxed);
}

/** Fills an empty batch with one record, which pads the epoch: the first readable record from
 * position @p end on or, if there is none, from the start of the epoch on. */
static lx_status repeat_record(lx_loader *loader, lx_source *source, lx_batch *batch, uint64_t end,
                               lx_error *error)
{
    uint64_t length = lx_order_get_length(loader->order);
    uint64_t epoch = (batch->epoch - loader->first_epoch) * length;
    lx_status status = LX_ERR_CORRUPT;
    for (uint64_t i = 0; status == LX_ERR_CORRUPT && i < length; i++) {
        lx_error_clear(error);
        status = lx__pipeline_check(&loader->pipeline, error);
        batch->positions[0] = epoch + (end - epoch + i) % length;
        if (status == LX_OK)
            status = lx__order_read(loader->order, loader->scratch, batch->positions[0], 1, 1,
                                    batch->indices, error);
        lx_samples sample = lx__batch_samples(batch, 0, 1);
        if (status == LX_OK)
            status = lx_source_fill_samples(source, &sample, batch->targets, error);
        if (status == LX_OK)
            status = lx__varying_fill(source, batch, NULL, error);
    }
    if (status != LX_ERR_CORRUPT)
        return status;
    lx_error_clear(error);
    return lx_fail(error, status,
                   "all records of an epoch are damaged: repair the dataset, or let zeros replace "
                   "damaged values");
}

/** Pads a batch that has no readable record with a repeated record, so that all ranks take the same
 * number of batches. Releases the batch on failure. */
static lx_status pad_empty(lx_loader *loader, lx_batch **batch, uint64_t end, lx_error *error)
{
    lx_source *source;
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__source_pin(loader->source, &source, &why);
    if (status == LX_OK) {
        lx__batch_set_rows(*batch, 1);
        status = repeat_record(loader, source, *batch, end, &why);
        if (status == LX_OK && loader->schedule.fills)
            status = lx__damaged_records_replace(source, *batch, loader->schedule.batch_size, &why);
        if (status == LX_OK)
            status = lx__missing_apply(source, *batch, &why);
        lx_source_unref(source);
    }
    if (status == LX_OK)
        status = lx__pipeline_transform(&loader->pipeline, &loader->pipeline.tracer, *batch, &why);
    if (status == LX_OK)
        return LX_OK;
    lx__error_propagate(error, &why);
    lx_batch_unref(*batch);
    *batch = NULL;
    return status;
}

/** Accounts for the time in which the consumer waited for @p batch, or for none. */
static void count_wait(lx_loader *loader, uint64_t started, const lx_batch *batch)
{
    uint64_t now = lx__clock_now();
    uint64_t position = atomic_load_explicit(&loader->position, memory_order_relaxed);
    atomic_fetch_add_explicit(&loader->wait_ns, now - started, memory_order_relaxed);
    lx__tracer_add(&loader->pipeline.tracer,
                   &(lx__span){.name = "wait",
                               .begin = started,
                               .end = now,
                               .position = batch != NULL ? batch->position : position,
                               .records = batch != NULL ? batch->rows : 0});
}

/** Traces the time since the last batch was returned, which was the consumer's own. */
static void trace_consumer(lx_loader *loader)
{
    lx__span *span = &loader->consumer;
    if (span->name != NULL && pthread_equal(loader->consumer_thread, pthread_self())) {
        span->end = lx__clock_now();
        lx__tracer_add(&loader->pipeline.tracer, span);
    }
    span->name = NULL;
}

/** Traces the number of batches in the pipeline after a call; the consumer's own time begins if the
 * call returns a batch. */
static void trace_return(lx_loader *loader, const lx_batch *batch)
{
    if (loader->pipeline.tracer.trace == NULL)
        return;
    lx__pipeline_trace(&loader->pipeline);
    if (batch == NULL)
        return;
    loader->consumer_thread = pthread_self();
    loader->consumer = (lx__span){.name = "consumer",
                                  .begin = lx__clock_now(),
                                  .position = batch->position,
                                  .records = batch->rows,
                                  .is_consumer = true};
}

/** After a batch could not be read, begins with it anew. Batches that were prepared in the meantime
 * are dropped, because they may have failed for the same reason, which may be over. */
static lx_status begin_anew(lx_loader *loader, uint64_t deadline, lx_error *error)
{
    lx_status status = lx__pipeline_drop_by(&loader->pipeline, deadline, error);
    if (status == LX_OK)
        seek(loader, atomic_load_explicit(&loader->position, memory_order_relaxed));
    return status;
}

static lx_status next(lx_loader *loader, uint64_t deadline, lx_batch **batch, lx_error *error)
{
    uint64_t end;
    lx_status status = lx__pipeline_check(&loader->pipeline, error);
    if (status == LX_OK && loader->stays)
        status = begin_anew(loader, deadline, error);
    if (status == LX_OK)
        status = fill_pipeline(loader, error);
    if (status == LX_END)
        end_run(loader);
    if (status != LX_OK)
        return status;

    uint64_t started = lx__clock_now();
    status = lx__pipeline_take(&loader->pipeline, deadline, batch, &end, error);
    count_wait(loader, started, *batch);
    if (status == LX_ERR_TIMEOUT || status == LX_ERR_CANCELED)
        return status;
    if (status == LX_OK && (*batch)->rows == 0)
        status = pad_empty(loader, batch, end, error);
    if (status == LX_ERR_CANCELED) /* canceled during the search: the batch does not count as
                                      returned */
        return status;
    loader->stays = status == LX_ERR_IO;
    if (!loader->stays)
        atomic_store_explicit(&loader->position, end, memory_order_relaxed);
    if (status == LX_OK)
        count_batch(loader, *batch);
    else
        atomic_fetch_add_explicit(&loader->failures, 1, memory_order_relaxed);
    if (!loader->pipeline.on_caller && !loader->stays)
        (void)fill_pipeline(loader, NULL); /* if this fails, the next call tries again and reports
                                              the failure */
    return status;
}

static lx_status next_by(lx_loader *loader, uint64_t deadline, lx_batch **batch, lx_error *error)
{
    if (batch == NULL)
        return lx__fail_null(error, "batch");
    *batch = NULL;
    if (loader == NULL)
        return lx__fail_null(error, "loader");
    lx_status status = lx__executor_check(loader->executor, error);
    if (status != LX_OK)
        return status;
    if (!lx__fair_mutex_lock(&loader->mutex, deadline))
        return LX_ERR_TIMEOUT;
    trace_consumer(loader);
    status = next(loader, deadline, batch, error);
    trace_return(loader, *batch);
    lx__fair_mutex_unlock(&loader->mutex);
    return status;
}

lx_status lx_loader_next(lx_loader *loader, lx_batch **batch, lx_error *error)
{
    LX__CLEAR(batch);
    return next_by(loader, LX__NEVER, batch, error);
}

lx_status lx_loader_next_timed(lx_loader *loader, uint64_t nanoseconds, lx_batch **batch,
                               lx_error *error)
{
    LX__CLEAR(batch);
    return next_by(loader, lx__clock_after(nanoseconds), batch, error);
}

/** Whether the run of epochs has no batch left; if so, moves the position to its end. Right after a
 * seek, returns false even if this rank has no batch left in the run: after the same seek, another
 * rank may have one, and all ranks must end the run together. */
static bool is_at_end(lx_loader *loader)
{
    uint64_t before = loader->schedule.position;
    lx__batch_slice slice;
    if (loader->stays || loader->pipeline.count != 0 ||
        lx__batch_schedule_at_start(&loader->schedule))
        return false;
    if (lx__batch_schedule_next(&loader->schedule, &slice, NULL) != LX_END) {
        loader->schedule.position = before;
        return false;
    }
    end_run(loader);
    return true;
}

void lx_loader_next_epoch(lx_loader *loader)
{
    if (is_in_child(loader))
        return;
    (void)lx__fair_mutex_lock(&loader->mutex, LX__NEVER);
    if (is_at_end(loader))
        lx__batch_schedule_seek(&loader->schedule, loader->schedule.position);
    lx__fair_mutex_unlock(&loader->mutex);
}

void lx_loader_cancel(lx_loader *loader)
{
    if (loader->pipeline.executor != NULL && !is_in_child(loader))
        lx__pipeline_cancel(&loader->pipeline);
}

lx_status lx_loader_seek(lx_loader *loader, uint64_t position, lx_error *error)
{
    if (loader == NULL)
        return lx__fail_null(error, "loader");
    lx_status status = lx__executor_check(loader->executor, error);
    if (status != LX_OK)
        return status;
    (void)lx__fair_mutex_lock(&loader->mutex, LX__NEVER);
    seek(loader, position);
    lx__fair_mutex_unlock(&loader->mutex);
    return LX_OK;
}

lx_status lx_loader_set_trace(lx_loader *loader, lx_trace *trace, lx_error *error)
{
    if (loader == NULL)
        return lx__fail_null(error, "loader");
    lx_status status = lx__executor_check(loader->executor, error);
    if (status != LX_OK)
        return status;
    (void)lx__fair_mutex_lock(&loader->mutex, LX__NEVER);
    lx__tracer_set(&loader->pipeline.tracer, trace);
    loader->consumer.name = NULL;
    lx__fair_mutex_unlock(&loader->mutex);
    return LX_OK;
}

/* ---- state and statistics */

uint64_t lx_loader_tell(const lx_loader *loader)
{
    return atomic_load_explicit(&loader->position, memory_order_relaxed);
}

lx_status lx_loader_get_batch_count(const lx_loader *loader, uint64_t *count, lx_error *error)
{
    if (loader == NULL || count == NULL)
        return lx__fail_null(error, loader == NULL ? "loader" : "count");
    /* Counting the batches of an order that is cut into batches takes a lock. */
    lx_status status = loader->schedule.batch_size == 0
                           ? lx__executor_check(loader->executor, error)
                           : LX_OK;
    if (status != LX_OK)
        return status;
    uint64_t position = atomic_load_explicit(&loader->position, memory_order_relaxed);
    return lx__batch_schedule_count(&loader->schedule, position, count, error);
}

void lx_loader_get_stats(const lx_loader *loader, lx_loader_stats *stats)
{
    const lx__batch_pool *pool = loader->batch_pool;
    uint64_t records = atomic_load_explicit(&loader->records, memory_order_relaxed);
    *stats = (lx_loader_stats){
        .batches = atomic_load_explicit(&loader->batches, memory_order_relaxed),
        .records = records,
        .bytes = records * pool->layout.record_bytes +
                 atomic_load_explicit(&loader->varying_bytes, memory_order_relaxed),
        .failures = atomic_load_explicit(&loader->failures, memory_order_relaxed),
        .damaged = atomic_load_explicit(&loader->damaged, memory_order_relaxed),
        .wait_ns = atomic_load_explicit(&loader->wait_ns, memory_order_relaxed),
        .fill_ns = atomic_load_explicit(&loader->pipeline.fill_ns, memory_order_relaxed),
        .map_ns = atomic_load_explicit(&loader->pipeline.map_ns, memory_order_relaxed),
        .transform_ns = atomic_load_explicit(&loader->pipeline.transform_ns, memory_order_relaxed),
        .blocks = atomic_load_explicit(&pool->blocks, memory_order_relaxed),
        .block_bytes = atomic_load_explicit(&pool->block_bytes, memory_order_relaxed),
        .prefetched = atomic_load_explicit(&loader->prefetched, memory_order_relaxed),
        .read_ahead = atomic_load_explicit(&loader->read_ahead.requested, memory_order_relaxed)};
}
