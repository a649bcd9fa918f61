/* SPDX-License-Identifier: MIT */
/*
 * A writer's commit, in the steps of doc/zrecord-format.md, 10.4, except that the third step is
 * split into steps 3 and 4 here:
 *
 * 1. Data. Flush tasks have written the payloads to chunks, and the rows of long appends are
 *    written to the tables, in both cases beyond the bytes that the log refers to. After a crash,
 *    no frame refers to the new bytes: to readers, they do not exist, and the next writer
 *    overwrites them.
 * 2. Sync list. If the commit is to be durable, everything that the frame will refer to is synced.
 *    After a crash, the state is still that of the last frame.
 * 3. Frame. The frame is written to the end of LOG, which makes the commit visible to readers. A
 *    crash during the write leaves a torn frame, which is truncated when the dataset is next opened
 *    for writing. If the process is killed afterwards, the commit survives. It survives a power
 *    loss only if the frame reached the disk and is flagged as synced. (An unsynced frame is valid
 *    in this boot only.)
 * 4. LOG is synced. From here on, the commit survives a power loss as well.
 *
 * Unless a sync failed, a failure up to step 2 affects only this commit, which a rollback drops. A
 * failed sync poisons the writer, because it is unknown what the kernel has dropped.
 */
#include "zrecord/write/commit.h"

#include <stdlib.h>

#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/reap.h"

/* If a commit has few new entries, they go into the frame; if it has many, into the tables. At most
 * UPDATES_MAX new entries go into a frame, and at most PENDING_UPDATES_BYTES of the log may be used
 * for rows that are not in the tables yet. A row takes up three fifths as many bytes as an update,
 * but its table must be synced before the frame. Therefore, a lower limit, SYNCED_UPDATES_MAX,
 * applies only if each commit has to wait for the disk anyway. */
#define UPDATES_MAX 16384u
#define SYNCED_UPDATES_MAX 4096u
#define PENDING_UPDATES_BYTES ((uint64_t)8 << 20)

static lx_status write_rows(lx_writer *writer, unsigned how, lx_error *error);
static lx_status commit_changes(lx_writer *writer, unsigned how, lx_error *error);
static lx_status repeat_frame(lx_writer *writer, unsigned how, lx_error *error);
static bool has_changes(const lx_writer *writer);
static lx_status build_frame(lx_writer *writer, unsigned how, lx__frame *frame, lx_error *error);
static lx_status reserve(lx_writer *writer, lx_error *error);
static lx_status sync_data(lx_writer *writer, const lx__frame *frame, unsigned how,
                           lx_error *error);
static lx_status write_frame(lx_writer *writer, const lx__frame *frame, lx_error *error);
static lx_status sync_log(lx_writer *writer, const lx__frame *frame, unsigned how, lx_error *error);
static void advance(lx_writer *writer, const lx__frame *frame, bool changes);
static void adopt(lx_writer *writer, const lx__frame *frame);

lx_status lx__writer_commit_frame(lx_writer *writer, uint64_t target, unsigned how, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    uint64_t before = writer->pending_bytes;
    lx_status status = lx__writer_check_lock(writer, error);
    if (status == LX_OK && !(how & LX__COMMIT_REPEAT))
        status = lx__writer_reap(writer, target, error);
    if (status != LX_OK)
        return status; /* the writer has recorded the failure */

    if (writer->durability == LX_DURABILITY_FULL || writer->wal.boot == 0)
        how |= LX__COMMIT_SYNCED;
    if (!(how & LX__COMMIT_REPEAT))
        status = write_rows(writer, how, &failure);
    if (status == LX_OK && !(how & LX__COMMIT_REPEAT) && has_changes(writer))
        status = commit_changes(writer, how, &failure);
    else if (status == LX_OK && (how & (LX__COMMIT_REPEAT | LX__COMMIT_SYNCED)))
        status = repeat_frame(writer, how, &failure);
    if (status == LX_OK && !(how & LX__COMMIT_REPEAT)) {
        writer->calls.committed = writer->calls.applied;
        writer->pending_bytes -= before < writer->pending_bytes ? before : writer->pending_bytes;
    }
    return lx__calls_fail(&writer->calls, 0, status, &failure, error);
}

/** Commits what was applied. The payloads are in chunks, and the rows that the frame covers are in
 * the tables. */
