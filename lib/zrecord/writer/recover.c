/* SPDX-License-Identifier: MIT */
/* Opening for writing what another writer has left. See doc/zrecord-format.md, 10.3. */
#include "base/error.h"
#include "base/log.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/store/intact.h"
#include "zrecord/store/table.h"
#include "zrecord/writer/users.h"
#include "zrecord/writer/writer.h"

/* ---- writing back */

/** A sync of them may have failed for the last writer. */
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

/** The log from @p start on, and everything that the frames after the durable state name. */
static lx_status write_back_state(lx_writer *writer, const lx__state *durable, uint64_t start,
                                  lx_error *error)
{
    char name[LX__NAME_SIZE];
    const lx__state *state = &writer->state;
    lx_status status = write_back(&writer->log, start, state->place.offset, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        const lx__chunk_item *item = &state->chunks[i];
        const lx__chunk_item *before = lx__state_find_chunk(durable, item->id);
        lx__chunk_name(item->id, name);
        status = write_back_file(&writer->chunk_directory, name,
                                 before != NULL ? before->bytes : 0, item->bytes, error);
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

/** Replays the frames of this boot after the last synced one, as far as what they name is there. */
static lx_status replay_rest(lx_writer *writer, lx__log_reader *log, const lx__state *durable,
                             const lx__log_scan *scan, lx_error *error)
{
    const lx__intact_place place = {.directory = &writer->directory,
                                    .chunk_directory = &writer->chunk_directory,
                                    .schema = writer->meta.schema,
                                    .uuid = writer->meta.uuid};
    uint64_t end;
    lx_status status =
        lx__intact_end(&place, log, durable, scan->trusted.offset, &end, error);
    if (status == LX_OK && end < scan->trusted.offset)
        lx__log(LX_LOG_WARNING,
                "%s: what commits from byte %llu of the log on name is lost; they are cut off",
                writer->directory.path, (unsigned long long)end);
    lx__state_copy(&writer->state, durable);
    if (status == LX_OK)
        status = lx__state_replay_to(&writer->state, log, writer->meta.schema, end, error);
    if (status == LX_OK)
        status = lx__state_check_rest(&writer->state, log, writer->meta.schema,
                                      scan->valid.offset, error);
    return status;
}

static lx_status replay_log(lx_writer *writer, lx__state *durable, lx__log_scan *scan,
                            lx_error *error)
{
    const lx__log_place start = {0};
    lx__log_reader log;
    lx_status status = lx__log_open(&log, &writer->directory, &writer->identity, error);
    if (status != LX_OK)
        return status;
    status = lx__log_scan_from(&log, &start, log.boot, scan, error);
    if (status == LX_OK && scan->valid.offset == 0)
        status = lx__log_fail_first(&log, error);
    if (status == LX_OK)
        status = lx__state_replay_to(durable, &log, writer->meta.schema, scan->durable.offset,
                                     error);
    if (status == LX_OK)
        status = replay_rest(writer, &log, durable, scan, error);
    lx__log_close(&log);
    return status;
}

/** A writer that does not know its boot would cut frames that readers of this boot may count. */
static lx_status check_readers(lx_writer *writer, const lx__log_scan *scan, lx_error *error)
{
    if (writer->boot != 0 || scan->valid.offset == writer->state.place.offset)
        return LX_OK;
    bool present;
    uint64_t generation = writer->meta.generation;
    lx_status status =
        lx__readers_present(&writer->lock, generation, generation + 1, &present, error);
    if (status != LX_OK || !present)
        return status;
    return lx__fail(error, LX_ERR_BUSY,
                    "the kernel's boot id is not known, and readers have the dataset open: close "
                    "them first");
}

static lx_status cut_log(lx_writer *writer, lx_error *error)
{
    uint64_t size;
    lx_status status = lx__file_size(&writer->log, &size, error);
    if (status == LX_OK && size > writer->state.place.offset)
        status = lx__file_truncate(&writer->log, writer->state.place.offset, error);
    return status;
}

static bool is_in_place_of_row(const lx__set *set, const void *user)
{
    return set->index < *(const uint64_t *)user;
}

/** Takes up the committed entries that are in the log alone: those of rows behind the tables, and
 * those that stand in place of rows. */
static lx_status take_up_sets(lx_writer *writer, lx_error *error)
{
    lx__state *state = &writer->state;
    lx_status status = lx__rows_open(&writer->rows, &writer->directory, writer->meta.schema,
                                     state->table_generation, state->rows, state->rows, error);
    for (uint64_t index = state->rows; status == LX_OK && index < state->length; index++)
        status = lx__rows_add(&writer->rows, error);
    if (status == LX_OK)
        status = lx__sets_take(&state->sets, &writer->live, error);
    if (status != LX_OK || state->length <= state->rows)
        return status;
    for (size_t i = 0; i < writer->live.count; i++) {
        const lx__set *set = &writer->live.list[i];
        lx__entry entry = lx__set_entry(set);
        if (set->index >= state->rows)
            lx__rows_put(&writer->rows, set->field, set->index, &entry);
    }
    lx__set_map_keep(&writer->live, is_in_place_of_row, &state->rows);
    return LX_OK;
}

/** Chunks that will be appended to must have what is committed of them. */
static lx_status look_at_spares(lx_writer *writer, lx_error *error)
{
    char name[LX__NAME_SIZE];
    const lx__chunk_pool *pool = &writer->placer.pool;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < pool->spare_count; i++) {
        lx__file file;
        const lx__chunk_item *item = &pool->spare[i];
        if (item->bytes == 0)
            continue; /* it may be absent */
        lx__chunk_name(item->id, name);
        status = lx__committed_open(&file, pool->directory, name, O_RDWR, item->bytes, false,
                                    error);
        if (status == LX_OK)
            lx__file_close(&file);
    }
    return status;
}

/** What is committed, as the writer holds it, and the chunks that may be appended to. */
static lx_status take_up(lx_writer *writer, lx_error *error)
{
    lx_status status = take_up_sets(writer, error);
    for (size_t i = 0; i < writer->state.chunk_count; i++)
        lx__chunk_pool_offer(&writer->placer.pool, &writer->state.chunks[i]);
    if (status == LX_OK)
        status = look_at_spares(writer, error);
    writer->length = writer->applied.length = writer->state.length;
    return status;
}

lx_status lx__writer_recover(lx_writer *writer, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__state durable = {0};
    lx__log_scan scan;
    lx_status status = replay_log(writer, &durable, &scan, error);
    if (status == LX_OK)
        status = check_readers(writer, &scan, error);
    if (status == LX_OK)
        status = lx__leftovers_remove(writer, error);
    lx__log_name(writer->meta.generation, name);
    if (status == LX_OK)
        status = lx__file_open(&writer->log, &writer->directory, name, O_RDWR, error);
    writer->unsynced = writer->state.place.offset > scan.durable.offset;
    /* The last synced frame, too: its writer may have died or failed in the sync of it. */
    if (status == LX_OK && !writer->settled && !LX__FAULT(WRITE_BACK))
        status = write_back_state(writer, &durable, scan.synced_start, error);
    lx__state_free(&durable);
    if (status == LX_OK && !LX__FAULT(CUT))
        status = cut_log(writer, error);
    if (status == LX_OK)
        status = take_up(writer, error);
    return status;
}
