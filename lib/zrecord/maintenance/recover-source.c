/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/recover-source.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/restamp.h"
#include "zrecord/snapshot/lock.h"

/* ---- the damaged dataset */

/** Keeps writers out, as far as there is a LOCK. */
static lx_status lock_source(lx__recovery *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    if (lx__file_open(&self->lock, &self->source, LX__LOCK_NAME, O_RDONLY, NULL) != LX_OK ||
        lx__file_lock(&self->lock, false, LX__LOCK_WRITER, 1, &why) != LX_ERR_BUSY)
        return LX_OK;
    lx_status status = lx__fail(error, LX_ERR_BUSY,
                                "a writer has the dataset open: close it first");
    lx__error_locate(error, self->source.path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Reads meta.json, also one of which the checksum alone is wrong. */
static lx_status read_meta(lx__recovery *self, lx_error *error)
{
    lx_error damage = LX_ERROR_INIT, why = LX_ERROR_INIT;
    lx_status status = lx__repair_refuse_link(&self->source, LX__META_NAME, error);
    if (status == LX_OK)
        status = lx__restamp_look(&self->source, &damage, error);
    if (status != LX_OK)
        return status;
    if (damage.status != LX_OK) {
        status = lx__restamp_load(&self->meta, &self->source, error);
        return status == LX_OK
                   ? lx__repair_report(&self->repair, LX_REPAIR_ACTION_RESTAMP, &damage, error)
                   : status;
    }
    status = lx__meta_load(&self->meta, &self->source, &why);
    lx__restamp_advise(&self->source, &why);
    lx__error_propagate(error, &why);
    return status;
}

static lx_status open_source(lx__recovery *self, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__directory_open(&self->source, LX__CWD, self->path, error);
    if (status == LX_OK)
        status = lock_source(self, error);
    if (status == LX_OK)
        status = read_meta(self, error);
    if (status == LX_OK)
        status = lx__repair_refuse_link(&self->source, LX__CHUNK_DIRECTORY, error);
    if (status != LX_OK)
        return status;
    status = lx__directory_open(&self->source_chunks, &self->source, LX__CHUNK_DIRECTORY, &why);
    if (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT)
        return LX_OK; /* then its values are damaged */
    lx__error_propagate(error, &why);
    return status;
}

/* ---- its state */

/** The table generation of a seal that names both tables of each field; false: it does not. */
static bool find_sealed_tables(const lx__meta *meta, uint32_t *generation)
{
    char stem[LX__NAME_SIZE];
    uint64_t number;
    json_t *tables = json_object_get(meta->document, "tables");
    const char *key = json_object_iter_key(json_object_iter(tables));
    if (key == NULL || !lx__name_split_table(key, stem, &number) || number > UINT32_MAX)
        return false;
    *generation = (uint32_t)number;
    return json_object_size(tables) == 2 * meta->schema->count;
}

static lx_status add_chunk(void *user, const char *name, lx_error *error)
{
    lx__recovery *self = user;
    uint64_t id;
    if (!lx__name_is_chunk(name, &id))
        return LX_OK;
    const lx__chunk_item item = {.id = (uint32_t)id};
    return lx__state_put_chunk(&self->log.state, &item, error);
}

/** Takes the state that was sealed: as many rows as records, no updates, all chunks that are
 * there. */
static lx_status take_seal(lx__recovery *self, uint32_t table_generation, lx_error *error)
{
    lx__state *state = &self->log.state;
    lx__state_free(state);
    *state = (lx__state){.length = self->meta.length,
                         .rows = self->meta.length,
                         .table_generation = table_generation};
    return self->source_chunks.fd != -1
               ? lx__directory_each(&self->source_chunks, add_chunk, self, error)
               : LX_OK;
}

/** Adds to the damage of the log what that means. */
static lx_status report_log(lx__recovery *self, bool by_seal, lx_error *error)
{
    lx_error *damage = &self->log.damage;
    size_t used = strlen(damage->message), size = sizeof damage->message - used;
    if (by_seal)
        snprintf(damage->message + used, size,
                 "; the dataset is sealed, and meta.json has its state: %llu records",
                 (unsigned long long)self->log.state.length);
    else
        snprintf(
            damage->message + used, size,
            "; the commits before it are recovered, with %llu records; those in the %llu bytes "
            "from there on are lost",
            (unsigned long long)self->log.state.length, (unsigned long long)self->log.lost_bytes);
    self->repair.result.cut_bytes = by_seal ? 0 : self->log.lost_bytes;
    return lx__repair_report(&self->repair, LX_REPAIR_ACTION_DROP, damage, error);
}

/**
 * Finds the state: by the log, or, of a sealed dataset, by meta.json where the log does not reach
 * what was sealed. A meta.json of another time may have been put in its place, so a log that has
 * more rows has the last word.
 */
static lx_status find_state(lx__recovery *self, lx_error *error)
{
    char name[LX__NAME_SIZE];
    uint32_t generation;
    lx_error why = LX_ERROR_INIT;
    lx__log_name(self->meta.generation, name);
    lx_status status = lx__repair_refuse_link(&self->source, name, error);
    if (status != LX_OK)
        return status;
    status = lx__log_prefix_read(&self->log, &self->source, &self->meta, &why);
    bool by_log = status == LX_OK;
    uint64_t rows = self->log.state.rows, sealed = self->meta.length;
    bool short_of = !by_log || rows < sealed || (self->log.damaged && rows == sealed);
    if ((by_log || status == LX_ERR_CORRUPT) && self->meta.sealed && short_of &&
        sealed <= LX__LENGTH_MAX && find_sealed_tables(&self->meta, &generation)) {
        if (!by_log) {
            /* Without the advice: there is something better than a backup. */
            (void)lx__fail(&self->log.damage, LX_ERR_CORRUPT, "the log has no valid frame");
            lx__error_locate(&self->log.damage, why.path, NULL, LX_NONE, LX_NONE);
        } else if (!self->log.damaged) {
            (void)lx__fail(&self->log.damage, LX_ERR_CORRUPT,
                           "the log ends before the state that was sealed");
            lx__error_locate(&self->log.damage, self->source.path, NULL, LX_NONE, LX_NONE);
        }
        status = take_seal(self, generation, error);
        return status == LX_OK ? report_log(self, true, error) : status;
    }
    lx__error_propagate(error, &why);
    return by_log && self->log.damaged ? report_log(self, false, error) : status;
}

/* ---- its rows */

lx_status lx__recovery_open_table(const lx__recovery *self, size_t field, bool checks,
                                  lx__file *file, uint64_t *size, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__table_name(lx__schema_field(self->meta.schema, field)->stem,
                   checks ? LX__CHECK_KIND : LX__OFFSET_KIND, self->log.state.table_generation,
                   name);
    return lx__repair_open(file, &self->source, name, size, error);
}

static lx_status count_rows(lx__recovery *self, size_t field, lx_error *error)
{
    uint64_t size, *rows = &self->rows[field];
    lx_status status = LX_OK;
    *rows = UINT64_MAX;
    for (int checks = 0; status == LX_OK && checks < 2; checks++) {
        lx__file file;
        status = lx__recovery_open_table(self, field, checks, &file, &size, error);
        size /= checks ? LX__CHECK_ROW : LX__OFFSET_ROW;
        *rows = size < *rows ? size : *rows;
        lx__file_close(&file);
    }
    return status;
}

/** Takes from the lost values one that is in the log. */
static lx_status count_update(void *user, const lx__update *update, lx_error *error)
{
    lx__recovery *self = user;
    (void)error;
    self->lost[update->field] -= update->index < self->kept &&
                                 update->index >= self->rows[update->field];
    return LX_OK;
}

/** Counts the records: a log may claim any number of rows, but no more are recovered than the
 * longest table has. Records after the rows are no more than the log has updates. */
static lx_status count_records(lx__recovery *self, lx_error *error)
{
    const lx__state *state = &self->log.state;
    size_t fields = self->meta.schema->count;
    uint64_t reach = 0;
    for (size_t i = 0; i < fields; i++)
        reach = reach < self->rows[i] ? self->rows[i] : reach;
    self->end = state->rows < state->length ? state->rows : state->length;
    self->kept = self->end < reach ? self->end : reach;
    self->length = self->kept + (state->length - self->end);
    self->repair.result.deleted += self->end - self->kept;
    for (size_t i = 0; i < fields; i++)
        self->lost[i] = self->rows[i] < self->kept ? self->kept - self->rows[i] : 0;
    return lx__overlay_each(&state->overlay, count_update, self, error);
}

/** Reports a table that has fewer rows than are committed. */
static lx_status report_rows(lx__recovery *self, size_t field, lx_error *error)
{
    const lx__field *about = lx__schema_field(self->meta.schema, field);
    uint64_t rows = self->rows[field];
    char name[LX__NAME_SIZE], path[sizeof error->path];
    lx_error damage = LX_ERROR_INIT;
    if (rows >= self->end)
        return LX_OK;
    lx__table_name(about->stem, LX__OFFSET_KIND, self->log.state.table_generation, name);
    snprintf(path, sizeof path, "%.300s/%.160s", self->path, name);
    (void)lx__fail(&damage, LX_ERR_CORRUPT,
                   "the tables of the field have %llu rows, %llu are committed: values of the "
                   "others become missing, and records that no table has are left out",
                   (unsigned long long)rows, (unsigned long long)self->end);
    lx__error_locate(&damage, path, about->name, rows, rows * LX__OFFSET_ROW);
    self->repair.result.missing += self->lost[field];
    return lx__repair_report(&self->repair, LX_REPAIR_ACTION_DROP, &damage, error);
}

lx_status lx__recovery_read(lx__recovery *self, lx_error *error)
{
    lx_status status = open_source(self, error);
    if (status == LX_OK)
        status = find_state(self, error);
    if (status != LX_OK)
        return status;
    size_t fields = self->meta.schema->count;
    self->rows = lx__alloc_array(fields, sizeof *self->rows);
    self->lost = lx__alloc_array(fields, sizeof *self->lost);
    if (self->rows == NULL || self->lost == NULL)
        return lx__fail_memory(error, "a recovery");
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = count_rows(self, i, error);
    if (status == LX_OK)
        status = count_records(self, error);
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = report_rows(self, i, error);
    return status;
}
