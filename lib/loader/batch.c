/* SPDX-License-Identifier: MIT */
#include "loader/batch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pages.h"
#include "executor/executor.h"
#include "executor/lifetime.h"
#include "sampler/random/sample-key.h"

/* Alignment of columns: a cache line, which suits vector code and devices, too. */
#define COLUMN_ALIGN 64

/* ---- layout */

static lx_status find_column(const lx_source *source, const char *name, size_t *position,
                             lx_error *error)
{
    for (size_t i = 0; i < lx_source_get_column_count(source); i++) {
        if (strcmp(lx_source_get_column(source, i)->name, name) == 0) {
            *position = i;
            return LX_OK;
        }
    }
    lx_status status = lx_fail(error, LX_ERR_NOT_FOUND, "the source has no column with this name");
    lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
    return status;
}

static lx_status choose_columns(lx__layout *layout, char *const *fields, size_t field_count,
                                lx_error *error)
{
    lx_status status = LX_OK;
    layout->count = field_count != 0 ? field_count : lx_source_get_column_count(layout->source);
    layout->positions = lx__alloc_array(layout->count, sizeof *layout->positions);
    layout->starts = lx__alloc_array(layout->count, sizeof *layout->starts);
    layout->missing = lx__alloc_array(layout->count, sizeof *layout->missing);
    if (layout->positions == NULL || layout->starts == NULL || layout->missing == NULL)
        return lx__fail_memory(error, "a loader");
    for (size_t i = 0; status == LX_OK && i < layout->count; i++) {
        if (field_count == 0)
            layout->positions[i] = i;
        else
            status = find_column(layout->source, fields[i], &layout->positions[i], error);
        for (size_t k = 0; status == LX_OK && k < i; k++)
            if (layout->positions[k] == layout->positions[i])
                status = lx_fail(error, LX_ERR_ARGUMENT,
                                 "column '%s' is selected twice: select each column only once",
                                 fields[i]);
    }
    return status;
}

lx_status lx__layout_add(lx__layout *layout, uint64_t bytes, uint64_t *start, lx_error *error)
{
    uint64_t all;
    *start = lx__align_up(layout->bytes, COLUMN_ALIGN);
    if (lx__multiply_fits(bytes, layout->batch_rows, &all) &&
        lx__add_fits(*start, all, &layout->bytes) && layout->bytes <= LX__BATCH_MAX &&
        layout->bytes <= SIZE_MAX / 4)
        return LX_OK;
    return lx_fail(error, LX_ERR_LIMIT,
                   "a batch of %llu records is too large: use a smaller batch_size, or "
                   "select fewer columns",
                   (unsigned long long)layout->batch_rows);
}

lx_status lx__layout_init(lx__layout *layout, lx_source *source, char *const *fields,
                          size_t field_count, uint64_t batch_rows, lx_error *error)
{
    *layout = (lx__layout){.source = lx_source_ref(source), .batch_rows = batch_rows};
    lx_status status = choose_columns(layout, fields, field_count, error);
    for (size_t i = 0; status == LX_OK && i < layout->count; i++) {
        const lx_column_info *column = lx_source_get_column(source, layout->positions[i]);
        bool varying = column->size == LX_NONE;
        status = lx__layout_add(layout, varying ? sizeof(uint64_t) : column->size,
                                &layout->starts[i], error);
        layout->bytes += varying ? sizeof(uint64_t) : 0; /* the end of the last record */
        layout->record_bytes += varying ? 0 : column->size;
        layout->varying = layout->varying || varying;
    }
    if (status == LX_OK)
        status = lx__layout_add(layout, sizeof(uint64_t), &layout->indices_start, error);
    return status == LX_OK
               ? lx__layout_add(layout, sizeof(uint64_t), &layout->positions_start, error)
               : status;
}

void lx__layout_free(lx__layout *layout)
{
    lx_source_unref(layout->source);
    for (size_t i = 0; layout->missing != NULL && i < layout->count; i++)
        lx__free(layout->missing[i].value);
    lx__free(layout->missing);
    lx__free(layout->positions);
    lx__free(layout->starts);
}

/* ---- pool of batches */

lx_status lx__batch_pool_new(lx_executor *executor, lx__layout *layout,
                             const lx__memory_functions *memory, size_t idle_max,
                             lx__batch_pool **batch_pool, lx_error *error)
{
    lx__batch_pool *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL) {
        lx__layout_free(layout);
        return lx__fail_memory(error, "a loader");
    }
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->mutex, NULL);
    made->layout = *layout;
    made->memory = *memory;
    made->idle_max = idle_max;
    lx__executor_hold(executor);
    made->executor = executor;
    *batch_pool = made;
    return LX_OK;
}

