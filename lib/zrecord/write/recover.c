/* SPDX-License-Identifier: MIT */
#include "zrecord/write/recover.h"

#include "base/copy.h"
#include "base/error.h"
#include "base/log.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/table/table-file.h"
#include "zrecord/write/lost-values.h"
#include "zrecord/write/readers.h"

/* ---- writeback */

/** Writes bytes back once more, because the last writer's sync of them may have failed. */
static lx_status write_back(const lx__file *file, uint64_t start, uint64_t end, lx_error *error)
{
    lx_status status = lx__file_write_back(file, start, end, error);
    return status == LX_OK ? lx__file_sync_data(file, error) : status;
}

static lx_status write_back_file(const lx__file *directory, const char *name, uint64_t start,
                                 uint64_t end, lx_error *error)
{
    lx__file file;
    if (start == end)
        return LX_OK;
    lx_status status = lx__committed_open(&file, directory, name, O_RDWR, end, false, error);
    if (status != LX_OK)
        return status;
    status = write_back(&file, start, end, error);
    lx__file_close(&file);
    return status;
}

/** Writes back the bytes of a chunk starting at @p start, which no synced frame covers. If the file
 * is shorter than @p item says, its missing end is lost. That part is filled with zeros, so that
 * the values in it count as damaged and all others stay readable. A chunk that lacks synced bytes
 * is left alone. */
static lx_status write_back_chunk(const lx_writer *writer, const lx__chunk_item *item,
                                  uint64_t start, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file file;
    lx_error why = LX_ERROR_INIT;
    uint64_t size, limit = writer->meta.chunk_limit;
    if (start == item->bytes)
        return LX_OK;
    lx__chunk_name(item->id, name);
    lx_status status = lx__file_open(&file, &writer->chunk_directory, name,
                                     start == 0 ? O_RDWR | O_CREAT : O_RDWR, &why);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status != LX_OK) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__file_size(&file, &size, error);
    /* A hostile frame must not make a file larger than a chunk limit or a single payload. */
    bool possible = item->bytes <= limit || item->bytes <= UINT32_MAX;
    if (status == LX_OK && size >= start && size < item->bytes && possible)
        status = lx__file_truncate(&file, item->bytes, error);
    if (status == LX_OK && size > start)
        status = lx__file_write_back(&file, start, size < item->bytes ? size : item->bytes, error);
    if (status == LX_OK)
        status = lx__file_sync_data(&file, error);
    lx__file_close(&file);
    return status;
}

/** Writes back the log, starting at @p start, and everything that frames after the durable state
 * refer to. */
static lx_status write_back_state(lx_writer *writer, const lx__state *durable, uint64_t start,
                                  lx_error *error)
{
    char name[LX__NAME_SIZE];
    const lx__state *state = &writer->committed.state;
    lx_status status = write_back(&writer->wal.file, start, state->position.offset, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        const lx__chunk_item *item = &state->chunks[i];
        const lx__chunk_item *before = lx__state_find_chunk(durable, item->id);
        status = write_back_chunk(writer, item, before != NULL ? before->bytes : 0, error);
    }
    for (size_t i = 0; status == LX_OK && i < writer->meta.schema->count; i++) {
        const char *stem = lx__schema_field(writer->meta.schema, i)->stem;
        lx__table_name(stem, LX__OFFSET_KIND, state->table_generation, name);
        status = write_back_file(&writer->directory, name, durable->rows * LX__OFFSET_ROW,
                                 state->rows * LX__OFFSET_ROW, error);
        lx__table_name(stem, LX__CHECK_KIND, state->table_generation, name);
        if (status == LX_OK)
            status = write_back_file(&writer->directory, name, durable->rows * LX__CHECK_ROW,
                                     state->rows * LX__CHECK_ROW, error);
    }
    return status;
}

/* ---- opening */

/** Reads the state at the last synced frame, and the state at the last frame that is valid in this
 * boot. Sets @p end to the end of the log, not counting trailing zeros. */
