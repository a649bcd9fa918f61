/* SPDX-License-Identifier: MIT */
#include "zrecord/write/writer.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/boot-id.h"
#include "base/error.h"
#include "base/log.h"
#include "zrecord/fault.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/table/table-file.h"
#include "zrecord/write/commit.h"
#include "zrecord/write/create.h"
#include "zrecord/write/group-commit.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/reap.h"
#include "zrecord/write/recover.h"
#include "zrecord/write/writer-options.h"

/* ---- opening and closing */

/** Creates an executor for the writer itself. Its readers help to compress values; no thread starts
 * before it is needed. */
static lx_status own_executor(lx_writer *writer, lx_error *error)
{
    lx_status status = lx_executor_open(NULL, &writer->executor, error);
    writer->own_executor = status == LX_OK;
    return status;
}

static lx_status new_writer(const lx_writer_options *options, lx_writer **writer, lx_error *error)
{
    lx_writer *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a writer");
    lx__write_mutex_init(&made->mutex);
    lx__sync_timer_init(&made->timer);
    made->timer.sync = lx__writer_sync_by_timer;
    lx__flush_init(&made->flush);
    made->directory = made->chunk_directory = made->lock = made->wal.file =
        (lx__file)LX__FILE_CLOSED;
    made->durability = options->durability;
    made->keeps_files = options->keeps_files;
    made->level = options->level;
    lx__calls_clear_failure(&made->calls);
    *writer = made;
    lx_status status = LX_OK;
    if (options->executor == NULL)
        status = own_executor(made, error);
    else
        made->executor = lx_executor_ref(options->executor);
    made->timer.executor = made->executor;
    return status;
}

static void free_writer(lx_writer *writer)
{
    lx__flush_close(&writer->flush);
    lx__table_writer_close(&writer->tables);
    lx__applied_free(&writer->applied);
    lx__sync_list_free(&writer->sync_list);
    lx__wal_writer_close(&writer->wal);
    lx__write_ring_free(&writer->ring);
    lx__committed_free(&writer->committed);
    lx__meta_free(&writer->meta);
    lx__obsolete_files_free(&writer->obsolete);
    for (size_t i = 0; i < writer->former.count; i++)
        lx_schema_free(writer->former.list[i]);
    lx__free(writer->former.list);
    lx__training_end(&writer->training);
    lx__dictionary_list_free(&writer->dictionaries);
    lx__free(writer->codec_settings);
    lx__free(writer->rules);
    lx__file_close(&writer->chunk_directory);
    lx__file_close(&writer->directory);
    lx__atfork_remove(&writer->atfork);
    /* This comes last: from now on, another process can open the dataset for writing. */
    lx__file_close(&writer->lock);
    if (writer->own_executor)
        lx_executor_close(writer->executor);
    else
        lx_executor_unref(writer->executor);
    lx__sync_timer_destroy(&writer->timer);
    lx__write_mutex_destroy(&writer->mutex);
    lx__free(writer);
}

static lx_status read_meta(lx_writer *writer, lx_error *error)
{
    lx__meta_free(&writer->meta);
    return lx__meta_load(&writer->meta, &writer->directory, error);
}

/** Makes durable everything that was found on opening. Until a synced frame follows them, frames
 * that the last writer did not sync are valid only in this boot. A frame flagged as synced is
 * durable only once its sync has completed; if the last writer died before that, this function
 * completes it. */
static lx_status make_durable(lx_writer *writer, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__group_commit(
        writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED | LX__COMMIT_ALONE, &failure);
    if (status == LX_ERR_POISONED)
        status = failure.status = LX_ERR_IO; /* no writer exists yet that could be poisoned */
    if (status != LX_OK)
        lx__error_propagate(error, &failure);
    return status;
}

/** Reads the dataset and prepares for appending. The caller must hold the lock and have opened the
 * directory. */
