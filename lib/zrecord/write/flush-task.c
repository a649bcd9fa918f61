/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush-task.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"

/* Output is written in portions of at least this size, except for the last portion. */
#define OUTPUT_BYTES ((size_t)1 << 20)
/* If a write is at least this large, the kernel is told to start writeback immediately. Smaller
 * writes wait for the sync of the commit. */
#define START_BYTES (OUTPUT_BYTES / 4)

/* The values of a write buffer are compressed in parts of about this size. */
#define PART_BYTES ((size_t)32 << 10)

static const uint8_t zeros[LX__ALIGN_MAX];

/** Writes to a chunk. If the next commit will have to wait for the sync, also starts the writeback
 * of larger writes. */
static lx_status write_chunk(const lx__flush_task *task, const lx__chunk_file *chunk,
                             const void *data, size_t size, uint64_t start, lx_error *error)
{
    lx_status status = lx__file_write(&chunk->file, data, size, start, error);
    if (status == LX_OK && task->chunks.pool->each_synced && size >= START_BYTES)
        lx__file_start_writeback(&chunk->file, start, size);
    return status;
}

/** Completes the entry of a payload that is stored at offset @p start of @p chunk. */
static void complete_stored(const lx__flush_task *task, lx__buffered_value *value,
                            const lx__chunk_file *chunk, uint64_t start, const uint8_t *stored)
{
    value->entry.chunk = chunk->now.id;
    value->entry.offset = start;
    value->entry.crc = lx__entry_crc(&value->entry, &task->rules[value->field], stored);
}

static bool goes_to_chunk(const lx__buffered_value *value)
{
    return value->entry.physical != 0 && !lx__entry_is_inline(&value->entry);
}

/** Completes the entries of inline values, and returns the number of values to store in chunks. */
static uint64_t complete_inline_values(const lx__flush_task *task, lx__write_buffer *buffer)
{
    uint64_t payloads = 0;
    for (size_t i = 0; i < buffer->count; i++) {
        lx__buffered_value *value = &buffer->values[i];
        if (lx__entry_is_inline(&value->entry))
            lx__entry_complete_inline(&value->entry, &task->rules[value->field]);
        payloads += goes_to_chunk(value);
    }
    return payloads;
}

/** Handles the usual case of raw records: the buffer's data, which is already laid out, fits at the
 * end of the current chunk and is written with one call. Sets @p done to false if it does not
 * fit. */
static lx_status write_whole(lx__flush_task *task, lx__write_buffer *buffer, uint64_t payloads,
                             bool *done, lx_error *error)
{
    const lx__chunk_pool *pool = task->chunks.pool;
    lx__chunk_file *chunk;
    uint64_t start, bytes, records;
    *done = false;
    lx__chunk_files_left(&task->chunks, &bytes, &records);
    if (task->compresses ||
        (bytes != 0 && (payloads > records || buffer->used + buffer->align > bytes)) ||
        payloads > pool->records_limit || buffer->used > pool->bytes_limit)
        return LX_OK;
    lx_status status = lx__chunk_files_room(&task->chunks, buffer->used, (uint32_t)buffer->align,
                                            &chunk, &start, error);
    if (status == LX_OK && payloads > pool->records_limit - chunk->now.records)
        return LX_OK; /* the chunk is partly filled and cannot take this many records */
    if (status == LX_OK && start != chunk->now.bytes)
        status = lx__file_write(&chunk->file, zeros, (size_t)(start - chunk->now.bytes),
                                chunk->now.bytes, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < buffer->count; i++) {
        lx__buffered_value *value = &buffer->values[i];
        if (goes_to_chunk(value))
            complete_stored(task, value, chunk, start + value->entry.offset,
                            buffer->data + value->entry.offset);
    }
    chunk->dirty = true;
    status = write_chunk(task, chunk, buffer->data, buffer->used, start, error);
    if (status == LX_OK) {
        chunk->now.bytes = start + buffer->used;
        chunk->now.records += (uint32_t)payloads;
        *done = true;
        status = lx__write_buffer_add_chunk(buffer, &chunk->now, error);
    }
    return status;
}

