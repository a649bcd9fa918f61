/* SPDX-License-Identifier: MIT */
/* Repairing: what can be rescued goes into a new generation, and the rest is put aside. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/read/refresh.h"
#include "zrecord/maintenance/rebuild.h"
#include "zrecord/maintenance/restamp.h"
#include "zrecord/maintenance/verify-job.h"
#include "zrecord/write/orphans.h"

/* Records between two calls of the progress function. */
#define STEP 4096

typedef struct repair {
    const char *path;
    lx_repair mode;
    lx_finding_function found;
    lx_progress_function progress;
    void *user;
    lx_repair_result result;
    lx_error first; /**< The first damage. */
    bool rebuilt;   /**< Another generation was put in place. */
    bool remedied;  /**< Something can be done about one at least. */
    lx__rescue rescue;
    lx__rebuild rebuild; /**< Unless it is a report. */
    lx__aside aside;
} repair;

static bool applies(const repair *self)
{
    return self->mode == LX_REPAIR_VALUES || self->mode == LX_REPAIR_RECORDS;
}

static bool deletes(const repair *self)
{
    return self->mode == LX_REPAIR_RECORDS || self->mode == LX_REPAIR_REPORT_RECORDS;
}

/* ---- findings */

static lx_status put_aside(repair *self, const lx_error *damage, lx_remedy remedy,
                           const lx__entry *entry, lx_error *error)
{
    static const char *const words[] = {"none", "missing", "delete", "forget", "leftover"};
    const lx__rescue *rescue = &self->rescue;
    size_t stored = entry != NULL ? rescue->stored : 0;
    lx_status status =
        lx__aside_make(&self->aside, &rescue->directory, &rescue->meta, error);
    if (status == LX_OK)
        status = lx__aside_add(&self->aside, damage, words[remedy], entry, rescue->payload, stored,
                               error);
    if (status == LX_OK)
        self->result.kept_bytes += stored;
    return status;
}

/** Takes a damage, of a value if @p entry is there. */
static lx_status take(repair *self, const lx_error *damage, lx_remedy remedy,
                      const lx__entry *entry, lx_error *error)
{
    lx_status status = LX_OK;
    lx_finding finding = {.remedy = remedy, .damage = *damage};
    if (damage->status != LX_ERR_EXISTS) {
        self->result.damages++;
        self->result.missing += remedy == LX_REMEDY_MISSING;
        self->remedied = self->remedied || remedy != LX_REMEDY_NONE;
        lx__error_pass(&self->first, damage);
        if (applies(self))
            status = put_aside(self, damage, remedy, entry, error);
    } else {
        self->result.foreign++;
    }
    if (status == LX_OK && self->found != NULL)
        status = lx__error_answer(error, self->found(&finding, self->user));
    return status;
}

/* ---- looking at files */

static lx_status look_at_tables(repair *self, lx_error *error)
{
    const lx__rescue *rescue = &self->rescue;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < rescue->meta.schema->count; i++) {
        const lx__rescue_column *column = &rescue->columns[i];
        if (column->rows < rescue->state.rows)
            status = take(self, &column->failure, LX_REMEDY_FORGET, NULL, error);
    }
    return status;
}

static lx_status look_at_chunks(repair *self, lx_error *error)
{
    const lx__rescue *rescue = &self->rescue;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < rescue->state.chunk_count; i++) {
        const lx__chunk_item *chunk = &rescue->state.chunks[i];
        lx_error damage = LX_ERROR_INIT;
        uint64_t bytes;
        status = lx__rescue_chunk_bytes(rescue, chunk, &bytes, &damage, error);
        if (status == LX_OK && bytes < chunk->bytes)
            status = take(self, &damage, LX_REMEDY_FORGET, NULL, error);
    }
    return status;
}

