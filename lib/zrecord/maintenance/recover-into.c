/* SPDX-License-Identifier: MIT */
/* Recovery into a new directory: turns whatever can be read of a damaged dataset into a new dataset
 * that can be opened, and then repairs the new dataset in place. See doc/zrecord-format.md,
 * 11.9. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/copy.h"
#include "base/error.h"
#include "base/folder.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/recover-source.h"
#include "zrecord/write/create.h"

#define SUFFIX ".recovering"
/* How many bytes of a file to copy at a time. */
#define STEP ((uint64_t)16 << 20)
/* How many bytes to copy at a time in a range with a bad sector: one page. */
#define PAGE ((uint64_t)4096)

/* ---- copying */

/** Reports progress while files are copied, so that the caller can cancel the recovery. */
static lx_status report_progress(const lx__recovery *self, lx_error *error)
{
    const lx_repair_options *options = self->repair.options;
    return options->progress != NULL
               ? lx__error_return(
                     error,
                     options->progress(0, self->log.state.length, options->progress_user, error),
                     "progress")
               : LX_OK;
}

/** Copies a range in steps. If the disk fails to return the bytes of a step (EIO), copies it page
 * by page. Pages that cannot be read stay zero, which the repair will detect as damage. */
static lx_status copy_range(const lx__recovery *self, const lx__file *from, const lx__file *to,
                            uint64_t start, uint64_t end, uint64_t step, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t at = start; status == LX_OK && at < end; at += step) {
        lx_error why = LX_ERROR_INIT;
        uint64_t next = end - at < step ? end : at + step;
        status = lx__file_copy(from, at, to, at, next - at, &why);
        if (status == LX_ERR_IO && why.errnum == EIO)
            status = step > PAGE ? copy_range(self, from, to, at, next, PAGE, error) : LX_OK;
        else
            lx__error_propagate(error, &why);
        if (status == LX_OK)
            status = report_progress(self, error);
    }
    return status;
}

static lx_status copy_file(lx__recovery *self, const lx__file *file, const lx__file *to,
                           const char *name, uint64_t bytes, lx_error *error)
{
    lx__file copy;
    lx_status status = lx__file_open(&copy, to, name, O_RDWR | O_CREAT | O_EXCL, error);
    if (status != LX_OK)
        return status;
    status = lx__file_truncate(&copy, bytes, error);
    if (status == LX_OK)
        status = copy_range(self, file, &copy, 0, bytes, STEP, error);
    if (status == LX_OK)
        status = lx__file_sync(&copy, error);
    lx__file_close(&copy);
    self->repair.result.copied_bytes += bytes;
    return status;
}

/** Links a file into the new dataset or, if that fails, copies it. Skips a file that is missing or
 * empty. */
static lx_status take_file(lx__recovery *self, const lx__file *from, const char *former,
                           const lx__file *to, const char *name, lx_error *error)
{
    lx__file file;
    uint64_t bytes;
    lx_status status = lx__repair_open(&file, from, former, &bytes, error);
    if (status == LX_OK && bytes != 0)
        status = linkat(from->fd, former, to->fd, name, 0) == 0
                     ? lx__file_sync(&file, error)
                     : copy_file(self, &file, to, name, bytes, error);
    lx__file_close(&file);
    return status;
}

/* ---- the new dataset */

/** Links a chunk. If its folder is missing, the repair will find the damaged values. */
static lx_status take_chunk(lx__recovery *self, uint32_t id, lx_error *error)
{
    char path[LX__CHUNK_PATH_SIZE], name[LX__NAME_SIZE];
    const char *former;
    lx__file folder;
    lx_error why = LX_ERROR_INIT;
    lx__meta_get_chunk_path(&self->meta, id, path);
    lx__chunk_name(id, name);
    lx_status status = lx__folder_open(&folder, &self->source, path, &former, &why);
    if (status == LX_ERR_NOT_FOUND || (status == LX_ERR_CORRUPT && self->meta.run_count == 0))
        return LX_OK;
    if (status == LX_OK)
        status = lx__repair_refuse_link(&folder, former, &why);
    if (status == LX_OK)
        status = take_file(self, &folder, former, &self->chunks, name, &why);
    lx__file_close(&folder);
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}

/** Links the chunks, also those in parts. All of them count as full, because their files also belong
 * to the damaged dataset. */
static lx_status make_chunks(lx__recovery *self, lx_error *error)
{
    lx__state *state = &self->log.state;
    bool present = self->source_chunks.fd != -1;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++)
        status = take_chunk(self, state->chunks[i].id, error);
    if (status == LX_OK)
        status = lx__repair_fit_chunks(state, &self->chunks, self->meta.chunk_records, true, error);
    if (status == LX_OK && present)
        status = lx__chunk_ids_above(&self->source_chunks, &state->next_chunk, error);
    return status == LX_OK ? lx__file_sync(&self->chunks, error) : status;
}

