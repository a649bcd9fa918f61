/* SPDX-License-Identifier: MIT */
/* Joins sealed datasets without reading their payloads: the tables are passed over, and the chunks
 * stay where they are. See doc/zrecord-format.md, 11.11. */
#include "zrecord/maintenance/join.h"

#include <loaderx/maintenance.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/folder.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/maintenance/join-chunks.h"
#include "zrecord/maintenance/join-fields.h"
#include "zrecord/maintenance/join-tables.h"
#include "zrecord/maintenance/join-uuid.h"
#include "zrecord/read/refresh.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/table/table-file.h"
#include "zrecord/write/create.h"

/* ---- the parts */

static lx_status add_part(lx__join *self, lx_dataset *dataset, const char *path, lx_error *error)
{
    lx__join_part *part = &self->parts[self->count];
    lx_status status = lx__dataset_pin_newest(dataset, &part->snapshot, error);
    if (status != LX_OK)
        return status;
    self->count++;
    part->path = path;
    part->first_index = self->state.length;
    if (!part->snapshot->store->meta.sealed)
        status = lx_fail(error, LX_ERR_STATE,
                         "the dataset is not sealed: seal it, because parts must not change");
    else if (part->snapshot->length > LX__LENGTH_MAX - self->state.length)
        status = lx_fail(error, LX_ERR_LIMIT, "the parts have too many records together");
    lx_error_locate(error, part->snapshot->store->directory.path, NULL, LX_NONE, LX_NONE);
    if (status == LX_OK)
        self->state.length += part->snapshot->length;
    return status;
}

static lx_status add_parts(lx__join *self, lx_dataset *const *parts, const char *const *paths,
                           uint64_t count, lx_error *error)
{
    lx_status status = LX_OK;
    self->parts = lx__alloc_array(count, sizeof *self->parts);
    if (self->parts == NULL)
        return lx__fail_memory(error, "a join");
    for (uint64_t i = 0; status == LX_OK && i < count; i++)
        status = parts[i] != NULL && paths[i] != NULL
                     ? add_part(self, parts[i], paths[i], error)
                     : lx__fail_null(error, parts[i] != NULL ? "paths[i]" : "parts[i]");
    self->state.rows = self->state.length;
    return status;
}

/** Makes everything that can be known before the tables are read. */
static lx_status plan(lx__join *self, lx_error *error)
{
    lx_status status = lx__join_number_chunks(self, error);
    if (status == LX_OK)
        status = lx__join_make_meta(self, error);
    if (status == LX_OK)
        status = lx__join_set_uuid(self, error);
    if (status == LX_OK)
        status = lx__join_locate_chunks(self, error);
    if (status == LX_OK)
        status = lx__meta_set_state(&self->meta, self->state.length, self->state.chunks,
                                    self->state.chunk_count, error);
    if (status != LX_OK)
        return status;
    self->total = self->meta.schema->count * self->state.length;
    return lx__join_name_tables(self, error);
}

/* ---- the files */

/** Checks that readers will accept meta.json, which may have too many parts for them. */
static lx_status check_readable(const lx__join *self, lx_error *error)
{
    lx__meta meta = {0};
    lx__file file;
    lx_status status = lx__file_open(&file, &self->directory, LX__META_NEW_NAME, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__meta_read(&meta, &file, LX__META_CHECK, error);
    lx__meta_free(&meta);
    lx__file_close(&file);
    if (status == LX_ERR_LIMIT)
        lx__error_append(error,
                         ": there are too many parts: write fewer of them, or copy their records");
    return status;
}

/** Writes meta.json.new, as long as meta.json will be. It tells a later call what the other files
 * are if this one is interrupted. */
static lx_status mark(lx__join *self, lx_error *error)
{
    lx_status status = lx__meta_seal(&self->meta, self->seals, 2 * self->meta.schema->count, error);
    if (status == LX_OK)
        status = lx__meta_write_new(&self->meta, &self->directory, error);
    if (status == LX_OK)
        status = check_readable(self, error);
    return status == LX_OK ? lx__file_sync(&self->directory, error) : status;
}

/** Writes everything that meta.json will name, LOG last. */
static lx_status write_files(lx__join *self, lx_error *error)
{
    lx_status status = mark(self, error);
    if (status == LX_OK)
        status = lx__chunk_directory_make(&self->directory, error); /* it stays empty */
    if (status == LX_OK)
        status = lx__join_copy_dictionaries(self, error);
    if (status == LX_OK)
        status = lx__join_write_tables(self, error);
    if (status == LX_OK)
        status = lx__meta_seal(&self->meta, self->seals, 2 * self->meta.schema->count, error);
    /* While it is written, meta.json.new does not mark the other files, but there is no LOG yet. */
    if (status == LX_OK)
        status = lx__meta_write_new(&self->meta, &self->directory, error);
    if (status == LX_OK)
        status = lx__create_log(&self->directory, &self->meta, &self->state, error);
    return status;
}

/** Makes the names of the parts durable, which may have been moved to their folders just now. A
 * part that is elsewhere, or was opened at another path, need not be there. */
static lx_status sync_parts(const lx__join *self, lx_error *error)
{
    const char *former = NULL;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++) {
        lx_error why = LX_ERROR_INIT;
        const char *path = self->parts[i].path;
        if (lx__store_is_elsewhere(self->parts[i].snapshot->store) || path[0] == '\0' ||
            (former != NULL && lx__folder_is_shared(former, path)))
            continue;
        former = path;
        if (lx__folder_sync(&self->directory, path, &why) != LX_ERR_NOT_FOUND) {
            status = why.status;
            lx__error_propagate(error, &why);
        }
    }
    return status;
}

/* ---- the whole call */

static void end(lx__join *self)
{
    for (size_t i = 0; i < self->count; i++)
        lx__snapshot_unref(self->parts[i].snapshot);
    lx__free(self->parts);
    lx__free(self->seals);
    lx__state_free(&self->state);
    lx__meta_free(&self->meta);
    lx__file_close(&self->directory);
}

static lx_status join(lx__join *self, const char *path, const char *const *paths, lx_error *error)
{
    lx__file lock = LX__FILE_CLOSED;
    lx_status status = lx__check_local_path(path, error);
    if (status == LX_OK)
        status = lx__create_joined_directory(path, paths, self->count, &self->directory, &lock,
                                             error);
    if (status == LX_OK)
        status = write_files(self, error);
    if (status == LX_OK)
        status = sync_parts(self, error);
    if (status == LX_OK)
        status = lx__create_finish(&self->directory, error);
    lx__writer_unlock(&lock);
    return status;
}

lx_status lx_dataset_join(const char *path, lx_dataset *const *parts, const char *const *paths,
                          uint64_t count, lx_progress_function progress, void *user,
                          lx_error *error)
{
    if (path == NULL || parts == NULL || paths == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "path, parts or paths is NULL");
    if (count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "count is 0: there is nothing to join");
    lx__join self = {.directory = LX__FILE_CLOSED, .progress = progress, .user = user};
    lx_status status = add_parts(&self, parts, paths, count, error);
    if (status == LX_OK)
        status = plan(&self, error);
    if (status == LX_OK)
        status = join(&self, path, paths, error);
    end(&self);
    return status;
}