static bool is_in_child(const lx__batch_pool *batch_pool)
{
    return lx__executor_check(batch_pool->executor, NULL) != LX_OK;
}

static void count_bytes(lx__batch_pool *batch_pool, size_t before, size_t after)
{
    atomic_fetch_add_explicit(&batch_pool->block_bytes, (uint64_t)after - before,
                              memory_order_relaxed);
}

static void release_block(lx__batch_pool *batch_pool, lx_memory *block)
{
    const lx__memory_functions *memory = &batch_pool->memory;
    if (block->data == NULL)
        return;
    count_bytes(batch_pool, block->size, 0);
    if (memory->release != NULL)
        memory->release(block, memory->user);
    else
        lx__pages_free(block->data, block->size);
    *block = (lx_memory){.data = NULL};
}

static void free_batch(lx__batch_pool *batch_pool, lx_batch *batch)
{
    release_block(batch_pool, &batch->block);
    release_block(batch_pool, &batch->values);
    lx__free(batch->columns);
    lx__free(batch->targets);
    lx__free(batch);
}

/** Frees the idle batches, and returns whether there were any. With @p close, none is kept from
 * then on. */
static bool drop_idle(lx__batch_pool *batch_pool, bool close)
{
    pthread_mutex_lock(&batch_pool->mutex);
    lx_batch *batch = batch_pool->idle;
    batch_pool->idle = NULL;
    batch_pool->idle_count = 0;
    if (close)
        batch_pool->idle_max = 0;
    pthread_mutex_unlock(&batch_pool->mutex);
    bool any = batch != NULL;
    while (batch != NULL) {
        lx_batch *next = batch->next;
        free_batch(batch_pool, batch);
        batch = next;
    }
    return any;
}

/** Drops a reference held by the loader or by a batch. */
static void pool_unref(lx__batch_pool *batch_pool)
{
    if (atomic_fetch_sub_explicit(&batch_pool->references, 1, memory_order_acq_rel) != 1)
        return;
    if (!is_in_child(batch_pool)) { /* a thread of the parent may have held the mutex at the fork */
        lx__executor_release(batch_pool->executor);
        pthread_mutex_destroy(&batch_pool->mutex);
    }
    lx__layout_free(&batch_pool->layout);
    lx__free(batch_pool);
}

void lx__batch_pool_close(lx__batch_pool *batch_pool)
{
    if (!is_in_child(batch_pool))
        drop_idle(batch_pool, true);
    pool_unref(batch_pool);
}

/** Allocates a batch, and sets the members that are the same in all batches of the pool. */
static lx_status new_batch(lx__batch_pool *batch_pool, lx_batch **batch, lx_error *error)
{
    const lx__layout *layout = &batch_pool->layout;
    lx_batch *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a batch");
    made->columns = lx__alloc_array(layout->count, sizeof *made->columns);
    made->targets = lx__alloc_array(lx_source_get_column_count(layout->source),
                                    sizeof *made->targets);
    if (made->columns == NULL || made->targets == NULL) {
        free_batch(batch_pool, made);
        return lx__fail_memory(error, "a batch");
    }
    for (size_t i = 0; i < layout->count; i++) {
        const lx_column_info *info = lx_source_get_column(layout->source, layout->positions[i]);
        made->columns[i] = (lx_column){.name = info->name,
                                       .dtype = info->dtype,
                                       .ndim = info->ndim,
                                       .shape = info->shape,
                                       .size = info->size,
                                       .item_size = info->item_size};
    }
    *batch = made;
    return LX_OK;
}

static lx_batch *take_idle(lx__batch_pool *batch_pool)
{
    pthread_mutex_lock(&batch_pool->mutex);
    lx_batch *batch = batch_pool->idle;
    if (batch != NULL) {
        batch_pool->idle = batch->next;
        batch_pool->idle_count--;
    }
    pthread_mutex_unlock(&batch_pool->mutex);
    return batch;
}

