/* SPDX-License-Identifier: MIT */
#include "remote/push/push.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/push/file-list.h"
#include "remote/push/remote-meta.h"
#include "remote/push/upload.h"
#include "remote/remote-open.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/read/refresh.h"

typedef struct push {
    lx__target *target;
    const lx__snapshot *snapshot;
    char *text; /**< That of meta.json. */
    size_t size;
    bool replace;
    lx__file_list files;
    lx__remote_meta current; /**< What meta.json was when the push began. */
    lx__remote_meta claim;   /**< What meta.json.new was. */
    lx_progress_function progress;
    void *user;
    uint64_t done; /**< Number of bytes that are at the URL. */
    uint64_t sent;
} push;

static const lx__meta *meta_of(const push *self)
{
    return &self->snapshot->store->meta;
}

static lx_status report(void *user, lx_error *error)
{
    const push *self = user;
    return self->progress != NULL
               ? lx__error_return(error,
                                  self->progress(self->done, self->files.bytes, self->user, error),
                                  "progress")
               : LX_OK;
}

static void count_sent(void *user, uint64_t bytes)
{
    push *self = user;
    self->done += bytes;
    self->sent += bytes;
}

static lx_status fail_at(const push *self, const char *path, lx_status status, lx_error *error)
{
    char *located = lx__path_join(self->target->transport->url, path);
    lx_error_locate(error, located, NULL, LX_NONE, LX_NONE);
    lx__free(located);
    return status;
}

static lx_status fail_raced(const push *self, lx_error *error)
{
    return fail_at(self, "",
                   lx_fail(error, LX_ERR_EXISTS,
                           "another process has published or is publishing there at the same time: "
                           "look at what is there, and push again"),
                   error);
}

/* ---- what is there */

/** Reads meta.json and meta.json.new, which must be those of the same dataset. */
static lx_status look(push *self, lx_error *error)
{
    const char *url = self->target->transport->url;
    lx_status status = lx__remote_meta_read(&self->current, self->target, LX__META_NAME, error);
    if (status == LX_OK)
        status = lx__remote_meta_check(&self->current, meta_of(self), url, error);
    if (status == LX_OK && self->current.exists && !self->current.meta.sealed)
        return fail_at(self, "",
                       lx_fail(error, LX_ERR_EXISTS,
                               "the dataset there is not sealed, so a writer may use its files: "
                               "choose another URL"),
                       error);
    if (status == LX_OK)
        status = lx__remote_meta_read(&self->claim, self->target, LX__META_NEW_NAME, error);
    if (status == LX_OK)
        status = lx__remote_meta_check(&self->claim, meta_of(self), url, error);
    if (status != LX_OK || !self->current.exists || self->replace ||
        self->current.meta.generation <= meta_of(self)->generation)
        return status;
    return fail_at(self, "",
                   lx_fail(error, LX_ERR_EXISTS,
                           "a later generation of the dataset is there, %" PRIu64 ", not %" PRIu64
                           ": push that to another URL, or with the option to replace it",
                           self->current.meta.generation, meta_of(self)->generation),
                   error);
}

/** Whether an upload is that of a push to this URL, not of another dataset or program below it. */
static bool is_ours(const void *user, const char *name)
{
    const push *self = user;
    size_t owner;
    return strcmp(name, LX__META_NAME) == 0 || lx__file_list_find(&self->files, name) != NULL ||
           (lx__path_is_of_dataset(name, &owner) && owner == 0);
}

static lx_status take_info(void *user, const char *name, const lx__remote_info *info,
                           lx_error *error)
{
    const push *self = user;
    lx__listed_file *file = lx__file_list_find(&self->files, name);
    if (file == NULL)
        return LX_OK;
    lx__free(file->etag);
    file->there = info->bytes;
    file->etag = lx__strdup(info->etag);
    return file->etag != NULL ? LX_OK : lx__fail_memory(error, "an ETag");
}

/** Decides about a chunk of a part. If it is not here, the task that has made the part must have
 * sent it: a dataset that was joined elsewhere may consist of tables alone. */
static lx_status choose_in_part(const push *self, lx__listed_file *file, lx_error *error)
{
    lx__file opened;
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__listed_file_open(file, self->snapshot, &opened, &why);
    lx__file_close(&opened);
    if (status == LX_OK)
        return LX_OK;
    file->wanted = false;
    if (file->there == file->bytes)
        return LX_OK;
    lx__error_append(
        &why, "; at the URL, there is no %s of %" PRIu64 " bytes either: push the part first",
        file->path, file->bytes);
    lx__error_propagate(error, &why);
    return status;
}

/** Fails if a file would replace one of which nothing tells what it belongs to. It may be a chunk of
 * a part of a joined dataset, if the tables of the part are not there. */
