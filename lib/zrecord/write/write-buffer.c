/* SPDX-License-Identifier: MIT */
#include "zrecord/write/write-buffer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

lx__stage *lx__stage_new(void)
{
    return lx__alloc_array(1, sizeof(lx__stage));
}

void lx__stage_free(lx__stage *stage)
{
    if (stage == NULL)
        return;
    lx__free(stage->operations);
    lx__free(stage->data);
    lx__free(stage->values);
    lx__free(stage->chunks);
    lx__free(stage);
}

void lx__stage_clear(lx__stage *stage)
{
    if (stage->capacity > 2 * LX__STAGE_BYTES) {
        lx__free(stage->data);
        stage->data = NULL;
        stage->capacity = 0;
    }
    stage->operation_count = stage->chunk_count = 0;
    stage->used = stage->count = 0;
    stage->align = 1;
    stage->fate = LX__STAGE_WAITS;
}

static lx_status reserve_bytes(lx__stage *stage, uint64_t bytes, lx_error *error)
{
    uint64_t wanted = stage->used + bytes;
    if (wanted <= stage->capacity)
        return LX_OK;
    /* Room for a usual stage and one record more, so that it is taken once. */
    uint64_t capacity = LX__STAGE_BYTES + LX__STAGE_BYTES / 4;
    if (capacity < wanted)
        capacity = wanted;
    uint8_t *data = capacity <= SIZE_MAX ? lx__resize_array(stage->data, (size_t)capacity, 1)
                                         : NULL;
    if (data == NULL)
        return lx__fail_memory(error, "records to be written");
    stage->data = data;
    stage->capacity = (size_t)capacity;
    return LX_OK;
}

lx_status lx__stage_reserve(lx__stage *stage, size_t values, uint64_t bytes, lx_error *error)
{
    if (stage->count + values > stage->value_capacity) {
        size_t capacity = LX__STAGE_VALUES + values;
        lx__staged *list = lx__resize_array(stage->values, capacity, sizeof *list);
        if (list == NULL)
            return lx__fail_memory(error, "records to be written");
        stage->values = list;
        stage->value_capacity = capacity;
    }
    lx__operation *operations = lx__grow_array(stage->operations, stage->operation_count,
                                               &stage->operation_capacity, sizeof *operations);
    if (operations == NULL)
        return lx__fail_memory(error, "records to be written");
    stage->operations = operations;
    return reserve_bytes(stage, bytes, error);
}

void lx__stage_operate(lx__stage *stage, const lx__operation *operation)
{
    lx__operation *last = stage->operation_count != 0
                              ? &stage->operations[stage->operation_count - 1]
                              : NULL;
    if (operation->kind == LX__APPEND && last != NULL && last->kind == LX__APPEND) {
        last->count++; /* nothing came between, so it goes on there */
        return;
    }
    last = &stage->operations[stage->operation_count++];
    *last = *operation;
    last->count = 1;
}

/** Copies @p size bytes to where they will lie, and notes the place in the entry. */
static void lay_out(lx__stage *stage, lx__entry *entry, const lx__entry_rules *rules,
                    const void *data, size_t size)
{
    size_t at = (size_t)lx__align_up(stage->used, rules->align);
    memset(stage->data + stage->used, 0, at - stage->used); /* gaps are zeros */
    memcpy(stage->data + at, data, size);
    entry->offset = at;
    stage->used = at + size;
    if (rules->align > stage->align)
        stage->align = rules->align;
}

void lx__stage_add(lx__stage *stage, uint32_t field, const lx__entry_rules *rules, const void *data,
                   uint64_t size)
{
    lx__staged *value = &stage->values[stage->count++];
    *value = (lx__staged){.field = field};
    if (size == LX_NONE)
        return;
    value->entry.physical = value->entry.logical = (uint32_t)size;
    if (size > LX__INLINE_MAX) {
        lay_out(stage, &value->entry, rules, data, (size_t)size);
        return;
    }
    uint8_t slot[LX__INLINE_MAX] = {0};
    if (size != 0)
        memcpy(slot, data, (size_t)size);
    value->entry.chunk = LX__CHUNK_INLINE;
    value->entry.offset = lx__load_le64(slot);
}

void lx__stage_add_stored(lx__stage *stage, uint32_t field, const lx__entry_rules *rules,
                          const void *data, uint32_t physical, uint32_t logical)
{
    lx__staged *value = &stage->values[stage->count++];
    *value = (lx__staged){
        .entry = {.physical = physical, .logical = logical}, .field = field, .as_stored = true};
    lay_out(stage, &value->entry, rules, data, physical);
}

lx_status lx__stage_note_chunk(lx__stage *stage, const lx__chunk_item *item, lx_error *error)
{
    if (stage->chunk_count != 0 && stage->chunks[stage->chunk_count - 1].id == item->id) {
        stage->chunks[stage->chunk_count - 1] = *item;
        return LX_OK;
    }
    lx__chunk_item *chunks = lx__grow_array(stage->chunks, stage->chunk_count,
                                            &stage->chunk_capacity, sizeof *chunks);
    if (chunks == NULL)
        return lx__fail_memory(error, "a chunk");
    stage->chunks = chunks;
    chunks[stage->chunk_count++] = *item;
    return LX_OK;
}
