/* SPDX-License-Identifier: MIT */
#include "remote/cache/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/boot-id.h"
#include "base/bytes.h"
#include "base/error.h"
#include "executor/clock.h"
#include "remote/cache/cache-datasets.h"
#include "remote/cache/cache-state.h"

/* The part of the file system that stays free is 1 / 20. */
#define FREE_PART 20

/* The shortest time between two searches for datasets to remove, if the first was in vain. */
#define SEARCH_NS ((uint64_t)5000000000)

/* The longest URL that lx__cache_each() reports. */
#define URL_MAX 4096

struct lx__cache {
    lx__file directory;
    lx__cache_state state;
    uint64_t limit;
    uint16_t boot;
    lx__file folder, use; /**< Of the dataset; closed before lx__cache_use(). */

    pthread_mutex_t mutex; /**< Guards the members below. */
    bool removing;         /**< A thread of this process removes datasets. */
    uint64_t next_search;  /**< When reserve() may search for datasets to remove. */
};

/* ---- opening */

static lx_status fail_directory(const lx__cache *self, lx_status status, const char *why,
                                lx_error *error)
{
    (void)lx_fail(error, status, "%s", why);
    lx_error_locate(error, self->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Opens the directory by its absolute path, so that a child of fork() finds it from another
 * working directory. */
static lx_status open_directory(lx__cache *self, const char *path, lx_error *error)
{
    struct stat about;
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_make_private(LX__CWD, path, &why);
    if (status != LX_OK && status != LX_ERR_EXISTS) {
        lx__error_propagate(error, &why);
        return status;
    }
    char *absolute = realpath(path, NULL);
    if (absolute == NULL)
        return lx_fail_errno(error, errno, path, "cannot find the directory");
    status = lx__directory_open(&self->directory, LX__CWD, absolute, error);
    free(absolute);
    if (status != LX_OK)
        return status;
    if (fstat(self->directory.fd, &about) != 0)
        return lx_fail_errno(error, errno, self->directory.path, "cannot examine");
    if (about.st_uid != geteuid())
        return fail_directory(self, LX_ERR_STATE,
                              "the cache belongs to another user: use a directory of your own",
                              error);
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail_directory(self, LX_ERR_STATE,
                              "other users may write to the cache: remove their permission, for "
                              "example with chmod 700",
                              error);
    return LX_OK;
}

/** Opens the state, but creates no file in a directory that is not a cache. */
static lx_status open_state(lx__cache *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    bool exists = false;
    lx_status status = lx__file_is_regular(&self->directory, LX__CACHE_STATE_NAME, &exists, error);
    if (status == LX_OK && !exists &&
        lx__cache_check_names(&self->directory, true, &why) != LX_OK) {
        /* Another process may have made the cache since. */
        status = lx__file_is_regular(&self->directory, LX__CACHE_STATE_NAME, &exists, error);
        if (status == LX_OK && !exists) {
            lx__error_propagate(error, &why);
            status = why.status;
        }
    }
    return status == LX_OK ? lx__cache_state_open(&self->state, &self->directory, error) : status;
}

/** After damage, the numbers in the entries say nothing: drops all datasets. */
static lx_status drop_all(lx__cache *self, lx_error *error)
{
    lx__cache_list list = {0};
    uint64_t bytes = 0;
    lx_status status = lx__cache_sweep(&self->directory, &bytes, error);
    if (status == LX_OK)
        status = lx__cache_list_folders(&self->directory, &list, error);
    for (size_t i = 0; i < list.count && status == LX_OK; i++)
        status = lx__cache_folder_retire(&self->directory, list.folders[i].uuid, error);
    lx__free(list.folders);
    return status;
}

/** Reads the state; if it is new, or damaged while nobody else uses it, its content is zero. */
static lx_status read_state(lx__cache *self, bool alone, lx__cache_content *content,
                            lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__cache_state_read(&self->state, content, &why);
    if (status == LX_ERR_NOT_FOUND)
        return lx__cache_check_names(&self->directory, true, error);
    bool damaged = status == LX_ERR_CORRUPT && alone;
    if (status != LX_OK && !damaged) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__cache_check_names(&self->directory, false, error);
    return status == LX_OK && damaged ? drop_all(self, error) : status;
}

/**
 * Brings the state up to date.
 *
 * @param alone   No other process has the cache open.
 * @param locked  The state is locked; otherwise it must be up to date.
 */
static lx_status update_state(lx__cache *self, bool alone, bool locked, lx_error *error)
{
    lx__cache_content content;
    uint64_t boot_id;
    lx_status status = lx__boot_id_read(&boot_id, error);
    if (status == LX_OK)
        status = read_state(self, alone, &content, error);
    if (status != LX_OK)
        return status;
    /* If the system hides the id, any time when nobody has the cache open may contain a boot. Ids
     * differ while others are present only if machines share the file system: each then verifies
     * what the others have written. */
    bool boots = content.boot == 0 || boot_id != content.boot_id || (boot_id == 0 && alone);
    if (boots) {
        content.boot_id = boot_id;
        content.boot = content.boot < UINT16_MAX ? content.boot + 1 : 1;
    }
    if (boots && !locked)
        return fail_directory(self, LX_ERR_BUSY,
                              "another process has locked the cache for too long: if it is "
                              "stopped, continue or end it",
                              error);
    if (alone) {
        content.reserved = 0;
        status = lx__cache_count_bytes(&self->directory, &content.reserved, error);
    }
    self->boot = content.boot;
    if (status != LX_OK || !(alone || boots))
        return status;
    status = lx__cache_state_write(&self->state, &content, error);
    /* No entry may reach the disk with a number that the next boot would use again. A process that
     * was killed may have written the number and not synced it. */
    if (status == LX_OK)
        status = lx__file_sync(&self->state.file, error);
    return status == LX_OK ? lx__file_sync(&self->directory, error) : status;
}

/** Joins the processes that have the cache open. */
static lx_status join(lx__cache *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    const lx__file *file = &self->state.file;
    lx_status status = lx__cache_state_lock(&self->state, &why);
    bool locked = status == LX_OK;
    if (!locked && status != LX_ERR_BUSY) {
        lx__error_propagate(error, &why);
        return status;
    }
    bool alone = locked && lx__file_lock(file, true, LX__CACHE_PRESENT, 1, NULL) == LX_OK;
    status = update_state(self, alone, locked, error);
    if (status == LX_OK)
        status = lx__file_lock(file, false, LX__CACHE_PRESENT, 1, error);
    if (locked)
        lx__cache_state_unlock(&self->state);
    return status;
}

/* ---- removing datasets */

/** Reports a failure; if something is locked, @p text says what. */
static lx_status report(lx_status status, const lx_error *why, const char *text, lx_error *error)
{
    if (status == LX_ERR_BUSY)
        return lx_fail(error, LX_ERR_BUSY, "%s", text);
    lx__error_propagate(error, why);
    return status;
}

/** Begins to remove datasets; fails if another thread or process is doing that. */
static lx_status begin_removal(lx__cache *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = LX_ERR_BUSY;
    pthread_mutex_lock(&self->mutex);
    if (!self->removing)
        status = lx__file_lock(&self->state.file, true, LX__CACHE_REMOVAL, 1, &why);
    self->removing = self->removing || status == LX_OK;
    pthread_mutex_unlock(&self->mutex);
    if (status == LX_OK)
        return LX_OK;
    return report(status, &why, "datasets are being removed from the cache: try again later",
                  error);
}

static void end_removal(lx__cache *self)
{
    pthread_mutex_lock(&self->mutex);
    lx__file_unlock(&self->state.file, LX__CACHE_REMOVAL, 1);
    self->removing = false;
    pthread_mutex_unlock(&self->mutex);
}

/** Removes the files of datasets that are no longer in their place. */
static lx_status sweep(lx__cache *self, lx_error *error)
{
    uint64_t bytes = 0;
    lx_status status = lx__cache_sweep(&self->directory, &bytes, error);
    if (bytes != 0)
        lx__cache_state_subtract(&self->state, bytes);
    return status;
}

static lx_status remove_dataset(lx__cache *self, const char *uuid, lx_error *error)
{
    lx_status status = lx__cache_folder_retire(&self->directory, uuid, error);
    return status == LX_OK ? sweep(self, error) : status;
}

/** Whether @p bytes can be written and leave enough of the file system free. If the system cannot
 * tell, the attempt to write does. */
static bool fits_on_disk(const lx__cache *self, uint64_t bytes)
{
    struct statvfs about;
    if (fstatvfs(self->directory.fd, &about) != 0 || about.f_blocks == 0)
        return true;
    uint64_t unit = about.f_frsize, left = (uint64_t)about.f_bavail * unit;
    return lx__range_fits((uint64_t)about.f_blocks / FREE_PART * unit, bytes, left);
}

/** Whether @p bytes fit, as far as is known. None always fit on the disk, which other files may
 * fill. */
static bool has_room(lx__cache *self, uint64_t bytes, uint64_t limit)
{
    lx__cache_content content;
    if (bytes != 0 && !fits_on_disk(self, bytes))
        return false;
    if (lx__cache_state_lock(&self->state, NULL) != LX_OK)
        return true;
    bool fits = lx__cache_state_read(&self->state, &content, NULL) != LX_OK ||
                lx__range_fits(content.reserved, bytes, limit);
    lx__cache_state_unlock(&self->state);
    return fits;
}

/** Removes unused datasets until @p bytes fit, or none is left. Sets @p fits to whether they do,
 * which may also be because another thread has released bytes. */
static lx_status make_room(lx__cache *self, uint64_t bytes, uint64_t limit, bool *fits,
                           lx_error *error)
{
    lx__cache_list list = {0};
    *fits = false;
    lx_status status = begin_removal(self, error);
    if (status != LX_OK)
        return status;
    status = sweep(self, error);
    if (status == LX_OK)
        status = lx__cache_list_folders(&self->directory, &list, error);
    for (size_t i = 0; status == LX_OK; i++) {
        lx_error why = LX_ERROR_INIT;
        *fits = has_room(self, bytes, limit);
        if (*fits || i == list.count)
            break;
        status = remove_dataset(self, list.folders[i].uuid, &why);
        if (status == LX_ERR_BUSY || status == LX_ERR_NOT_FOUND)
            status = LX_OK; /* in use, or removed by somebody else */
        else
            lx__error_propagate(error, &why);
    }
    lx__free(list.folders);
    end_removal(self);
    return status;
}

lx_status lx__cache_remove(lx__cache *self, const char *uuid, lx_error *error)
{
    uint8_t parsed[LX__UUID_BYTES];
    if (!lx__uuid_parse(uuid, parsed))
        return lx_fail(error, LX_ERR_ARGUMENT, "'%.100s' is not a uuid", uuid);
    lx_error why = LX_ERROR_INIT;
    lx_status status = begin_removal(self, error);
    if (status != LX_OK)
        return status;
    status = remove_dataset(self, uuid, &why);
    end_removal(self);
    return report(status, &why, "a process has the dataset open: end it first", error);
}

lx_status lx__cache_trim(lx__cache *self, uint64_t bytes, lx_error *error)
{
    bool fits;
    return make_room(self, 0, bytes, &fits, error);
}

/* ---- reserving */

static bool try_to_reserve(lx__cache *self, uint64_t bytes)
{
    return fits_on_disk(self, bytes) && lx__cache_state_add(&self->state, bytes, self->limit);
}

/** Whether it is time to search for datasets to remove. */
static bool may_search(lx__cache *self)
{
    pthread_mutex_lock(&self->mutex);
    bool may = !self->removing && lx__clock_now() >= self->next_search;
    pthread_mutex_unlock(&self->mutex);
    return may;
}

bool lx__cache_reserve(lx__cache *self, uint64_t bytes)
{
    bool fits;
    if (try_to_reserve(self, bytes))
        return true;
    if (bytes > self->limit || !may_search(self))
        return false;
    lx_status status = make_room(self, bytes, self->limit, &fits, NULL);
    if (status != LX_ERR_BUSY && !fits) {
        pthread_mutex_lock(&self->mutex);
        self->next_search = lx__clock_after(SEARCH_NS);
        pthread_mutex_unlock(&self->mutex);
    }
    return fits && try_to_reserve(self, bytes);
}

void lx__cache_unreserve(lx__cache *self, uint64_t bytes)
{
    lx__cache_state_subtract(&self->state, bytes);
}

/* ---- the dataset */

lx_status lx__cache_use(lx__cache *self, const char *uuid, const char *url, uint64_t needed,
                        lx_error *error)
{
    uint8_t parsed[LX__UUID_BYTES];
    if (!lx__uuid_parse(uuid, parsed))
        return lx_fail(error, LX_ERR_ARGUMENT, "'%.100s' is not a uuid", uuid);
    if (needed > self->limit)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the tables of the dataset need %llu bytes, but the cache may have only "
                       "%llu: raise its limit",
                       (unsigned long long)needed, (unsigned long long)self->limit);
    lx_status status = lx__cache_folder_use(&self->directory, uuid, &self->folder, &self->use,
                                            error);
    if (status == LX_OK)
        lx__cache_folder_set_url(&self->folder, url);
    return status;
}

uint16_t lx__cache_get_boot(const lx__cache *self)
{
    return self->boot;
}

lx_status lx__cache_open_file(lx__cache *self, const char *folder, const char *name, uint64_t size,
                              lx__cache_file **file, lx_error *error)
{
    lx__file open;
    lx_error why = LX_ERROR_INIT;
    LX__CLEAR(file);
    lx_status status = lx__directory_make(&self->folder, folder, &why);
    if (status != LX_OK && status != LX_ERR_EXISTS) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__directory_open(&open, &self->folder, folder, error);
    if (status != LX_OK)
        return status;
    status = lx__cache_file_open(&open, name, self->boot, size, file, error);
    lx__file_close(&open);
    return status;
}

lx_status lx__cache_each(lx__cache *self, lx__cache_visit visit, void *user, lx_error *error)
{
    lx__cache_list list;
    lx_status status = lx__cache_list_folders(&self->directory, &list, error);
    for (size_t i = 0; i < list.count && status == LX_OK; i++) {
        char url[URL_MAX];
        lx_error why = LX_ERROR_INIT;
        const lx__cache_folder *folder = &list.folders[i];
        lx__cache_dataset dataset = {
            .uuid = folder->uuid, .url = url, .last_use = folder->last_use.tv_sec};
        status = lx__cache_folder_examine(&self->directory, folder, &dataset.bytes, &dataset.in_use,
                                          url, sizeof url, &why);
        if (status == LX_OK)
            status = lx__error_return(error, visit(user, &dataset, error), "visit");
        else if (status == LX_ERR_NOT_FOUND)
            status = LX_OK; /* another process has removed it */
        else
            lx__error_propagate(error, &why);
    }
    lx__free(list.folders);
    return status;
}

/* ---- the object */

lx_status lx__cache_open(const char *path, uint64_t limit, lx__cache **cache, lx_error *error)
{
    LX__CLEAR(cache);
    lx__cache *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return lx__fail_memory(error, "a cache");
    self->directory = self->folder = self->use = (lx__file)LX__FILE_CLOSED;
    self->limit = limit;
    pthread_mutex_init(&self->mutex, NULL);
    lx_status status = open_directory(self, path, error);
    if (status == LX_OK)
        status = open_state(self, error);
    if (status != LX_OK) {
        lx__file_close(&self->directory);
        pthread_mutex_destroy(&self->mutex);
        lx__free(self);
        return status;
    }
    status = join(self, error);
    if (status != LX_OK) {
        lx__cache_close(self);
        return status;
    }
    /* Completes a removal that was interrupted, unless another process does. */
    if (begin_removal(self, NULL) == LX_OK) {
        (void)sweep(self, NULL);
        end_removal(self);
    }
    *cache = self;
    return LX_OK;
}

void lx__cache_close(lx__cache *self)
{
    if (self == NULL)
        return;
    lx__file_close(&self->use);
    lx__file_close(&self->folder);
    lx__cache_state_close(&self->state);
    lx__file_close(&self->directory);
    pthread_mutex_destroy(&self->mutex);
    lx__free(self);
}

void lx__cache_take_over(lx__cache *self)
{
    lx__file inherited = self->use;
    pthread_mutex_init(&self->mutex, NULL); /* a thread of the parent may have held it */
    self->removing = false;
    lx__cache_state_take_over(&self->state, &self->directory);
    if (inherited.fd == -1)
        return;
    /* The inherited lock ends only after this process has its own. */
    if (lx__file_open(&self->use, &self->folder, LX__CACHE_USE_NAME, O_RDWR, NULL) == LX_OK)
        (void)lx__file_lock(&self->use, false, 0, 1, NULL);
    lx__file_close(&inherited);
}