/** Where the state is the seal's, tables are held against it here, since nobody can open it. */
static lx_status look_at_sealed_tables(repair *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < 2 * self->rescue.meta.schema->count; i++) {
        lx_error damage = LX_ERROR_INIT, why = LX_ERROR_INIT;
        status = lx__rescue_check_table(&self->rescue, i, &damage, &why);
        if (status == LX_ERR_IO) /* what cannot be read of it is told value by value */
            status = LX_OK;
        else if (status != LX_OK)
            lx__error_pass(error, &why);
        if (status == LX_OK && damage.status != LX_OK)
            status = take(self, &damage, LX_REMEDY_FORGET, NULL, error);
    }
    return status;
}

/** Whether look_at_chunks() has reported what lx__verify_run() finds in chunk @p position. */
static bool is_short_chunk(const repair *self, size_t position)
{
    const lx__state *state = &self->rescue.state;
    uint64_t bytes = 0;
    if (position >= state->chunk_count)
        return false;
    const lx__chunk_item *chunk = &state->chunks[position];
    return lx__rescue_chunk_bytes(&self->rescue, chunk, &bytes, NULL, NULL) == LX_OK &&
           bytes < chunk->bytes;
}

/** Dictionaries, of which no more is known than that they are wrong; and of a sealed dataset all
 * that a seal says. Only of one that can be opened. */
static lx_status look_at_seal(repair *self, lx_error *error)
{
    if (self->rescue.by_seal)
        return look_at_sealed_tables(self, error);
    lx_dataset *dataset;
    lx_error damage = LX_ERROR_INIT;
    lx_status status = lx_dataset_open(self->path, NULL, &dataset, &damage);
    if (status == LX_ERR_CORRUPT) /* if it is not known yet why, the seal is what is wrong */
        return self->result.damages == 0 ? take(self, &damage, LX_REMEDY_FORGET, NULL, error)
                                         : LX_OK;
    if (status != LX_OK) {
        lx__error_pass(error, &damage);
        return status;
    }
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    size_t count = lx__verify_files(snapshot), fields = snapshot->store->meta.schema->count;
    size_t before = count - snapshot->state.chunk_count;
    lx__verify_job job = {.checker = {.snapshot = snapshot}};
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        job.file = i;
        status = lx__verify_run(&job);
        if (status != LX_OK)
            lx__error_pass(error, &job.failure);
        else if (job.found_count != 0 && !(i >= before && is_short_chunk(self, i - before)))
            status = take(self, &job.found[0].error,
                          i < fields ? LX_REMEDY_NONE : LX_REMEDY_FORGET, NULL, error);
    }
    lx__free(job.found);
    lx__snapshot_unref(snapshot);
    lx_dataset_close(dataset);
    return status;
}

/* ---- files that are no part of it */

/** Tells of a file that is no part of what is left. */
static lx_status take_file(repair *self, const lx__file *directory, const char *name,
                           lx_remedy remedy, const char *what, lx_error *error)
{
    lx_error about = LX_ERROR_INIT;
    char path[sizeof about.path];
    snprintf(path, sizeof path, "%.300s/%.160s", directory->path, name);
    lx__fail(&about, remedy == LX_REMEDY_FORGET ? LX_ERR_CORRUPT : LX_ERR_EXISTS, "%s", what);
    lx__error_locate(&about, path, NULL, LX_NONE, LX_NONE);
    return take(self, &about, remedy, NULL, error);
}

static const char leftover[] = "the dataset does not have it any more, or never had it: the next "
                               "writer removes it when no reader needs it";
static const char dropped[] = "by its name it may be of a field that was dropped: the next writer "
                              "removes it when no reader needs it";
static const char lost[] = "no commit that is left has it: a repair puts it aside";
static const char foreign[] = "it is no part of the dataset";

/** What is to be said of a file, as the next writer will see it (format, 11.8); NULL: it is a part
 * of the dataset. */