/** Copies the rows of a table that are kept. All other rows are filled with zeros, which mean
 * missing values. */
static lx_status make_table(lx__recovery *self, size_t field, bool checks, lx_error *error)
{
    uint64_t size, row = checks ? LX__CHECK_ROW : LX__OFFSET_ROW;
    const lx__file *to = checks ? &self->tables.fields[field].checks
                                : &self->tables.fields[field].offsets;
    uint64_t rows = self->rows[field] < self->kept ? self->rows[field] : self->kept;
    lx__file from;
    lx_status status = lx__recovery_open_table(self, field, checks, &from, &size, error);
    if (status == LX_OK)
        status = lx__file_truncate(to, self->log.state.length * row, error);
    if (status == LX_OK && rows != 0)
        status = copy_range(self, &from, to, 0, rows * row, STEP, error);
    lx__file_close(&from);
    return status;
}

/** Writes an update from the log to its row. */
static lx_status apply_update(void *user, const lx__update *update, lx_error *error)
{
    const lx__recovery *self = user;
    const lx__table_files *files = &self->tables.fields[update->field];
    if (update->index >= self->log.state.length)
        return LX_OK;
    lx_status status = lx__file_write(&files->offsets, update->rows, LX__OFFSET_ROW,
                                      update->index * LX__OFFSET_ROW, error);
    return status == LX_OK ? lx__file_write(&files->checks, update->rows + LX__OFFSET_ROW,
                                            LX__CHECK_ROW, update->index * LX__CHECK_ROW, error)
                           : status;
}

static lx_status make_tables(lx__recovery *self, lx_error *error)
{
    lx__state *state = &self->log.state;
    lx_status status = lx__state_begin_tables(state, error);
    if (status == LX_OK)
        status = lx__table_writer_open(&self->tables, &self->directory, self->meta.schema,
                                       state->table_generation, 0, 0, error);
    for (size_t i = 0; status == LX_OK && i < 2 * self->tables.field_count; i++)
        status = make_table(self, i / 2, i % 2 != 0, error);
    if (status == LX_OK)
        status = lx__overlay_each(&state->overlay, apply_update, self, error);
    for (size_t i = 0; status == LX_OK && i < self->tables.field_count; i++) {
        status = lx__file_sync(&self->tables.fields[i].offsets, error);
        if (status == LX_OK)
            status = lx__file_sync(&self->tables.fields[i].checks, error);
    }
    return status;
}

static lx_status make_dictionaries(lx__recovery *self, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->meta.schema->count; i++) {
        lx__dict_name(lx__schema_field(self->meta.schema, i)->stem, name);
        if (lx__meta_find_dict(&self->meta, i, NULL))
            status = take_file(self, &self->source, name, &self->directory, name, error);
    }
    return status;
}

/** Carries over the numbers of changes. If something was lost, they become unknown, because other
 * records may take the place of those that were lost. */
static lx_status carry_changes(lx__recovery *self, lx_error *error)
{
    if (self->repair.result.damages == 0)
        lx__changes_add_to_meta(&self->log.state.changes, &self->meta);
    else
        self->meta.changes = LX_NONE;
    return lx__meta_set_changes(&self->meta, error);
}

/** Makes a log with a single frame for the next generation, and then meta.json. */
static lx_status make_log_and_meta(lx__recovery *self, lx_error *error)
{
    lx__state *state = &self->log.state;
    lx_status status = lx__meta_set_generation(&self->meta, self->meta.generation + 1, error);
    state->position = (lx__wal_position){0};
    if (status == LX_OK)
        status = lx__create_log(&self->directory, &self->meta, state, error);
    if (status == LX_OK)
        status = lx__meta_unseal(&self->meta, error);
    if (status == LX_OK)
        status = lx__meta_set_parts(&self->meta, NULL, 0, error);
    for (size_t i = 0; status == LX_OK && i < self->meta.schema->count; i++)
        status = lx__meta_set_complete(&self->meta, i, false, error); /* rows may be lost */
    if (status == LX_OK)
        status = carry_changes(self, error);
    if (status == LX_OK)
        status = lx__meta_set_state(&self->meta, state->length, state->chunks, state->chunk_count,
                                    error);
    if (status == LX_OK)
        status = lx__file_sync(&self->directory, error);
    if (status == LX_OK)
        status = lx__meta_replace(&self->meta, &self->directory, error);
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer to poison */
}

static lx_status make_files(lx__recovery *self, lx_error *error)
{
    lx_status status = lx__directory_make(&self->directory, LX__CHUNK_DIRECTORY, error);
    if (status == LX_OK)
        status = lx__directory_open(&self->chunks, &self->directory, LX__CHUNK_DIRECTORY, error);
    if (status == LX_OK)
        status = make_chunks(self, error);
    if (status == LX_OK)
        status = make_tables(self, error);
    if (status == LX_OK)
        status = make_dictionaries(self, error);
    return status == LX_OK ? make_log_and_meta(self, error) : status;
}