static lx_status prepare(lx_writer *writer, lx_error *error)
{
    lx__atfork_add(&writer->atfork, &writer->lock);
    lx_status status = read_meta(writer, error);
    if (status == LX_OK) {
        status = lx__meta_check_whole(&writer->meta, error);
        lx_error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
    }
    if (status == LX_OK && writer->meta.sealed)
        status = lx__writer_fail_sealed(writer, error);
    if (status == LX_OK)
        status = lx__boot_id_read(&writer->wal.boot, error);
    if (status == LX_OK)
        status = lx__chunk_directory_open(&writer->chunk_directory, &writer->directory, error);
    if (status != LX_OK)
        return status;
    struct stat lock;
    writer->lock_linked = fstat(writer->lock.fd, &lock) == 0 && lock.st_nlink != 0;
    size_t fields = writer->meta.schema->count;
    writer->rules = lx__alloc_array(fields, sizeof *writer->rules);
    if (writer->rules == NULL)
        return lx__fail_memory(error, "a writer");
    for (size_t i = 0; i < fields; i++)
        writer->rules[i] = lx__field_rules(lx__schema_field(writer->meta.schema, i),
                                           writer->meta.uuid);
    writer->wal.identity.generation = writer->meta.generation;
    memcpy(writer->wal.identity.uuid, writer->meta.uuid, sizeof writer->wal.identity.uuid);
    writer->flush.pool.directory = &writer->chunk_directory;
    writer->flush.pool.records_limit = writer->meta.chunk_records;
    writer->flush.pool.bytes_limit = writer->meta.chunk_limit;
    writer->flush.pool.each_synced = writer->durability == LX_DURABILITY_FULL;
    status = lx__codec_settings_make(writer, &writer->meta, writer->meta.schema,
                                     &writer->codec_settings, error);
    if (status != LX_OK)
        return status;
    lx__flush_start(&writer->flush, writer->executor, writer->rules, writer->codec_settings,
                    fields);
    lx__training_begin(&writer->training, &writer->meta);
    status = lx__writer_recover(writer, error);
    writer->flush.pool.next_id = LX__FAULT(CHUNK_ID_REUSE) ? writer->committed.state.chunk_count
                                                           : writer->committed.state.next_chunk;
    if (status == LX_OK)
        status = make_durable(writer, error);
    if (status == LX_OK)
        status = lx__obsolete_files_find(writer, error);
    if (status == LX_OK)
        lx__obsolete_files_remove(writer);
    if (status == LX_OK && writer->wal.boot == 0 && writer->durability != LX_DURABILITY_FULL)
        lx__log(LX_LOG_WARNING, "%s: the kernel's boot id is unknown, so every commit is synced",
                writer->directory.path);
    return status;
}

lx_status lx_writer_open(const char *path, const lx_writer_options *options, lx_writer **writer,
                         lx_error *error)
{
    LX__CLEAR(writer);
    lx_writer *opened = NULL;
    if (path == NULL || writer == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "path or writer is NULL");
    lx_status status = new_writer(options != NULL ? options : &lx__writer_defaults, &opened, error);
    if (status == LX_OK)
        status = lx__directory_open(&opened->directory, LX__CWD, path, error);
    /* Check before locking, so that no LOCK is created where there is no dataset. */
    if (status == LX_OK)
        status = read_meta(opened, error);
    if (status == LX_OK)
        status = lx__check_local(&opened->directory, error);
    if (status == LX_OK)
        status = lx__writer_lock(&opened->directory, &opened->lock, error);
    if (status == LX_OK)
        status = prepare(opened, error);
    if (status == LX_OK)
        *writer = opened;
    else if (opened != NULL)
        free_writer(opened);
    return status;
}

/** Checks that this library can write all fields; the schema of a dataset may have fields that it
 * cannot write. */
static lx_status check_codecs(const lx_schema *schema, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < lx_schema_get_field_count(schema); i++) {
        const lx_field *field = lx_schema_get_field(schema, i);
        status = lx__compression_check(field->name, field->compression, error);
    }
    return status;
}

