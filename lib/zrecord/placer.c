/* SPDX-License-Identifier: MIT */
#include "zrecord/placer.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* Output is written when it has this much, in the general case. */
#define OUTPUT_BYTES ((size_t)1 << 20)

static const uint8_t zeros[LX__ALIGN_MAX];

/* ---- one stage */

/** Completes the entry of a payload at @p start of @p chunk. */
static void seal_stored(const lx__placer *placer, size_t position, lx__staged *value,
                        const lx__chunk_file *chunk, uint64_t start, const uint8_t *stored)
{
    value->entry.chunk = chunk->now.id;
    value->entry.offset = start;
    value->entry.crc =
        lx__entry_crc(&value->entry, &placer->rules[position % placer->fields], stored);
}

static bool goes_to_chunk(const lx__staged *value)
{
    return value->entry.physical != 0 && !lx__entry_is_inline(&value->entry);
}

/** Completes what needs no chunk; counts what does. */
static uint64_t seal_inline_values(const lx__placer *placer, lx__stage *stage)
{
    uint64_t payloads = 0;
    for (size_t i = 0; i < stage->count; i++) {
        lx__staged *value = &stage->values[i];
        if (lx__entry_is_inline(&value->entry))
            lx__entry_seal_inline(&value->entry, &placer->rules[i % placer->fields]);
        payloads += goes_to_chunk(value);
    }
    return payloads;
}

/**
 * The usual case of raw records: the stage's data, laid out as it is, fits behind what the chunk
 * has, and is written in one piece. False in @p done where it does not.
 */
static lx_status place_whole(lx__placer *placer, lx__stage *stage, uint64_t payloads, bool *done,
                             lx_error *error)
{
    lx__chunk_file *chunk;
    uint64_t start, bytes, records;
    *done = false;
    lx__chunk_files_left(&placer->chunks, &bytes, &records);
    if (placer->compresses ||
        (bytes != 0 && (payloads > records || stage->used + stage->align > bytes)) ||
        payloads > placer->chunks.records_limit || stage->used > placer->chunks.bytes_limit)
        return LX_OK;
    lx_status status = lx__chunk_files_room(&placer->chunks, stage->used, (uint32_t)stage->align,
                                            &chunk, &start, error);
    if (status == LX_OK && start != chunk->now.bytes)
        status = lx__file_write(&chunk->file, zeros, (size_t)(start - chunk->now.bytes),
                                chunk->now.bytes, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < stage->count; i++) {
        lx__staged *value = &stage->values[i];
        if (goes_to_chunk(value))
            seal_stored(placer, i, value, chunk, start + value->at, stage->data + value->at);
    }
    chunk->dirty = true;
    status = lx__file_write(&chunk->file, stage->data, stage->used, start, error);
    if (status == LX_OK) {
        chunk->now.bytes = start + stage->used;
        chunk->now.records += (uint32_t)payloads;
        *done = true;
    }
    return status;
}

/** Writes the output so far; it is the end of the chunk that is appended to. */
static lx_status write_output(lx__placer *placer, lx_error *error)
{
    if (placer->output.used == 0)
        return LX_OK;
    lx__chunk_file *chunk = lx__chunk_files_last(&placer->chunks);
    size_t size = placer->output.used;
    placer->output.used = 0;
    chunk->dirty = true;
    return lx__file_write(&chunk->file, placer->output.data, size, chunk->now.bytes - size, error);
}

static lx_status reserve(lx__buffer *buffer, size_t size, lx_error *error)
{
    if (buffer->capacity - buffer->used >= size)
        return LX_OK;
    size_t capacity = buffer->used + size;
    if (capacity < 2 * OUTPUT_BYTES)
        capacity = 2 * OUTPUT_BYTES;
    uint8_t *data = lx__resize_array(buffer->data, capacity, 1);
    if (data == NULL)
        return lx__fail_memory(error, "payloads to be written");
    buffer->data = data;
    buffer->capacity = capacity;
    return LX_OK;
}

/** Compresses a value, if it is to be and shrinks; @p stored is then in the placer's memory. */
static lx_status compress(lx__placer *placer, lx__entry *entry, const uint8_t **stored,
                          lx_error *error)
{
    if (placer->deflater == NULL)
        placer->deflater = lx__deflater_new(placer->level);
    if (placer->deflater == NULL)
        return lx__fail_memory(error, "compression");
    lx_status status = reserve(&placer->packed, entry->logical, error);
    if (status != LX_OK)
        return status;
    size_t size = lx__deflate(placer->deflater, *stored, entry->logical, placer->packed.data,
                              entry->logical - 1);
    if (size != 0) {
        entry->physical = (uint32_t)size;
        *stored = placer->packed.data;
    }
    return LX_OK;
}

