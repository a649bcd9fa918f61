/* SPDX-License-Identifier: MIT */
#include "zrecord/write/flush-task.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Output is written when it has this much, in the general case. */
#define OUTPUT_BYTES ((size_t)1 << 20)
/* Fewer bytes are on their way soon enough when the commit syncs them. */
#define START_BYTES (OUTPUT_BYTES / 4)

static const uint8_t zeros[LX__ALIGN_MAX];

/** Writes to a chunk, and starts what will be waited for at the next commit. */
static lx_status write_chunk(const lx__lane *lane, const lx__chunk_file *chunk, const void *data,
                             size_t size, uint64_t start, lx_error *error)
{
    lx_status status = lx__file_write(&chunk->file, data, size, start, error);
    if (status == LX_OK && lane->chunks.pool->each_synced && size >= START_BYTES)
        lx__file_start_sync(&chunk->file, start, size);
    return status;
}

/** Completes the entry of a payload at @p start of @p chunk. */
static void seal_stored(const lx__lane *lane, lx__staged *value, const lx__chunk_file *chunk,
                        uint64_t start, const uint8_t *stored)
{
    value->entry.chunk = chunk->now.id;
    value->entry.offset = start;
    value->entry.crc = lx__entry_crc(&value->entry, &lane->rules[value->field], stored);
}

static bool goes_to_chunk(const lx__staged *value)
{
    return value->entry.physical != 0 && !lx__entry_is_inline(&value->entry);
}

/** Completes what needs no chunk; counts what does. */
static uint64_t seal_inline_values(const lx__lane *lane, lx__stage *stage)
{
    uint64_t payloads = 0;
    for (size_t i = 0; i < stage->count; i++) {
        lx__staged *value = &stage->values[i];
        if (lx__entry_is_inline(&value->entry))
            lx__entry_seal_inline(&value->entry, &lane->rules[value->field]);
        payloads += goes_to_chunk(value);
    }
    return payloads;
}

/**
 * The usual case of raw records: the stage's data, laid out as it is, fits behind what the chunk
 * has, and is written in one piece. False in @p done where it does not.
 */
static lx_status place_whole(lx__lane *lane, lx__stage *stage, uint64_t payloads, bool *done,
                             lx_error *error)
{
    const lx__chunk_pool *pool = lane->chunks.pool;
    lx__chunk_file *chunk;
    uint64_t start, bytes, records;
    *done = false;
    lx__chunk_files_left(&lane->chunks, &bytes, &records);
    if (lane->compresses ||
        (bytes != 0 && (payloads > records || stage->used + stage->align > bytes)) ||
        payloads > pool->records_limit || stage->used > pool->bytes_limit)
        return LX_OK;
    lx_status status = lx__chunk_files_room(&lane->chunks, stage->used, (uint32_t)stage->align,
                                            &chunk, &start, error);
    if (status == LX_OK && payloads > pool->records_limit - chunk->now.records)
        return LX_OK; /* one that was left before, and takes not so many */
    if (status == LX_OK && start != chunk->now.bytes)
        status = lx__file_write(&chunk->file, zeros, (size_t)(start - chunk->now.bytes),
                                chunk->now.bytes, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < stage->count; i++) {
        lx__staged *value = &stage->values[i];
        if (goes_to_chunk(value))
            seal_stored(lane, value, chunk, start + value->entry.offset,
                        stage->data + value->entry.offset);
    }
    chunk->dirty = true;
    status = write_chunk(lane, chunk, stage->data, stage->used, start, error);
    if (status == LX_OK) {
        chunk->now.bytes = start + stage->used;
        chunk->now.records += (uint32_t)payloads;
        *done = true;
        status = lx__stage_note_chunk(stage, &chunk->now, error);
    }
    return status;
}

/** Writes the output so far; it is the end of the chunk that is appended to. */
static lx_status write_output(lx__lane *lane, lx_error *error)
{
    if (lane->output.used == 0)
        return LX_OK;
    lx__chunk_file *chunk = lx__chunk_files_last(&lane->chunks);
    size_t size = lane->output.used;
    lane->output.used = 0;
    chunk->dirty = true;
    return write_chunk(lane, chunk, lane->output.data, size, chunk->now.bytes - size, error);
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

/** Compresses a value, if it is to be and shrinks; @p stored is then in the lane's memory. */
static lx_status compress(lx__lane *lane, const lx__codec *codec, lx__entry *entry,
                          const uint8_t **stored, lx_error *error)
{
    if (lane->deflater != NULL && lane->deflater->codec != codec) {
        lx__deflater_free(lane->deflater);
        lane->deflater = NULL;
    }
    if (lane->deflater == NULL)
        lane->deflater = lx__deflater_new(codec, lane->level);
    if (lane->deflater == NULL)
        return lx__fail_memory(error, "compression");
    lx_status status = reserve(&lane->packed, entry->logical, error);
    if (status != LX_OK)
        return status;
    size_t size = lx__deflate(lane->deflater, *stored, entry->logical, lane->packed.data,
                              entry->logical - 1);
    if (size != 0) {
        entry->physical = (uint32_t)size;
        *stored = lane->packed.data;
    }
    return LX_OK;
}

/** Appends one payload to the output of the chunk that has room for it. */
static lx_status place_value(lx__lane *lane, lx__stage *stage, size_t position, lx_error *error)
{
    lx__staged *value = &stage->values[position];
    const lx__entry_rules *rules = &lane->rules[value->field];
    const uint8_t *stored = stage->data + value->entry.offset;
    lx_status status = LX_OK;
    if (rules->codec != NULL && rules->codec->deflate != NULL && !value->as_stored)
        status = compress(lane, rules->codec, &value->entry, &stored, error);
    uint32_t size = value->entry.physical;
    if (status == LX_OK && !lx__chunk_files_fits(&lane->chunks, size, rules->align))
        status = write_output(lane, error);
    lx__chunk_file *chunk;
    uint64_t start;
    if (status == LX_OK)
        status = lx__chunk_files_room(&lane->chunks, size, rules->align, &chunk, &start, error);
    if (status == LX_OK)
        status = reserve(&lane->output, (size_t)size + LX__ALIGN_MAX, error);
    if (status != LX_OK)
        return status;

    size_t gap = (size_t)(start - chunk->now.bytes);
    uint8_t *to = lane->output.data + lane->output.used;
    memset(to, 0, gap);
    memcpy(to + gap, stored, size);
    seal_stored(lane, value, chunk, start, stored);
    lane->output.used += gap + size;
    chunk->now.bytes = start + size;
    chunk->now.records++;
    status = lx__stage_note_chunk(stage, &chunk->now, error);
    return status == LX_OK && lane->output.used >= OUTPUT_BYTES ? write_output(lane, error)
                                                                : status;
}

lx_status lx__lane_place(lx__lane *lane, lx__stage *stage, lx_error *error)
{
    bool done;
    uint64_t payloads = seal_inline_values(lane, stage);
    if (payloads == 0)
        return LX_OK;
    lx_status status = place_whole(lane, stage, payloads, &done, error);
    for (size_t i = 0; status == LX_OK && !done && i < stage->count; i++)
        if (goes_to_chunk(&stage->values[i]))
            status = place_value(lane, stage, i, error);
    if (status == LX_OK)
        status = write_output(lane, error);
    lane->output.used = 0;
    return status;
}

void lx__lane_close(lx__lane *lane)
{
    lx__chunk_files_close(&lane->chunks);
    lx__deflater_free(lane->deflater);
    lx__free(lane->output.data);
    lx__free(lane->packed.data);
}
