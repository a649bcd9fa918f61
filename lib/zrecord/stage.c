/* SPDX-License-Identifier: MIT */
#include "zrecord/stage.h"

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
    lx__free(stage->data);
    lx__free(stage->values);
    lx__free(stage);
}

void lx__stage_clear(lx__stage *stage)
{
    if (stage->capacity > 2 * LX__STAGE_BYTES) {
        lx__free(stage->data);
        stage->data = NULL;
        stage->capacity = 0;
    }
    stage->records = 0;
    stage->used = stage->count = 0;
    stage->align = 1;
    stage->placed = false;
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

lx_status lx__stage_reserve(lx__stage *stage, size_t fields, uint64_t bytes, lx_error *error)
{
    if (stage->count + fields > stage->value_capacity) {
        size_t capacity = LX__STAGE_VALUES + fields;
        lx__staged *values = lx__resize_array(stage->values, capacity, sizeof *values);
        if (values == NULL)
            return lx__fail_memory(error, "records to be written");
        stage->values = values;
        stage->value_capacity = capacity;
    }
    return reserve_bytes(stage, bytes, error);
}

void lx__stage_add(lx__stage *stage, const lx__entry_rules *rules, const void *data, uint64_t size)
{
    lx__staged *value = &stage->values[stage->count++];
    *value = (lx__staged){0};
    if (size == LX_NONE)
        return;
    value->entry.physical = value->entry.logical = (uint32_t)size;
    if (size <= LX__INLINE_MAX) {
        uint8_t slot[LX__INLINE_MAX] = {0};
        if (size != 0)
            memcpy(slot, data, (size_t)size);
        value->entry.chunk = LX__CHUNK_INLINE;
        value->entry.offset = lx__load_le64(slot);
        return;
    }
    value->at = (size_t)lx__align_up(stage->used, rules->align);
    memset(stage->data + stage->used, 0, value->at - stage->used); /* gaps are zeros */
    memcpy(stage->data + value->at, data, (size_t)size);
    stage->used = value->at + (size_t)size;
    if (rules->align > stage->align)
        stage->align = rules->align;
}