/** Appends one payload to the output of the chunk that has room for it. */
static lx_status place_value(lx__placer *placer, const lx__stage *stage, size_t position,
                             lx_error *error)
{
    lx__staged *value = &stage->values[position];
    const lx__entry_rules *rules = &placer->rules[position % placer->fields];
    const uint8_t *stored = stage->data + value->at;
    lx_status status = LX_OK;
    if (rules->flate)
        status = compress(placer, &value->entry, &stored, error);
    uint32_t size = value->entry.physical;
    if (status == LX_OK && !lx__chunk_files_fits(&placer->chunks, size, rules->align))
        status = write_output(placer, error);
    lx__chunk_file *chunk;
    uint64_t start;
    if (status == LX_OK)
        status = lx__chunk_files_room(&placer->chunks, size, rules->align, &chunk, &start, error);
    if (status == LX_OK)
        status = reserve(&placer->output, (size_t)size + LX__ALIGN_MAX, error);
    if (status != LX_OK)
        return status;

    size_t gap = (size_t)(start - chunk->now.bytes);
    uint8_t *to = placer->output.data + placer->output.used;
    memset(to, 0, gap);
    memcpy(to + gap, stored, size);
    seal_stored(placer, position, value, chunk, start, stored);
    placer->output.used += gap + size;
    chunk->now.bytes = start + size;
    chunk->now.records++;
    return placer->output.used >= OUTPUT_BYTES ? write_output(placer, error) : LX_OK;
}

static lx_status place_stage(lx__placer *placer, lx__stage *stage, lx_error *error)
{
    bool done;
    uint64_t payloads = seal_inline_values(placer, stage);
    if (payloads == 0)
        return LX_OK;
    lx_status status = place_whole(placer, stage, payloads, &done, error);
    for (size_t i = 0; status == LX_OK && !done && i < stage->count; i++)
        if (goes_to_chunk(&stage->values[i]))
            status = place_value(placer, stage, i, error);
    if (status == LX_OK)
        status = write_output(placer, error);
    placer->output.used = 0;
    return status;
}

/* ---- the queue */

/** Notes a stage's outcome; the first failure is kept. */
static void conclude(lx__placer *placer, lx__stage *stage, lx_status status,
                     const lx_error *failure)
{
    pthread_mutex_lock(&placer->mutex);
    stage->placed = status == LX_OK;
    if (status != LX_OK && !placer->failed) {
        placer->failed = true;
        placer->failure = *failure;
    }
    pthread_cond_broadcast(&placer->changed);
    pthread_mutex_unlock(&placer->mutex);
}

static lx__stage *take_stage(lx__placer *placer)
{
    pthread_mutex_lock(&placer->mutex);
    lx__stage *stage = placer->failed ? NULL : placer->head;
    if (placer->failed)
        placer->head = NULL; /* what stands behind a failure is not placed */
    else if (stage != NULL)
        placer->head = stage->next;
    if (placer->head == NULL)
        placer->tail = NULL;
    pthread_mutex_unlock(&placer->mutex);
    return stage;
}

static lx__placer *placer_of(lx__task *task)
{
    return (lx__placer *)((char *)task - offsetof(lx__placer, task));
}

static void run(lx__task *task, size_t part)
{
    (void)part;
    lx__placer *placer = placer_of(task);
    lx__stage *stage;
    while ((stage = take_stage(placer)) != NULL) {
        lx_error failure = LX_ERROR_INIT;
        lx_status status = place_stage(placer, stage, &failure);
        conclude(placer, stage, status, &failure);
    }
}

static void fail_locked(lx__placer *placer, lx_status status, const char *message)
{
    if (!placer->failed)
        lx__fail(&placer->failure, status, "%s", message);
    placer->failed = true;
    placer->head = placer->tail = NULL;
}

/** The task is the placer's again. A stage may have come after run() looked last. */
static void finish(lx__task *task, bool canceled)
{
    lx__placer *placer = placer_of(task);
    pthread_mutex_lock(&placer->mutex);
    if (canceled)
        fail_locked(placer, LX_ERR_STATE, "the executor was closed before all was written");
    placer->running = false;
    if (placer->head != NULL && !placer->failed) {
        placer->running = true;
        placer->starts++;
        pthread_mutex_unlock(&placer->mutex);
        lx_error failure = LX_ERROR_INIT;
        lx_status status =
            lx__executor_submit(placer->executor, LX_QUEUE_WRITE, task, &failure);
        pthread_mutex_lock(&placer->mutex);
        if (status != LX_OK) {
            placer->running = false;
            fail_locked(placer, status, failure.message);
        }
    }
    pthread_cond_broadcast(&placer->changed);
    pthread_mutex_unlock(&placer->mutex);
}

