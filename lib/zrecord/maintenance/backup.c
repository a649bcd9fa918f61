/* SPDX-License-Identifier: MIT */
/* Copies one snapshot; a writer may continue in the meantime. See doc/zrecord-format.md, 11.10. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/copy.h"
#include "base/error.h"
#include "base/folder.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/snapshot-files.h"
#include "zrecord/read/refresh.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/wal/wal-writer.h"
#include "zrecord/write/create.h"

/* Number of bytes between two calls to the progress function. */
#define STEP ((uint64_t)16 << 20)

typedef struct backup {
    const lx__snapshot *snapshot;
    lx__file directory, lock; /**< These belong to the copy. */
    lx_progress_function progress;
    void *user;
    uint64_t done, total;
} backup;

static lx_status count_bytes(void *user, const lx__snapshot_file *file, lx_error *error)
{
    (void)error;
    ((backup *)user)->total += file->bytes;
    return LX_OK;
}

static lx_status copy_bytes(backup *self, const lx__file *from, const lx__file *to, uint64_t bytes,
                            lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t at = 0; status == LX_OK && at < bytes; at += STEP) {
        uint64_t step = bytes - at < STEP ? bytes - at : STEP;
        status = lx__file_copy(from, at, to, at, step, error);
        self->done += step;
        if (status == LX_OK && self->progress != NULL)
            status = lx__error_return(
                error, self->progress(self->done, self->total, self->user, error), "progress");
    }
    return status;
}

static lx_status copy_file(void *user, const lx__snapshot_file *file, lx_error *error)
{
    backup *self = user;
    lx__file source = LX__FILE_CLOSED, target;
    lx_status status = LX_OK;
    /* A file with no committed bytes may be missing; it is created in the copy anyway. */
    if (file->bytes != 0)
        status = lx__committed_open(&source, &self->snapshot->store->directory, file->path,
                                    O_RDONLY, file->bytes, false, error);
    if (status == LX_OK) {
        status = lx__folder_open_file(&target, &self->directory, file->path,
                                      O_RDWR | O_CREAT | O_EXCL, error);
        if (status == LX_OK) {
            status = copy_bytes(self, &source, &target, file->bytes, error);
            if (status == LX_OK)
                status = lx__file_sync(&target, error);
            lx__file_close(&target);
        }
    }
    lx__file_close(&source);
    return status;
}

static lx_status remove_file(void *user, const lx__snapshot_file *file, lx_error *error)
{
    (void)error;
    (void)lx__file_remove(user, file->path, NULL); /* this call made its folders */
    return LX_OK;
}

/* ---- the log of the copy */

/** Checks that the copied log ends with the frame of the snapshot. Sets @p synced to whether that
 * frame is synced. */
static lx_status scan_log(const backup *self, const lx__wal_identity *identity, bool *synced,
                          lx_error *error)
{
    const lx__wal_position start = {0}, *end = &self->snapshot->state.position;
    lx__wal_reader log;
    lx__wal_scan scan;
    lx_status status = lx__wal_open(&log, &self->directory, identity, error);
    if (status != LX_OK)
        return status;
    status = lx__wal_scan_from(&log, &start, 0, &scan, error);
    if (status == LX_OK && (scan.valid.offset != end->offset || scan.valid.crc != end->crc)) {
        /* If part of the page cache was lost without a reboot, a writer truncates the log to the
         * frames that were not lost. */
        status = lx_fail(error, LX_ERR_STATE,
                         "the snapshot that was being copied is no longer in the log: refresh the "
                         "dataset and try again");
        lx_error_locate(error, self->snapshot->store->directory.path, NULL, LX_NONE, LX_NONE);
    }
    *synced = status == LX_OK && scan.durable.offset == end->offset;
    lx__wal_close(&log);
    return status;
}

static lx_status finish_log(const backup *self, lx_error *error)
{
    const lx__meta *meta = &self->snapshot->store->meta;
    lx__wal_identity identity = {.generation = meta->generation};
    char name[LX__NAME_SIZE];
    lx__file log;
    bool synced;
    memcpy(identity.uuid, meta->uuid, sizeof identity.uuid);
    lx_status status = scan_log(self, &identity, &synced, error);
    if (status != LX_OK || synced)
        return status;
    lx__wal_name(meta->generation, name);
    status = lx__file_open(&log, &self->directory, name, O_RDWR, error);
    if (status != LX_OK)
        return status;
    /* Everything that the frames refer to is durable in the copy. */
    status = lx__wal_write_synced(&log, &identity, &self->snapshot->state, error);
    lx__file_close(&log);
    return status;
}

