/* SPDX-License-Identifier: MIT */
/* Recovery into a new directory: the parts of a damaged dataset that can be read are put together
 * to one that can be opened, which is then repaired in place. See doc/zrecord-format.md, 11.9. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/copy.h"
#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/recover-source.h"
#include "zrecord/write/create.h"

#define SUFFIX ".recovering"
/* Bytes of a file that are copied at once, */
#define STEP ((uint64_t)16 << 20)
/* and where the disk does not return them: a page. */
#define PAGE ((uint64_t)4096)

/* ---- copying */

/** Lets the caller end the call while files are copied. */
static lx_status report_progress(const lx__recovery *self, lx_error *error)
{
    const lx_repair_options *options = self->repair.options;
    return options->progress != NULL
               ? lx__error_return(error, options->progress(0, self->length, options->progress_user))
               : LX_OK;
}

/** Copies a stretch page by page; those that the disk does not return stay zeros, which is
 * damage that the repair finds. */
static lx_status copy_pages(const lx__file *from, const lx__file *to, uint64_t start, uint64_t end,
                            lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t at = start; status == LX_OK && at < end; at += PAGE) {
        lx_error why = LX_ERROR_INIT;
        status = lx__file_copy(from, to, at, end - at < PAGE ? end - at : PAGE, &why);
        if (status == LX_ERR_IO && why.errnum == EIO)
            status = LX_OK;
        lx__error_propagate(status != LX_OK ? error : NULL, &why);
    }
    return status;
}

static lx_status copy_bytes(const lx__recovery *self, const lx__file *from, const lx__file *to,
                            uint64_t bytes, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t at = 0; status == LX_OK && at < bytes; at += STEP) {
        lx_error why = LX_ERROR_INIT;
        uint64_t end = bytes - at < STEP ? bytes : at + STEP;
        status = lx__file_copy(from, to, at, end - at, &why);
        if (status == LX_ERR_IO && why.errnum == EIO)
            status = copy_pages(from, to, at, end, error);
        else
            lx__error_propagate(error, &why);
        if (status == LX_OK)
            status = report_progress(self, error);
    }
    return status;
}

/** Whether a link was refused for a reason that a copy does not have. */
static bool is_no_link(int reason)
{
    return reason == EXDEV || reason == EPERM || reason == EMLINK || reason == EOPNOTSUPP ||
           reason == ENOSYS;
}

/** Links a file of @p bytes, or copies it, and makes it durable. */
static lx_status link_file(lx__recovery *self, const lx__file *file, const lx__file *from,
                           const lx__file *to, const char *name, uint64_t bytes, lx_error *error)
{
    lx__file copy;
    if (linkat(from->fd, name, to->fd, name, 0) == 0)
        return lx__file_sync(file, error);
    if (!is_no_link(errno))
        return lx__fail_errno(error, errno, file->path, "cannot link it into %.200s", to->path);
    lx_status status = lx__file_open(&copy, to, name, O_RDWR | O_CREAT | O_EXCL, error);
    if (status != LX_OK)
        return status;
    status = lx__file_truncate(&copy, bytes, error);
    if (status == LX_OK)
        status = copy_bytes(self, file, &copy, bytes, error);
    if (status == LX_OK)
        status = lx__file_sync(&copy, error);
    lx__file_close(&copy);
    self->repair.result.copied_bytes += bytes;
    return status;
}

/** Puts a file into the new dataset, unless it is absent or empty. */
static lx_status take_file(lx__recovery *self, const lx__file *from, const lx__file *to,
                           const char *name, uint64_t *bytes, lx_error *error)
{
    lx__file file;
    lx_status status = lx__repair_open(&file, from, name, bytes, error);
    if (status == LX_OK && *bytes != 0)
        status = link_file(self, &file, from, to, name, *bytes, error);
    lx__file_close(&file);
    return status;
}

/* ---- the new dataset */

