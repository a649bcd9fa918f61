/* SPDX-License-Identifier: MIT */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset.h"
#include "directory.h"
#include "failure.h"

#define ENDING ".new"
/* Of old datasets that could not be removed, and how many there can be. */
#define FORMER_ENDING ".former-%d"
#define FORMER_MAX 99

static bool is_empty_directory(const char *path)
{
    return rmdir(path) == 0 && mkdir(path, 0777) == 0;
}

/** Follows links: what they point to is replaced, and they stay. What is not there stays as it was
 * called, without slashes at its end. */
static lx_status resolve(replacement *self, const char *path, lx_error *error)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    self->path = realpath(path, NULL);
    if (self->path == NULL && errno != ENOENT)
        return fail_errno(error, errno, path, "cannot find out what it is");
    if (self->path == NULL)
        self->path = strndup(path, length);
    return self->path != NULL ? LX_OK : fail_memory(error, "a name");
}

/** Something is in the way: what an earlier call left, most likely. */
static lx_status check_made(const replacement *self, lx_error *error)
{
    struct stat about;
    if (lstat(self->made, &about) == -1 || is_empty_directory(self->made))
        return LX_OK;
    lx_status status = fail(error, LX_ERR_EXISTS,
                            "the new dataset is to be made here, but something is there: remove "
                            "it, if an earlier --replace has left it");
    locate(error, self->made, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Locks what is at the path, if it is a dataset, and looks whether it can be removed later. */
static lx_status look(replacement *self, lx_error *error)
{
    struct stat about;
    lx_error why = LX_ERROR_INIT;
    if (lstat(self->path, &about) == -1 || is_empty_directory(self->path))
        return LX_OK;
    lx_status status = dataset_open_writer(self->path, NULL, &self->lock, &why);
    self->there = status == LX_OK || status == LX_ERR_STATE;
    if (self->there)
        return lx_dataset_check_removable(self->path, error);
    if (status != LX_ERR_NOT_FOUND) {
        *error = why;
        return status;
    }
    fail(error, LX_ERR_EXISTS, "there is something that is no dataset: it is not replaced");
    locate(error, self->path, NULL, LX_NONE, LX_NONE);
    return LX_ERR_EXISTS;
}

lx_status replacement_begin(replacement *self, const char *path, lx_error *error)
{
    *self = (replacement){.why = LX_ERROR_INIT};
    lx_status status = resolve(self, path, error);
    if (status != LX_OK)
        return status;
    size_t length = strlen(self->path);
    self->made = malloc(length + sizeof ENDING);
    self->former_size = length + sizeof FORMER_ENDING;
    self->former = malloc(self->former_size);
    if (self->made == NULL || self->former == NULL)
        return fail_memory(error, "a name");
    memcpy(self->made, self->path, length);
    memcpy(self->made + length, ENDING, sizeof ENDING);
    status = check_made(self, error);
    return status == LX_OK ? look(self, error) : status;
}

/** The old dataset is at the new one's name now. One that cannot be removed makes room there. */
static void remove_old(replacement *self)
{
    self->kept = lx_dataset_remove(self->made, &self->why) != LX_OK;
    for (int i = 1; self->kept && i <= FORMER_MAX; i++) {
        snprintf(self->former, self->former_size, "%s" FORMER_ENDING, self->path, i);
        if (renameat2(AT_FDCWD, self->made, AT_FDCWD, self->former, RENAME_NOREPLACE) == 0)
            return;
    }
    snprintf(self->former, self->former_size, "%s", self->made);
}

lx_status replacement_finish(replacement *self, lx_error *error)
{
    unsigned flags = self->there ? RENAME_EXCHANGE : 0;
    int renamed = renameat2(AT_FDCWD, self->made, AT_FDCWD, self->path, flags);
    if (renamed == -1 && self->there && errno == EINVAL) {
        /* A file system that cannot exchange: for a moment there is none. */
        lx_writer_close(self->lock, NULL);
        self->lock = NULL;
        lx_status removed = lx_dataset_remove(self->path, error);
        if (removed != LX_OK)
            return removed;
        self->there = false;
        renamed = renameat2(AT_FDCWD, self->made, AT_FDCWD, self->path, 0);
    }
    if (renamed == -1)
        return fail_errno(error, errno, self->made, "cannot put it in the place of the other");
    lx_writer_close(self->lock, NULL);
    self->lock = NULL;
    lx_status status = directory_sync_parent(self->path, error);
    if (status == LX_OK && self->there)
        remove_old(self);
    return status;
}

void replacement_end(replacement *self)
{
    lx_writer_close(self->lock, NULL);
    free(self->former);
    free(self->made);
    free(self->path);
    *self = (replacement){0};
}