/** Writes the collected output to the end of the current chunk. */
static lx_status write_output(lx__flush_task *task, lx_error *error)
{
    if (task->output.used == 0)
        return LX_OK;
    lx__chunk_file *chunk = lx__chunk_files_last(&task->chunks);
    size_t size = task->output.used;
    task->output.used = 0;
    chunk->dirty = true;
    return write_chunk(task, chunk, task->output.data, size, chunk->now.bytes - size, error);
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

/* ---- compression */

/** Returns the compressor's deflater for a codec and a level; NULL if out of memory. */
static lx__deflater *find_deflater(lx__compressor *compressor, const lx__codec *codec, int level)
{
    for (size_t i = 0; i < compressor->deflater_count; i++)
        if (compressor->deflaters[i]->codec == codec && compressor->deflaters[i]->level == level)
            return compressor->deflaters[i];
    lx__deflater **list = lx__grow_array(compressor->deflaters, compressor->deflater_count,
                                         &compressor->deflater_capacity, sizeof *list);
    if (list == NULL)
        return NULL;
    compressor->deflaters = list;
    lx__deflater *deflater = lx__deflater_new(codec, level);
    if (deflater != NULL)
        list[compressor->deflater_count++] = deflater;
    return deflater;
}

/** Compresses a value in place if that makes it smaller. Returns false if out of memory. */
static bool compress(lx__compressor *compressor, const lx__codec *codec,
                     const lx__codec_settings *settings, lx__entry *entry, uint8_t *data)
{
    lx__deflater *deflater = find_deflater(compressor, codec, settings->level);
    if (deflater == NULL || reserve(&compressor->compressed, entry->logical, NULL) != LX_OK)
        return false;
    deflater->dictionary = settings->dictionary;
    size_t size = lx__deflate(deflater, data, entry->logical, compressor->compressed.data,
                              entry->logical - 1);
    if (size == LX__DEFLATE_NOMEM)
        return false;
    if (size != 0) {
        entry->physical = (uint32_t)size;
        memcpy(data, compressor->compressed.data, size);
    }
    return true;
}

/** Whether a value is still to be compressed. */
static bool is_compressible(const lx__flush_task *task, const lx__buffered_value *value)
{
    const lx__codec *codec = task->rules[value->field].codec;
    return goes_to_chunk(value) && codec != NULL && codec->deflate != NULL && !value->as_stored;
}

/** The compression of a write buffer in parts, each with a range of its values and a compressor. */
typedef struct compress_job {
    lx__task task;
    lx__flush_task *flush_task;
    lx__write_buffer *buffer;
    size_t parts;
    atomic_bool failed;
    atomic_bool done[LX__COMPRESSORS];
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool over; /**< Guarded by the mutex. */
} compress_job;

static void compress_part(lx__task *task, size_t part)
{
    compress_job *job = LX__CONTAINER_OF(task, compress_job, task);
    const lx__flush_task *flush_task = job->flush_task;
    size_t count = job->buffer->count, end = count * (part + 1) / job->parts;
    for (size_t i = count * part / job->parts; i < end; i++) {
        lx__buffered_value *value = &job->buffer->values[i];
        if (!is_compressible(flush_task, value))
            continue;
        if (!compress(&job->flush_task->compressors[part], flush_task->rules[value->field].codec,
                      &flush_task->codec_settings[value->field], &value->entry,
                      job->buffer->data + value->entry.offset))
            atomic_store(&job->failed, true);
        value->as_stored = true;
    }
    atomic_store(&job->done[part], true);
}

static void end_compress(lx__task *task, bool canceled)
{
    compress_job *job = LX__CONTAINER_OF(task, compress_job, task);
    (void)canceled; /* the parts that were canceled are not done */
    pthread_mutex_lock(&job->mutex);
    job->over = true;
    pthread_cond_signal(&job->ended);
    pthread_mutex_unlock(&job->mutex);
}

/** Has the readers of the executor run the parts, and helps them. */
static void share_parts(compress_job *job)
{
    lx_executor *executor = job->flush_task->executor;
    pthread_mutex_init(&job->mutex, NULL);
    pthread_cond_init(&job->ended, NULL);
    lx__task_init(&job->task, compress_part, end_compress, job->parts);
    if (lx__executor_submit(executor, LX_QUEUE_READ, &job->task, NULL) == LX_OK) {
        lx__executor_help(executor, &job->task);
        pthread_mutex_lock(&job->mutex);
        while (!job->over)
            pthread_cond_wait(&job->ended, &job->mutex);
        pthread_mutex_unlock(&job->mutex);
    }
    pthread_cond_destroy(&job->ended);
    pthread_mutex_destroy(&job->mutex);
}

/** Compresses the values of a write buffer. */
static lx_status compress_values(lx__flush_task *task, lx__write_buffer *buffer, lx_error *error)
{
    compress_job job = {.flush_task = task, .buffer = buffer};
    size_t bytes = 0;
    for (size_t i = 0; i < buffer->count; i++)
        bytes += is_compressible(task, &buffer->values[i]) ? buffer->values[i].entry.logical : 0;
    if (bytes == 0)
        return LX_OK;
    job.parts = bytes / PART_BYTES + 1;
    if (job.parts > LX__COMPRESSORS)
        job.parts = LX__COMPRESSORS;
    if (job.parts > 1 && task->executor != NULL)
        share_parts(&job);
    for (size_t part = 0; part < job.parts; part++)
        if (!atomic_load(&job.done[part]))
            compress_part(&job.task, part);
    return atomic_load(&job.failed) ? lx__fail_memory(error, "compression") : LX_OK;
}

/* ---- payloads */

/** Appends one payload to the output; begins a new chunk if the current one is full. */
static lx_status append_value(lx__flush_task *task, lx__write_buffer *buffer, size_t position,
                              lx_error *error)
{
    lx__buffered_value *value = &buffer->values[position];
    const lx__entry_rules *rules = &task->rules[value->field];
    const uint8_t *stored = buffer->data + value->entry.offset;
    lx_status status = LX_OK;
    uint32_t size = value->entry.physical;
    if (!lx__chunk_files_fits(&task->chunks, size, rules->align))
        status = write_output(task, error);
    lx__chunk_file *chunk;
    uint64_t start;
    if (status == LX_OK)
        status = lx__chunk_files_room(&task->chunks, size, rules->align, &chunk, &start, error);
    if (status == LX_OK)
        status = reserve(&task->output, (size_t)size + LX__ALIGN_MAX, error);
    if (status != LX_OK)
        return status;

    size_t gap = (size_t)(start - chunk->now.bytes);
    uint8_t *to = task->output.data + task->output.used;
    memset(to, 0, gap);
    memcpy(to + gap, stored, size);
    complete_stored(task, value, chunk, start, stored);
    task->output.used += gap + size;
    chunk->now.bytes = start + size;
    chunk->now.records++;
    status = lx__write_buffer_add_chunk(buffer, &chunk->now, error);
    return status == LX_OK && task->output.used >= OUTPUT_BYTES ? write_output(task, error)
                                                                : status;
}

lx_status lx__flush_task_write(lx__flush_task *task, lx__write_buffer *buffer, lx_error *error)
{
    bool done;
    uint64_t payloads = complete_inline_values(task, buffer);
    if (payloads == 0)
        return LX_OK;
    lx_status status = task->compresses ? compress_values(task, buffer, error) : LX_OK;
    if (status == LX_OK)
        status = write_whole(task, buffer, payloads, &done, error);
    for (size_t i = 0; status == LX_OK && !done && i < buffer->count; i++)
        if (goes_to_chunk(&buffer->values[i]))
            status = append_value(task, buffer, i, error);
    if (status == LX_OK)
        status = write_output(task, error);
    task->output.used = 0;
    return status;
}

static void free_compressor(lx__compressor *compressor)
{
    for (size_t i = 0; i < compressor->deflater_count; i++)
        lx__deflater_free(compressor->deflaters[i]);
    lx__free(compressor->deflaters);
    lx__free(compressor->compressed.data);
}

void lx__flush_task_close(lx__flush_task *task)
{
    lx__chunk_files_close(&task->chunks);
    for (size_t i = 0; i < LX__COMPRESSORS; i++)
        free_compressor(&task->compressors[i]);
    lx__free(task->output.data);
}
