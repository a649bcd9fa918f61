/* SPDX-License-Identifier: MIT */
/* Removes files at a URL that belong to no generation which anybody may read or send. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <loaderx/remote.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/push/file-list.h"
#include "remote/push/remote-meta.h"
#include "remote/remote-open.h"
#include "zrecord/read/refresh.h"

/* The most files to remove that are listed: a server may list the same ones again and again. */
#define MOST_FOUND ((size_t)1 << 20)

/** A file of the format that the current generation does not have. */
typedef struct leftover {
    char *path;
    size_t owner; /**< The length of the folder of the dataset that it was made for. */
    uint64_t bytes;
    uint64_t modified; /**< In seconds since 1970. */
} leftover;

typedef struct prune {
    lx__target target;
    lx__file_list files; /**< Of the current generation. */
    leftover *found;
    size_t count, capacity;
    uint64_t latest; /**< When a file must have been written to be removed, at the latest. */
    lx__remote_meta current;
    bool published; /**< There is a dataset; otherwise, only what a push has left goes, no parts. */
    bool recent;    /**< It is so young that readers of the former generation may still be there. */
    bool dry_run;
    lx_prune_kept kept;
    lx_prune_visit visit;
    void *user;
} prune;

/** Whether a file may be younger than those to remove. 0 means that the server tells no time. */
static bool is_young(const prune *self, uint64_t modified)
{
    return self->latest != LX_NONE && (modified == 0 || modified > self->latest);
}

/* ---- finding */

static lx_status find(void *user, const char *path, const lx__remote_info *info, lx_error *error)
{
    prune *self = user;
    size_t owner;
    if (!lx__path_is_of_dataset(path, &owner) || (owner != 0 && !self->published) ||
        lx__file_list_find(&self->files, path) != NULL)
        return LX_OK;
    if (self->count == MOST_FOUND)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the server lists more than %zu files that the dataset does not need, or "
                       "the same ones repeatedly: remove some with another tool",
                       MOST_FOUND);
    leftover *grown = lx__grow_array(self->found, self->count, &self->capacity, sizeof *grown);
    char *copy = lx__strdup(path);
    if (grown != NULL)
        self->found = grown;
    if (grown == NULL || copy == NULL) {
        lx__free(copy);
        return lx__fail_memory(error, "a list of files");
    }
    self->found[self->count++] = (leftover){copy, owner, info->bytes, info->modified};
    return LX_OK;
}

/** Orders files by the dataset that they were made for, then by name. */
static int compare(const void *a, const void *b)
{
    const leftover *one = a, *other = b;
    size_t common = one->owner < other->owner ? one->owner : other->owner;
    int order = memcmp(one->path, other->path, common);
    if (order == 0 && one->owner != other->owner)
        order = one->owner < other->owner ? -1 : 1;
    return order != 0 ? order : strcmp(one->path, other->path);
}

/* ---- removing */

static lx_status remove_file(prune *self, const leftover *file, lx_error *error)
{
    const lx_pruned_file shown = {
        .name = file->path, .bytes = file->bytes, .modified = (int64_t)file->modified};
    lx_status status = LX_OK;
    if (self->visit != NULL)
        status = lx__error_return(error, self->visit(&shown, self->user, error), "visit");
    if (status != LX_OK || self->dry_run)
        return status;
    return lx__target_remove(&self->target, file->path, error);
}

/** Removes the old ones of the files that were made for one dataset; none if a push of it seems to
 * be under way, which may need the old ones, and none of a part whose chunks are in use, which can
 * then still be joined with others. */
static lx_status remove_group(prune *self, const leftover *files, size_t count, lx_error *error)
{
    bool is_sent = false, some_young = false;
    lx_status status = LX_OK;
    if (files->owner != 0 && lx__file_list_has_folder(&self->files, files->path, files->owner))
        return LX_OK;
    for (size_t i = 0; i < count; i++) {
        is_sent |= strcmp(files[i].path + files[i].owner, LX__META_NEW_NAME) == 0;
        some_young |= is_young(self, files[i].modified);
    }
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        if (i != 0 && strcmp(files[i].path, files[i - 1].path) == 0)
            continue; /* the listing was repeated */
        if (!self->recent && !(is_sent && some_young) && !is_young(self, files[i].modified)) {
            status = remove_file(self, &files[i], error);
        } else {
            self->kept.files++;
            self->kept.bytes += files[i].bytes;
        }
    }
    return status;
}

static bool is_same_owner(const leftover *one, const leftover *other)
{
    return one->owner == other->owner && memcmp(one->path, other->path, one->owner) == 0;
}

