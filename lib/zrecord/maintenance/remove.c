/* SPDX-License-Identifier: MIT */
/* Removes a dataset: only its own files, with meta.json after everything that it names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/write/create.h"
#include "zrecord/write/orphans.h"

typedef struct removal {
    lx__file directory, chunks, lock;
    lx__meta meta;
} removal;

/** Keeps out writers, and readers of all generations so far. */
static lx_status lock_all(removal *self, lx_error *error)
{
    lx_status status = lx__writer_lock(&self->directory, &self->lock, error);
    /* Since meta.json was read, a writer may have installed a new generation, and readers may have
     * moved on to it. */
    if (status == LX_OK) {
        lx__meta_free(&self->meta);
        status = lx__meta_load(&self->meta, &self->directory, error);
    }
    if (status != LX_OK)
        return status;
    lx_error why = LX_ERROR_INIT;
    status = lx__file_lock(&self->lock, true, LX__LOCK_READERS, self->meta.generation + 1, &why);
    if (status != LX_ERR_BUSY) {
        if (status != LX_OK)
            lx__error_propagate(error, &why);
        return status;
    }
    status = lx_fail(
        error, LX_ERR_BUSY,
        "the dataset is being read by this process or another one: close all of its readers first");
    lx_error_locate(error, self->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status fail_foreign(const lx__file *directory, const char *name, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_EXISTS,
                               "nothing was removed: '%.100s' does not belong to the dataset: move "
                               "it elsewhere first",
                               name);
    lx_error_locate(error, directory->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status check_chunk(void *user, const char *name, lx_error *error)
{
    const removal *self = user;
    uint64_t id;
    bool regular;
    lx_status status = lx__file_is_regular(&self->chunks, name, &regular, error);
    if (status != LX_OK || (regular && lx__name_is_chunk(name, &id)))
        return status;
    return fail_foreign(&self->chunks, name, error);
}

static lx_status check_file(void *user, const char *name, lx_error *error)
{
    const removal *self = user;
    bool ours;
    if (strcmp(name, LX__META_NAME) == 0 || strcmp(name, LX__LOCK_NAME) == 0 ||
        (strcmp(name, LX__CHUNK_DIRECTORY) == 0 && self->chunks.fd != -1))
        return LX_OK;
    lx_status status = lx__file_is_ours(&self->directory, &self->meta, name, &ours, error);
    return status == LX_OK && !ours ? fail_foreign(&self->directory, name, error) : status;
}

static lx_status remove_chunk(void *user, const char *name, lx_error *error)
{
    const removal *self = user;
    return lx__file_remove(&self->chunks, name, error);
}

/** Removes a file of the dataset that must be removed before meta.json. */
static lx_status remove_file(void *user, const char *name, lx_error *error)
{
    const removal *self = user;
    bool ours;
    lx_status status = lx__file_is_ours(&self->directory, &self->meta, name, &ours, error);
    return status == LX_OK && ours ? lx__file_remove(&self->directory, name, error) : status;
}

/** Fails if the directory contains anything that does not belong to the dataset. */
static lx_status check_contents(removal *self, lx_error *error)
{
    /* An interrupted removal may already have removed the chunk directory. If chunk is not a
     * directory, check_file() rejects it by its name. */
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_open(&self->chunks, &self->directory, LX__CHUNK_DIRECTORY,
                                          &why);
    if (status == LX_ERR_IO || status == LX_ERR_NOMEM)
        lx__error_propagate(error, &why);
    else
        status = status == LX_OK ? lx__directory_each(&self->chunks, check_chunk, self, error)
                                 : LX_OK;
    return status == LX_OK ? lx__directory_each(&self->directory, check_file, self, error) : status;
}

/** Removes everything. As long as meta.json exists, another attempt can remove the rest, so it must
 * also be the last file to disappear from the disk. */
static lx_status remove_all(removal *self, const char *path, lx_error *error)
{
    lx_status status = LX_OK;
    if (self->chunks.fd != -1) {
        status = lx__directory_each(&self->chunks, remove_chunk, self, error);
        if (status == LX_OK)
            status = lx__directory_remove(&self->directory, LX__CHUNK_DIRECTORY, error);
    }
    if (status == LX_OK)
        status = lx__directory_each(&self->directory, remove_file, self, error);
    if (status == LX_OK)
        status = lx__file_sync(&self->directory, error);
    if (status == LX_OK)
        status = lx__file_remove(&self->directory, LX__META_NAME, error);
    if (status == LX_OK)
        status = lx__file_sync(&self->directory, error);
    if (status == LX_OK)
        status = lx__file_remove(&self->directory, LX__LOCK_NAME, error);
    return status == LX_OK ? lx__directory_remove(LX__CWD, path, error) : status;
}

static lx_status open_all(removal *self, const char *path, lx_error *error)
{
    *self = (removal){LX__FILE_CLOSED, LX__FILE_CLOSED, LX__FILE_CLOSED, {0}};
    if (path == NULL)
        return lx__fail_null(error, "path");
    lx_status status = lx__directory_open(&self->directory, LX__CWD, path, error);
    if (status == LX_OK)
        status = lx__meta_load(&self->meta, &self->directory, error);
    if (status != LX_OK || self->meta.run_count == 0)
        return status;
    status =
        lx_fail(error, LX_ERR_UNSUPPORTED,
                "nothing was removed: the dataset was joined from parts, whose files belong to "
                "them: remove the whole directory, as with 'rm -r'");
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

static void close_all(removal *self)
{
    lx__meta_free(&self->meta);
    lx__file_close(&self->chunks);
    lx__file_close(&self->directory);
    lx__writer_unlock(&self->lock);
}

lx_status lx_dataset_check_removable(const char *path, lx_error *error)
{
    removal self;
    lx_status status = open_all(&self, path, error);
    if (status == LX_OK)
        status = check_contents(&self, error);
    close_all(&self);
    return status;
}

lx_status lx_dataset_remove(const char *path, lx_error *error)
{
    removal self;
    lx_status status = open_all(&self, path, error);
    if (status == LX_OK)
        status = lock_all(&self, error);
    if (status == LX_OK)
        status = check_contents(&self, error);
    /* Resolve the path, in case it is a link to the directory or ends in a dot. */
    char *real = status == LX_OK ? realpath(path, NULL) : NULL;
    if (status == LX_OK && real == NULL)
        status = lx_fail_errno(error, errno, path, "cannot resolve the path");
    if (status == LX_OK)
        status = remove_all(&self, real, error);
    free(real);
    close_all(&self);
    return status;
}
