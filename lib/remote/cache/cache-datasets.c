/* SPDX-License-Identifier: MIT */
#include "remote/cache/cache-datasets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "executor/clock.h"
#include "remote/cache/cache-state.h"

#define ORIGIN_NAME "origin"
#define ORIGIN_MAX 4096
#define GONE_PREFIX ".gone-"

/* The unit of st_blocks. */
#define BLOCK_BYTES 512

/* Folders in folders; the cache makes one level. */
#define DEPTH_MAX 4

/* How long to wait for a process that lists or removes a folder. */
#define PATIENCE_NS ((uint64_t)5000000000)
#define PAUSE_NS 1000000

/* ---- names */

static bool is_dataset(const char *name)
{
    uint8_t uuid[LX__UUID_BYTES];
    return lx__uuid_parse(name, uuid);
}

static bool is_gone(const char *name)
{
    size_t prefix = strlen(GONE_PREFIX);
    return strncmp(name, GONE_PREFIX, prefix) == 0 && is_dataset(name + prefix);
}

typedef struct name_check {
    const lx__file *directory;
    bool fresh;
} name_check;

static lx_status check_name(void *user, const char *name, lx_error *error)
{
    const name_check *self = user;
    /* The root of a file system may be a cache. */
    if (strcmp(name, LX__CACHE_STATE_NAME) == 0 || strcmp(name, "lost+found") == 0 ||
        (!self->fresh && (is_dataset(name) || is_gone(name))))
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_STATE,
                               "the directory is not a cache, as it contains '%.100s': give a "
                               "directory that is empty or does not exist",
                               name);
    lx_error_locate(error, self->directory->path, NULL, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__cache_check_names(const lx__file *directory, bool fresh, lx_error *error)
{
    name_check self = {directory, fresh};
    return lx__directory_each(directory, check_name, &self, error);
}

/* ---- one folder */

/** Fails with LX_ERR_NOT_FOUND if the name no longer leads to the open folder. */
static lx_status check_place(const lx__file *directory, const char *name, const lx__file *folder,
                             lx_error *error)
{
    struct stat open, named;
    bool failed = fstat(folder->fd, &open) != 0 ||
                  fstatat(directory->fd, name, &named, AT_SYMLINK_NOFOLLOW) != 0;
    if (failed && errno != ENOENT)
        return lx_fail_errno(error, errno, folder->path, "cannot examine");
    if (failed || open.st_dev != named.st_dev || open.st_ino != named.st_ino)
        return lx_fail(error, LX_ERR_NOT_FOUND, "the folder was removed");
    return LX_OK;
}

/** Opens and locks a folder. Returns LX_ERR_BUSY if another process has locked it, and
 * LX_ERR_NOT_FOUND if it is not there, or no longer. */
static lx_status lock_folder(const lx__file *directory, const char *name, bool exclusive,
                             lx__file *folder, lx__file *use, lx_error *error)
{
    *use = (lx__file)LX__FILE_CLOSED;
    lx_status status = lx__directory_open(folder, directory, name, error);
    if (status != LX_OK)
        return status;
    status = lx__file_open(use, folder, LX__CACHE_USE_NAME, O_RDWR | O_CREAT, error);
    if (status == LX_OK)
        status = lx__file_lock(use, exclusive, 0, 1, error);
    if (status == LX_OK)
        status = check_place(directory, name, folder, error);
    if (status == LX_OK)
        return LX_OK;
    lx__file_close(use);
    lx__file_close(folder);
    return status;
}

lx_status lx__cache_folder_use(const lx__file *directory, const char *uuid, lx__file *folder,
                               lx__file *use, lx_error *error)
{
    uint64_t deadline = lx__clock_after(PATIENCE_NS);
    for (;;) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = lx__directory_make(directory, uuid, &why);
        if (status == LX_OK || status == LX_ERR_EXISTS) {
            lx_error_clear(&why);
            status = lock_folder(directory, uuid, false, folder, use, &why);
        }
        if ((status == LX_ERR_BUSY || status == LX_ERR_NOT_FOUND) && lx__clock_now() < deadline) {
            const struct timespec time = {0, PAUSE_NS};
            (void)nanosleep(&time, NULL);
            continue;
        }
        if (status == LX_OK)
            (void)futimens(use->fd,
                           NULL); /* if this fails, it may be removed earlier than others */
        else
            lx__error_propagate(error, &why);
        return status;
    }
}