static lx_status commit_changes(lx_writer *writer, unsigned how, lx_error *error)
{
    lx__frame frame;
    lx_status status = build_frame(writer, how, &frame, error);
    if (status == LX_OK)
        status = reserve(writer, error);
    /* Until the frame is in the log, readers and the next writer see none of this. */
    if (status == LX_OK && !LX__FAULT(FRAME_BEFORE_DATA))
        status = sync_data(writer, &frame, how, error);
    if (status == LX_OK)
        status = write_frame(writer, &frame, error);
    /* Now the commit is visible, and survives if the process is killed. */
    if (status == LX_OK)
        status = sync_log(writer, &frame, how, error);
    /* After a synced frame, it also survives a power loss. */
    if (status == LX_OK && LX__FAULT(FRAME_BEFORE_DATA))
        status = sync_data(writer, &frame, how, error);
    if (status == LX_OK)
        adopt(writer, &frame);
    return status;
}

/** If there are unsynced frames, syncs them and writes a synced frame without changes. Operations
 * that are not committed are left out of it. */
static lx_status repeat_frame(lx_writer *writer, unsigned how, lx_error *error)
{
    lx__flush_drain(&writer->flush);
    if (!writer->wal.unsynced && (writer->committed.opening_synced || LX__FAULT(OPENING_SYNC)))
        return LX_OK;
    lx__frame frame = lx__committed_next_frame(&writer->committed, LX__FRAME_SYNCED,
                                               writer->wal.boot);
    lx_status status = lx__frame_begin(&writer->wal.frame, 0, 0, error);
    if (status == LX_OK)
        status = reserve(writer, error);
    if (status == LX_OK)
        status = sync_data(writer, &frame, how, error);
    if (status != LX_OK || !writer->wal.unsynced)
        return status;
    lx__frame_finish(&writer->wal.frame, &frame, &writer->wal.identity);
    status = write_frame(writer, &frame, error);
    if (status == LX_OK)
        status = sync_log(writer, &frame, how, error);
    if (status == LX_OK)
        advance(writer, &frame, false);
    return status;
}

void lx__writer_close_log(lx_writer *writer)
{
    uint64_t end = writer->committed.state.position.offset;
    if (!writer->wal.changes || writer->wal.unsynced || !writer->committed.opening_synced ||
        writer->meta.sealed || writer->calls.failure.status != LX_OK ||
        lx__frame_begin(&writer->wal.frame, 0, 0, NULL) != LX_OK)
        return;
    lx__frame frame = lx__committed_next_frame(&writer->committed, LX__FRAME_SYNCED,
                                               writer->wal.boot);
    lx__frame_finish(&writer->wal.frame, &frame, &writer->wal.identity);
    if (lx__wal_writer_append(&writer->wal, &frame, end, false, NULL) == LX_OK)
        advance(writer, &frame, false);
}

/* ---- rows and entries: into the tables or into the frame */

/** Returns the first row that the frame must contain. Rows before it are already in the log, or are
 * in the tables and covered by the frame. */
static uint64_t first_new_row(const lx_writer *writer)
{
    uint64_t length = writer->committed.state.length;
    return length > writer->tables.first ? length : writer->tables.first;
}

/** Writes the buffered rows to the tables if there are too many for frames. */
static lx_status write_rows(lx_writer *writer, unsigned how, lx_error *error)
{
    uint64_t fields = writer->tables.field_count, first = first_new_row(writer);
    uint64_t fresh = writer->applied.length > first ? (writer->applied.length - first) * fields : 0;
    uint64_t most = writer->durability == LX_DURABILITY_FULL ? SYNCED_UPDATES_MAX : UPDATES_MAX;
    if ((how & LX__COMMIT_ROWS) || fresh > most ||
        writer->tables.count * fields * LX__FRAME_UPDATE > PENDING_UPDATES_BYTES)
        return lx__table_writer_write(&writer->tables, error);
    return LX_OK;
}

static bool has_changes(const lx_writer *writer)
{
    const lx__state *state = &writer->committed.state;
    return writer->applied.length != state->length || writer->applied.updates.count != 0 ||
           writer->tables.first > state->rows;
}

static void add_update(lx_writer *writer, size_t field, uint64_t index, const lx__entry *entry)
{
    lx__update_item item = {.field = lx__schema_field(writer->meta.schema, field)->shown.id,
                            .index = index,
                            .entry = *entry};
    lx__frame_add_update(&writer->wal.frame, &item);
}

/** Adds a marker for each field whose tables contain a missing value, unless meta.json or an
 * earlier marker already says so. */