/** Makes @p batch idle, or frees it if enough batches are idle. */
static void put_idle(lx__batch_pool *batch_pool, lx_batch *batch)
{
    if (!batch_pool->memory.keep) {
        release_block(batch_pool, &batch->block);
        release_block(batch_pool, &batch->values);
    }
    pthread_mutex_lock(&batch_pool->mutex);
    bool kept = batch_pool->idle_count < batch_pool->idle_max;
    if (kept) {
        batch->next = batch_pool->idle;
        batch_pool->idle = batch;
        batch_pool->idle_count++;
    }
    pthread_mutex_unlock(&batch_pool->mutex);
    if (!kept)
        free_batch(batch_pool, batch);
}

/** Allocates block->size bytes with the caller's function. */
static lx_status call_allocate(const lx__memory_functions *memory, lx_memory *block,
                               lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    size_t size = block->size;
    lx_status status = memory->allocate(size, memory->user, block, &why);
    status = lx__error_return(&why, status, "allocate");
    block->size = size;
    if (status == LX_OK && block->data != NULL && (uintptr_t)block->data % COLUMN_ALIGN == 0)
        return LX_OK;
    if (status == LX_OK) {
        lx_fail(&why, LX_ERR_NOMEM,
                "the function that allocates a loader's memory must return memory that is aligned "
                "to %d bytes, not %p",
                COLUMN_ALIGN, block->data);
        if (block->data != NULL)
            memory->release(block, memory->user);
    }
    why.status = LX_ERR_NOMEM;
    lx__error_propagate(error, &why);
    return LX_ERR_NOMEM;
}

/** Allocates block->size bytes. */
static lx_status allocate_block(const lx__memory_functions *memory, lx_memory *block,
                                lx_error *error)
{
    if (memory->allocate != NULL)
        return call_allocate(memory, block, error);
    block->data = lx__pages_alloc(block->size);
    if (block->data != NULL)
        return LX_OK;
    return lx_fail(error, LX_ERR_NOMEM,
                   "not enough memory for a batch of %zu bytes: release batches that are no longer "
                   "used, or use smaller batches or fewer of them",
                   block->size);
}

/** Replaces a block of a batch's memory with @p size bytes; when out of memory, frees the idle
 * batches and retries. */
static lx_status grow(lx__batch_pool *batch_pool, lx_memory *block, uint64_t size, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_memory made = {.size = (size_t)size};
    release_block(batch_pool, block);
    lx_status status = allocate_block(&batch_pool->memory, &made, &why);
    if (status != LX_OK && drop_idle(batch_pool, false)) {
        lx_error_clear(&why);
        made = (lx_memory){.size = (size_t)size};
        status = allocate_block(&batch_pool->memory, &made, &why);
    }
    if (status != LX_OK) {
        lx__error_propagate(error, &why);
        return status;
    }
    *block = made;
    count_bytes(batch_pool, 0, block->size);
    atomic_fetch_add_explicit(&batch_pool->blocks, 1, memory_order_relaxed);
    return LX_OK;
}

/** Updates the estimate of the size of a batch's values: it grows to that of the largest batch, and
 * then falls slowly, so that a single large batch does not stop the prefetching for good. */
static void estimate_values(lx__batch_pool *batch_pool, uint64_t bytes)
{
    uint64_t before = atomic_load_explicit(&batch_pool->values_estimate, memory_order_relaxed);
    uint64_t after = before - before / 32;
    after = bytes > after ? bytes : after;
    /* a lost update of another thread does no harm */
    atomic_store_explicit(&batch_pool->values_estimate, after != 0 ? after : 1,
                          memory_order_relaxed);
}

lx_status lx__batch_reserve(lx_batch *batch, uint64_t bytes, lx_error *error)
{
    lx__batch_pool *batch_pool = batch->batch_pool;
    if (bytes > LX__BATCH_MAX || bytes > SIZE_MAX / 4)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the values of a batch have too many bytes: use a smaller batch_size, or "
                       "select fewer columns");
    estimate_values(batch_pool, bytes);
    if (batch->values.data != NULL && batch->values.size >= bytes)
        return LX_OK;
    uint64_t slack = bytes / 8 + 1; /* so that slightly larger batches need no new memory */
    return grow(batch_pool, &batch->values, bytes + slack, error);
}

