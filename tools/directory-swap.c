/* SPDX-License-Identifier: MIT */
#include "directory-swap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dataset.h"
#include "directory.h"
#include "failure.h"

#define ENDING ".new"
/* Suffix of old datasets that could not be removed, and the maximum number of such datasets. */
#define FORMER_ENDING ".former-%d"
#define FORMER_MAX 99

#ifndef RENAME_EXCHANGE /* musl */
#define RENAME_NOREPLACE 1u
#define RENAME_EXCHANGE 2u
static int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
}
#endif

static bool is_empty_directory(const char *path)
{
    return rmdir(path) == 0 && mkdir(path, 0777) == 0;
}

/** Resolves links, so that their target is replaced and the links stay. A path that does not exist
 * stays as it is, apart from trailing slashes. */
static lx_status resolve(directory_swap *self, const char *path, lx_error *error)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    self->path = realpath(path, NULL);
    if (self->path == NULL && errno != ENOENT)
        return lx_fail_errno(error, errno, path, "cannot resolve the path");
    if (self->path == NULL)
        self->path = strndup(path, length);
    return self->path != NULL ? LX_OK : fail_memory(error, "a name");
}

/** Fails if the name of the new dataset is in use, most likely because an earlier call was
 * interrupted. */
static lx_status check_made(const directory_swap *self, lx_error *error)
{
    struct stat about;
    if (lstat(self->made, &about) == -1 || is_empty_directory(self->made))
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_EXISTS,
                               "cannot create the new dataset because this path exists: remove it "
                               "if an earlier --replace left it behind");
    lx_error_locate(error, self->made, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Locks the dataset at the path, if it exists, and checks that it can be removed later. */
static lx_status look(directory_swap *self, lx_error *error)
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
    lx_fail(error, LX_ERR_EXISTS, "not a dataset, so it was not replaced");
    lx_error_locate(error, self->path, NULL, LX_NONE, LX_NONE);
    return LX_ERR_EXISTS;
}

lx_status directory_swap_begin(directory_swap *self, const char *path, lx_error *error)
{
    *self = (directory_swap){.why = LX_ERROR_INIT};
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

/** Removes the old dataset, which now has the name of the new one. If that fails, renames it to
 * free that name. */
static void remove_old(directory_swap *self)
{
    self->kept = lx_dataset_remove(self->made, &self->why) != LX_OK;
    for (int i = 1; self->kept && i <= FORMER_MAX; i++) {
        snprintf(self->former, self->former_size, "%s" FORMER_ENDING, self->path, i);
        if (renameat2(AT_FDCWD, self->made, AT_FDCWD, self->former, RENAME_NOREPLACE) == 0)
            return;
    }
    snprintf(self->former, self->former_size, "%s", self->made);
}

lx_status directory_swap_finish(directory_swap *self, lx_error *error)
{
    unsigned flags = self->there ? RENAME_EXCHANGE : 0;
    int renamed = renameat2(AT_FDCWD, self->made, AT_FDCWD, self->path, flags);
    if (renamed == -1 && self->there && errno == EINVAL) {
        /* The file system cannot exchange names: for a moment, neither dataset has the name. */
        lx_writer_close(self->lock, NULL);
        self->lock = NULL;
        lx_status removed = lx_dataset_remove(self->path, error);
        if (removed != LX_OK)
            return removed;
        self->there = false;
        renamed = renameat2(AT_FDCWD, self->made, AT_FDCWD, self->path, 0);
    }
    if (renamed == -1)
        return lx_fail_errno(error, errno, self->made, "cannot rename the new dataset");
    lx_writer_close(self->lock, NULL);
    self->lock = NULL;
    lx_status status = directory_sync_parent(self->path, error);
    if (status == LX_OK && self->there)
        remove_old(self);
    return status;
}

void directory_swap_end(directory_swap *self)
{
    lx_writer_close(self->lock, NULL);
    free(self->former);
    free(self->made);
    free(self->path);
    *self = (directory_swap){0};
}