static void add_markers(lx_writer *writer)
{
    static const lx__entry missing;
    for (size_t i = 0; i < writer->tables.field_count; i++) {
        lx__table_files *files = &writer->tables.fields[i];
        files->marked = files->missing && lx__schema_field(writer->meta.schema, i)->complete;
        if (files->marked)
            add_update(writer, i, LX__MISSING_MARKER, &missing);
    }
}

/** Adds the entries to @p frame: updates, as well as rows that are not in the tables. */
static void add_entries(lx_writer *writer, const lx__frame *frame)
{
    for (size_t i = 0; i < writer->applied.updates.count; i++) {
        const lx__update *update = &writer->applied.updates.list[i];
        lx__entry entry = lx__update_entry(update);
        if (update->index < frame->length)
            add_update(writer, update->field, update->index, &entry);
    }
    for (uint64_t index = first_new_row(writer); index < frame->length; index++) {
        for (size_t i = 0; i < writer->tables.field_count; i++) {
            lx__entry entry = lx__table_writer_get(&writer->tables, i, index);
            add_update(writer, i, index, &entry);
        }
    }
}

/** Builds a frame in memory, with everything that has been applied. */
static lx_status build_frame(lx_writer *writer, unsigned how, lx__frame *frame, lx_error *error)
{
    uint64_t first = first_new_row(writer);
    *frame = lx__committed_next_frame(
        &writer->committed, how & LX__COMMIT_SYNCED ? LX__FRAME_SYNCED : 0, writer->wal.boot);
    frame->length = writer->applied.length;
    frame->next_chunk = lx__chunk_pool_next(&writer->flush.pool);
    frame->rows = writer->tables.first;
    for (size_t i = 0; LX__FAULT(CHUNK_PREFIX) && i < writer->ring.count; i++)
        (void)lx__applied_add_chunks(&writer->applied, lx__write_ring_at(&writer->ring, i), NULL);
    lx__applied_sort_chunks(&writer->applied);
    uint64_t rows = frame->length > first ? frame->length - first : 0;
    lx_status status = lx__frame_begin(
        &writer->wal.frame, writer->applied.grown_count,
        (rows + 1) * writer->tables.field_count + writer->applied.updates.count, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < writer->applied.grown_count; i++)
        lx__frame_add_chunk(&writer->wal.frame, &writer->applied.grown[i]);
    add_entries(writer, frame);
    add_markers(writer);
    lx__frame_finish(&writer->wal.frame, frame, &writer->wal.identity);
    return LX_OK;
}

/** Reserves all memory that the commit needs. After this, allocations must not fail: files count as
 * synced once they are on the sync list, and a frame that is in the log must be adopted. */
static lx_status reserve(lx_writer *writer, lx_error *error)
{
    size_t count = 2 * writer->tables.field_count + 3;
    for (size_t i = 0; i < writer->flush.worker_count; i++)
        count += writer->flush.workers[i].flush_task.chunks.count + 1;
    lx_status status = lx__committed_reserve(&writer->committed, writer->applied.grown_count,
                                             writer->applied.updates.count, error);
    return status == LX_OK ? lx__sync_list_reserve(&writer->sync_list, count, error) : status;
}

/* ---- syncs, which release the mutex */

static void begin_wait(lx_writer *writer, unsigned how)
{
    if (!(how & LX__COMMIT_ALONE))
        pthread_mutex_unlock(&writer->mutex.mutex);
}

/** Takes the mutex again, ahead of other waiting threads. Afterwards, no worker is flushing. */
static void end_wait(lx_writer *writer, unsigned how)
{
    if (!(how & LX__COMMIT_ALONE))
        pthread_mutex_lock(&writer->mutex.mutex);
    lx__flush_drain(&writer->flush);
}

/** Lists everything that the next frame and all earlier frames refer to. */
static lx_status list_everything(lx_writer *writer, lx_error *error)
{
    lx__sync_list *list = &writer->sync_list;
    bool opening_synced = writer->committed.opening_synced;
    lx_status status = lx__table_writer_list_syncs(&writer->tables, list, error);
    size_t workers = LX__FAULT(WORKER_SYNC) ? 1 : writer->flush.worker_count;
    for (size_t i = 0; status == LX_OK && i < workers; i++)
        status = lx__chunk_files_list_syncs(&writer->flush.workers[i].flush_task.chunks, list,
                                            error);
    if (status != LX_OK)
        return status;
    if ((writer->wal.unsynced || !opening_synced) && !LX__FAULT(LOG_SYNC_BEFORE))
        lx__sync_list_add(list, &writer->wal.file);
    if (!opening_synced) {
        lx__sync_list_add_directory(list, &writer->chunk_directory);
        lx__sync_list_add_directory(list, &writer->directory);
    }
    return LX_OK;
}