static lx_status replay_log(lx_writer *writer, lx__state *durable, lx__wal_scan *scan,
                            uint64_t *end, lx_error *error)
{
    lx__state *state = &writer->committed.state;
    const lx_schema *schema = writer->meta.schema;
    const lx__wal_position start = {0};
    lx__wal_reader log;
    lx_status status = lx__wal_open(&log, &writer->directory, &writer->wal.identity, error);
    if (status != LX_OK)
        return status;
    status = lx__wal_scan_from(&log, &start, log.boot, scan, error);
    if (status == LX_OK && scan->valid.offset == 0)
        status = lx__wal_fail_first(&log, error);
    lx__wal_suggest_repair(error, status);
    if (status == LX_OK)
        status = lx__state_replay_to(durable, &log, schema, scan->durable.offset, error);
    if (status == LX_OK) {
        lx__state_copy(state, durable);
        status = lx__state_replay_to(
            state, &log, schema,
            LX__FAULT(UNSYNCED_DROPPED) ? scan->durable.offset : scan->valid_in_boot.offset, error);
    }
    if (status == LX_OK)
        status = lx__state_check_rest(state, &log, schema, scan->valid.offset, error);
    if (status == LX_OK)
        *end = lx__wal_find_end(&log, scan->valid.offset);
    lx__wal_close(&log);
    return status;
}

/** Fails if there are readers and the writer does not know the boot id, because it would truncate
 * frames that are valid for readers of this boot. */
static lx_status check_readers(lx_writer *writer, const lx__wal_scan *scan, lx_error *error)
{
    if (writer->wal.boot != 0 || scan->valid.offset == writer->committed.state.position.offset)
        return LX_OK;
    bool present;
    uint64_t generation = writer->meta.generation;
    lx_status status = lx__reader_locks_present(&writer->lock, generation, generation + 1, &present,
                                                error);
    if (status != LX_OK || !present)
        return status;
    return lx_fail(error, LX_ERR_BUSY,
                   "cannot recover the dataset: the kernel's boot id is unknown, and readers have "
                   "the dataset open: close them first");
}

/** Logs what is being truncated, not counting zeros. */
static void report_truncation(const lx_writer *writer, const lx__wal_scan *scan, uint64_t end)
{
    const char *path = writer->directory.path;
    uint64_t commits = scan->valid.sequence - writer->committed.state.position.sequence;
    uint64_t torn = end - scan->valid.offset;
    if (commits != 0)
        lx__log(LX_LOG_WARNING,
                "%s: dropped %llu commits that were not synced before the machine stopped", path,
                (unsigned long long)commits);
    if (torn != 0)
        lx__log(LX_LOG_WARNING,
                "%s: truncated the log by %llu bytes: a commit was interrupted while it was being "
                "written",
                path, (unsigned long long)torn);
}

/** Truncates the log after the last frame of the committed state, and reports it. */
static lx_status truncate_log(lx_writer *writer, const lx__wal_scan *scan, uint64_t end,
                              lx_error *error)
{
    uint64_t size;
    lx_status status = lx__file_size(&writer->wal.file, &size, error);
    if (status != LX_OK || size <= writer->committed.state.position.offset)
        return status;
    status = lx__file_truncate(&writer->wal.file, writer->committed.state.position.offset, error);
    if (status == LX_OK)
        report_truncation(writer, scan, end);
    return status;
}

static bool replaces_row(const lx__update *update, const void *user)
{
    return update->index < *(const uint64_t *)user;
}

/** Logs how many values of unsynced commits are lost. */
static lx_status report_lost(const lx_writer *writer, const lx__state *durable, lx_error *error)
{
    uint64_t lost;
    lx_status status = lx__lost_values_count(writer, durable, &lost, error);
    if (status == LX_OK && lost != 0)
        lx__log(LX_LOG_WARNING,
                "%s: %llu values of commits that were not synced are damaged: list them with "
                "'loaderx verify', and write them again or run 'loaderx repair'",
                writer->directory.path, (unsigned long long)lost);
    return status;
}

/** Loads the committed entries that are only in the log: rows beyond the tables, and updates. */
static lx_status load_updates(lx_writer *writer, lx_error *error)
{
    lx__state *state = &writer->committed.state;
    lx_status status = LX_OK;
    for (uint64_t index = state->rows; status == LX_OK && index < state->length; index++)
        status = lx__table_writer_add_row(&writer->tables, error);
    if (status == LX_OK)
        status = lx__overlay_move(&state->overlay, &writer->committed.updates, error);
    if (status != LX_OK || state->length <= state->rows)
        return status;
    for (size_t i = 0; i < writer->committed.updates.count; i++) {
        const lx__update *update = &writer->committed.updates.list[i];
        lx__entry entry = lx__update_entry(update);
        if (update->index >= state->rows)
            lx__table_writer_put(&writer->tables, update->field, update->index, &entry);
    }
    lx__update_map_keep(&writer->committed.updates, replaces_row, &state->rows);
    return LX_OK;
}

