/* SPDX-License-Identifier: MIT */
#include "zrecord/write/write-buffer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

lx__write_buffer *lx__write_buffer_new(void)
{
    return lx__alloc_array(1, sizeof(lx__write_buffer));
}

void lx__write_buffer_free(lx__write_buffer *buffer)
{
    if (buffer == NULL)
        return;
    lx__free(buffer->operations);
    lx__free(buffer->data);
    lx__free(buffer->values);
    lx__free(buffer->chunks);
    lx__free(buffer);
}

void lx__write_buffer_clear(lx__write_buffer *buffer)
{
    if (buffer->capacity > 2 * LX__WRITE_BUFFER_BYTES) {
        lx__free(buffer->data);
        buffer->data = NULL;
        buffer->capacity = 0;
    }
    buffer->operation_count = buffer->chunk_count = 0;
    buffer->used = buffer->count = 0;
    buffer->align = 1;
    buffer->flush_state = LX__FLUSH_WAITING;
}

static lx_status reserve_bytes(lx__write_buffer *buffer, uint64_t bytes, lx_error *error)
{
    uint64_t wanted = buffer->used + bytes;
    if (wanted <= buffer->capacity)
        return LX_OK;
    /* Allocated only once, with room for a full buffer and one more record. */
    uint64_t capacity = LX__WRITE_BUFFER_BYTES + LX__WRITE_BUFFER_BYTES / 4;
    if (capacity < wanted)
        capacity = wanted;
    uint8_t *data = capacity <= SIZE_MAX ? lx__resize_array(buffer->data, (size_t)capacity, 1)
                                         : NULL;
    if (data == NULL)
        return lx__fail_memory(error, "records to be written");
    buffer->data = data;
    buffer->capacity = (size_t)capacity;
    return LX_OK;
}

lx_status lx__write_buffer_reserve(lx__write_buffer *buffer, size_t values, uint64_t bytes,
                                   lx_error *error)
{
    if (buffer->count + values > buffer->value_capacity) {
        size_t capacity = LX__WRITE_BUFFER_VALUES + values;
        lx__buffered_value *list = lx__resize_array(buffer->values, capacity, sizeof *list);
        if (list == NULL)
            return lx__fail_memory(error, "records to be written");
        buffer->values = list;
        buffer->value_capacity = capacity;
    }
    lx__operation *operations = lx__grow_array(buffer->operations, buffer->operation_count,
                                               &buffer->operation_capacity, sizeof *operations);
    if (operations == NULL)
        return lx__fail_memory(error, "records to be written");
    buffer->operations = operations;
    return reserve_bytes(buffer, bytes, error);
}

void lx__write_buffer_add_operation(lx__write_buffer *buffer, const lx__operation *operation)
{
    lx__operation *last = buffer->operation_count != 0
                              ? &buffer->operations[buffer->operation_count - 1]
                              : NULL;
    if (operation->kind == LX__APPEND && last != NULL && last->kind == LX__APPEND) {
        last->count++; /* the new records directly follow those of the last append */
        return;
    }
    last = &buffer->operations[buffer->operation_count++];
    *last = *operation;
    last->count = 1;
}

/** Copies a value into the buffer's data and sets the entry's offset to its position there. */
static void lay_out(lx__write_buffer *buffer, lx__entry *entry, const lx__entry_rules *rules,
                    const void *data, size_t size)
{
    size_t at = (size_t)lx__align_up(buffer->used, rules->align);
    memset(buffer->data + buffer->used, 0, at - buffer->used);
    memcpy(buffer->data + at, data, size);
    entry->offset = at;
    buffer->used = at + size;
    if (rules->align > buffer->align)
        buffer->align = rules->align;
}

void lx__write_buffer_add(lx__write_buffer *buffer, uint32_t field, const lx__entry_rules *rules,
                          const void *data, uint64_t size)
{
    lx__buffered_value *value = &buffer->values[buffer->count++];
    *value = (lx__buffered_value){.field = field};
    if (size == LX_NONE)
        return;
    value->entry.physical = value->entry.logical = (uint32_t)size;
    if (size > LX__INLINE_MAX) {
        lay_out(buffer, &value->entry, rules, data, (size_t)size);
        return;
    }
    uint8_t slot[LX__INLINE_MAX] = {0};
    if (size != 0)
        memcpy(slot, data, (size_t)size);
    value->entry.chunk = LX__CHUNK_INLINE;
    value->entry.offset = lx__load_le64(slot);
}

void lx__write_buffer_add_stored(lx__write_buffer *buffer, uint32_t field,
                                 const lx__entry_rules *rules, const void *data, uint32_t physical,
                                 uint32_t logical)
{
    lx__buffered_value *value = &buffer->values[buffer->count++];
    *value = (lx__buffered_value){
        .entry = {.physical = physical, .logical = logical}, .field = field, .as_stored = true};
    lay_out(buffer, &value->entry, rules, data, physical);
}

lx_status lx__write_buffer_add_chunk(lx__write_buffer *buffer, const lx__chunk_item *item,
                                     lx_error *error)
{
    if (buffer->chunk_count != 0 && buffer->chunks[buffer->chunk_count - 1].id == item->id) {
        buffer->chunks[buffer->chunk_count - 1] = *item;
        return LX_OK;
    }
    lx__chunk_item *chunks = lx__grow_array(buffer->chunks, buffer->chunk_count,
                                            &buffer->chunk_capacity, sizeof *chunks);
    if (chunks == NULL)
        return lx__fail_memory(error, "a chunk");
    buffer->chunks = chunks;
    chunks[buffer->chunk_count++] = *item;
    return LX_OK;
}
