/* SPDX-License-Identifier: MIT */
/* Repair in place: the scanner of lx_dataset_verify() finds the damage, and a writer changes the
 * values. See doc/zrecord-format.md, 11.9. */
#include "zrecord/maintenance/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/wal-prefix.h"
#include "zrecord/maintenance/restamp.h"
#include "zrecord/maintenance/unseal.h"
#include "zrecord/maintenance/verify.h"
#include "zrecord/read/refresh.h"
#include "zrecord/snapshot/lock.h"
#include "zrecord/write/create.h"
#include "zrecord/write/install.h"
#include "zrecord/write/writer-options.h"

#define ADVICE "; 'loaderx repair DIR --into NEW' recovers all readable data into a new directory"

/** A damaged value. */
typedef struct damaged_value {
    uint64_t index;
    size_t field;
} damaged_value;

/** A single run of a repair. */
typedef struct run {
    lx__repair *repair;
    lx__file directory, chunks, lock;
    lx__meta meta;
    lx__snapshot *snapshot; /**< The snapshot that was scanned. */
    bool sealed;
    bool restamped, cut;   /**< What has been done: meta.json was restamped, or the log was
                                truncated. */
    bool shortens;         /**< A chunk lacks committed bytes. */
    bool acts;             /**< A writer is needed to repair some of the damage. */
    damaged_value *values; /**< In ascending order of index, then of field. */
    size_t count, capacity;
    lx_error unread; /**< The first value that the disk failed to return, unless it is given up. */
    lx_error why;    /**< Why the scan could not continue. */
    lx_error *error; /**< The caller's error. */
} run;

static const lx_repair_options defaults = {.policy = LX_REPAIR_MISSING};

lx__repair lx__repair_of(const char *path, const lx_repair_options *options, bool apply)
{
    return (lx__repair){.options = options != NULL ? options : &defaults,
                        .apply = apply,
                        .loses_unreadable = options != NULL && options->lose_unreadable,
                        .first = LX_ERROR_INIT,
                        .path = path,
                        .shown = path};
}

/** Adds advice to the error about damage that cannot be repaired in place. */
static void advise(lx_error *error)
{
    if (error->status == LX_ERR_CORRUPT)
        lx__error_append(error, ADVICE);
}

/* ---- findings */

/** In a recovery, replaces the path of the temporary directory with that of the damaged dataset. */
static void show_path(const lx__repair *self, lx_error *damage)
{
    char path[sizeof damage->path];
    size_t prefix = strlen(self->path);
    if (strncmp(damage->path, self->path, prefix) != 0 || self->shown == self->path)
        return;
    int length = snprintf(path, sizeof path, "%s%s", self->shown, damage->path + prefix);
    if (length > 0 && (size_t)length < sizeof path)
        memcpy(damage->path, path, (size_t)length + 1);
}

lx_status lx__repair_report(lx__repair *self, lx_repair_action action, const lx_error *damage,
                            lx_error *error)
{
    lx_finding finding = {.action = action, .damage = *damage};
    show_path(self, &finding.damage);
    self->result.damages++;
    if (!self->apply || action == LX_REPAIR_ACTION_NONE)
        lx__error_propagate(&self->first, &finding.damage);
    return self->options->found != NULL
               ? lx__error_return(error,
                                  self->options->found(&finding, self->options->found_user, error),
                                  "found")
               : LX_OK;
}