lx_status lx_writer_create(const char *path, const lx_schema *schema,
                           const lx_writer_options *options, lx_writer **writer, lx_error *error)
{
    LX__CLEAR(writer);
    lx_writer *made = NULL;
    lx__meta meta = {0};
    if (path == NULL || writer == NULL || schema == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "path, schema or writer is NULL");
    if (lx_schema_get_field_count(schema) == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "a dataset needs at least one field");
    if (options == NULL)
        options = &lx__writer_defaults;
    lx_status status = check_codecs(schema, error);
    if (status == LX_OK)
        status = new_writer(options, &made, error);
    if (status == LX_OK)
        status = lx__check_local_path(path, error);
    if (status == LX_OK)
        status = lx__create_directory(path, &made->directory, &made->lock, error);
    if (status == LX_OK)
        status = lx__meta_make(&meta, schema, options->chunk_records, options->chunk_bytes, error);
    if (status == LX_OK)
        status = lx__meta_set_card(&meta, options->card, error);
    if (status == LX_OK)
        status = lx__create_files(&made->directory, &meta, error);
    lx__meta_free(&meta);
    if (status == LX_OK) {
        made->committed.opening_synced = true; /* everything was synced during creation */
        status = prepare(made, error);
        /* There cannot be any data in the directory yet. If some files cannot be removed, they look
         * like those of an interrupted creation. */
        if (status != LX_OK)
            (void)lx__file_remove(&made->directory, LX__META_NAME, NULL);
    }
    if (status == LX_OK)
        *writer = made;
    else if (made != NULL)
        free_writer(made);
    return status;
}

/** Commits on closing. An open transaction is not committed, and neither are operations that need a
 * rollback, but whatever was committed before is synced in any case. */
static lx_status finish(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_ERR_POISONED)
        return status;
    if (status != LX_OK || writer->transaction) {
        (void)lx__writer_commit_submitted(writer, NULL);
        if (writer->calls.failure.status == LX_ERR_POISONED)
            return lx__writer_usable(writer, error);
        lx__calls_clear_failure(&writer->calls);
        lx_status undone = lx__writer_drop(writer, error);
        if (undone == LX_ERR_POISONED)
            return undone;
        status = status != LX_OK ? status : undone;
    }
    lx_status synced = lx__group_commit(writer, writer->calls.made,
                                        LX__COMMIT_SYNCED | LX__COMMIT_ALONE, error);
    return status != LX_OK ? status : synced;
}

/** Releases a writer in a child of fork(). The parent's threads do not exist here, and may have
 * been in the middle of a change. An idle writer is freed completely; for a busy one, only the
 * descriptors that never change while it is open are closed. */
static void abandon(lx_writer *writer)
{
    if (lx__writer_is_at_rest(writer)) {
        free_writer(writer);
        return;
    }
    for (size_t i = 0; i < writer->tables.field_count; i++) {
        close(writer->tables.fields[i].offsets.fd);
        close(writer->tables.fields[i].checks.fd);
    }
    close(writer->wal.file.fd);
    close(writer->chunk_directory.fd);
    close(writer->directory.fd);
    close(writer->lock.fd); /* fails if the atfork handler has already closed it */
}

lx_status lx_writer_close(lx_writer *writer, lx_error *error)
{
    if (writer == NULL)
        return LX_OK;
    lx_status status = lx__writer_enter_alone(writer, error);
    if (status == LX_ERR_FORKED)
        abandon(writer);
    if (status != LX_OK)
        return status;
    status = writer->meta.sealed ? LX_OK : finish(writer, error);
    lx__flush_drain(&writer->flush);
    if (status == LX_OK)
        lx__obsolete_files_remove(writer);
    lx__writer_leave(writer);
    lx__commit_requests_end(&writer->requests);
    lx__sync_timer_stop(&writer->timer);
    /* This comes after the requests, because one of them may still have committed or
     * checkpointed. */
    if (status == LX_OK)
        lx__writer_close_log(writer);
    if (status == LX_OK)
        lx__training_warn(writer);
    if (status == LX_OK && writer->calls.failure.status == LX_OK && !writer->meta.sealed)
        lx__wal_writer_trim(&writer->wal, writer->committed.state.position.offset);
    /* Unlock explicitly. A child that another library forked without running the atfork handlers
     * shares the descriptor, and must not keep the lock. */
    lx__file_unlock(&writer->lock, LX__LOCK_WRITER, 1);
    free_writer(writer);
    return status;
}

/* ---- properties */

uint64_t lx_writer_get_length(lx_writer *writer)
{
    if (lx__writer_enter(writer, NULL) != LX_OK)
        return writer->length; /* the length at the time of the fork */
    uint64_t length = writer->length;
    lx__writer_leave(writer);
    return length;
}

const lx_schema *lx_writer_get_schema(const lx_writer *writer)
{
    lx_writer *held = (lx_writer *)writer; /* another thread may be changing its fields */
    lx_status status = lx__writer_enter(held, NULL);
    const lx_schema *schema = writer->meta.schema;
    if (status == LX_OK)
        lx__writer_leave(held);
    return schema;
}