bool lx__writer_may_trim(const lx_writer *writer)
{
    bool present;
    return !writer->keeps_files &&
           lx__reader_locks_present(&writer->lock, 0, writer->meta.generation + 1, &present,
                                    NULL) == LX_OK &&
           !present;
}

/** Sets @p size to the size of a chunk's file; 0 if it does not exist. If @p trims, frees what an
 * interrupted writer has written beyond the committed bytes: without it, a full disk would stay
 * full. */
static lx_status trim_chunk(const lx_writer *writer, const lx__chunk_item *item, bool trims,
                            uint64_t *size, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_error why = LX_ERROR_INIT;
    lx__file file;
    *size = 0;
    lx__chunk_name(item->id, name);
    lx_status status = lx__file_open(&file, &writer->chunk_directory, name, O_RDWR, &why);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status != LX_OK) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__file_size(&file, size, error);
    if (trims)
        lx__file_trim(&file, item->bytes);
    lx__file_close(&file);
    return status;
}

/** Finds the chunks that can take more payloads, and frees what is not committed in them. A chunk
 * that lacks committed bytes has lost values, and counts as full. */
static lx_status find_open_chunks(lx_writer *writer, lx_error *error)
{
    lx__chunk_pool *pool = &writer->flush.pool;
    bool trims = lx__writer_may_trim(writer);
    lx_status status = LX_OK;
    for (size_t i = 0; i < writer->committed.state.chunk_count; i++)
        lx__chunk_pool_offer(pool, &writer->committed.state.chunks[i]);
    for (size_t i = 0; status == LX_OK && i < pool->spare_count;) {
        const lx__chunk_item *item = &pool->spare[i];
        uint64_t size;
        status = trim_chunk(writer, item, trims, &size, error);
        if (status != LX_OK || size >= item->bytes) {
            i++;
            continue;
        }
        lx__log(LX_LOG_WARNING,
                "%s/%u.zr: the file has only %llu of its %llu committed bytes, so some values are "
                "damaged: list them with 'loaderx verify'",
                writer->chunk_directory.path, item->id, (unsigned long long)size,
                (unsigned long long)item->bytes);
        pool->spare[i] = pool->spare[--pool->spare_count];
    }
    return status;
}

/** Loads the committed state into the writer. */
static lx_status load_committed(lx_writer *writer, const lx__state *durable, lx_error *error)
{
    const lx__state *state = &writer->committed.state;
    lx_status status = lx__table_writer_open(&writer->tables, &writer->directory,
                                             writer->meta.schema, state->table_generation,
                                             state->rows, state->rows, error);
    if (status == LX_OK && lx__writer_may_trim(writer))
        lx__table_writer_trim(&writer->tables, state->rows);
    if (status == LX_OK && writer->wal.unsynced)
        status = report_lost(writer, durable, error);
    if (status == LX_OK)
        status = load_updates(writer, error);
    writer->length = writer->applied.length = writer->committed.state.length;
    lx__changes_add_to_meta(&state->changes, &writer->meta);
    for (size_t i = 0; i < writer->meta.schema->count; i++)
        if (lx__state_may_be_missing(state, writer->meta.schema, i))
            writer->meta.schema->fields[i]->complete = false;
    return status;
}

lx_status lx__writer_recover(lx_writer *writer, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__state durable = {0};
    lx__wal_scan scan;
    uint64_t end;
    lx_status status = replay_log(writer, &durable, &scan, &end, error);
    if (status == LX_OK)
        status = check_readers(writer, &scan, error);
    if (status == LX_OK)
        status = lx__orphans_remove(writer, error);
    lx__wal_name(writer->meta.generation, name);
    if (status == LX_OK)
        status = lx__file_open(&writer->wal.file, &writer->directory, name, O_RDWR, error);
    writer->wal.unsynced = writer->committed.state.position.offset > scan.durable.offset;
    if (status == LX_OK) /* before write_back_state() extends short chunks */
        status = find_open_chunks(writer, error);
    /* This includes the last synced frame, whose writer may have died or failed during the sync. */
    if (status == LX_OK && !writer->committed.opening_synced && !LX__FAULT(WRITE_BACK))
        status = write_back_state(writer, &durable, scan.synced_start, error);
    if (status == LX_OK && !LX__FAULT(TRUNCATE))
        status = truncate_log(writer, &scan, end, error);
    if (status == LX_OK)
        status = load_committed(writer, &durable, error);
    lx__state_free(&durable);
    return status;
}