/** Adds a value to the list of values to change. */
static lx_status add_value(run *self, const lx__found *found)
{
    bool same = self->count != 0 && self->values[self->count - 1].index == found->index;
    damaged_value *list = lx__grow_array(self->values, self->count, &self->capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(self->error, "a repair");
    self->values = list;
    list[self->count++] = (damaged_value){found->index, found->field};
    if (self->repair->options->policy == LX_REPAIR_DELETE)
        self->repair->result.deleted += !same;
    else
        self->repair->result.missing++;
    return LX_OK;
}

/** Whether a value is intact, but its dictionary is not. Such values are left alone, because the
 * dictionary may still be restored from a backup. */
static bool lacks_dictionary(const lx__found *found)
{
    char stem[LX__NAME_SIZE];
    const char *slash = strrchr(found->error.path, '/');
    return lx__name_split_dict(slash != NULL ? slash + 1 : found->error.path, stem);
}

/** Keeps a value that the disk failed to return: the fault may pass. */
static void keep_unreadable(run *self, const lx_error *damage)
{
    if (self->unread.status != LX_OK)
        return;
    self->unread = *damage;
    self->unread.status = LX_ERR_IO;
    lx__error_append(&self->unread,
                     ", twice; %s was changed, because the disk may return the value later: check "
                     "the disk and run the repair again, or use 'loaderx repair DIR --apply "
                     "--lose-unreadable' to give up such values",
                     self->restamped || self->cut ? "no value" : "nothing");
}

/** Handles a finding of the scanner. */
static lx_status take(void *user, const lx__found *found)
{
    run *self = user;
    bool deletes = self->repair->options->policy == LX_REPAIR_DELETE;
    size_t fields = self->snapshot->store->meta.schema->count;
    lx_repair_action action = LX_REPAIR_ACTION_DROP;
    lx_status status = LX_OK;
    if (found->error.status != LX_ERR_CORRUPT)
        return LX_OK;           /* an intact value that is no image */
    lx_error_clear(&self->why); /* damage does not end the scan */
    if (found->file == LX__NO_FILE && lacks_dictionary(found)) {
        action = LX_REPAIR_ACTION_NONE;
    } else if (found->unreadable && !self->repair->loses_unreadable) {
        action = LX_REPAIR_ACTION_NONE;
        keep_unreadable(self, &found->error);
    } else if (found->file == LX__NO_FILE) {
        action = deletes ? LX_REPAIR_ACTION_DELETE : LX_REPAIR_ACTION_MISSING;
        status = add_value(self, found);
    } else if (found->file < fields) {
        action = LX_REPAIR_ACTION_NONE; /* a dictionary */
    } else {
        self->shortens = self->shortens ||
                         found->file >= lx__verify_first_chunk(self->snapshot, self->sealed);
    }
    self->acts = self->acts || action != LX_REPAIR_ACTION_NONE;
    return status == LX_OK ? lx__repair_report(self->repair, action, &found->error, self->error)
                           : status;
}

/* ---- meta.json and the log */

/** Reports that the checksum of meta.json is wrong, and restamps the file. */
static lx_status restamp(run *self, const lx_error *damage, lx_error *error)
{
    lx_status status = lx__repair_report(self->repair, LX_REPAIR_ACTION_RESTAMP, damage, error);
    if (status != LX_OK || !self->repair->apply)
        return status;
    status = lx__meta_replace(&self->meta, &self->directory, error);
    self->restamped = status == LX_OK;
    return status == LX_ERR_POISONED ? LX_ERR_IO : status; /* there is no writer to poison */
}

static lx_status cut_log(run *self, lx__wal_prefix *prefix, lx_error *error)
{
    char *tail = NULL;
    lx_status status = LX_OK;
    if (self->repair->apply) {
        status = lx__wal_prefix_cut(prefix, &self->directory, &self->chunks, &tail, error);
        self->cut = status == LX_OK;
    }
    lx__error_append(&prefix->damage,
                     "; the commits before it, with %" PRIu64
                     " records, are kept; the log is truncated there, and the remaining %" PRIu64
                     " bytes are saved in %s",
                     prefix->state.length, prefix->lost_bytes,
                     tail != NULL ? tail : "a file next to the dataset");
    lx__free(tail);
    self->repair->result.cut_bytes = prefix->lost_bytes;
    return status == LX_OK
               ? lx__repair_report(self->repair, LX_REPAIR_ACTION_CUT, &prefix->damage, error)
               : status;
}

/** Reports an invalid frame of the log, and truncates the log there. Does nothing if the dataset is
 * sealed, because meta.json and the tables then contain the commits after an invalid frame as well.
 * Sets @p stuck if the log stays damaged, in which case nothing else can be read. */
static lx_status check_log(run *self, bool *stuck, lx_error *error)
{
    lx__wal_prefix prefix = {0};
    if (self->meta.sealed)
        return LX_OK;
    lx_status status = lx__wal_prefix_read(&prefix, &self->directory, &self->meta, error);
    lx__wal_prefix_advise(error);
    if (status == LX_OK && prefix.damaged)
        status = cut_log(self, &prefix, error);
    *stuck = prefix.damaged && !self->repair->apply;
    lx__wal_prefix_free(&prefix);
    return status;
}

/* ---- files */

lx_status lx__repair_refuse_link(const lx__file *directory, const char *name, lx_error *error)
{
    char path[sizeof error->path];
    if (strcmp(name, LX__LOCK_NAME) == 0 || !lx__file_is_link(directory, name))
        return LX_OK;
    snprintf(path, sizeof path, "%.300s/%.100s", directory->path, name);
    lx_status status =
        lx_fail(error, LX_ERR_CORRUPT,
                "symbolic links are not followed here: replace this link with its target");
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status refuse_link(void *user, const char *name, lx_error *error)
{
    return lx__repair_refuse_link(user, name, error);
}

lx_status lx__repair_refuse_links(lx__file *directory, lx_error *error)
{
    lx__file chunks;
    lx_status status = lx__directory_each(directory, refuse_link, directory, error);
    if (status != LX_OK ||
        lx__directory_open(&chunks, directory, LX__CHUNK_DIRECTORY, NULL) != LX_OK)
        return status;
    status = lx__directory_each(&chunks, refuse_link, &chunks, error);
    lx__file_close(&chunks);
    return status;
}

lx_status lx__repair_open(lx__file *file, const lx__file *directory, const char *name,
                          uint64_t *bytes, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    *bytes = 0;
    lx_status status = lx__file_open(file, directory, name, O_RDONLY, &why);
    if (status == LX_OK)
        status = lx__file_size(file, bytes, &why);
    if (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT)
        return LX_OK;
    lx__error_propagate(error, &why);
    return status;
}

lx_status lx__repair_fit_chunks(lx__state *state, const lx__file *chunks, uint64_t chunk_records,
                                bool all, lx_error *error)
{
    char name[LX__NAME_SIZE];
    size_t kept = 0;
    lx_status status = lx__state_reserve_chunks(state, 0, error);
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__chunk_item item = state->chunks[i];
        uint64_t bytes;
        lx__file file;
        lx__chunk_name(item.id, name);
        status = lx__repair_open(&file, chunks, name, &bytes, error);
        lx__file_close(&file);
        if ((all || bytes < item.bytes) && item.records < chunk_records)
            item.records = (uint32_t)chunk_records;
        item.bytes = bytes < item.bytes ? bytes : item.bytes;
        if (bytes != 0)
            state->chunks[kept++] = item;
    }
    if (status == LX_OK)
        state->chunk_count = kept;
    return status;
}

/* ---- the scan */

static lx_status scan(run *self, lx_error *error)
{
    lx_dataset *dataset;
    lx_verify_result done = {0};
    lx__repair *repair = self->repair;
    const lx__verify_watch watch = {take, self, repair->options->progress,
                                    repair->options->progress_user};
    lx_status status = lx_dataset_open(repair->path, NULL, &dataset, &self->why);
    if (status != LX_OK) {
        advise(&self->why);
        lx__error_propagate(error, &self->why);
        return status;
    }
    self->snapshot = lx__dataset_pin(dataset);
    self->sealed = self->snapshot->store->meta.sealed;
    status = lx__verify_snapshot(self->snapshot, self->sealed, NULL, &watch, &done, &self->why);
    repair->result.records = done.records;
    repair->result.values = done.values;
    if (status == LX_ERR_CORRUPT)
        status = LX_OK; /* all damage was reported */
    else if (status != LX_OK)
        lx__error_propagate(error, &self->why);
    lx_dataset_close(dataset);
    return status;
}

/* ---- changes, through a writer */

/** Fails unless the writer has the same state as the snapshot that was scanned. */
static lx_status check_same(const run *self, const lx_writer *writer, lx_error *error)
{
    const lx__store *store = self->snapshot->store;
    const lx__state *now = &writer->committed.state, *then = &self->snapshot->state;
    if (memcmp(writer->meta.uuid, store->meta.uuid, sizeof store->meta.uuid) == 0 &&
        writer->meta.generation == store->meta.generation && now->length == then->length &&
        now->changed.offset == then->changed.offset && now->changed.crc == then->changed.crc)
        return LX_OK;
    lx_status status = lx_fail(
        error, LX_ERR_BUSY, "a writer changed the dataset during the scan: run the repair again");
    lx_error_locate(error, self->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status make_missing(const run *self, lx_writer *writer, lx_error *error)
{
    const lx_value missing = {.size = LX_NONE};
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++)
        status = lx_writer_modify(writer, self->values[i].index, &self->values[i].field, &missing,
                                  1, error);
    return status;
}

/** Deletes records in descending order of index, so that the last record, which takes the place of
 * the deleted one, is never damaged itself. */
static lx_status delete_records(const run *self, lx_writer *writer, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = self->count; status == LX_OK && i-- != 0;)
        if (i + 1 == self->count || self->values[i].index != self->values[i + 1].index)
            status = lx_writer_delete(writer, self->values[i].index, NULL, error);
    return status;
}

static lx_status change_values(const run *self, lx_writer *writer, lx_error *error)
{
    if (self->count == 0)
        return LX_OK;
    lx_status status = lx_writer_begin_transaction(writer, error);
    if (status == LX_OK)
        status = (self->repair->options->policy == LX_REPAIR_DELETE
                      ? delete_records
                      : make_missing)(self, writer, error);
    return status == LX_OK ? lx_writer_end_transaction(writer, error) : status;
}

/** Rotates the log, so that its snapshot frame lists the chunks as they really are. If commits were
 * removed from the log, no more payloads are appended to existing chunks, because a reader may
 * still refer to the bytes of those commits. */
static lx_status rotate(lx_writer *writer, void *user, lx_error *error)
{
    const run *self = user;
    lx__install next;
    lx_status status = lx__install_begin(&next, writer, error);
    if (status == LX_OK)
        status = lx__repair_fit_chunks(&next.state, &self->chunks, writer->meta.chunk_records,
                                       self->cut, error);
    if (self->cut) /* other records may take the place of those in the lost commits */
        next.meta.changes += next.state.position.crc;
    if (status == LX_OK)
        status = lx__install_make_log(&next, &writer->committed.updates, error);
    if (status == LX_OK)
        status = lx__install_finish(&next, error);
    lx__install_end(&next);
    return status;
}

static lx_status write_changes(run *self, lx_writer *writer, lx_error *error)
{
    lx_status status = check_same(self, writer, error);
    if (status == LX_OK)
        status = change_values(self, writer, error);
    if (status == LX_OK && (self->shortens || self->cut))
        status = lx__install_call(writer, rotate, self, error);
    return status;
}

/** Only a recovery into a new directory can repair a joined dataset. */
static lx_status check_whole(const run *self, lx_error *error)
{
    if (self->meta.run_count == 0)
        return LX_OK;
    lx_status status =
        lx_fail(error, LX_ERR_UNSUPPORTED,
                "the dataset cannot be repaired in place, because it was joined from "
                "parts: 'loaderx repair DIR --into NEW' recovers all readable data "
                "into a new directory");
    lx_error_locate(error, self->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status apply(run *self, lx_error *error)
{
    lx_writer *writer = NULL;
    lx_writer_options *options = lx_writer_options_new();
    lx_status status = options != NULL
                           ? lx_writer_options_set_durability(options, LX_DURABILITY_FULL, error)
                           : lx__fail_memory(error, "a repair");
    if (status == LX_OK && self->sealed)
        status = lx__unseal(&self->directory, error);
    if (status == LX_OK)
        options->keeps_files = true;
    lx__writer_unlock(&self->lock); /* the writer will take the lock itself */
    if (status == LX_OK)
        status = lx_writer_open(self->repair->path, options, &writer, error);
    if (status == LX_OK)
        status = write_changes(self, writer, error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? error : NULL);
    lx_writer_options_free(options);
    return status == LX_OK ? closed : status;
}

/* ---- the whole repair */

static lx_status lock(run *self, lx_error *error)
{
    lx_status status = lx__check_local(&self->directory, error);
    return status == LX_OK ? lx__writer_lock(&self->directory, &self->lock, error) : status;
}

/** Opens the dataset and, if it is to be changed, locks it. Reads meta.json before LOCK is created,
 * because the directory may not be a dataset, and once more under the lock. */
static lx_status begin(run *self, lx_error *damage, lx_error *error)
{
    lx_status status = lx__directory_open(&self->directory, LX__CWD, self->repair->path, error);
    if (status == LX_OK)
        status = lx__repair_refuse_links(&self->directory, error);
    if (status == LX_OK)
        status = lx__restamp_load(&self->meta, &self->directory, damage, error);
    if (status == LX_OK && self->repair->apply) {
        status = lock(self, error);
        lx__meta_free(&self->meta);
        lx_error_clear(damage);
        if (status == LX_OK)
            status = lx__restamp_load(&self->meta, &self->directory, damage, error);
    }
    return status;
}

/** Whether the dataset is sealed and has no chunks, because its values are short. */
static bool sealed_without_chunks(const lx__meta *meta)
{
    const json_t *chunks = json_object_get(meta->document, "chunks");
    return meta->sealed && json_integer_value(json_object_get(chunks, "num")) == 0;
}

/** Opens the chunk directory. If it is missing, only a recovery into a new directory can help,
 * unless nothing would be in it. A joined dataset needs none: it is only scanned. */
static lx_status open_chunks(run *self, lx_error *error)
{
    if (self->meta.run_count != 0)
        return LX_OK;
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_open(&self->chunks, &self->directory, LX__CHUNK_DIRECTORY,
                                          &why);
    if (status == LX_ERR_NOT_FOUND && sealed_without_chunks(&self->meta))
        return LX_OK;
    if (status == LX_ERR_NOT_FOUND)
        status = why.status = LX_ERR_CORRUPT;
    advise(&why);
    lx__error_propagate(error, &why);
    return status;
}

static lx_status work(run *self, lx_error *error)
{
    lx_error damage = LX_ERROR_INIT;
    bool stuck = false;
    lx_status status = begin(self, &damage, error);
    if (status == LX_OK && damage.status != LX_OK) {
        status = restamp(self, &damage, error);
        stuck = !self->repair->apply;
    }
    if (status == LX_OK && !stuck)
        status = open_chunks(self, error);
    if (status == LX_OK && !stuck)
        status = check_log(self, &stuck, error);
    if (status == LX_OK && !stuck)
        status = scan(self, error);
    if (status == LX_OK && self->repair->apply && self->unread.status != LX_OK) {
        lx__error_propagate(error, &self->unread);
        return LX_ERR_IO;
    }
    if (status == LX_OK && self->repair->apply && (self->acts || self->cut)) {
        status = check_whole(self, error);
        if (status == LX_OK)
            status = apply(self, error);
        self->repair->result.changed = status == LX_OK;
    }
    return status;
}

lx_status lx__repair_run(lx__repair *repair, lx_error *error)
{
    run self = {.repair = repair,
                .directory = LX__FILE_CLOSED,
                .chunks = LX__FILE_CLOSED,
                .lock = LX__FILE_CLOSED,
                .unread = LX_ERROR_INIT,
                .why = LX_ERROR_INIT,
                .error = error};
    lx_status status = work(&self, error);
    if (self.restamped || self.cut)
        repair->result.changed = true;
    if (self.snapshot != NULL)
        lx__snapshot_unref(self.snapshot);
    lx__writer_unlock(&self.lock);
    lx__file_close(&self.chunks);
    lx__file_close(&self.directory);
    lx__meta_free(&self.meta);
    lx__free(self.values);
    return status;
}

lx_status lx_dataset_repair(const char *path, const lx_repair_options *options,
                            lx_repair_result *result, lx_error *error)
{
    if (path == NULL)
        return lx__fail_null(error, "path");
    lx__repair self = lx__repair_of(path, options, options != NULL && options->apply);
    lx_status status = lx__repair_run(&self, error);
    if (status == LX_OK && self.first.status != LX_OK) {
        lx__error_propagate(error, &self.first);
        status = LX_ERR_CORRUPT;
    }
    if (result != NULL)
        *result = self.result;
    return status;
}
