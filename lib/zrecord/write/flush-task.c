/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush-task.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Output is written in portions of at least this size, except for the last portion. */
#define OUTPUT_BYTES ((size_t)1 << 20)
/* If a write is at least this large, the kernel is told to start writeback immediately. Smaller
 * writes wait for the sync of the commit. */
#define START_BYTES (OUTPUT_BYTES / 4)

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

/** Compresses a value of a compressed field if that makes it smaller; @p stored then points to the
 * flush task's memory. */
static lx_status compress(lx__flush_task *task, const lx__codec *codec, lx__entry *entry,
                          const uint8_t **stored, lx_error *error)
{
    if (task->deflater != NULL && task->deflater->codec != codec) {
        lx__deflater_free(task->deflater);
        task->deflater = NULL;
    }
    if (task->deflater == NULL)
        task->deflater = lx__deflater_new(codec, task->level);
    if (task->deflater == NULL)
        return lx__fail_memory(error, "compression");
    lx_status status = reserve(&task->packed, entry->logical, error);
    if (status != LX_OK)
        return status;
    size_t size = lx__deflate(task->deflater, *stored, entry->logical, task->packed.data,
                              entry->logical - 1);
    if (size != 0) {
        entry->physical = (uint32_t)size;
        *stored = task->packed.data;
    }
    return LX_OK;
}

/** Appends one payload to the output; begins a new chunk if the current one is full. */
static lx_status append_value(lx__flush_task *task, lx__write_buffer *buffer, size_t position,
                              lx_error *error)
{
    lx__buffered_value *value = &buffer->values[position];
    const lx__entry_rules *rules = &task->rules[value->field];
    const uint8_t *stored = buffer->data + value->entry.offset;
    lx_status status = LX_OK;
    if (rules->codec != NULL && rules->codec->deflate != NULL && !value->as_stored)
        status = compress(task, rules->codec, &value->entry, &stored, error);
    uint32_t size = value->entry.physical;
    if (status == LX_OK && !lx__chunk_files_fits(&task->chunks, size, rules->align))
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
    lx_status status = write_whole(task, buffer, payloads, &done, error);
    for (size_t i = 0; status == LX_OK && !done && i < buffer->count; i++)
        if (goes_to_chunk(&buffer->values[i]))
            status = append_value(task, buffer, i, error);
    if (status == LX_OK)
        status = write_output(task, error);
    task->output.used = 0;
    return status;
}

void lx__flush_task_close(lx__flush_task *task)
{
    lx__chunk_files_close(&task->chunks);
    lx__deflater_free(task->deflater);
    lx__free(task->output.data);
    lx__free(task->packed.data);
}
