/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/frame.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"

uint64_t lx__frame_size(uint64_t chunk_count, uint64_t update_count)
{
    if (chunk_count > LX__FRAME_MAX || update_count > LX__FRAME_MAX)
        return LX_NONE;
    uint64_t size = LX__FRAME_HEADER + chunk_count * LX__FRAME_CHUNK +
                    update_count * LX__FRAME_UPDATE + LX__FRAME_TRAILER;
    return size <= LX__FRAME_MAX ? size : LX_NONE;
}

bool lx__frame_load(lx__frame *frame, const uint8_t header[LX__FRAME_HEADER])
{
    *frame = (lx__frame){.bytes = lx__load_le32(header + 4),
                         .sequence = lx__load_le64(header + 8),
                         .length = lx__load_le64(header + 16),
                         .rows = lx__load_le64(header + 24),
                         .chunk_count = lx__load_le32(header + 32),
                         .update_count = lx__load_le32(header + 36),
                         .previous_crc = lx__load_le32(header + 40),
                         .flags = lx__load_le32(header + 44),
                         .boot = lx__load_le64(header + 48),
                         .table_generation = lx__load_le32(header + 56),
                         .next_chunk = lx__load_le32(header + 60)};
    return lx__load_le32(header) == LX__FRAME_MAGIC &&
           frame->bytes == lx__frame_size(frame->chunk_count, frame->update_count);
}

uint32_t lx__frame_crc_start(const lx__wal_identity *log)
{
    uint8_t generation[8];
    lx__store_le64(generation, log->generation);
    return lx__crc32c(lx__crc32c(0, log->uuid, LX__UUID_BYTES), generation, sizeof generation);
}

int lx__chunk_item_compare(const void *a, const void *b)
{
    uint32_t left = ((const lx__chunk_item *)a)->id, right = ((const lx__chunk_item *)b)->id;
    return (left > right) - (left < right);
}

lx__chunk_item lx__chunk_item_load(const uint8_t item[LX__FRAME_CHUNK])
{
    return (lx__chunk_item){.id = lx__load_le32(item),
                            .records = lx__load_le32(item + 4),
                            .bytes = lx__load_le64(item + 8)};
}

lx_status lx__frame_begin(lx__frame_builder *builder, uint64_t chunk_count, uint64_t update_count,
                          lx_error *error)
{
    uint64_t size = lx__frame_size(chunk_count, update_count);
    if (size == LX_NONE)
        return lx_fail(error, LX_ERR_LIMIT,
                       "%llu changes do not fit into one WAL frame: commit more often",
                       (unsigned long long)update_count);
    if (!lx__reserve(&builder->data, &builder->capacity, (size_t)size))
        return lx__fail_memory(error, "a WAL frame");
    builder->size = LX__FRAME_HEADER;
    builder->chunk_count = builder->update_count = 0;
    return LX_OK;
}

void lx__frame_add_chunk(lx__frame_builder *builder, const lx__chunk_item *item)
{
    uint8_t *to = builder->data + builder->size;
    lx__store_le32(to, item->id);
    lx__store_le32(to + 4, item->records);
    lx__store_le64(to + 8, item->bytes);
    builder->size += LX__FRAME_CHUNK;
    builder->chunk_count++;
}

void lx__frame_add_update(lx__frame_builder *builder, const lx__update_item *item)
{
    uint8_t *to = builder->data + builder->size;
    lx__store_le32(to, item->field);
    lx__store_le32(to + 4, 0);
    lx__store_le64(to + 8, item->index);
    lx__entry_store(&item->entry, to + 16, to + 32);
    builder->size += LX__FRAME_UPDATE;
    builder->update_count++;
}

void lx__frame_finish(lx__frame_builder *builder, lx__frame *frame, const lx__wal_identity *log)
{
    uint8_t *header = builder->data, *trailer = builder->data + builder->size;
    builder->size += LX__FRAME_TRAILER;
    frame->bytes = (uint32_t)builder->size;
    frame->chunk_count = builder->chunk_count;
    frame->update_count = builder->update_count;

    lx__store_le32(header, LX__FRAME_MAGIC);
    lx__store_le32(header + 4, frame->bytes);
    lx__store_le64(header + 8, frame->sequence);
    lx__store_le64(header + 16, frame->length);
    lx__store_le64(header + 24, frame->rows);
    lx__store_le32(header + 32, frame->chunk_count);
    lx__store_le32(header + 36, frame->update_count);
    lx__store_le32(header + 40, frame->previous_crc);
    lx__store_le32(header + 44, frame->flags);
    lx__store_le64(header + 48, frame->boot);
    lx__store_le32(header + 56, frame->table_generation);
    lx__store_le32(header + 60, frame->next_chunk);
    lx__store_le32(trailer, 0);
    frame->crc = lx__crc32c(lx__frame_crc_start(log), builder->data, builder->size - 4);
    lx__store_le32(trailer + 4, frame->crc);
}

void lx__frame_builder_free(lx__frame_builder *builder)
{
    lx__free(builder->data);
    *builder = (lx__frame_builder){0};
}