/** Before a synced frame, and before the first frame, syncs everything. Before any other frame,
 * syncs only the rows that it covers: a lost row would read as zeros, which would mean a missing
 * value instead of damage. (The crash model in doc/commit-model.md shows this for a page cache that
 * is lost without a reboot.) */
static lx_status sync_data(lx_writer *writer, const lx__frame *frame, unsigned how, lx_error *error)
{
    lx_status status;
    bool everything = (frame->flags & LX__FRAME_SYNCED) || !writer->committed.opening_synced;
    if (everything)
        status = list_everything(writer, error);
    else if (frame->rows > writer->committed.state.rows)
        status = lx__table_writer_list_syncs(&writer->tables, &writer->sync_list, error);
    else
        return LX_OK;
    if (status == LX_OK) {
        begin_wait(writer, how);
        status = lx__sync_list_run(&writer->sync_list, error);
        end_wait(writer, how);
        for (size_t i = 0; i < writer->flush.worker_count; i++)
            lx__chunk_files_release(&writer->flush.workers[i].flush_task.chunks);
    }
    writer->committed.opening_synced |= everything && status == LX_OK;
    return status == LX_OK ? LX_OK : LX_ERR_POISONED;
}

/* ---- the log */

/** Writes the frame to the end of the log. */
static lx_status write_frame(lx_writer *writer, const lx__frame *frame, lx_error *error)
{
    bool preallocates = (frame->flags & LX__FRAME_SYNCED) &&
                        writer->durability == LX_DURABILITY_FULL;
    return lx__wal_writer_append(&writer->wal, frame, writer->committed.state.position.offset,
                                 preallocates, error);
}

/** Makes a synced frame durable. */
static lx_status sync_log(lx_writer *writer, const lx__frame *frame, unsigned how, lx_error *error)
{
    if (!(frame->flags & LX__FRAME_SYNCED))
        return LX_OK;
    begin_wait(writer, how);
    lx_status status = lx__wal_writer_sync(&writer->wal, error);
    end_wait(writer, how);
    return status == LX_OK ? LX_OK : LX_ERR_POISONED;
}

/* ---- after the frame: adopting it cannot fail */

static void advance(lx_writer *writer, const lx__frame *frame, bool changes)
{
    lx__committed_advance(&writer->committed, frame);
    writer->wal.unsynced = frame->flags == 0;
    writer->wal.changes = changes;
}

/** Counts what the frame changes, as a replay of the log does. */
static void count_changes(lx_writer *writer, const lx__frame *frame)
{
    uint64_t length = writer->committed.state.length;
    if (frame->length < length) {
        writer->meta.changes += frame->crc;
        length = frame->length;
    }
    for (size_t i = 0; i < writer->applied.updates.count; i++) {
        const lx__update *update = &writer->applied.updates.list[i];
        if (update->index < length)
            writer->meta.schema->fields[update->field]->changes += frame->crc;
    }
}

/** Moves the applied updates to those that are in the log. Room must have been reserved. */
static void adopt_updates(lx_writer *writer)
{
    const lx__state *state = &writer->committed.state;
    for (size_t i = 0; i < writer->applied.updates.count; i++) {
        const lx__update *update = &writer->applied.updates.list[i];
        lx__entry entry = lx__update_entry(update);
        if (update->index >= state->length)
            continue;
        if (update->index < state->rows)
            lx__update_map_put(&writer->committed.updates, update);
        else
            lx__table_writer_put(&writer->tables, update->field, update->index, &entry);
    }
    lx__update_map_clear(&writer->applied.updates);
    lx__table_writer_truncate(&writer->tables, lx__committed_row_end(&writer->committed));
}

/** Adopts the state that the frame commits. */
static void adopt(lx_writer *writer, const lx__frame *frame)
{
    lx__applied *applied = &writer->applied;
    advance(writer, frame, true);
    count_changes(writer, frame);
    lx__committed_adopt(&writer->committed, frame, applied->grown, applied->grown_count);
    for (size_t i = 0; i < writer->flush.worker_count; i++)
        lx__chunk_files_committed(&writer->flush.workers[i].flush_task.chunks, applied->grown,
                                  applied->grown_count);
    applied->grown_count = 0;
    for (size_t i = 0; i < writer->tables.field_count; i++)
        if (writer->tables.fields[i].marked)
            writer->meta.schema->fields[i]->complete = false;
    adopt_updates(writer);
    writer->calls.committed = writer->calls.applied;
}
