/* SPDX-License-Identifier: MIT */
/* The commit: data, barrier, frame. See doc/zrecord-format.md, 10.4. */
#include <stdlib.h>

#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/write/writer.h"

/* Entries go into the frame while there are few: at most this many new ones, and not more bytes in
 * the log that are not in the tables yet. A row has three fifths of a set's bytes, but its table is
 * to be synced before the frame: so of fewer only where each commit waits for the disk anyway. */
#define SETS_MAX 16384u
#define SYNCED_SETS_MAX 4096u
#define PENDING_SETS_BYTES ((uint64_t)8 << 20)

/** A sync failed. */
static lx_status poison(lx_writer *writer, const lx_error *cause, lx_error *error)
{
    return lx__calls_fail(&writer->calls, 0, LX_ERR_POISONED, cause, error);
}

/* ---- the mutex is given back while the disk is waited for */

static void begin_wait(lx_writer *writer, unsigned how)
{
    if (!(how & LX__COMMIT_ALONE))
        pthread_mutex_unlock(&writer->mutex);
}

/** Nothing is being placed then. */
static void end_wait(lx_writer *writer, unsigned how)
{
    if (!(how & LX__COMMIT_ALONE))
        pthread_mutex_lock(&writer->mutex);
    lx__placer_drain(&writer->placer);
}

/* ---- what is synced */

/** Lists everything that the frames so far and the next one name. */
static lx_status fill_barrier(lx_writer *writer, lx_error *error)
{
    lx__barrier *barrier = &writer->barrier;
    lx_status status = lx__rows_barrier(&writer->rows, barrier, error);
    size_t lanes = LX__FAULT(LANE_BARRIER) ? 1 : writer->placer.lane_count;
    for (size_t i = 0; status == LX_OK && i < lanes; i++)
        status = lx__chunk_files_barrier(&writer->placer.lanes[i].lane.chunks, barrier, error);
    if (status != LX_OK)
        return status;
    if ((writer->wal.unsynced || !writer->settled) && !LX__FAULT(LOG_BARRIER))
        lx__barrier_add(barrier, &writer->wal.file);
    if (!writer->settled) {
        lx__barrier_add_directory(barrier, &writer->chunk_directory);
        lx__barrier_add_directory(barrier, &writer->directory);
    }
    return LX_OK;
}

/** Memory for all that a barrier may list: once that begins, its files count as synced. */
static lx_status reserve_barrier(lx_writer *writer, lx_error *error)
{
    size_t count = 2 * writer->rows.field_count + 3;
    for (size_t i = 0; i < writer->placer.lane_count; i++)
        count += writer->placer.lanes[i].lane.chunks.count + 1;
    return lx__barrier_reserve(&writer->barrier, count, error);
}

/** Syncs what was listed, if it was. */
static lx_status run_barrier(lx_writer *writer, lx_status listed, unsigned how, lx_error *cause,
                             lx_error *error)
{
    if (listed == LX_OK) {
        begin_wait(writer, how);
        listed = lx__barrier_run(&writer->barrier, cause);
        end_wait(writer, how);
        for (size_t i = 0; i < writer->placer.lane_count; i++)
            lx__chunk_files_release(&writer->placer.lanes[i].lane.chunks);
    }
    return listed == LX_OK ? LX_OK : poison(writer, cause, error);
}

/** Makes durable everything that the frames so far and the next one name. */
static lx_status sync_all(lx_writer *writer, unsigned how, lx_error *error)
{
    lx_error cause = LX_ERROR_INIT;
    lx_status status = run_barrier(writer, fill_barrier(writer, &cause), how, &cause, error);
    if (status == LX_OK)
        writer->settled = true;
    return status;
}

/** Rows that a frame takes must be on disk before it, however little durability is asked for: a row
 * that is lost reads as zeros, which are a missing value and no damage. (The model finds this where
 * the page cache is lost within a boot.) */
static lx_status sync_rows(lx_writer *writer, unsigned how, lx_error *error)
{
    lx_error cause = LX_ERROR_INIT;
    return run_barrier(writer, lx__rows_barrier(&writer->rows, &writer->barrier, &cause), how,
                       &cause, error);
}

/* ---- the frame */

/** Rows below this are not put into the frame one by one: they are in the log already, or the frame
 * takes them into the tables. */
static uint64_t first_new_row(const lx_writer *writer)
{
    return writer->state.length > writer->rows.first ? writer->state.length : writer->rows.first;
}

static void add_set(lx_writer *writer, size_t field, uint64_t index, const lx__entry *entry)
{
    lx__set_item item = {.field = lx__schema_field(writer->meta.schema, field)->shown.id,
                         .index = index,
                         .entry = *entry};
    lx__frame_add_set(&writer->wal.frame, &item);
}