static const char *judge(const repair *self, const char *name)
{
    const lx__rescue *rescue = &self->rescue;
    const lx__meta *meta = &rescue->meta;
    char stem[LX__NAME_SIZE];
    uint64_t number;
    size_t position;
    bool ours;
    if (strcmp(name, LX__META_NAME) == 0 || strcmp(name, LX__LOCK_NAME) == 0 ||
        strcmp(name, LX__CHUNK_DIRECTORY) == 0)
        return NULL;
    bool is_log = lx__name_is_log(name, &number);
    bool is_table = lx__name_split_table(name, stem, &number);
    bool is_field = is_table || lx__name_split_dict(name, stem);
    bool is_known = is_field && lx__schema_find_stem(meta->schema, stem, &position);
    if ((is_log && number == meta->generation) ||
        (is_known && (is_table ? number == rescue->state.table_generation
                               : lx__meta_find_dict(meta, position, NULL))))
        return NULL;
    if (lx__file_is_ours(&rescue->directory, meta, name, &ours, NULL) != LX_OK || !ours)
        return foreign;
    return is_field && !is_known && lx__meta_get_next_field(meta) > meta->schema->count ? dropped
                                                                                        : leftover;
}

static lx_status see_file(void *user, const char *name, lx_error *error)
{
    repair *self = user;
    const char *what = judge(self, name);
    lx_remedy remedy = what == foreign ? LX_REMEDY_NONE : LX_REMEDY_LEFTOVER;
    return what != NULL
               ? take_file(self, &self->rescue.directory, name, remedy, what, error)
               : LX_OK;
}

/** Whether commits that are lost may have had a chunk: no commit that is left could. */
static bool may_be_lost(const lx__rescue *rescue, uint64_t id)
{
    return rescue->cut && id >= rescue->state.next_chunk;
}

static lx_status see_chunk(void *user, const char *name, lx_error *error)
{
    repair *self = user;
    const lx__file *directory = &self->rescue.chunk_directory;
    uint64_t id;
    bool regular, is_chunk = lx__name_is_chunk(name, &id);
    if (is_chunk && lx__state_find_chunk(&self->rescue.state, (uint32_t)id) != NULL)
        return LX_OK;
    if (!is_chunk || lx__file_is_regular(directory, name, &regular, NULL) != LX_OK || !regular)
        return take_file(self, directory, name, LX_REMEDY_NONE, foreign, error);
    if (may_be_lost(&self->rescue, id))
        return take_file(self, directory, name, LX_REMEDY_FORGET, lost, error);
    return take_file(self, directory, name, LX_REMEDY_LEFTOVER, leftover, error);
}

static lx_status look_around(repair *self, lx_error *error)
{
    const lx__rescue *rescue = &self->rescue;
    lx_status status = lx__directory_each(&rescue->directory, see_file, self, error);
    if (status == LX_OK && rescue->chunk_directory.fd != -1)
        status = lx__directory_each(&rescue->chunk_directory, see_chunk, self, error);
    return status;
}

/* ---- looking at values */

static lx_status look_at_value(repair *self, size_t field, uint64_t index, bool *damaged,
                               lx_error *damage, lx_error *error)
{
    lx__entry entry;
    lx_remedy remedy = deletes(self) ? LX_REMEDY_DELETE : LX_REMEDY_MISSING;
    lx_status status = lx__rescue_check(&self->rescue, field, index, &entry, damage);
    self->result.values++;
    if (status == LX_OK) {
        if (applies(self))
            lx__rebuild_put(&self->rebuild, field, index, &entry);
        self->result.missing +=
            lx__entry_is_missing(&entry) && lx__rescue_is_lost(&self->rescue, field, index);
        return LX_OK;
    }
    if (status != LX_ERR_CORRUPT) {
        lx__error_pass(error, damage);
        return status;
    }
    *damaged = true;
    status = take(self, damage, remedy, &entry, error);
    lx_error_clear(damage);
    return status;
}

static lx_status look_at_record(repair *self, uint64_t index, lx_error *damage, lx_error *error)
{
    bool damaged = false;
    lx_status status = applies(self) ? lx__rebuild_add(&self->rebuild, error) : LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->rescue.meta.schema->count; i++)
        status = look_at_value(self, i, index, &damaged, damage, error);
    self->result.records++;
    if (status == LX_OK && damaged && deletes(self)) {
        if (applies(self))
            status = lx__rebuild_delete(&self->rebuild, error);
        self->result.deleted++;
    }
    return status;
}

/** Records [@p index, @p end), of which no table has a row and the log has no set. Those that the log
 * counts as rows are left out: it may claim any number of them. Those after the rows, which are no
 * more than the log has sets, have missing values. */