/* ---- the directory of the new dataset */

/** Fails, before anything is made, if the path exists or is inside a dataset. */
static lx_status check_into(const lx__recovery *self, lx_error *error)
{
    struct stat about;
    lx_status status = lx__check_outside(self->into, error);
    if (status != LX_OK || lstat(self->into, &about) == -1)
        return status;
    status = lx_fail(error, LX_ERR_EXISTS,
                     "the path already exists: choose a path that does not exist");
    lx_error_locate(error, self->into, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status make_directory(lx__recovery *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_make(LX__CWD, self->temporary, &why);
    self->made = status == LX_OK;
    if (status == LX_OK)
        return lx__directory_open(&self->directory, LX__CWD, self->temporary, error);
    if (status == LX_ERR_EXISTS)
        (void)snprintf(why.message, sizeof why.message,
                       "the temporary directory of the recovery already exists: remove it if an "
                       "interrupted recovery left it behind");
    lx__error_propagate(error, &why);
    return status;
}

static lx_status remove_name(void *user, const char *name, lx_error *error)
{
    (void)error;
    (void)lx__file_remove(user, name, NULL);
    return LX_OK;
}

/** Removes what a failed recovery has made. */
static void remove_directory(lx__recovery *self)
{
    if (self->chunks.fd != -1)
        (void)lx__directory_each(&self->chunks, remove_name, &self->chunks, NULL);
    if (self->directory.fd != -1) {
        (void)lx__directory_remove(&self->directory, LX__CHUNK_DIRECTORY, NULL);
        (void)lx__directory_each(&self->directory, remove_name, &self->directory, NULL);
    }
    (void)lx__directory_remove(LX__CWD, self->temporary, NULL);
}

/* ---- the whole recovery */

static lx_status name_directories(lx__recovery *self, const char *into, lx_error *error)
{
    size_t length = strlen(into);
    while (length > 1 && into[length - 1] == '/')
        length--;
    self->into = lx__alloc(length + 1);
    self->temporary = lx__alloc(length + sizeof SUFFIX);
    if (self->into == NULL || self->temporary == NULL)
        return lx__fail_memory(error, "a path");
    memcpy(self->into, into, length);
    self->into[length] = '\0';
    snprintf(self->temporary, length + sizeof SUFFIX, "%s" SUFFIX, self->into);
    self->repair.path = self->temporary;
    return LX_OK;
}

/** Renames the directory once it is complete. */
static lx_status install(lx__recovery *self, lx_error *error)
{
    lx__file parent;
    lx_status status = lx__directory_open(&parent, &self->directory, "..", error);
    if (status != LX_OK)
        return status;
    status = lx__file_rename(LX__CWD, self->temporary, self->into, error);
    self->made = status != LX_OK;
    self->repair.result.changed = status == LX_OK;
    if (status == LX_OK)
        status = lx__file_sync(&parent, error);
    lx__file_close(&parent);
    return status;
}

static lx_status recover(lx__recovery *self, const char *into, lx_error *error)
{
    lx_status status = name_directories(self, into, error);
    if (status == LX_OK)
        status = check_into(self, error);
    if (status == LX_OK)
        status = lx__recovery_read(self, error);
    if (status == LX_OK)
        status = make_directory(self, error);
    if (status == LX_OK)
        status = make_files(self, error);
    if (status == LX_OK)
        status = lx__repair_run(&self->repair, error);
    self->repair.result.changed = false;
    if (status == LX_OK)
        status = install(self, error);
    if (self->made)
        remove_directory(self);
    return status;
}

lx_status lx_dataset_recover(const char *path, const char *into, const lx_repair_options *options,
                             lx_repair_result *result, lx_error *error)
{
    if (path == NULL)
        return lx__fail_null(error, "path");
    if (into == NULL)
        return lx__fail_null(error, "into");
    lx__recovery self = {.repair = lx__repair_of(path, options, true),
                         .path = path,
                         .source = LX__FILE_CLOSED,
                         .source_chunks = LX__FILE_CLOSED,
                         .lock = LX__FILE_CLOSED,
                         .directory = LX__FILE_CLOSED,
                         .chunks = LX__FILE_CLOSED,
                         .log = {.damage = LX_ERROR_INIT}};
    self.repair.loses_unreadable = true; /* the damaged dataset keeps them */
    lx_status status = recover(&self, into, error);
    if (result != NULL)
        *result = self.repair.result;
    lx__wal_prefix_free(&self.log);
    lx__table_writer_close(&self.tables);
    lx__meta_free(&self.meta);
    lx__file_close(&self.chunks);
    lx__file_close(&self.directory);
    lx__file_close(&self.lock);
    lx__file_close(&self.source_chunks);
    lx__file_close(&self.source);
    lx__free(self.rows);
    lx__free(self.into);
    lx__free(self.temporary);
    return status;
}