/** Links the chunks. They count as full: the old dataset has the same files. */
static lx_status make_chunks(lx__recovery *self, lx_error *error)
{
    char name[LX__NAME_SIZE];
    size_t kept = 0;
    lx__state *state = &self->log.state;
    lx_status status = lx__state_reserve_chunks(state, 0, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__chunk_item item = state->chunks[i];
        lx__chunk_name(item.id, name);
        if (self->source_chunks.fd != -1)
            status = take_file(self, &self->source_chunks, &self->chunks, name, &item.bytes, error);
        else
            item.bytes = 0;
        if (item.records < self->meta.chunk_records)
            item.records = (uint32_t)self->meta.chunk_records;
        if (item.bytes != 0)
            state->chunks[kept++] = item;
    }
    if (status == LX_OK)
        state->chunk_count = kept;
    if (status == LX_OK && self->source_chunks.fd != -1)
        status = lx__chunk_ids_above(&self->source_chunks, &state->next_chunk, error);
    return status == LX_OK ? lx__file_sync(&self->chunks, error) : status;
}

/** Copies the rows of a table that are kept; missing values follow. */
static lx_status make_table(lx__recovery *self, size_t field, bool checks, lx_error *error)
{
    uint64_t size, row = checks ? LX__CHECK_ROW : LX__OFFSET_ROW;
    const lx__file *to = checks ? &self->tables.fields[field].checks
                                : &self->tables.fields[field].offsets;
    uint64_t rows = self->rows[field] < self->kept ? self->rows[field] : self->kept;
    lx__file from;
    lx_status status = lx__recovery_open_table(self, field, checks, &from, &size, error);
    if (status == LX_OK)
        status = lx__file_truncate(to, self->length * row, error);
    if (status == LX_OK && rows != 0)
        status = copy_bytes(self, &from, to, rows * row, error);
    lx__file_close(&from);
    return status;
}

/** Writes an update of the log to its row, which may have another index now. */
static lx_status apply_update(void *user, const lx__update *update, lx_error *error)
{
    lx__recovery *self = user;
    uint8_t offset_row[LX__OFFSET_ROW], check_row[LX__CHECK_ROW];
    uint64_t index = update->index;
    const lx__table_files *files = &self->tables.fields[update->field];
    lx__entry entry = lx__update_entry(update);
    if (index >= self->kept && index < self->end)
        return LX_OK;
    if (index >= self->end)
        index -= self->end - self->kept;
    if (!lx__entry_is_missing(&entry))
        entry.crc ^= lx__index_crc(update->index) ^ lx__index_crc(index);
    lx__entry_store(&entry, offset_row, check_row);
    lx_status status = lx__file_write(&files->offsets, offset_row, sizeof offset_row,
                                      index * LX__OFFSET_ROW, error);
    return status == LX_OK ? lx__file_write(&files->checks, check_row, sizeof check_row,
                                            index * LX__CHECK_ROW, error)
                           : status;
}

static lx_status make_tables(lx__recovery *self, lx_error *error)
{
    lx_status status = lx__table_writer_open(&self->tables, &self->directory, self->meta.schema,
                                             self->log.state.table_generation, 0, 0, error);
    for (size_t i = 0; status == LX_OK && i < 2 * self->tables.field_count; i++)
        status = make_table(self, i / 2, i % 2 != 0, error);
    if (status == LX_OK)
        status = lx__overlay_each(&self->log.state.overlay, apply_update, self, error);
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
    uint64_t bytes;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->meta.schema->count; i++) {
        lx__dict_name(lx__schema_field(self->meta.schema, i)->stem, name);
        if (lx__meta_find_dict(&self->meta, i, NULL))
            status = take_file(self, &self->source, &self->directory, name, &bytes, error);
    }
    return status;
}