static lx_status take_empty_records(repair *self, uint64_t index, uint64_t end, lx_error *error)
{
    uint64_t rows = end < self->rescue.state.rows ? end : self->rescue.state.rows;
    lx_status status = LX_OK;
    if (index < rows) {
        self->result.deleted += rows - index;
        self->result.records += rows - index;
        index = rows;
    }
    self->result.records += end - index;
    for (; status == LX_OK && applies(self) && index < end; index++)
        status = lx__rebuild_add(&self->rebuild, error);
    return status;
}

static lx_status look_at_records(repair *self, lx_error *error)
{
    uint64_t length = self->rescue.state.length;
    lx_error damage = LX_ERROR_INIT; /* one for all: it is large */
    lx_status status = LX_OK;
    for (uint64_t index = 0; status == LX_OK && index < length; index++) {
        uint64_t next = lx__rescue_next(&self->rescue, index);
        if (next != index) {
            status = take_empty_records(self, index, next, error);
            index = next;
        }
        if (status != LX_OK || index == length)
            break;
        status = look_at_record(self, index, &damage, error);
        if (status == LX_OK && self->progress != NULL && (index + 1) % STEP == 0)
            status = lx__error_answer(error, self->progress(index + 1, length, self->user));
    }
    if (status == LX_OK && self->progress != NULL)
        status = lx__error_answer(error, self->progress(length, length, self->user));
    return status;
}

/* ---- doing it */

/** Keeps a file that will not be written to any more: by another name for it, where that can be. */
static lx_status keep_file(repair *self, const lx__file *directory, const char *name,
                           lx_error *error)
{
    if (linkat(directory->fd, name, self->aside.directory.fd, name, 0) == 0)
        return LX_OK;
    return lx__aside_copy(&self->aside, directory, name, error);
}

static lx_status keep_chunk(void *user, const char *name, lx_error *error)
{
    repair *self = user;
    const lx__file *directory = &self->rescue.chunk_directory;
    uint64_t id;
    bool regular;
    if (!lx__name_is_chunk(name, &id) || !may_be_lost(&self->rescue, id) ||
        lx__file_is_regular(directory, name, &regular, NULL) != LX_OK || !regular)
        return LX_OK;
    return keep_file(self, directory, name, error);
}

/** Puts aside what the next writer would remove. meta.json and the log are copied: until the switch
 * somebody might write to them. */
static lx_status keep_files(repair *self, lx_error *error)
{
    const lx__rescue *rescue = &self->rescue;
    char name[LX__NAME_SIZE];
    lx__log_name(rescue->identity.generation, name);
    lx_status status = lx__aside_copy(&self->aside, &rescue->directory, LX__META_NAME, error);
    if (status == LX_OK)
        status = lx__aside_copy(&self->aside, &rescue->directory, name, error);
    for (size_t i = 0; status == LX_OK && i < rescue->meta.schema->count; i++) {
        const char *stem = lx__schema_field(rescue->meta.schema, i)->stem;
        uint32_t generation = rescue->state.table_generation;
        lx__table_name(stem, LX__OFFSET_KIND, generation, name);
        status = keep_file(self, &rescue->directory, name, error);
        lx__table_name(stem, LX__CHECK_KIND, generation, name);
        if (status == LX_OK)
            status = keep_file(self, &rescue->directory, name, error);
    }
    if (status == LX_OK && rescue->cut && rescue->chunk_directory.fd != -1)
        status = lx__directory_each(&rescue->chunk_directory, keep_chunk, self, error);
    return status;
}

static lx_status apply(repair *self, lx_error *error)
{
    lx_status status = lx__rebuild_close_up(&self->rebuild, &self->aside, error);
    if (status == LX_OK)
        status = keep_files(self, error);
    if (status == LX_OK)
        status = lx__aside_finish(&self->aside, error);
    if (status == LX_OK)
        status = lx__rebuild_switch(&self->rebuild, error);
    self->rebuilt = !self->rebuild.made;
    self->result.changed = self->rebuilt;
    return status;
}