static lx_status build_frame(lx_writer *writer, lx__frame *frame, lx_error *error)
{
    size_t fields = writer->rows.field_count;
    uint64_t first = first_new_row(writer);
    uint64_t rows = frame->length > first ? frame->length - first : 0;
    lx_status status = lx__frame_begin(&writer->wal.frame, writer->applied.grown_count,
                                       rows * fields + writer->applied.updates.count, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < writer->applied.grown_count; i++)
        lx__frame_add_chunk(&writer->wal.frame, &writer->applied.grown[i]);
    for (size_t i = 0; i < writer->applied.updates.count; i++) {
        const lx__set *set = &writer->applied.updates.list[i];
        lx__entry entry = lx__set_entry(set);
        if (set->index < frame->length)
            add_set(writer, set->field, set->index, &entry);
    }
    for (uint64_t index = first; index < frame->length; index++) {
        for (size_t i = 0; i < fields; i++) {
            lx__entry entry = lx__rows_get(&writer->rows, i, index);
            add_set(writer, i, index, &entry);
        }
    }
    lx__frame_finish(&writer->wal.frame, frame, &writer->wal.identity);
    return LX_OK;
}

/** Writes a frame at the end of the log, and makes it durable if it is to be synced. */
static lx_status write_frame(lx_writer *writer, const lx__frame *frame, unsigned how,
                             lx_error *error)
{
    lx_error cause = LX_ERROR_INIT;
    bool synced = (frame->flags & LX__FRAME_SYNCED) != 0;
    lx_status status = lx__wal_writer_append(&writer->wal, frame, writer->state.place.offset,
                                             synced && writer->durability == LX_DURABILITY_FULL,
                                             &cause);
    if (status != LX_OK)
        return lx__calls_fail(&writer->calls, 0, status, &cause, error);
    if (synced) {
        begin_wait(writer, how);
        status = lx__wal_writer_sync(&writer->wal, &cause);
        end_wait(writer, how);
    }
    return status == LX_OK ? LX_OK : poison(writer, &cause, error);
}

static void advance(lx_writer *writer, const lx__frame *frame)
{
    writer->state.place.offset += frame->bytes;
    writer->state.place.epoch++;
    writer->state.place.crc = frame->crc;
    writer->wal.unsynced = frame->flags == 0;
    writer->wal.changes = false;
}

/** What was taken back is committed: the changes among it are the log's. There is room for them. */
static void adopt_changes(lx_writer *writer)
{
    const lx__state *state = &writer->state;
    for (size_t i = 0; i < writer->applied.updates.count; i++) {
        const lx__set *set = &writer->applied.updates.list[i];
        lx__entry entry = lx__set_entry(set);
        if (set->index >= state->length)
            continue;
        if (set->index < state->rows)
            lx__set_map_put(&writer->live, set);
        else
            lx__rows_put(&writer->rows, set->field, set->index, &entry);
    }
    lx__set_map_clear(&writer->applied.updates);
    lx__rows_cut(&writer->rows, state->rows > state->length ? state->rows : state->length);
}

/** The frame is in the log: what it says is the state. */
static void adopt(lx_writer *writer, const lx__frame *frame)
{
    lx__state *state = &writer->state;
    advance(writer, frame);
    writer->wal.changes = true;
    state->length = frame->length;
    state->rows = frame->rows;
    state->next_chunk = frame->next_chunk;
    for (size_t i = 0; i < writer->applied.grown_count; i++)
        (void)lx__state_put_chunk(state, &writer->applied.grown[i],
                                  NULL); /* there is room for it */
    for (size_t i = 0; i < writer->placer.lane_count; i++)
        lx__chunk_files_committed(&writer->placer.lanes[i].lane.chunks, writer->applied.grown,
                                  writer->applied.grown_count);
    writer->applied.grown_count = 0;
    adopt_changes(writer);
    writer->calls.committed = writer->calls.applied;
}

static lx__frame next_frame(const lx_writer *writer, uint32_t flags)
{
    return (lx__frame){.epoch = writer->state.place.epoch,
                       .length = writer->state.length,
                       .rows = writer->state.rows,
                       .previous_crc = writer->state.place.crc,
                       .flags = flags,
                       .boot = writer->wal.boot,
                       .table_generation = writer->state.table_generation,
                       .next_chunk = writer->state.next_chunk};
}

/** Memory for what comes next, in the midst of which it must not be wanting. */
static lx_status reserve(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__state_reserve_chunks(&writer->state, writer->applied.grown_count, error);
    if (status == LX_OK)
        status = lx__set_map_reserve(&writer->live, writer->applied.updates.count, error);
    return status == LX_OK ? reserve_barrier(writer, error) : status;
}