static lx_status write_log(const lx__recovery *self, const lx__frame_builder *builder,
                           lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file file;
    lx__log_name(self->meta.generation, name);
    lx_status status = lx__file_open(&file, &self->directory, name, O_WRONLY | O_CREAT | O_EXCL,
                                     error);
    if (status != LX_OK)
        return status;
    status = lx__file_write(&file, builder->data, builder->size, 0, error);
    if (status == LX_OK)
        status = lx__file_sync(&file, error);
    lx__file_close(&file);
    return status;
}

/** Makes a log of one frame, the snapshot frame. */
static lx_status make_log(lx__recovery *self, lx_error *error)
{
    const lx__state *state = &self->log.state;
    lx__log_identity identity = self->log.identity;
    lx__frame frame = {.length = self->length,
                       .rows = self->length,
                       .flags = LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED,
                       .boot = lx__boot_id(),
                       .table_generation = state->table_generation,
                       .next_chunk = state->next_chunk};
    lx__frame_builder builder = {0};
    identity.generation = self->meta.generation;
    lx_status status = lx__frame_begin(&builder, state->chunk_count, 0, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++)
        lx__frame_add_chunk(&builder, &state->chunks[i]);
    if (status == LX_OK) {
        lx__frame_finish(&builder, &frame, &identity);
        status = write_log(self, &builder, error);
    }
    lx__frame_builder_free(&builder);
    return status;
}

/** Says in meta.json what the new dataset is: a generation after that of the old one. */
static lx_status change_meta(lx__recovery *self, lx_error *error)
{
    const lx__state *state = &self->log.state;
    if (self->meta.generation >= LX__GENERATION_MAX)
        return lx__fail(error, LX_ERR_LIMIT, "all generations are used up: copy the dataset");
    lx_status status = lx__meta_set_generation(&self->meta, self->meta.generation + 1, error);
    if (status == LX_OK)
        status = lx__meta_unseal(&self->meta, error);
    return status == LX_OK ? lx__meta_set_state(&self->meta, self->length, state->chunks,
                                                state->chunk_count, error)
                           : status;
}

/** Makes the files, meta.json last. */
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
    if (status == LX_OK)
        status = change_meta(self, error);
    if (status == LX_OK)
        status = make_log(self, error);
    if (status == LX_OK)
        status = lx__file_sync(&self->directory, error);
    if (status == LX_OK)
        status = lx__meta_replace(&self->meta, &self->directory, error);
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer */
}

/* ---- its directory */

/** Looks, before anything is made, that nothing is in the way. */
static lx_status check_into(const lx__recovery *self, lx_error *error)
{
    struct stat about;
    lx_status status = lx__check_outside(self->into, error);
    if (status != LX_OK || lstat(self->into, &about) == -1)
        return status;
    status = lx__fail(error, LX_ERR_EXISTS, "something is there: name a directory that is not");
    lx__error_locate(error, self->into, NULL, LX_NONE, LX_NONE);
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
                       "the new dataset is to be made here, but something is there: remove it, if "
                       "an interrupted recovery has left it");
    lx__error_propagate(error, &why);
    return status;
}

static lx_status remove_name(void *user, const char *name, lx_error *error)
{
    (void)error;
    (void)lx__file_remove(user, name, NULL);
    return LX_OK;
}

/** Removes what was made in vain. */
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

/* ---- all of it */

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

/** Gives the directory its name. */
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
    self->repair.result.changed = 0;
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
    lx_status status = recover(&self, into, error);
    if (result != NULL)
        *result = self.repair.result;
    lx__log_prefix_free(&self.log);
    lx__table_writer_close(&self.tables);
    lx__meta_free(&self.meta);
    lx__file_close(&self.chunks);
    lx__file_close(&self.directory);
    lx__file_close(&self.lock);
    lx__file_close(&self.source_chunks);
    lx__file_close(&self.source);
    lx__free(self.lost);
    lx__free(self.rows);
    lx__free(self.into);
    lx__free(self.temporary);
    return status;
}
