/* SPDX-License-Identifier: MIT */
#include "base/atomic-file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* Maximum number of temporary files per name: those of active writers and those left by killed
 * ones. */
#define ATTEMPTS 1000
/* Size of ".999.new" with its NUL. */
#define SUFFIX_SIZE 9

static lx_status fail_place(const char *path, const char *what, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_EXISTS, "%s", what);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

static const char no_file[] = "cannot replace this path: it is not a regular file";

lx_status lx__atomic_file_find(const char *path, char **place, lx_error *error)
{
    struct stat about;
    char whole[PATH_MAX];
    bool there = lstat(path, &about) == 0;
    if (there && S_ISLNK(about.st_mode)) {
        bool leads = stat(path, &about) == 0;
        if (leads && !S_ISREG(about.st_mode))
            return fail_place(path, no_file, error);
        if (!leads || realpath(path, whole) == NULL)
            return fail_place(path, "cannot write to this path: it is a dangling symbolic link",
                              error);
        path = whole;
    } else if (there && !S_ISREG(about.st_mode)) {
        return fail_place(path, no_file, error);
    }
    *place = lx__strdup(path);
    return *place != NULL ? LX_OK : lx__fail_memory(error, "a path");
}

static lx_status create(lx__atomic_file *self, lx_error *error)
{
    lx_status status = lx__file_open(&self->file, self->directory, self->temporary,
                                     O_RDWR | O_CREAT | O_EXCL, error);
    self->created = status == LX_OK;
    return status;
}

/** Creates a temporary file under a name that no other writer uses, with the permissions of the file
 * that it replaces. */
static lx_status create_unique(lx__atomic_file *self, lx_error *error)
{
    size_t size = strlen(self->name) + SUFFIX_SIZE;
    self->temporary = lx__alloc(size);
    if (self->temporary == NULL)
        return lx__fail_memory(error, "a path");
    for (unsigned i = 0;; i++) {
        lx_error failure = LX_ERROR_INIT;
        snprintf(self->temporary, size, "%s.%u.new", self->name, i);
        lx_status status = create(self, &failure);
        if (status == LX_ERR_EXISTS && i + 1 < ATTEMPTS)
            continue;
        if (status == LX_OK)
            return lx__file_copy_mode(&self->file, self->directory, self->name, error);
        lx__error_propagate(error, &failure);
        return status;
    }
}

lx_status lx__atomic_file_begin(lx__atomic_file *self, const lx__file *directory, const char *name,
                                const char *temporary, lx_error *error)
{
    *self = (lx__atomic_file){
        .directory = directory, .name = lx__strdup(name), .file = LX__FILE_CLOSED};
    if (self->name == NULL)
        return lx__fail_memory(error, "a path");
    if (temporary == NULL)
        return create_unique(self, error);
    self->temporary = lx__strdup(temporary);
    if (self->temporary == NULL)
        return lx__fail_memory(error, "a path");
    lx_status status = lx__file_remove(directory, temporary, error);
    return status == LX_OK ? create(self, error) : status;
}

lx_status lx__path_sync_parent(const char *path, lx_error *error)
{
    char *folder = lx__strdup(path);
    lx__file parent;
    if (folder == NULL)
        return lx__fail_memory(error, "a path");
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    lx_status status = lx__directory_open(&parent, LX__CWD, slash != NULL ? folder : ".", error);
    lx__free(folder);
    if (status != LX_OK)
        return status;
    status = lx__file_sync(&parent, error);
    lx__file_close(&parent);
    return status;
}

/** Syncs the directory that contains the file. */
static lx_status sync_directory(const lx__atomic_file *self, lx_error *error)
{
    return self->directory != LX__CWD ? lx__file_sync(self->directory, error)
                                      : lx__path_sync_parent(self->name, error);
}

lx_status lx__atomic_file_install(lx__atomic_file *self, lx_error *error)
{
    lx__file_close(&self->file);
    lx_status status = lx__file_rename(self->directory, self->temporary, self->name, error);
    self->created = status != LX_OK;
    return status;
}

lx_status lx__atomic_file_finish(lx__atomic_file *self, lx_error *error)
{
    lx_status status = lx__file_sync(&self->file, error);
    if (status == LX_OK)
        status = lx__atomic_file_install(self, error);
    return status == LX_OK ? sync_directory(self, error) : status;
}

/** Gives the temporary file its final name as a second one. */
static lx_status link_new(const lx__atomic_file *self, lx_error *error)
{
    struct stat about;
    int directory = self->directory != LX__CWD ? self->directory->fd : AT_FDCWD;
    if (linkat(directory, self->temporary, directory, self->name, 0) == 0)
        return LX_OK;
    int errnum = errno;
    /* An NFS client that gets no answer asks again, and is then told that the link exists. */
    if (errnum == EEXIST && fstat(self->file.fd, &about) == 0 && about.st_nlink > 1)
        return LX_OK;
    return errnum == EEXIST
               ? fail_place(self->name, "the file already exists", error)
               : lx_fail_errno(error, errnum, self->file.path, "cannot make a hard link");
}

lx_status lx__atomic_file_finish_new(lx__atomic_file *self, lx_error *error)
{
    lx_status status = lx__file_sync(&self->file, error);
    if (status == LX_OK)
        status = link_new(self, error);
    return status == LX_OK ? sync_directory(self, error) : status;
}

void lx__atomic_file_end(lx__atomic_file *self)
{
    lx__file_close(&self->file);
    if (self->created)
        (void)lx__file_remove(self->directory, self->temporary, NULL);
    lx__free(self->temporary);
    lx__free(self->name);
}
