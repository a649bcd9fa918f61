/* SPDX-License-Identifier: MIT */
#include "zrecord/write/install.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/executor.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/write/commit.h"
#include "zrecord/write/group-commit.h"
#include "zrecord/write/handle.h"

lx_status lx__sync_or_poison(const lx__file *file, lx_error *error)
{
    return lx__file_sync(file, error) == LX_OK ? LX_OK : LX_ERR_POISONED;
}

/* ---- new files */

lx_status lx__install_begin(lx__install *self, lx_writer *writer, lx_error *error)
{
    *self = (lx__install){.writer = writer, .log = LX__FILE_CLOSED};
    lx_status status = lx__meta_succeed(&self->meta, &writer->meta, error);
    if (status == LX_OK)
        lx__state_copy(&self->state, &writer->committed.state);
    self->first_chunk = self->state.next_chunk = lx__writer_next_chunk(writer);
    return status == LX_OK ? lx__orphans_remove(writer, error) : status;
}

lx_status lx__install_make_tables(lx__install *self, lx_error *error)
{
    lx_writer *writer = self->writer;
    lx_status status = lx__state_begin_tables(&self->state, error);
    if (status != LX_OK)
        return status;
    self->new_tables = true;
    status = lx__table_writer_open(&self->tables, &writer->directory, writer->meta.schema,
                                   self->state.table_generation, 0, 0, error);
    self->tables.first = self->state.length;
    return status;
}

lx_status lx__install_sync_tables(lx__install *self, lx_error *error)
{
    lx_status status = LX_OK;
    /* Start writeback of all tables before waiting for any of them. */
    for (size_t i = 0; i < self->tables.field_count; i++) {
        lx__file_start_writeback(&self->tables.fields[i].offsets, 0, 0);
        lx__file_start_writeback(&self->tables.fields[i].checks, 0, 0);
    }
    for (size_t i = 0; status == LX_OK && i < self->tables.field_count; i++) {
        if (LX__FAULT(INSTALL_TABLE_SYNC))
            break;
        status = lx__sync_or_poison(&self->tables.fields[i].offsets, error);
        if (status == LX_OK)
            status = lx__sync_or_poison(&self->tables.fields[i].checks, error);
    }
    return status;
}

lx__chunk_output lx__install_output(lx__install *self)
{
    const lx_writer *writer = self->writer;
    return (lx__chunk_output){.directory = &writer->chunk_directory,
                              .to = &self->state,
                              .records_limit = writer->meta.chunk_records,
                              .bytes_limit = writer->meta.chunk_limit};
}

static lx_status add_updates(lx__install *self, lx__frame_builder *builder,
                             const lx__update_map *live, const lx__sorted_update *sorted,
                             size_t count, lx_error *error)
{
    const lx__state *state = &self->state;
    lx_status status = lx__frame_begin(builder, state->chunk_count, count, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < state->chunk_count; i++)
        lx__frame_add_chunk(builder, &state->chunks[i]);
    for (size_t i = 0; i < count; i++) {
        lx__update_item item = {.field = sorted[i].field_id,
                                .index = sorted[i].index,
                                .entry = lx__update_entry(&live->list[sorted[i].position])};
        lx__frame_add_update(builder, &item);
    }
    return LX_OK;
}

/** Writes frame 0, and moves the state's position past it. */
static lx_status write_log(lx__install *self, lx__frame_builder *builder, lx_error *error)
{
    lx__state *state = &self->state;
    lx__wal_identity identity = self->writer->wal.identity;
    identity.generation = self->meta.generation;
    lx__frame frame = {.length = state->length,
                       .rows = state->rows,
                       .flags = LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED,
                       .boot = self->writer->wal.boot,
                       .table_generation = state->table_generation,
                       .next_chunk = state->next_chunk};
    lx__frame_finish(builder, &frame, &identity);
    state->position = (lx__wal_position){.offset = frame.bytes, .sequence = 1, .crc = frame.crc};
    state->items = frame.update_count;
    char name[LX__NAME_SIZE];
    lx__wal_name(self->meta.generation, name);
    lx_status status = lx__file_open(&self->log, &self->writer->directory, name,
                                     O_RDWR | O_CREAT | O_EXCL, error);
    if (status == LX_OK)
        status = lx__file_write(&self->log, builder->data, builder->size, 0, error);
    if (status == LX_OK && !LX__FAULT(INSTALL_LOG_SYNC))
        status = lx__sync_or_poison(&self->log, error);
    return status;
}

/** Stores in the new meta.json which fields are complete. If the tables are new, these are the
 * fields without a missing value; otherwise, those that were complete before and have not had a
 * marker since. */
static lx_status set_complete(lx__install *self, lx_error *error)
{
    const lx_writer *writer = self->writer;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < writer->meta.schema->count; i++) {
        bool complete = self->new_tables ? !self->tables.fields[i].missing
                                         : lx__schema_field(writer->meta.schema, i)->complete;
        status = lx__meta_set_complete(&self->meta, i, complete, error);
    }
    return status;
}