static lx_status check_free(const push *self, const lx__listed_file *file, lx_error *error)
{
    if (self->replace || !file->wanted || file->there == LX_NONE || self->current.exists ||
        self->claim.exists)
        return LX_OK;
    return fail_at(self, file->path,
                   lx_fail(error, LX_ERR_EXISTS,
                           "the file is there, and neither meta.json nor meta.json.new tells what "
                           "it belongs to: choose another URL, remove what is there, or use the "
                           "option to replace files"),
                   error);
}

/** Decides whether to send a file. */
static lx_status choose(const push *self, lx__listed_file *file, lx_error *error)
{
    if (!self->replace && lx__remote_meta_differs(&self->current, file))
        return fail_at(
            self, file->path,
            lx_fail(error, LX_ERR_EXISTS,
                    "the published generation has another version of this file, as the "
                    "dataset was changed in place: push it to another URL, rebalance it "
                    "before, or use the option to replace files, which breaks readers of "
                    "the published generation"),
            error);
    file->wanted = !lx__remote_meta_has(&self->current, file) &&
                   !lx__remote_meta_has(&self->claim, file);
    bool in_part = file->is_chunk && !lx__chunk_is_own(file->path);
    lx_status status = file->wanted && in_part ? choose_in_part(self, file, error) : LX_OK;
    return status == LX_OK ? check_free(self, file, error) : status;
}

/** Lists what is there, and decides which files to send. */
static lx_status compare(push *self, uint64_t *wanted, lx_error *error)
{
    lx_status status = lx__target_list(self->target, take_info, self, error);
    *wanted = 0;
    for (size_t i = 0; status == LX_OK && i < self->files.count; i++) {
        lx__listed_file *file = &self->files.files[i];
        status = choose(self, file, error);
        *wanted += file->wanted;
        self->done += file->wanted ? 0 : file->bytes;
    }
    return status;
}

/* ---- publication */

/** Writes the text of meta.json to the file @p name if that is still what it was, and reads it back:
 * the answer may have been lost, and there are servers that ignore the condition. */
static lx_status write_meta(const push *self, const char *name, const lx__remote_meta *former,
                            lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx__remote_meta now = {.exists = false};
    lx_status status = lx__target_put(self->target, name, self->text, self->size,
                                      lx__precondition_for(former->exists, former->info.etag),
                                      former->info.etag, &why);
    if (status != LX_OK && status != LX_ERR_STATE) {
        lx__error_propagate(error, &why);
        return status;
    }
    status = lx__remote_meta_read(&now, self->target, name, error);
    if (status == LX_OK)
        status = lx__remote_meta_check(&now, meta_of(self), self->target->transport->url, error);
    if (status == LX_OK && !lx__remote_meta_is(&now, self->text, self->size))
        status = fail_raced(self, error);
    lx__remote_meta_free(&now);
    return status;
}

/** Removes meta.json.new, unless another push has written its own since: stores do not remove on a
 * condition, so between the two requests it still may. That push then notices nothing, and readers
 * neither: meta.json is written on a condition. */
static lx_status remove_claim(const push *self, lx_error *error)
{
    lx__remote_meta now = {.exists = false};
    lx_status status = lx__remote_meta_read(&now, self->target, LX__META_NEW_NAME, error);
    if (status == LX_OK && lx__remote_meta_is(&now, self->text, self->size))
        status = lx__target_remove(self->target, LX__META_NEW_NAME, error);
    lx__remote_meta_free(&now);
    return status;
}

/** Writes meta.json.new, also if it is there: its age tells lx_remote_prune() that a push is under
 * way. Then looks whether another push has published and removed its own since. */
static lx_status make_claim(const push *self, lx_error *error)
{
    lx__remote_meta now = {.exists = false};
    lx_status status = write_meta(self, LX__META_NEW_NAME, &self->claim, error);
    if (status == LX_OK)
        status = lx__remote_meta_read(&now, self->target, LX__META_NAME, error);
    if (status == LX_OK && !lx__remote_meta_equals(&now, &self->current)) {
        (void)remove_claim(self, NULL);
        status = lx__remote_meta_check(&now, meta_of(self), self->target->transport->url, error);
        if (status == LX_OK)
            status = fail_raced(self, error);
    }
    lx__remote_meta_free(&now);
    return status;
}

/** Fails if another push has written meta.json.new since. */
static lx_status check_claim(const push *self, lx_error *error)
{
    lx__remote_meta now = {.exists = false};
    lx_status status = lx__remote_meta_read(&now, self->target, LX__META_NEW_NAME, error);
    /* If it is gone, the same push in another process has ended, or there was a prune: what counts
     * is meta.json. */
    if (status == LX_OK && now.exists && !lx__remote_meta_is(&now, self->text, self->size))
        status = fail_raced(self, error);
    lx__remote_meta_free(&now);
    return status;
}