lx_status lx__cache_folder_retire(const lx__file *directory, const char *uuid, lx_error *error)
{
    lx__file folder, use;
    char gone[sizeof GONE_PREFIX + LX__UUID_TEXT];
    lx_status status = lock_folder(directory, uuid, true, &folder, &use, error);
    if (status != LX_OK)
        return status;
    snprintf(gone, sizeof gone, GONE_PREFIX "%s", uuid);
    status = lx__file_rename(directory, uuid, gone, error);
    lx__file_close(&use);
    lx__file_close(&folder);
    return status;
}

/* ---- the URL */

static void read_url(const lx__file *folder, char *url, size_t size)
{
    lx__file file;
    size_t got = 0;
    if (lx__file_open(&file, folder, ORIGIN_NAME, O_RDONLY, NULL) == LX_OK) {
        (void)lx__file_read_some(&file, url, size - 1, 0, &got, NULL);
        lx__file_close(&file);
    }
    while (got > 0 && url[got - 1] == '\n')
        got--;
    url[got] = '\0';
    for (size_t i = 0; i < got; i++)
        if ((unsigned char)url[i] < ' ' || url[i] == 0x7f)
            url[i] = '?';
}

void lx__cache_folder_set_url(const lx__file *folder, const char *url)
{
    char known[ORIGIN_MAX];
    lx__file file;
    read_url(folder, known, sizeof known);
    if (strcmp(known, url) == 0 ||
        lx__file_open(&file, folder, ORIGIN_NAME, O_WRONLY | O_CREAT | O_TRUNC, NULL) != LX_OK)
        return;
    if (lx__file_write(&file, url, strlen(url), 0, NULL) == LX_OK)
        (void)lx__file_write(&file, "\n", 1, strlen(url), NULL);
    lx__file_close(&file);
}

/* ---- counting and removing */

/** Visits the files in a folder and its folders. */
typedef struct walk {
    lx__file folder;
    unsigned depth;
    bool remove;
    uint64_t *bytes; /**< Counts what the files that were visited, or removed, occupied. */
} walk;

static lx_status visit_folder(const lx__file *parent, const char *name, const walk *above,
                              lx_error *error);