/** Fails if another generation was published since the files of the current one were listed. */
static lx_status check_current(prune *self, lx_error *error)
{
    lx__remote_meta now = {.exists = false};
    lx_status status = lx__remote_meta_read(&now, &self->target, LX__META_NAME, error);
    if (status == LX_OK && !lx__remote_meta_equals(&now, &self->current)) {
        status = lx_fail(error, LX_ERR_EXISTS,
                         "another process has published a generation meanwhile: prune again");
        lx_error_locate(error, self->target.transport->url, NULL, LX_NONE, LX_NONE);
    }
    lx__remote_meta_free(&now);
    return status;
}

static lx_status remove_all(prune *self, lx_error *error)
{
    lx_status status = lx__target_list(&self->target, find, self, error);
    if (status == LX_OK)
        status = check_current(self, error);
    if (status == LX_OK && self->count != 0)
        qsort(self->found, self->count, sizeof *self->found, compare);
    for (size_t i = 0, count; status == LX_OK && i < self->count; i += count) {
        for (count = 1; i + count < self->count; count++)
            if (!is_same_owner(&self->found[i], &self->found[i + count]))
                break;
        status = remove_group(self, &self->found[i], count, error);
    }
    return status;
}

/* ---- the dataset there */

/** Lists the files of the dataset at the URL. */
static lx_status list_current(prune *self, const char *url, const lx_remote_options *options,
                              lx_error *error)
{
    lx_dataset *dataset;
    lx__snapshot *snapshot;
    lx_status status = lx_remote_open(url, options, NULL, &dataset, error);
    if (status != LX_OK)
        return status;
    status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status == LX_OK) {
        status = lx__file_list_make(&self->files, snapshot, error);
        lx__snapshot_unref(snapshot);
    }
    lx_dataset_close(dataset);
    return status;
}

/** Finds out what must stay: the files of the dataset or, if there is none, nothing of what a push
 * has left that did not end. */
static lx_status look(prune *self, const char *url, const lx_remote_options *options,
                      lx_error *error)
{
    lx__remote_meta claim = {.exists = false};
    lx_status status = lx__remote_meta_read(&self->current, &self->target, LX__META_NAME, error);
    self->published = self->current.exists;
    self->recent = self->published && is_young(self, self->current.info.modified);
    if (status == LX_OK && self->published)
        status = list_current(self, url, options, error);
    else if (status == LX_OK)
        status = lx__remote_meta_read(&claim, &self->target, LX__META_NEW_NAME, error);
    if (status == LX_OK && !self->published && !claim.exists) {
        status = lx_fail(error, LX_ERR_NOT_FOUND,
                         "there is no dataset, nor a push that did not end: check the URL, which "
                         "must be that of the folder with meta.json");
        lx_error_locate(error, self->target.transport->url, NULL, LX_NONE, LX_NONE);
    }
    lx__remote_meta_free(&claim);
    return status;
}

/** Whether an upload is that of a push. */
static bool is_ours(const void *user, const char *name)
{
    size_t owner;
    (void)user;
    return lx__path_is_of_dataset(name, &owner) || strcmp(name, LX__META_NAME) == 0;
}

lx_status lx_remote_prune(const char *url, const lx_remote_options *options, uint64_t older,
                          bool dry_run, lx_prune_visit visit, void *user, lx_prune_kept *kept,
                          lx_error *error)
{
    lx__transport *transport;
    lx__request_limits limits;
    uint64_t now = (uint64_t)time(NULL);
    prune self = {.latest = older == 0    ? LX_NONE
                            : older < now ? now - older
                                          : 0,
                  .dry_run = dry_run,
                  .visit = visit,
                  .user = user};
    if (url == NULL)
        return lx__fail_null(error, "url");
    lx_status status = lx__transport_open(url, options, false, &transport, &limits, error);
    if (status == LX_OK)
        status = lx__target_open(&self.target, transport, &limits, error);
    if (status == LX_OK)
        status = look(&self, url, options, error);
    if (status == LX_OK)
        status = remove_all(&self, error);
    if (status == LX_OK && !dry_run)
        status = lx__target_abandon_all(&self.target, self.latest, is_ours, NULL, error);
    lx__target_close(&self.target);
    if (self.recent && self.kept.files != 0)
        self.kept.published = (int64_t)self.current.info.modified;
    if (kept != NULL)
        *kept = self.kept;
    for (size_t i = 0; i < self.count; i++)
        lx__free(self.found[i].path);
    lx__free(self.found);
    lx__file_list_free(&self.files);
    lx__remote_meta_free(&self.current);
    return status;
}
