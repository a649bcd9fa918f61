/* SPDX-License-Identifier: MIT */
/* Copies a sealed dataset, in as many calls as it takes: what one call has copied, the next one
 * keeps. Until the copy is complete, its meta.json is named meta.json.new, which tells later calls
 * what the other files are parts of. */
#include "base/copy.h"
#include "base/error.h"
#include "base/folder.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/snapshot-files.h"
#include "zrecord/read/refresh.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/snapshot/sealed.h"
#include "zrecord/write/create.h"

/* Number of bytes between two calls to the progress function. */
#define STEP ((uint64_t)16 << 20)
/* How many bytes to request before they are copied, so that a dataset elsewhere is read by several
 * requests at a time. Far less than the memory that holds them. */
#define AHEAD ((uint64_t)128 << 20)

typedef struct pull {
    const lx__snapshot *snapshot;
    lx__file directory, lock; /**< These belong to the copy. */
    lx_progress_function progress;
    void *user;
    uint64_t done, total;
} pull;

static lx_status count_bytes(void *user, const lx__snapshot_file *file, lx_error *error)
{
    (void)error;
    ((pull *)user)->total += file->bytes;
    return LX_OK;
}

static lx_status report(const pull *self, lx_error *error)
{
    return self->progress != NULL
               ? lx__error_return(error, self->progress(self->done, self->total, self->user, error),
                                  "progress")
               : LX_OK;
}

/** Copies the bytes [@p at, @p end). */
static lx_status copy_bytes(pull *self, const lx__file *from, const lx__file *to, uint64_t at,
                            uint64_t end, lx_error *error)
{
    uint64_t requested = at;
    lx_status status = LX_OK;
    while (status == LX_OK && at < end) {
        uint64_t step = end - at < STEP ? end - at : STEP;
        uint64_t ahead = end - at < AHEAD ? end : at + AHEAD;
        if (requested < ahead)
            lx__file_will_need(from, requested, ahead - requested);
        requested = ahead;
        status = lx__file_copy(from, at, to, at, step, error);
        at += step;
        self->done += step;
        if (status == LX_OK)
            status = report(self, error);
    }
    return status;
}