/** Fails unless all files are there: another push of the dataset may have replaced one that this
 * push has sent or found, and a prune may have removed it. */
static lx_status check_files(push *self, lx_error *error)
{
    for (size_t i = 0; i < self->files.count; i++)
        self->files.files[i].there = LX_NONE;
    lx_status status = lx__target_list(self->target, take_info, self, error);
    for (size_t i = 0; status == LX_OK && i < self->files.count; i++) {
        const lx__listed_file *file = &self->files.files[i];
        if (file->there != file->bytes)
            status = fail_at(self, file->path,
                             lx_fail(error, LX_ERR_EXISTS,
                                     "another process has replaced or removed this file during the "
                                     "push: wait until it has ended, and push again"),
                             error);
    }
    return status;
}

/** Sends what is missing, and publishes it. */
static lx_status send(push *self, lx_error *error)
{
    const lx__upload upload = {self->target, self->snapshot, &self->files, count_sent, self};
    lx_status status = make_claim(self, error);
    if (status == LX_OK && self->claim.exists)
        status = lx__target_abandon_all(self->target, LX_NONE, is_ours, self, error);
    if (status == LX_OK)
        status = lx__upload_files(&upload, error);
    if (status == LX_OK)
        status = check_claim(self, error);
    if (status == LX_OK)
        status = check_files(self, error);
    return status == LX_OK ? write_meta(self, LX__META_NAME, &self->current, error) : status;
}

static lx_status run(push *self, lx_error *error)
{
    uint64_t wanted;
    lx_status status = look(self, error);
    if (status == LX_OK)
        status = compare(self, &wanted, error);
    if (status == LX_OK)
        status = report(self, error);
    if (status != LX_OK)
        return status;
    bool published = lx__remote_meta_is(&self->current, self->text, self->size);
    if (wanted != 0 || !published)
        status = send(self, error);
    if (status == LX_OK && (self->claim.exists || wanted != 0 || !published))
        status = remove_claim(self, error);
    return status == LX_OK ? report(self, error) : status;
}

lx_status lx__push(lx__target *target, const lx__snapshot *snapshot, bool replace,
                   lx_progress_function progress, void *user, uint64_t *sent, lx_error *error)
{
    push self = {.target = target,
                 .snapshot = snapshot,
                 .replace = replace,
                 .progress = progress,
                 .user = user};
    lx_status status = lx__file_read_all(&snapshot->store->meta_file, LX__META_LIMIT, &self.text,
                                         &self.size, error);
    if (status != LX_OK)
        return status;
    target->check = report;
    target->user = &self;
    status = lx__file_list_make(&self.files, snapshot, error);
    if (status == LX_OK)
        status = run(&self, error);
    *sent = self.sent;
    target->check = NULL;
    lx__remote_meta_free(&self.claim);
    lx__remote_meta_free(&self.current);
    lx__file_list_free(&self.files);
    lx__free(self.text);
    return status;
}

/** Opens the URL, and publishes the snapshot there. */
static lx_status push_to(const char *url, const lx_remote_options *options,
                         const lx__snapshot *snapshot, bool replace, lx_progress_function progress,
                         void *user, uint64_t *sent, lx_error *error)
{
    lx__transport *transport;
    lx__request_limits limits;
    lx__target target = {.queue = NULL};
    lx_status status = lx__transport_open(url, options, true, &transport, &limits, error);
    if (status == LX_OK)
        status = lx__target_open(&target, transport, &limits, error);
    if (status == LX_OK)
        status = lx__push(&target, snapshot, replace, progress, user, sent, error);
    lx__target_close(&target);
    return status;
}

lx_status lx_dataset_push(lx_dataset *dataset, const char *url, const lx_remote_options *options,
                          bool replace, lx_progress_function progress, void *user, uint64_t *sent,
                          lx_error *error)
{
    uint64_t bytes = 0;
    if (dataset == NULL || url == NULL)
        return lx__fail_null(error, dataset == NULL ? "dataset" : "url");
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    status = lx__meta_check_imported(&snapshot->store->meta, error);
    if (status == LX_OK && !snapshot->store->meta.sealed)
        status = lx_fail(error, LX_ERR_STATE,
                         "the dataset is not sealed, and only sealed datasets can be read at a "
                         "URL: seal it first");
    lx_error_locate(error, snapshot->store->directory.path, NULL, LX_NONE, LX_NONE);
    if (status == LX_OK)
        status = push_to(url, options, snapshot, replace, progress, user, &bytes, error);
    if (sent != NULL)
        *sent = bytes;
    lx__snapshot_unref(snapshot);
    return status;
}