static lx_status visit_file(void *user, const char *name, lx_error *error)
{
    const walk *self = user;
    struct stat about;
    if (fstatat(self->folder.fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT /* another process has removed it */
                   ? LX_OK
                   : lx_fail_errno(error, errno, self->folder.path, "cannot examine '%s'", name);
    if (S_ISDIR(about.st_mode))
        return visit_folder(&self->folder, name, self, error);
    lx_status status = self->remove ? lx__file_remove(&self->folder, name, error) : LX_OK;
    if (status == LX_OK)
        *self->bytes += (uint64_t)about.st_blocks * BLOCK_BYTES;
    return status;
}

static lx_status visit_folder(const lx__file *parent, const char *name, const walk *above,
                              lx_error *error)
{
    walk self = *above;
    if (self.depth++ == DEPTH_MAX)
        return lx_fail(error, LX_ERR_STATE, "the cache contains folders that are not its own");
    lx_status status = lx__directory_open(&self.folder, parent, name, error);
    if (status != LX_OK)
        return status;
    status = lx__directory_each(&self.folder, visit_file, &self, error);
    lx__file_close(&self.folder);
    return status == LX_OK && self.remove ? lx__directory_remove(parent, name, error) : status;
}

typedef struct visitor {
    const lx__file *directory;
    walk walk;
} visitor;

static lx_status sweep_name(void *user, const char *name, lx_error *error)
{
    const visitor *self = user;
    return is_gone(name) ? visit_folder(self->directory, name, &self->walk, error) : LX_OK;
}

lx_status lx__cache_sweep(const lx__file *directory, uint64_t *bytes, lx_error *error)
{
    visitor self = {directory, {.remove = true, .bytes = bytes}};
    return lx__directory_each(directory, sweep_name, &self, error);
}

static lx_status count_name(void *user, const char *name, lx_error *error)
{
    const visitor *self = user;
    return is_gone(name) || is_dataset(name)
               ? visit_folder(self->directory, name, &self->walk, error)
               : LX_OK;
}

lx_status lx__cache_count_bytes(const lx__file *directory, uint64_t *bytes, lx_error *error)
{
    visitor self = {directory, {.remove = false, .bytes = bytes}};
    return lx__directory_each(directory, count_name, &self, error);
}

/* ---- listing */

typedef struct listing {
    const lx__file *directory;
    lx__cache_list *list;
} listing;

static lx_status list_name(void *user, const char *name, lx_error *error)
{
    const listing *self = user;
    lx__cache_list *list = self->list;
    struct stat about;
    char use[LX__UUID_TEXT + sizeof LX__CACHE_USE_NAME + 1];
    if (!is_dataset(name))
        return LX_OK;
    snprintf(use, sizeof use, "%s/" LX__CACHE_USE_NAME, name);
    /* A folder that has no such file is new, or was not made completely. */
    if (fstatat(self->directory->fd, use, &about, AT_SYMLINK_NOFOLLOW) != 0)
        about = (struct stat){0};
    lx__cache_folder *grown = lx__grow_array(list->folders, list->count, &list->capacity,
                                             sizeof *grown);
    if (grown == NULL)
        return lx__fail_memory(error, "a list of datasets");
    list->folders = grown;
    lx__cache_folder *folder = &grown[list->count++];
    folder->last_use = about.st_mtim;
    memcpy(folder->uuid, name, sizeof folder->uuid);
    return LX_OK;
}

static int compare(const void *a, const void *b)
{
    const struct timespec *first = &((const lx__cache_folder *)a)->last_use;
    const struct timespec *second = &((const lx__cache_folder *)b)->last_use;
    if (first->tv_sec != second->tv_sec)
        return first->tv_sec < second->tv_sec ? -1 : 1;
    return (first->tv_nsec > second->tv_nsec) - (first->tv_nsec < second->tv_nsec);
}

lx_status lx__cache_list_folders(const lx__file *directory, lx__cache_list *list, lx_error *error)
{
    listing self = {directory, list};
    *list = (lx__cache_list){0};
    lx_status status = lx__directory_each(directory, list_name, &self, error);
    if (list->count != 0)
        qsort(list->folders, list->count, sizeof *list->folders, compare);
    return status;
}

lx_status lx__cache_folder_examine(const lx__file *directory, const lx__cache_folder *folder,
                                   uint64_t *bytes, bool *in_use, char *url, size_t url_size,
                                   lx_error *error)
{
    lx__file open, use;
    const walk counting = {.bytes = bytes};
    *bytes = 0;
    lx_status status = visit_folder(directory, folder->uuid, &counting, error);
    if (status == LX_OK)
        status = lx__directory_open(&open, directory, folder->uuid, error);
    if (status != LX_OK)
        return status;
    read_url(&open, url, url_size);
    lx__file_close(&open);
    status = lock_folder(directory, folder->uuid, true, &open, &use, NULL);
    *in_use = status == LX_ERR_BUSY;
    if (status == LX_OK) {
        lx__file_close(&use);
        lx__file_close(&open);
    }
    return LX_OK;
}
