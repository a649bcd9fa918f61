/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/recover-source.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/restamp.h"
#include "zrecord/snapshot/lock.h"

/* ---- the damaged dataset */

/** Keeps writers out, if LOCK is a file that can be opened. */
static lx_status lock_source(lx__recovery *self, lx_error *error)
{
    if (lx__file_open(&self->lock, &self->source, LX__LOCK_NAME, O_RDONLY, NULL) != LX_OK ||
        lx__file_lock(&self->lock, false, LX__LOCK_WRITER, 1, NULL) != LX_ERR_BUSY)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_BUSY,
                               "a writer has the dataset open: close the writer first");
    lx_error_locate(error, self->source.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status open_source(lx__recovery *self, lx_error *error)
{
    lx_error damage = LX_ERROR_INIT, why = LX_ERROR_INIT;
    lx_status status = lx__directory_open(&self->source, LX__CWD, self->path, error);
    if (status == LX_OK)
        status = lock_source(self, error);
    if (status == LX_OK)
        status = lx__repair_refuse_links(&self->source, error);
    if (status == LX_OK)
        status = lx__restamp_load(&self->meta, &self->source, &damage, error);
    if (status == LX_OK && damage.status != LX_OK)
        status = lx__repair_report(&self->repair, LX_REPAIR_ACTION_RESTAMP, &damage, error);
    if (status != LX_OK)
        return status;
    status = lx__directory_open(&self->source_chunks, &self->source, LX__CHUNK_DIRECTORY, &why);
    if (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT)
        return LX_OK; /* the repair will find the damaged values */
    lx__error_propagate(error, &why);
    return status;
}

/* ---- the state to recover */

/** Whether the seal names two tables for each field. Sets @p generation to their table
 * generation. */
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

/** Adds a chunk file to the state, whatever its size; lx__repair_fit_chunks() will measure it. */
static lx_status add_chunk(void *user, const char *name, lx_error *error)
{
    lx__recovery *self = user;
    uint64_t id;
    if (!lx__name_is_chunk(name, &id))
        return LX_OK;
    const lx__chunk_item item = {.id = (uint32_t)id, .bytes = UINT64_MAX};
    return lx__state_put_chunk(&self->log.state, &item, error);
}

/** Takes the state from the seal: as many rows as records, no updates, and all chunk files. */
static lx_status take_seal(lx__recovery *self, uint32_t table_generation, lx_error *error)
{
    lx__state *state = &self->log.state;
    lx__state_free(state);
    *state = (lx__state){.length = self->meta.length,
                         .rows = self->meta.length,
                         .table_generation = table_generation};
    lx_status status = LX_OK;
    if (self->source_chunks.fd != -1)
        status = lx__directory_each(&self->source_chunks, add_chunk, self, error);
    lx__error_append(&self->log.damage,
                     "; the dataset is sealed, so its state is taken from meta.json: %" PRIu64
                     " records",
                     state->length);
    return status == LX_OK
               ? lx__repair_report(&self->repair, LX_REPAIR_ACTION_DROP, &self->log.damage, error)
               : status;
}

/** Reports that the commits after an invalid frame are lost. */
static lx_status drop_tail(lx__recovery *self, lx_error *error)
{
    lx__wal_prefix *log = &self->log;
    lx__error_append(&log->damage,
                     "; the commits before it, with %" PRIu64
                     " records, are recovered; the commits in the remaining %" PRIu64
                     " bytes are lost",
                     log->state.length, log->lost_bytes);
    self->repair.result.cut_bytes = log->lost_bytes;
    return lx__repair_report(&self->repair, LX_REPAIR_ACTION_DROP, &log->damage, error);
}

/**
 * Finds the state in the log or, if the log does not contain everything that was sealed, in
 * meta.json. A log with more rows than meta.json takes precedence over the seal, because meta.json
 * may be an older version.
 */
static lx_status find_state(lx__recovery *self, lx_error *error)
{
    uint32_t generation;
    lx_error why = LX_ERROR_INIT;
    const lx__meta *meta = &self->meta;
    lx__wal_prefix *log = &self->log;
    lx_status status = lx__wal_prefix_read(log, &self->source, meta, &why);
    bool by_log = status == LX_OK;
    /* A joined dataset is not recovered from its seal: its parts can be joined again. */
    bool sealed = meta->sealed && meta->run_count == 0 && meta->length <= LX__LENGTH_MAX &&
                  find_sealed_tables(meta, &generation);
    bool lacks = !by_log || log->state.rows < meta->length ||
                 (log->damaged && log->state.rows == meta->length);
    if (sealed && lacks && (by_log || status == LX_ERR_CORRUPT)) {
        if (!by_log) {
            log->damage = why;
        } else if (!log->damaged) {
            (void)lx_fail(&log->damage, LX_ERR_CORRUPT, "the log ends before the sealed commit");
            lx_error_locate(&log->damage, self->source.path, NULL, LX_NONE, LX_NONE);
        }
        return take_seal(self, generation, error);
    }
    lx__wal_prefix_advise(&why);
    lx__error_propagate(error, &why);
    return by_log && log->damaged ? drop_tail(self, error) : status;
}

/* ---- the rows to recover */

lx_status lx__recovery_open_table(const lx__recovery *self, size_t field, bool checks,
                                  lx__file *file, uint64_t *size, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__table_name(lx__schema_field(self->meta.schema, field)->stem,
                   checks ? LX__CHECK_KIND : LX__OFFSET_KIND, self->table_generation, name);
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

/** Determines the length of the new dataset. A log may claim any number of rows, so the new dataset
 * ends where the longest table does, if that is earlier. */
static void count_records(lx__recovery *self)
{
    lx__state *state = &self->log.state;
    uint64_t longest = 0;
    for (size_t i = 0; i < self->meta.schema->count; i++)
        longest = longest < self->rows[i] ? self->rows[i] : longest;
    self->committed = state->rows < state->length ? state->rows : state->length;
    self->kept = self->committed < longest ? self->committed : longest;
    if (self->kept == self->committed)
        return;
    self->repair.result.deleted += state->length - self->kept;
    state->length = self->kept;
}

/** Reports the tables of a field if they have fewer rows than are committed. */
static lx_status report_rows(lx__recovery *self, size_t field, lx_error *error)
{
    const lx__field *about = lx__schema_field(self->meta.schema, field);
    uint64_t rows = self->rows[field];
    char name[LX__NAME_SIZE], path[sizeof error->path];
    lx_error damage = LX_ERROR_INIT;
    if (rows >= self->committed)
        return LX_OK;
    lx__table_name(about->stem, LX__OFFSET_KIND, self->table_generation, name);
    snprintf(path, sizeof path, "%.300s/%.160s", self->path, name);
    (void)lx_fail(&damage, LX_ERR_CORRUPT,
                  "the tables of the field have only %" PRIu64 " of %" PRIu64
                  " committed rows: the values in the lost rows become missing, and records beyond "
                  "the end of all tables are dropped",
                  rows, self->committed);
    lx_error_locate(&damage, path, about->name, rows, rows * LX__OFFSET_ROW);
    self->repair.result.missing += rows < self->kept ? self->kept - rows : 0;
    return lx__repair_report(&self->repair, LX_REPAIR_ACTION_DROP, &damage, error);
}

lx_status lx__recovery_read(lx__recovery *self, lx_error *error)
{
    lx_status status = open_source(self, error);
    if (status == LX_OK)
        status = find_state(self, error);
    if (status != LX_OK)
        return status;
    self->table_generation = self->log.state.table_generation;
    size_t fields = self->meta.schema->count;
    self->rows = lx__alloc_array(fields, sizeof *self->rows);
    if (self->rows == NULL)
        return lx__fail_memory(error, "a recovery");
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = count_rows(self, i, error);
    if (status == LX_OK)
        count_records(self);
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = report_rows(self, i, error);
    return status;
}