lx_status lx__placer_submit(lx__placer *placer, lx__stage *stage, lx_error *error)
{
    pthread_mutex_lock(&placer->mutex);
    if (placer->failed) {
        /* Left out of the queue, which outlives the failure; lx__placer_wait() tells of it. */
        pthread_mutex_unlock(&placer->mutex);
        return LX_OK;
    }
    stage->next = NULL;
    if (placer->tail != NULL)
        placer->tail->next = stage;
    else
        placer->head = stage;
    placer->tail = stage;
    bool start = !placer->running;
    placer->running = true;
    placer->starts += start;
    pthread_mutex_unlock(&placer->mutex);
    if (!start)
        return LX_OK;
    lx_status status =
        lx__executor_submit(placer->executor, LX_QUEUE_WRITE, &placer->task, error);
    if (status != LX_OK) {
        pthread_mutex_lock(&placer->mutex);
        placer->running = false;
        placer->head = placer->tail = NULL;
        pthread_mutex_unlock(&placer->mutex);
    }
    return status;
}

lx_status lx__placer_place(lx__placer *placer, lx__stage *stage, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = place_stage(placer, stage, &failure);
    conclude(placer, stage, status, &failure);
    if (status != LX_OK)
        lx__error_pass(error, &failure);
    return status;
}

/** Waits for a change while the task is running, unless @p stage (NULL: none) was placed meanwhile;
 * the mutex is held before and after. A task that has not begun is run here: the threads of the
 * queue may all be in tasks that wait for this one, or for the caller. */
static void wait_for_change(lx__placer *placer, const lx__stage *stage)
{
    unsigned starts = placer->starts;
    pthread_mutex_unlock(&placer->mutex);
    lx__executor_help(placer->executor, &placer->task);
    pthread_mutex_lock(&placer->mutex);
    bool placed = stage != NULL && stage->placed; /* it was told while nobody listened */
    if (!placed && placer->running && placer->starts == starts)
        pthread_cond_wait(&placer->changed, &placer->mutex);
}

lx_status lx__placer_wait(lx__placer *placer, const lx__stage *stage, lx_error *error)
{
    lx_status status = LX_OK;
    pthread_mutex_lock(&placer->mutex);
    while (!stage->placed && !placer->failed)
        wait_for_change(placer, stage);
    if (!stage->placed) {
        status = placer->failure.status;
        lx__error_pass(error, &placer->failure);
    }
    pthread_mutex_unlock(&placer->mutex);
    return status;
}

void lx__placer_drain(lx__placer *placer)
{
    pthread_mutex_lock(&placer->mutex);
    while (placer->running)
        wait_for_change(placer, NULL);
    pthread_mutex_unlock(&placer->mutex);
}

bool lx__placer_idle(lx__placer *placer)
{
    pthread_mutex_lock(&placer->mutex);
    bool idle = !placer->running;
    pthread_mutex_unlock(&placer->mutex);
    return idle;
}

void lx__placer_reset(lx__placer *placer)
{
    placer->failed = false;
    placer->failure = (lx_error)LX_ERROR_INIT;
}

/* ---- beginning and end */

void lx__placer_init(lx__placer *placer, int level)
{
    placer->level = level;
    placer->failure = (lx_error)LX_ERROR_INIT;
    pthread_mutex_init(&placer->mutex, NULL);
    pthread_cond_init(&placer->changed, NULL);
    lx__task_init(&placer->task, run, finish, 1);
}

void lx__placer_start(lx__placer *placer, lx_executor *executor, const lx__entry_rules *rules,
                      size_t fields)
{
    placer->executor = executor;
    placer->rules = rules;
    placer->fields = fields;
    for (size_t i = 0; i < fields; i++)
        placer->compresses = placer->compresses || rules[i].flate;
}

void lx__placer_close(lx__placer *placer)
{
    lx__chunk_files_close(&placer->chunks);
    lx__deflater_free(placer->deflater);
    lx__free(placer->output.data);
    lx__free(placer->packed.data);
    pthread_cond_destroy(&placer->changed);
    pthread_mutex_destroy(&placer->mutex);
}