/** A frame that changes something: step 3, and step 2 before it if the frame is to be synced. */
static lx_status put_changes(lx_writer *writer, unsigned how, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    bool synced = (how & LX__COMMIT_SYNCED) != 0, early = LX__FAULT(FRAME_BEFORE_DATA);
    lx__frame frame = next_frame(writer, synced ? LX__FRAME_SYNCED : 0);
    frame.length = writer->applied.length;
    frame.next_chunk = lx__chunk_pool_next(&writer->placer.pool);
    frame.rows = writer->rows.first;
    for (size_t i = 0; LX__FAULT(CHUNK_PREFIX) && i < writer->ring.count; i++)
        (void)lx__applied_add_chunks(&writer->applied, lx__write_ring_at(&writer->ring, i), NULL);
    lx__applied_sort_chunks(&writer->applied);
    lx_status status = build_frame(writer, &frame, &failure);
    if (status == LX_OK)
        status = reserve(writer, &failure);
    if (status != LX_OK)
        return lx__calls_fail(&writer->calls, 0, status, &failure, error);
    if ((synced || !writer->settled) && !early)
        status = sync_all(writer, how, error);
    else if (frame.rows > writer->state.rows)
        status = sync_rows(writer, how, error);
    if (status == LX_OK)
        status = write_frame(writer, &frame, how, error);
    if (status == LX_OK && early)
        status = sync_all(writer, how, error);
    if (status == LX_OK)
        adopt(writer, &frame);
    return status;
}

/** A synced frame that repeats the last one, if frames are not synced. What was asked for and not
 * committed stays out of it. */
static lx_status put_nothing(lx_writer *writer, unsigned how, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__placer_drain(&writer->placer);
    if (!writer->wal.unsynced && (writer->settled || LX__FAULT(OPENING_SYNC)))
        return LX_OK;
    lx_status status = lx__frame_begin(&writer->wal.frame, 0, 0, &failure);
    if (status == LX_OK)
        status = reserve_barrier(writer, &failure);
    if (status != LX_OK)
        return lx__calls_fail(&writer->calls, 0, status, &failure, error);
    status = sync_all(writer, how, error);
    if (status != LX_OK || !writer->wal.unsynced)
        return status;
    lx__frame frame = next_frame(writer, LX__FRAME_SYNCED);
    lx__frame_finish(&writer->wal.frame, &frame, &writer->wal.identity);
    status = write_frame(writer, &frame, how, error);
    if (status == LX_OK)
        advance(writer, &frame);
    return status;
}

void lx__writer_put_last(lx_writer *writer)
{
    uint64_t end = writer->state.place.offset;
    if (!writer->wal.changes || writer->wal.unsynced || !writer->settled || writer->meta.sealed ||
        writer->calls.failure.status != LX_OK ||
        lx__frame_begin(&writer->wal.frame, 0, 0, NULL) != LX_OK)
        return;
    lx__frame frame = next_frame(writer, LX__FRAME_SYNCED);
    lx__frame_finish(&writer->wal.frame, &frame, &writer->wal.identity);
    if (lx__wal_writer_append(&writer->wal, &frame, end, false, NULL) == LX_OK)
        advance(writer, &frame);
}

/** Whether waiting rows are to be moved to the tables by this commit. */
static bool takes_rows(const lx_writer *writer, unsigned how)
{
    uint64_t fields = writer->rows.field_count, first = first_new_row(writer);
    uint64_t fresh = writer->applied.length > first ? (writer->applied.length - first) * fields : 0;
    uint64_t most = writer->durability == LX_DURABILITY_FULL ? SYNCED_SETS_MAX : SETS_MAX;
    return (how & LX__COMMIT_ROWS) || fresh > most ||
           writer->rows.count * fields * LX__FRAME_SET > PENDING_SETS_BYTES;
}

static bool has_changes(const lx_writer *writer)
{
    return writer->applied.length != writer->state.length || writer->applied.updates.count != 0 ||
           writer->rows.first > writer->state.rows;
}

lx_status lx__writer_put_frame(lx_writer *writer, uint64_t target, unsigned how, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    uint64_t before = writer->pending_bytes;
    lx_status held = lx__writer_check_lock(writer, error);
    if (held != LX_OK)
        return held;
    if (how & LX__COMMIT_REPEAT)
        return put_nothing(writer, how, error);
    if (writer->durability == LX_DURABILITY_FULL || writer->wal.boot == 0)
        how |= LX__COMMIT_SYNCED;
    lx_status status = lx__writer_collect(writer, target, error);
    if (status != LX_OK)
        return status;
    if (takes_rows(writer, how))
        status = lx__rows_write(&writer->rows, &failure);
    if (status != LX_OK)
        return lx__calls_fail(&writer->calls, 0, status, &failure, error);
    if (has_changes(writer))
        status = put_changes(writer, how, error);
    else if (how & LX__COMMIT_SYNCED)
        status = put_nothing(writer, how, error);
    if (status == LX_OK) {
        writer->calls.committed = writer->calls.applied;
        writer->pending_bytes -= before < writer->pending_bytes ? before : writer->pending_bytes;
    }
    return status;
}
