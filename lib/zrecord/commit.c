/* SPDX-License-Identifier: MIT */
/* The commit: data, barrier, frame. See doc/zrecord-format.md, 10.4. */
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/writer.h"

/* Entries go into the frame while there are few: at most this many new ones, and not more bytes
 * in the log that are not in the tables yet. */
#define SETS_MAX 16384u
#define PENDING_SETS_BYTES ((uint64_t)8 << 20)

/** A sync failed. */
static lx_status poison(lx_writer *writer, const lx_error *cause, lx_error *error)
{
    return lx__writer_note(writer, LX_ERR_POISONED, cause, error);
}

/** Makes durable all that the frames so far and the next one name. */
static lx_status barrier(lx_writer *writer, lx_error *error)
{
    lx_error cause = LX_ERROR_INIT;
    lx_status status = lx__chunk_files_sync(&writer->placer.chunks, &cause);
    if (status == LX_OK)
        status = lx__rows_sync(&writer->rows, &cause);
    if (status == LX_OK && (writer->unsynced || !writer->settled) &&
        !LX__FAULT(LOG_BARRIER))
        status = lx__file_sync_data(&writer->log, &cause);
    if (status == LX_OK && !writer->settled) {
        status = lx__file_sync(&writer->chunk_directory, &cause);
        if (status == LX_OK)
            status = lx__file_sync(&writer->directory, &cause);
    }
    if (status != LX_OK)
        return poison(writer, &cause, error);
    writer->settled = true;
    return LX_OK;
}

/** The index from which entries are put into the frame: below it they are in the log already, or
 * the frame takes them into the tables. */
static uint64_t first_set(const lx_writer *writer)
{
    return writer->state.length > writer->rows.first ? writer->state.length : writer->rows.first;
}

static lx_status build_frame(lx_writer *writer, lx__frame *frame, lx_error *error)
{
    const lx__chunk_files *chunks = &writer->placer.chunks;
    size_t fields = writer->rows.field_count;
    uint64_t sets = (writer->length - first_set(writer)) * fields;
    lx_status status = lx__frame_begin(&writer->frame, chunks->count, sets, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < chunks->count; i++)
        if (lx__chunk_file_has_grown(&chunks->list[i]))
            lx__frame_add_chunk(&writer->frame, &chunks->list[i].now);
    for (uint64_t index = first_set(writer); index < writer->length; index++) {
        for (size_t i = 0; i < fields; i++) {
            lx__set_item item = {.field = lx__schema_field(writer->meta.schema, i)->shown.id,
                                 .index = index,
                                 .entry = lx__rows_get(&writer->rows, i, index)};
            lx__frame_add_set(&writer->frame, &item);
        }
    }
    lx__frame_finish(&writer->frame, frame, &writer->identity);
    return LX_OK;
}

/** Writes a frame at the end of the log, whole or not at all. */
static lx_status write_frame(lx_writer *writer, const lx__frame *frame, lx_error *error)
{
    lx_error cause = LX_ERROR_INIT;
    uint64_t end = writer->state.place.offset;
    lx_status status =
        lx__file_write(&writer->log, writer->frame.data, frame->bytes, end, &cause);
    if (status != LX_OK) {
        if (lx__file_truncate(&writer->log, end, NULL) != LX_OK)
            return poison(writer, &cause, error);
        return lx__writer_note(writer, status, &cause, error);
    }
    if ((frame->flags & LX__FRAME_SYNCED) && !LX__FAULT(LOG_SYNC)) {
        status = lx__file_sync_data(&writer->log, &cause);
        if (status != LX_OK)
            return poison(writer, &cause, error);
    }
    return LX_OK;
}

static void advance(lx_writer *writer, const lx__frame *frame)
{
    writer->state.place.offset += frame->bytes;
    writer->state.place.epoch++;
    writer->state.place.crc = frame->crc;
    writer->unsynced = !(frame->flags & LX__FRAME_SYNCED);
}

/** The frame is in the log: what it says is the state. */
static void adopt(lx_writer *writer, const lx__frame *frame)
{
    lx__state *state = &writer->state;
    advance(writer, frame);
    state->length = frame->length;
    state->rows = frame->rows;
    state->next_chunk = frame->next_chunk;
    writer->pending_bytes = 0;
    for (size_t i = 0; i < writer->placer.chunks.count; i++) {
        const lx__chunk_file *chunk = &writer->placer.chunks.list[i];
        if (lx__chunk_file_has_grown(chunk))
            (void)lx__state_put_chunk(state, &chunk->now, NULL); /* there is room for it */
    }
    lx__chunk_files_committed(&writer->placer.chunks);
    /* Rows that the tables have already, in a dataset that shrank, stay in the log alone. */
    if (writer->rows.first < state->rows) {
        uint64_t below = state->rows - writer->rows.first;
        lx__rows_drop(&writer->rows,
                      below < writer->rows.count ? (size_t)below : writer->rows.count);
    }
}