/* ---- the whole backup */

/** Makes the copy. meta.json comes last, once everything that it names is durable: until then, the
 * copy is not a dataset. */
static lx_status make_copy(backup *self, lx_error *error)
{
    lx_status status = lx__snapshot_each_folder(self->snapshot, lx__snapshot_make_folder,
                                                &self->directory, error);
    if (status == LX_OK)
        status = lx__snapshot_each_file(self->snapshot, count_bytes, self, error);
    if (status == LX_OK)
        status = lx__snapshot_each_file(self->snapshot, copy_file, self, error);
    if (status == LX_OK)
        status = finish_log(self, error);
    if (status == LX_OK)
        status = lx__snapshot_each_folder(self->snapshot, lx__snapshot_sync_folder,
                                          &self->directory, error);
    if (status == LX_OK)
        status = lx__file_sync(&self->directory, error);
    if (status == LX_OK)
        status = lx__sync_parent(&self->directory, error);
    if (status == LX_OK)
        status = lx__meta_replace(&self->snapshot->store->meta, &self->directory, error);
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer to poison */
}

/** Removes the files of a failed copy. */
static void undo(backup *self, const char *path, bool made)
{
    (void)lx__file_remove(&self->directory, LX__META_NAME, NULL);
    (void)lx__file_remove(&self->directory, LX__META_NEW_NAME, NULL);
    (void)lx__snapshot_each_file(self->snapshot, remove_file, &self->directory, NULL);
    (void)lx__snapshot_each_folder(self->snapshot, lx__snapshot_remove_folder, &self->directory,
                                   NULL);
    (void)lx__file_remove(&self->directory, LX__LOCK_NAME, NULL);
    if (made)
        (void)lx__directory_remove(LX__CWD, path, NULL);
}

/** Takes the writer's lock again, in case it was released because the process id could not be
 * written to LOCK. */
static bool lock_again(backup *self)
{
    return lx__file_open(&self->lock, &self->directory, LX__LOCK_NAME, O_RDWR, NULL) == LX_OK &&
           lx__file_lock(&self->lock, true, LX__LOCK_WRITER, 1, NULL) == LX_OK;
}

/** Removes what lx__create_directory() made before it failed with the status @p failed. Anything
 * that another process has put there in the meantime stays. */
static void undo_directory(backup *self, const char *path, bool made, lx_status failed)
{
    if (failed == LX_ERR_EXISTS || failed == LX_ERR_BUSY)
        return;
    if (self->lock.fd != -1 || (made && self->directory.fd != -1 && lock_again(self)))
        (void)lx__file_remove(&self->directory, LX__LOCK_NAME, NULL);
    if (made)
        (void)lx__directory_remove(LX__CWD, path, NULL);
}

lx_status lx_dataset_backup(lx_dataset *dataset, const char *path, lx_progress_function progress,
                            void *user, lx_error *error)
{
    struct stat about;
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (path == NULL)
        return lx__fail_null(error, "path");
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    if (lx__store_is_elsewhere(snapshot->store))
        status = lx__store_fail_elsewhere(snapshot->store, "back up the dataset", error);
    else
        status = lx__meta_check_imported(&snapshot->store->meta, error);
    if (status != LX_OK) {
        lx_error_locate(error, snapshot->store->directory.path, NULL, LX_NONE, LX_NONE);
        lx__snapshot_unref(snapshot);
        return status;
    }
    bool made = stat(path, &about) == -1 && errno == ENOENT;
    backup self = {.snapshot = snapshot,
                   .directory = LX__FILE_CLOSED,
                   .lock = LX__FILE_CLOSED,
                   .progress = progress,
                   .user = user};
    status = lx__create_directory(path, &self.directory, &self.lock, error);
    if (status == LX_OK) {
        status = make_copy(&self, error);
        if (status != LX_OK)
            undo(&self, path, made);
    } else {
        undo_directory(&self, path, made, status);
    }
    lx__file_close(&self.directory);
    lx__writer_unlock(&self.lock);
    lx__snapshot_unref(snapshot);
    return status;
}