/** Verifies a table of the copy. If it is damaged, empties it, so that the next call copies it. */
static lx_status check_table(const pull *self, const lx__file *table, const char *name,
                             lx_error *error)
{
    lx__table_seal seal;
    uint64_t bytes;
    uint32_t crc;
    lx_status status = lx__meta_get_table(&self->snapshot->store->meta, name, &seal, error);
    if (status == LX_OK)
        status = lx__file_sum(table, &bytes, &crc, error);
    if (status != LX_OK || (bytes == seal.bytes && crc == seal.crc))
        return status;
    (void)lx__file_truncate(table, 0, NULL);
    status = lx_fail(error, LX_ERR_CORRUPT,
                     "the copy of the table is damaged: its checksum is %08x instead of %08x", crc,
                     seal.crc);
    lx_error_locate(error, table->path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Copies what is missing of a file. */
static lx_status complete(pull *self, const lx__snapshot_file *file, const lx__file *target,
                          lx_error *error)
{
    lx__file source;
    uint64_t there;
    lx_status status = lx__file_size(target, &there, error);
    if (status == LX_OK && there > file->bytes) {
        there = file->bytes;
        status = lx__file_truncate(target, there, error);
    }
    self->done += status == LX_OK ? there : 0;
    if (status != LX_OK || there == file->bytes)
        return status;
    status = lx__committed_open(&source, &self->snapshot->store->directory, file->path, O_RDONLY,
                                file->bytes, false, error);
    if (status != LX_OK)
        return status;
    status = copy_bytes(self, &source, target, there, file->bytes, error);
    lx__file_close(&source);
    return status;
}

static lx_status pull_file(void *user, const lx__snapshot_file *file, lx_error *error)
{
    pull *self = user;
    lx__file target;
    lx_status status = lx__folder_open_file(&target, &self->directory, file->path, O_RDWR | O_CREAT,
                                            error);
    if (status != LX_OK)
        return status;
    status = complete(self, file, &target, error);
    if (status == LX_OK && file->is_table)
        status = check_table(self, &target, file->path, error);
    if (status == LX_OK)
        status = lx__file_sync(&target, error);
    lx__file_close(&target);
    return status;
}

/* ---- the directory */

/** Finds out whether the directory contains an incomplete copy of the snapshot. */
static lx_status look(const pull *self, bool *incomplete, lx_error *error)
{
    lx__meta meta;
    bool complete;
    *incomplete = false;
    lx_status status = lx__file_is_regular(&self->directory, LX__META_NAME, &complete, error);
    if (status != LX_OK || complete)
        return status;
    status = lx__meta_load_new(&meta, &self->directory, incomplete, error);
    if (status != LX_OK || !*incomplete)
        return status;
    *incomplete = json_equal(meta.document, self->snapshot->store->meta.document);
    lx__meta_free(&meta);
    return LX_OK;
}

/** Opens the directory of an incomplete copy. Returns #LX_END if it is not one. */
static lx_status open_incomplete(pull *self, const char *path, lx_error *error)
{
    bool incomplete;
    if (lx__directory_open(&self->directory, LX__CWD, path, NULL) != LX_OK)
        return LX_END; /* creating it will report the reason */
    lx_status status = look(self, &incomplete, error);
    if (status != LX_OK)
        return status;
    if (!incomplete) {
        lx__file_close(&self->directory);
        return LX_END;
    }
    status = lx__check_local(&self->directory, error);
    if (status == LX_OK)
        status = lx__writer_lock(&self->directory, &self->lock, error);
    if (status == LX_OK)
        status = look(self, &incomplete, error);
    if (status == LX_OK && !incomplete) {
        status = lx_fail(error, LX_ERR_EXISTS, "another process has completed the copy");
        lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    }
    return status;
}

static lx_status open_target(pull *self, const char *path, lx_error *error)
{
    lx_status status = open_incomplete(self, path, error);
    if (status == LX_END) {
        status = lx__create_directory(path, &self->directory, &self->lock, error);
        if (status == LX_OK)
            status = lx__meta_write_new(&self->snapshot->store->meta, &self->directory, error);
    }
    return status == LX_OK ? lx__snapshot_each_folder(self->snapshot, lx__snapshot_make_folder,
                                                      &self->directory, error)
                           : status;
}

/** Makes the copy a dataset, once all of its files are durable. */
static lx_status install(pull *self, lx_error *error)
{
    lx_status status = lx__snapshot_each_folder(self->snapshot, lx__snapshot_sync_folder,
                                                &self->directory, error);
    return status == LX_OK ? lx__create_finish(&self->directory, error) : status;
}

static lx_status copy(pull *self, const char *path, lx_error *error)
{
    lx_status status = open_target(self, path, error);
    if (status == LX_OK)
        status = lx__snapshot_each_file(self->snapshot, count_bytes, self, error);
    if (status == LX_OK)
        status = lx__snapshot_each_file(self->snapshot, pull_file, self, error);
    return status == LX_OK ? install(self, error) : status;
}

lx_status lx_dataset_pull(lx_dataset *dataset, const char *path, lx_progress_function progress,
                          void *user, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (path == NULL)
        return lx__fail_null(error, "path");
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    pull self = {.snapshot = snapshot,
                 .directory = LX__FILE_CLOSED,
                 .lock = LX__FILE_CLOSED,
                 .progress = progress,
                 .user = user};
    if (snapshot->store->meta.sealed) {
        status = copy(&self, path, error);
    } else {
        status = lx_fail(error, LX_ERR_STATE,
                         "the dataset is not sealed, so it may change between two calls: seal it, "
                         "or make a backup");
        lx_error_locate(error, snapshot->store->directory.path, NULL, LX_NONE, LX_NONE);
    }
    lx__file_close(&self.directory);
    lx__writer_unlock(&self.lock);
    lx__snapshot_unref(snapshot);
    return status;
}