static lx__frame next_frame(const lx_writer *writer, bool synced)
{
    return (lx__frame){.epoch = writer->state.place.epoch,
                       .length = writer->state.length,
                       .rows = writer->state.rows,
                       .previous_crc = writer->state.place.crc,
                       .flags = synced ? LX__FRAME_SYNCED : 0,
                       .boot = writer->boot,
                       .table_generation = writer->state.table_generation,
                       .next_chunk = writer->state.next_chunk};
}

/** Rows that a frame takes must be on disk before it, however little durability is asked for: a row
 * that is lost reads as zeros, which are a missing value and no damage. (The model finds this where
 * the page cache is lost within a boot.) */
static lx_status sync_rows(lx_writer *writer, lx_error *error)
{
    lx_error cause = LX_ERROR_INIT;
    lx_status status = lx__rows_sync(&writer->rows, &cause);
    return status == LX_OK ? LX_OK : poison(writer, &cause, error);
}

/** Step 3, and 2 before it if the frame is to be synced. */
static lx_status put_frame(lx_writer *writer, bool synced, lx_error *error)
{
    lx_status status = LX_OK;
    if ((synced || !writer->settled) && !LX__FAULT(FRAME_BEFORE_DATA))
        status = barrier(writer, error);
    if (status != LX_OK)
        return status;
    lx__frame frame = next_frame(writer, synced);
    frame.length = writer->length;
    frame.next_chunk = writer->placer.chunks.next_id;
    if (frame.rows < writer->rows.first) {
        frame.rows = writer->rows.first;
        status = sync_rows(writer, error);
        if (status != LX_OK)
            return status;
    }
    status = build_frame(writer, &frame, error);
    if (status == LX_OK)
        status = lx__state_reserve_chunks(&writer->state, writer->placer.chunks.count, error);
    if (status == LX_OK)
        status = write_frame(writer, &frame, error);
    if (status == LX_OK && LX__FAULT(FRAME_BEFORE_DATA))
        status = barrier(writer, error);
    if (status == LX_OK)
        adopt(writer, &frame);
    return status;
}

lx_status lx__writer_sync_frame(lx_writer *writer, lx_error *error)
{
    if (!writer->unsynced && (writer->settled || LX__FAULT(OPENING_SYNC)))
        return LX_OK;
    lx_status status = barrier(writer, error);
    if (status != LX_OK || !writer->unsynced)
        return status;
    status = lx__frame_begin(&writer->frame, 0, 0, error);
    if (status != LX_OK)
        return status;
    /* What was appended and not committed stays out of it: the frame repeats the last one. */
    lx__frame frame = next_frame(writer, true);
    lx__frame_finish(&writer->frame, &frame, &writer->identity);
    status = write_frame(writer, &frame, error);
    if (status == LX_OK)
        advance(writer, &frame);
    return status;
}

/** Whether waiting rows are to be moved to the tables by this commit. */
static bool takes_rows(const lx_writer *writer)
{
    uint64_t fields = writer->rows.field_count;
    uint64_t fresh = (writer->length - first_set(writer)) * fields;
    return writer->rows.first >= writer->state.rows &&
           (fresh > SETS_MAX || writer->rows.count * fields * LX__FRAME_SET > PENDING_SETS_BYTES);
}

lx_status lx__writer_commit_locked(lx_writer *writer, bool synced, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    synced = synced || writer->durability == LX_DURABILITY_FULL || writer->boot == 0;
    lx_status status = lx__writer_collect_all(writer, &failure);
    if (status == LX_OK && takes_rows(writer))
        status = lx__rows_write(&writer->rows, &failure);
    if (status != LX_OK)
        return lx__writer_note(writer, status, &failure, error);
    if (writer->length == writer->state.length)
        return synced ? lx__writer_sync_frame(writer, error) : LX_OK;
    return put_frame(writer, synced, error);
}

lx_status lx__writer_commit_rows(lx_writer *writer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__writer_commit_locked(writer, true, error);
    if (status != LX_OK)
        return status;
    if (writer->changes || writer->rows.first < writer->state.rows)
        return lx__fail(error, LX_ERR_UNSUPPORTED,
                        "the log holds changes of records that are in the tables already; this "
                        "version cannot fold them into new tables");
    status = lx__rows_write(&writer->rows, &failure);
    if (status != LX_OK)
        return lx__writer_note(writer, status, &failure, error);
    if (writer->state.rows == writer->length && !writer->unsynced)
        return LX_OK;
    return put_frame(writer, true, error);
}
