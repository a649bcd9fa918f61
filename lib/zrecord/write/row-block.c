/* SPDX-License-Identifier: MIT */
#include "zrecord/write/row-block.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Memory to use for rows; a single record may need more. */
#define BLOCK_BYTES ((size_t)12 << 20)

lx_status lx__row_block_open(lx__row_block *block, const lx_writer *writer, lx_error *error)
{
    size_t fields = writer->meta.schema->count, capacity = BLOCK_BYTES / fields / LX__ENTRY_BYTES;
    uint64_t length = writer->committed.state.length;
    *block = (lx__row_block){.writer = writer};
    if (capacity > length)
        capacity = (size_t)length;
    block->capacity = capacity != 0 ? capacity : 1;
    block->offsets = lx__alloc_array(block->capacity * fields, LX__OFFSET_ROW);
    block->checks = lx__alloc_array(block->capacity * fields, LX__CHECK_ROW);
    if (block->offsets == NULL || block->checks == NULL)
        return lx__fail_memory(error, "table rows");
    return lx__update_map_sort(&writer->committed.updates, writer->meta.schema, length,
                               &block->updates, &block->update_count, error);
}

void lx__row_block_close(lx__row_block *block)
{
    lx__free(block->offsets);
    lx__free(block->checks);
    lx__free(block->updates);
    *block = (lx__row_block){0};
}

void lx__row_block_rewind(lx__row_block *block)
{
    block->first = 0;
    block->count = block->next_update = 0;
}

/** Replaces the rows of those records in the block that have updates. */
static void apply_updates(lx__row_block *block)
{
    uint64_t end = block->first + block->count;
    for (; block->next_update < block->update_count; block->next_update++) {
        const lx__sorted_update *update = &block->updates[block->next_update];
        if (update->index >= end)
            break;
        const lx__update *live = &block->writer->committed.updates.list[update->position];
        size_t at = (size_t)(update->index - block->first);
        lx__entry entry = lx__update_entry(live);
        if (lx__entry_is_missing(&entry))
            block->missing[live->field / 64] |= 1ull << live->field % 64;
        memcpy(lx__row_block_offset_row(block, live->field, at), live->rows, LX__OFFSET_ROW);
        memcpy(lx__row_block_check_row(block, live->field, at), live->rows + LX__OFFSET_ROW,
               LX__CHECK_ROW);
    }
}

lx_status lx__row_block_next(lx__row_block *block, lx_error *error)
{
    const lx_writer *writer = block->writer;
    uint64_t first = block->first + block->count, left = writer->committed.state.length - first;
    size_t count = left < block->capacity ? (size_t)left : block->capacity;
    lx_status status = LX_OK;
    if (count == 0)
        return LX_END;
    for (size_t i = 0; status == LX_OK && i < writer->tables.field_count; i++) {
        const lx__table_files *files = &writer->tables.fields[i];
        status = lx__file_read(&files->offsets, lx__row_block_offset_row(block, i, 0),
                               count * LX__OFFSET_ROW, first * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_read(&files->checks, lx__row_block_check_row(block, i, 0),
                                   count * LX__CHECK_ROW, first * LX__CHECK_ROW, error);
    }
    if (status != LX_OK)
        return status;
    block->first = first;
    block->count = count;
    apply_updates(block);
    return LX_OK;
}

lx_status lx__row_block_write(const lx__row_block *block, lx__table_writer *tables, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < tables->field_count; i++) {
        lx__table_files *files = &tables->fields[i];
        if (!lx__schema_field(block->writer->meta.schema, i)->complete)
            lx__table_files_note_missing(files, lx__row_block_offset_row(block, i, 0),
                                         block->count);
        else if ((block->missing[i / 64] >> i % 64 & 1) != 0)
            files->missing = true; /* other rows of zeros are damage, and remain so */
        status = lx__file_write(&files->offsets, lx__row_block_offset_row(block, i, 0),
                                block->count * LX__OFFSET_ROW, block->first * LX__OFFSET_ROW,
                                error);
        if (status == LX_OK)
            status = lx__file_write(&files->checks, lx__row_block_check_row(block, i, 0),
                                    block->count * LX__CHECK_ROW, block->first * LX__CHECK_ROW,
                                    error);
    }
    return status;
}