lx_status lx__install_make_log(lx__install *self, const lx__update_map *live, lx_error *error)
{
    lx__frame_builder builder = {0};
    lx__sorted_update *sorted = NULL;
    size_t count = 0;
    lx_status status = lx__meta_set_generation(&self->meta, self->meta.generation + 1, error);
    if (status == LX_OK && live != NULL)
        status = lx__update_map_sort(live, self->writer->meta.schema, self->state.length, &sorted,
                                     &count, error);
    if (status == LX_OK)
        status = add_updates(self, &builder, live, sorted, count, error);
    if (status == LX_OK)
        status = write_log(self, &builder, error);
    if (status == LX_OK)
        status = set_complete(self, error);
    if (status == LX_OK && !LX__FAULT(CHANGES))
        status = lx__meta_set_changes(&self->meta, error);
    lx__free(sorted);
    lx__frame_builder_free(&builder);
    return status;
}

/* ---- the new meta.json */

/** After a failure: whether meta.json is still the same file as before. */
static bool is_unchanged(const lx_writer *writer, const struct stat *before)
{
    struct stat now;
    return fstatat(writer->directory.fd, LX__META_NAME, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == before->st_dev && now.st_ino == before->st_ino;
}

static lx_status replace_meta(lx__install *self, lx_error *error)
{
    const lx__file *directory = &self->writer->directory;
    struct stat before = {0};
    bool known = fstatat(directory->fd, LX__META_NAME, &before, AT_SYMLINK_NOFOLLOW) == 0;
    lx_status status = lx__meta_replace(&self->meta, directory, error);
    self->named = status == LX_OK || !known || !is_unchanged(self->writer, &before);
    return status == LX_OK || !self->named ? status : LX_ERR_POISONED;
}

/** Marks as obsolete the files of this generation that are no longer used but that readers may have
 * open. */
static void add_obsolete_files(lx__install *self)
{
    char name[LX__NAME_SIZE];
    lx_writer *writer = self->writer;
    const lx__state *state = &writer->committed.state;
    uint64_t before = writer->meta.generation, end = before + 1;
    if (self->log.fd != -1) {
        lx__wal_name(before, name);
        lx__obsolete_files_add(&writer->obsolete, false, name, before, end);
    }
    for (size_t i = 0; self->new_tables && i < writer->meta.schema->count; i++) {
        const char *stem = lx__schema_field(writer->meta.schema, i)->stem;
        lx__table_name(stem, LX__OFFSET_KIND, state->table_generation, name);
        lx__obsolete_files_add(&writer->obsolete, false, name, writer->obsolete.tables_since, end);
        lx__table_name(stem, LX__CHECK_KIND, state->table_generation, name);
        lx__obsolete_files_add(&writer->obsolete, false, name, writer->obsolete.tables_since, end);
    }
    for (size_t i = 0; self->new_chunks && i < state->chunk_count; i++) {
        lx__chunk_name(state->chunks[i].id, name);
        lx__obsolete_files_add(&writer->obsolete, true, name, writer->obsolete.chunks_since, end);
    }
    if (self->new_tables)
        writer->obsolete.tables_since = end;
    if (self->new_chunks)
        writer->obsolete.chunks_since = end;
}

/** Whether there are new chunks next to the old ones. */
static bool adds_chunks(const lx__install *self)
{
    return !self->new_chunks && self->state.next_chunk != self->first_chunk;
}

/** Lets appends use the chunks from @p first on, which are new. */
static void offer_chunks(lx_writer *writer, uint32_t first)
{
    const lx__state *state = &writer->committed.state;
    writer->flush.pool.next_id = state->next_chunk; /* no flush is running now */
    for (size_t i = 0; i < state->chunk_count; i++)
        if (state->chunks[i].id >= first)
            lx__chunk_pool_offer(&writer->flush.pool, &state->chunks[i]);
}

/** Makes appends continue in the new chunks that have room, and in none of the old ones. */
static void use_chunks(lx_writer *writer)
{
    for (size_t i = 0; i < writer->flush.worker_count; i++)
        lx__chunk_files_close(&writer->flush.workers[i].flush_task.chunks);
    lx__chunk_pool_drop_spare(&writer->flush.pool);
    offer_chunks(writer, 0);
}

/** Makes the new generation the writer's current one. Cannot fail. */
static void adopt(lx__install *self)
{
    lx_writer *writer = self->writer;
    bool adds = adds_chunks(self);
    add_obsolete_files(self);
    lx__meta_free_document(&writer->meta);
    writer->meta = self->meta;
    self->meta = (lx__meta){0};
    writer->wal.identity.generation = writer->meta.generation;
    if (self->log.fd != -1) {
        lx__wal_writer_replace(&writer->wal, &self->log);
        lx__state_free(&writer->committed.state);
        writer->committed.state = self->state;
        self->state = (lx__state){0};
        writer->wal.retry_at = 0;
    }
    for (size_t i = 0; self->new_tables && i < self->tables.field_count; i++)
        writer->meta.schema->fields[i]->complete = !self->tables.fields[i].missing;
    if (self->tables.fields != NULL) {
        lx__table_writer_close(&writer->tables);
        writer->tables = self->tables;
        self->tables = (lx__table_writer){0};
    }
    if (self->new_tables)
        lx__update_map_clear(&writer->committed.updates);
    if (self->new_chunks)
        use_chunks(writer);
    else if (adds)
        offer_chunks(writer, self->first_chunk);
}

lx_status lx__install_finish(lx__install *self, lx_error *error)
{
    lx_writer *writer = self->writer;
    const lx__state *state = &self->state;
    lx_status status = lx__meta_set_state(&self->meta, state->length, state->chunks,
                                          state->chunk_count, error);
    if (status == LX_OK && (self->new_chunks || adds_chunks(self)) &&
        !LX__FAULT(INSTALL_DIRECTORY_SYNC))
        status = lx__sync_or_poison(&writer->chunk_directory, error);
    if (status == LX_OK && !LX__FAULT(INSTALL_DIRECTORY_SYNC))
        status = lx__sync_or_poison(&writer->directory, error);
    if (status == LX_OK && LX__FAULT(OBSOLETE_EARLY)) {
        add_obsolete_files(self);
        lx__obsolete_files_remove(writer);
    }
    if (status == LX_OK)
        status = replace_meta(self, error);
    if (status != LX_OK)
        return status;
    adopt(self);
    self->done = true;
    return LX_OK;
}

/** Removes the new files; those that cannot be removed become orphans. In a child of fork(), which
 * gets here if a callback forks and the child returns from it, leaves the files to the parent. */
static void remove_new(lx__install *self)
{
    char name[LX__NAME_SIZE];
    lx_writer *writer = self->writer;
    if (lx__executor_check(writer->executor, NULL) != LX_OK)
        return;
    if (self->meta.generation > writer->meta.generation) {
        lx__wal_name(self->meta.generation, name);
        (void)lx__file_remove(&writer->directory, name, NULL);
    }
    for (size_t i = 0; self->new_tables && i < writer->meta.schema->count; i++) {
        const char *stem = lx__schema_field(writer->meta.schema, i)->stem;
        lx__table_name(stem, LX__OFFSET_KIND, self->state.table_generation, name);
        (void)lx__file_remove(&writer->directory, name, NULL);
        lx__table_name(stem, LX__CHECK_KIND, self->state.table_generation, name);
        (void)lx__file_remove(&writer->directory, name, NULL);
    }
    for (uint32_t id = self->first_chunk; id != self->state.next_chunk; id++) {
        lx__chunk_name(id, name);
        (void)lx__file_remove(&writer->chunk_directory, name, NULL);
        writer->flush.pool.next_id = id + 1; /* an orphan with that name is harmless */
    }
    (void)lx__file_remove(&writer->directory, LX__META_NEW_NAME, NULL);
}

void lx__install_end(lx__install *self)
{
    if (self->done)
        lx__obsolete_files_remove(self->writer);
    else if (!self->named)
        remove_new(self);
    lx__file_close(&self->log);
    lx__table_writer_close(&self->tables);
    lx__state_free(&self->state);
    lx__meta_free_document(&self->meta);
}

/* ---- a whole call */

lx_status lx__install_commit(lx_writer *writer, lx_error *error)
{
    return lx__group_commit(writer, writer->calls.made,
                            LX__COMMIT_SYNCED | LX__COMMIT_ALONE |
                                (LX__FAULT(PENDING_ROWS) ? 0 : LX__COMMIT_ROWS),
                            error);
}

static lx_status call(lx_writer *writer, bool within, lx__install_job *job, void *user,
                      lx_error *error)
{
    lx_status status = lx__writer_enter_alone(writer, error);
    if (status != LX_OK)
        return status;
    status = lx__writer_usable(writer, error);
    if (status == LX_OK && writer->transaction && !within)
        status = lx_fail(error, LX_ERR_STATE, "a transaction is open: end it first");
    if (status == LX_OK && writer->transaction)
        status = lx__group_commit(writer, 0,
                                  LX__COMMIT_REPEAT | LX__COMMIT_SYNCED | LX__COMMIT_ALONE, error);
    else if (status == LX_OK)
        status = lx__install_commit(writer, error);
    if (status == LX_OK) {
        lx_error failure = LX_ERROR_INIT;
        status = job(writer, user, &failure);
        if (status == LX_ERR_POISONED)
            (void)lx__calls_fail(&writer->calls, 0, status, &failure, error);
        else if (status != LX_OK)
            lx__error_propagate(error, &failure);
    }
    lx__writer_leave(writer);
    return status;
}

lx_status lx__install_call(lx_writer *writer, lx__install_job *job, void *user, lx_error *error)
{
    return call(writer, false, job, user, error);
}

lx_status lx__install_call_within(lx_writer *writer, lx__install_job *job, void *user,
                                  lx_error *error)
{
    return call(writer, true, job, user, error);
}
