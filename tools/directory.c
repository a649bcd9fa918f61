/* SPDX-License-Identifier: MIT */
/* File names as in zrecord(5). */
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"

lx_status directory_check(const char *path, lx_error *error)
{
    struct stat about;
    if (stat(path, &about) == -1 || S_ISDIR(about.st_mode))
        return LX_OK; /* opening the dataset reports this error */
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT, "not a dataset: a dataset is a directory");
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** The parent part of a path; "" if it has none. */
static char *copy_parent(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        --length;
    while (length > 0 && path[length - 1] != '/')
        --length;
    return strndup(path, length > 1 ? length - 1 : length);
}

lx_status directory_check_parent(const char *path, lx_error *error)
{
    struct stat about;
    char *parent = copy_parent(path);
    if (parent == NULL)
        return fail_memory(error, "a name");
    lx_status status = LX_OK;
    if (path[0] == '\0')
        status = lx_fail(error, LX_ERR_ARGUMENT, "the path is empty");
    else if (parent[0] != '\0' && stat(parent, &about) == -1 && errno == ENOENT)
        status = lx_fail(error, LX_ERR_NOT_FOUND, "the parent directory '%.200s' does not exist",
                         parent);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    free(parent);
    return status;
}

lx_status directory_sync_parent(const char *path, lx_error *error)
{
    char *parent = copy_parent(path);
    if (parent == NULL)
        return fail_memory(error, "a name");
    int at = open(parent[0] != '\0' ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    int synced = at != -1 ? fsync(at) : -1;
    int errnum = errno;
    if (at != -1)
        close(at);
    return synced == 0 ? LX_OK
                       : lx_fail_errno(error, errnum, path, "cannot sync its parent directory");
}

lx_status directory_make(const char *path, bool *made, lx_error *error)
{
    *made = mkdir(path, 0777) == 0;
    if (*made || errno == EEXIST)
        return directory_check(path, error);
    int errnum = errno;
    lx_status status = directory_check_parent(path, error);
    return status != LX_OK ? status
                           : lx_fail_errno(error, errnum, path, "cannot create the directory");
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_dataset_file(const char *name)
{
    return strcmp(name, "meta.json.new") == 0 || strcmp(name, "LOG") == 0 ||
           has_ending(name, ".offset") || has_ending(name, ".check");
}

static bool is_chunk_file(const char *name)
{
    return has_ending(name, ".zr");
}

/** Unlinks the files in the directory @p at that @p chosen accepts by name, then closes the
 * directory. */
static void unlink_all(int at, bool (*chosen)(const char *name))
{
    const struct dirent *entry;
    DIR *list = fdopendir(at);
    if (list == NULL) {
        close(at);
        return;
    }
    while ((entry = readdir(list)) != NULL)
        if (chosen(entry->d_name))
            unlinkat(at, entry->d_name, 0);
    closedir(list);
}

static int open_directory(int at, const char *path)
{
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Failures here only leave files behind; the user sees the error of the import itself. */
void directory_discard(const char *path, bool made, bool locked)
{
    int at = open_directory(AT_FDCWD, path);
    if (at == -1)
        return;
    if (!locked && faccessat(at, "meta.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        close(at);
        return;
    }
    unlinkat(at, "meta.json", 0); /* first, because without it, this is not a dataset */
    int chunks = open_directory(at, "chunk");
    if (chunks != -1)
        unlink_all(chunks, is_chunk_file);
    unlinkat(at, "chunk", AT_REMOVEDIR);
    int files = open_directory(at, ".");
    if (files != -1)
        unlink_all(files, is_dataset_file);
    unlinkat(at, "LOCK", 0);
    close(at);
    if (made)
        rmdir(path);
}