static lx_status look_at_all(repair *self, lx_error *error)
{
    lx_status status = LX_OK;
    if (self->rescue.cut || self->rescue.by_seal)
        status = take(self, &self->rescue.why_cut, LX_REMEDY_FORGET, NULL, error);
    if (status == LX_OK)
        status = look_at_tables(self, error);
    if (status == LX_OK)
        status = look_at_chunks(self, error);
    if (status == LX_OK)
        status = look_at_seal(self, error);
    if (status == LX_OK)
        status = look_around(self, error);
    if (status == LX_OK && applies(self))
        status = lx__rebuild_begin(&self->rebuild, &self->rescue, error);
    return status == LX_OK ? look_at_records(self, error) : status;
}

static lx_status look_and_apply(repair *self, lx_error *error)
{
    lx_status status = lx__rescue_open(&self->rescue, self->path, applies(self), error);
    if (status == LX_OK)
        status = look_at_all(self, error);
    if (status == LX_OK && applies(self) && self->remedied)
        status = apply(self, error);
    return status;
}

/** Reports a meta.json of which the checksum alone is wrong, and restamps it. @p stuck: it stays as
 * it is, and nothing else can be looked at. */
static lx_status look_at_stamp(repair *self, bool *stuck, lx_error *error)
{
    lx__file directory;
    lx_finding finding = {.remedy = LX_REMEDY_RESTAMP, .damage = LX_ERROR_INIT};
    if (lx__directory_open(&directory, LX__HERE, self->path, NULL) != LX_OK)
        return LX_OK;
    lx_status status = lx__restamp_look(&directory, &finding.damage, error);
    if (status == LX_OK && finding.damage.status != LX_OK) {
        self->result.damages++;
        lx__error_pass(&self->first, &finding.damage);
        if (self->found != NULL)
            status = lx__error_answer(error, self->found(&finding, self->user));
        if (status == LX_OK && applies(self))
            status = lx__restamp_apply(&directory, error);
        self->result.changed = status == LX_OK && applies(self);
        *stuck = !self->result.changed;
    }
    lx__file_close(&directory);
    return status;
}

/** Looks at the dataset, and repairs it; without change, whatever is damaged is an error. */
static lx_status work(repair *self, lx_error *error)
{
    bool stuck = false, restamped;
    lx_status status = look_at_stamp(self, &stuck, error);
    restamped = self->result.changed;
    if (status == LX_OK && !stuck)
        status = look_and_apply(self, error);
    self->result.changed = self->result.changed || restamped;
    if (status == LX_OK && self->result.damages != 0 && !self->result.changed) {
        lx__error_pass(error, &self->first);
        status = LX_ERR_CORRUPT;
    }
    return status;
}

lx_status lx_dataset_repair(const char *path, lx_repair mode, lx_finding_function found,
                            lx_progress_function progress, void *user, lx_repair_result *result,
                            lx_error *error)
{
    if (path == NULL)
        return lx__fail_null(error, "path");
    if (mode != LX_REPAIR_REPORT && mode != LX_REPAIR_VALUES && mode != LX_REPAIR_RECORDS &&
        mode != LX_REPAIR_REPORT_RECORDS)
        return lx__fail(error, LX_ERR_ARGUMENT,
                        "mode: %d is none of report, values, records, report-records", (int)mode);
    repair self = {.path = path,
                   .mode = mode,
                   .found = found,
                   .progress = progress,
                   .user = user,
                   .first = LX_ERROR_INIT,
                   .rescue = {.directory = LX__FILE_CLOSED,
                              .chunk_directory = LX__FILE_CLOSED,
                              .lock = LX__FILE_CLOSED},
                   .aside = LX__ASIDE_NONE};
    lx_status status = work(&self, error);
    lx__rebuild_end(&self.rebuild);
    if (!self.rebuilt)
        lx__aside_undo(&self.aside);
    if (self.aside.path != NULL)
        lx__copy_tail(self.result.aside, sizeof self.result.aside, self.aside.path);
    lx__aside_close(&self.aside);
    lx__rescue_close(&self.rescue);
    if (result != NULL)
        *result = self.result;
    return status;
}