lx_status lx__batch_pool_take(lx__batch_pool *batch_pool, uint64_t rows, uint64_t position,
                              lx_batch **batch, lx_error *error)
{
    const lx__layout *layout = &batch_pool->layout;
    *batch = NULL;
    lx_status status = lx__executor_check(batch_pool->executor, error);
    if (status != LX_OK)
        return status;
    lx_batch *taken = take_idle(batch_pool);
    if (taken == NULL)
        status = new_batch(batch_pool, &taken, error);
    if (status == LX_OK && taken->block.size < layout->bytes) {
        status = grow(batch_pool, &taken->block, layout->bytes, error);
        if (status != LX_OK)
            free_batch(batch_pool, taken);
    }
    if (status != LX_OK)
        return status;
    atomic_fetch_add_explicit(&batch_pool->references, 1, memory_order_relaxed);
    atomic_store_explicit(&taken->references, 1, memory_order_relaxed);
    taken->batch_pool = batch_pool;
    taken->real = rows;
    taken->damaged = 0;
    taken->position = position;
    taken->indices = (uint64_t *)(void *)lx__batch_at(taken, layout->indices_start);
    taken->positions = (uint64_t *)(void *)lx__batch_at(taken, layout->positions_start);
    for (size_t i = 0; i < layout->count; i++) {
        lx_column *column = &taken->columns[i];
        uint8_t *start = lx__batch_at(taken, layout->starts[i]);
        bool varying = column->size == LX_NONE;
        column->data = varying ? NULL : start;
        column->offsets = varying ? (const uint64_t *)(void *)start : NULL;
        taken->targets[layout->positions[i]] = (lx_target){column->data, (size_t)column->size};
    }
    lx__batch_set_rows(taken, rows);
    *batch = taken;
    return LX_OK;
}

void lx__batch_set_rows(lx_batch *batch, uint64_t rows)
{
    batch->rows = rows;
    for (size_t i = 0; i < batch->batch_pool->layout.count; i++)
        batch->columns[i].rows = rows;
}

/* ---- public functions */

uint64_t lx_batch_get_row_count(const lx_batch *batch)
{
    return batch->rows;
}

uint64_t lx_batch_get_real_count(const lx_batch *batch)
{
    return batch->real;
}

const uint64_t *lx_batch_get_indices(const lx_batch *batch)
{
    return batch->indices;
}

uint64_t lx_batch_get_position(const lx_batch *batch)
{
    return batch->position;
}

uint64_t lx_batch_get_epoch(const lx_batch *batch)
{
    return batch->epoch;
}

void lx_batch_get_keys(const lx_batch *batch, uint64_t seed, uint64_t *keys)
{
    lx__sample_keys(seed, batch->epoch, batch->positions, batch->rows, keys);
}

size_t lx_batch_get_column_count(const lx_batch *batch)
{
    return batch->batch_pool->layout.count;
}

const lx_column *lx_batch_get_column(const lx_batch *batch, size_t position)
{
    return position < batch->batch_pool->layout.count ? &batch->columns[position] : NULL;
}

const lx_column *lx_batch_find_column(const lx_batch *batch, const char *name)
{
    for (size_t i = 0; i < batch->batch_pool->layout.count; i++)
        if (strcmp(batch->columns[i].name, name) == 0)
            return &batch->columns[i];
    return NULL;
}

const uint8_t *lx_batch_get_present(const lx_batch *batch, size_t position)
{
    const lx__layout *layout = &batch->batch_pool->layout;
    return position < layout->count && layout->missing[position].policy == LX_MISSING_MASK
               ? lx__batch_at(batch, layout->missing[position].start)
               : NULL;
}

const lx_memory *lx_batch_get_memory(const lx_batch *batch, size_t position)
{
    const lx__batch_pool *batch_pool = batch->batch_pool;
    if (position >= batch_pool->layout.count || batch_pool->memory.allocate == NULL)
        return NULL;
    return batch->columns[position].size == LX_NONE ? &batch->values : &batch->block;
}

void *lx_batch_get_result(const lx_batch *batch)
{
    return batch->result;
}

void lx_batch_set_result(lx_batch *batch, void *result, lx_release_function release)
{
    if (batch->release_result != NULL)
        batch->release_result(batch->result);
    batch->result = result;
    batch->release_result = release;
}

lx_batch *lx_batch_ref(lx_batch *batch)
{
    atomic_fetch_add_explicit(&batch->references, 1, memory_order_relaxed);
    return batch;
}

void lx_batch_unref(lx_batch *batch)
{
    if (batch == NULL ||
        atomic_fetch_sub_explicit(&batch->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__batch_pool *batch_pool = batch->batch_pool;
    lx_batch_set_result(batch, NULL, NULL);
    if (!is_in_child(batch_pool))
        put_idle(batch_pool, batch);
    pool_unref(batch_pool);
}
