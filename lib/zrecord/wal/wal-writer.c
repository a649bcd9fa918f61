/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/wal-writer.h"

#include "base/boot-id.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/wal/preallocate.h"

/* Maximum number of zeros to preallocate after the last frame. */
#define ZEROS_MAX ((uint64_t)256 << 10)

lx_status lx__wal_writer_append(lx__wal_writer *wal, const lx__frame *frame, uint64_t offset,
                                bool preallocates, lx_error *error)
{
    lx_status status = lx__file_write(&wal->file, wal->frame.data, frame->bytes, offset, error);
    if (status != LX_OK) {
        wal->zeros_end = 0;
        return lx__file_truncate(&wal->file, offset, NULL) == LX_OK ? status : LX_ERR_POISONED;
    }
    if (preallocates)
        lx__preallocate(&wal->zeros_end, &wal->file, offset, offset + frame->bytes, ZEROS_MAX);
    return LX_OK;
}

lx_status lx__wal_writer_sync(const lx__wal_writer *wal, lx_error *error)
{
    return LX__FAULT(LOG_SYNC) ? LX_OK : lx__file_sync_data(&wal->file, error);
}

void lx__wal_writer_trim(lx__wal_writer *wal, uint64_t end)
{
    if (wal->zeros_end != 0)
        lx__preallocate_trim(&wal->zeros_end, &wal->file, end);
}

void lx__wal_writer_replace(lx__wal_writer *wal, lx__file *file)
{
    lx__file_close(&wal->file);
    wal->file = *file;
    wal->zeros_end = wal->retry_at = 0;
    *file = (lx__file)LX__FILE_CLOSED;
}

void lx__wal_writer_close(lx__wal_writer *wal)
{
    lx__frame_builder_free(&wal->frame);
    lx__file_close(&wal->file);
}

lx_status lx__wal_write_synced(const lx__file *log, const lx__wal_identity *identity,
                               const lx__state *state, lx_error *error)
{
    bool first = state->position.offset == 0;
    size_t chunks = first ? state->chunk_count : 0;
    lx__frame_builder builder = {0};
    lx__frame frame = {.sequence = state->position.sequence,
                       .length = state->length,
                       .rows = state->rows,
                       .previous_crc = state->position.crc,
                       .flags = LX__FRAME_SYNCED | (first ? LX__FRAME_SNAPSHOT : 0),
                       .boot = lx__boot_id(),
                       .table_generation = state->table_generation,
                       .next_chunk = state->next_chunk};
    lx_status status = lx__frame_begin(&builder, chunks, 0, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < chunks; i++)
        lx__frame_add_chunk(&builder, &state->chunks[i]);
    lx__frame_finish(&builder, &frame, identity);
    status = lx__file_write(log, builder.data, builder.size, state->position.offset, error);
    if (status == LX_OK)
        status = lx__file_sync(log, error);
    lx__frame_builder_free(&builder);
    return status;
}
