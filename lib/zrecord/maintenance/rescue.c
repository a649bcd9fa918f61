/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/rescue.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/write/create.h"
#include "zrecord/table/table-file.h"
#include "zrecord/format/meta-file.h"

/* How often meta.json may be replaced while its generation is being locked. */
#define LOCK_TRIES 100

/* ---- links
 *
 * What stands behind a link is not lost, but where no reader looks for it. To repair the dataset
 * without it would be to throw it away. */

static lx_status refuse_link(const lx__file *directory, const char *name, lx_error *error)
{
    char path[sizeof error->path];
    if (!lx__file_is_link(directory, name))
        return LX_OK;
    snprintf(path, sizeof path, "%.300s/%.100s", directory->path, name);
    lx_status status =
        lx__fail(error, LX_ERR_CORRUPT,
                 "a symbolic link is not followed here: put what it points to in its place");
    lx__error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

/* ---- meta.json and the lock */

static lx_status read_meta(lx__rescue *rescue, const char *name, lx__meta *meta, lx_error *error)
{
    lx__file file;
    lx_status status = lx__file_open(&file, &rescue->directory, name, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__meta_read(meta, &file, LX__META_CHECK, error);
    lx__file_close(&file);
    return status;
}

/** Adds what can be done about a meta.json that cannot be read. */
static void advise(lx__rescue *rescue, lx_error *error)
{
    lx__meta next = {0};
    if (error == NULL)
        return;
    bool whole = read_meta(rescue, LX__META_NEW_NAME, &next, NULL) == LX_OK;
    lx__meta_free(&next);
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, "; %s",
             whole ? "meta.json.new beside it is whole and was to take its place: rename it"
                   : "put the meta.json of a backup of this dataset in its place, or the backup "
                     "in the place of all");
}

static lx_status load_meta(lx__rescue *rescue, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    lx__meta_free(&rescue->meta);
    lx_status status = read_meta(rescue, LX__META_NAME, &rescue->meta, &why);
    if (status == LX_ERR_NOT_FOUND)
        lx__copy_tail(why.message, sizeof why.message, "the directory has no meta.json");
    if (status == LX_ERR_NOT_FOUND || status == LX_ERR_CORRUPT)
        advise(rescue, &why);
    if (status != LX_OK)
        lx__error_pass(error, &why);
    return status;
}

/** What is no file cannot be locked, by a writer or a reader; and nothing of the dataset is in it.
 * What else there is about it, whoever locks it tells. */
static lx_status check_lock(const lx__rescue *rescue, lx_error *error)
{
    lx__file lock;
    lx_error why = LX_ERROR_INIT;
    lx_status status =
        lx__file_open(&lock, &rescue->directory, LX__LOCK_NAME, O_RDONLY, &why);
    if (status == LX_OK)
        lx__file_close(&lock);
    if (status != LX_ERR_CORRUPT)
        return LX_OK;
    size_t used = strlen(why.message);
    snprintf(why.message + used, sizeof why.message - used,
             "; remove it: the next writer makes another");
    lx__error_pass(error, &why);
    return status;
}

/** The lock of the generation's readers, so that its files stay. Without a LOCK, and where locks
 * cannot be had, it is done without. */
static void lock_generation(lx__rescue *rescue)
{
    lx__file_close(&rescue->lock);
    if (lx__file_open(&rescue->lock, &rescue->directory, LX__LOCK_NAME, O_RDONLY, NULL) == LX_OK)
        (void)lx__file_lock(&rescue->lock, false, LX__LOCK_READERS + rescue->meta.generation, 1,
                            NULL);
}

static lx_status lock_and_load(lx__rescue *rescue, bool writing, lx_error *error)
{
    lx_status status = refuse_link(&rescue->directory, LX__META_NAME, error);
    if (status == LX_OK)
        status = load_meta(rescue, error);
    if (status == LX_OK)
        status = check_lock(rescue, error);
    if (status == LX_OK && writing) {
        status = lx__check_local(&rescue->directory, error);
        if (status == LX_OK)
            status = lx__writer_lock(&rescue->directory, &rescue->lock, error);
        return status == LX_OK ? load_meta(rescue, error) : status;
    }
    for (int tries = 0; status == LX_OK && tries < LOCK_TRIES; tries++) {
        uint64_t generation = rescue->meta.generation;
        lock_generation(rescue);
        status = load_meta(rescue, error);
        if (status == LX_OK && rescue->meta.generation == generation)
            return LX_OK;
    }
    if (status == LX_OK) { /* without the lock, what a writer removes would be told as damage */
        status = lx__fail(error, LX_ERR_BUSY,
                          "meta.json is replaced again and again while it is read");
        lx__error_locate(error, rescue->directory.path, NULL, LX_NONE, LX_NONE);
    }
    return status;
}

/** The log, without which it is not known what else there is. */
static lx_status refuse_log(const lx__rescue *rescue, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__log_name(rescue->meta.generation, name);
    return refuse_link(&rescue->directory, name, error);
}

static lx_status refuse_links(const lx__rescue *rescue, lx_error *error)
{
    char name[LX__NAME_SIZE];
    const lx__state *state = &rescue->state;
    const lx_schema *schema = rescue->meta.schema;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && state->rows != 0 && i < 2 * schema->count; i++) {
        const char *kind = i % 2 == 0 ? LX__OFFSET_KIND : LX__CHECK_KIND;
        lx__table_name(lx__schema_field(schema, i / 2)->stem, kind, state->table_generation, name);
        status = refuse_link(&rescue->directory, name, error);
    }
    if (status == LX_OK)
        status = refuse_link(&rescue->directory, LX__CHUNK_DIRECTORY, error);
    if (rescue->chunk_directory.fd == -1)
        return status;
    for (size_t i = 0; status == LX_OK && i < state->chunk_count; i++) {
        lx__chunk_name(state->chunks[i].id, name);
        status = refuse_link(&rescue->chunk_directory, name, error);
    }
    return status;
}

/* ---- tables and chunks */

static lx_status prepare_columns(lx__rescue *rescue, lx_error *error)
{
    size_t count = rescue->meta.schema->count;
    rescue->columns = lx__alloc_array(count, sizeof *rescue->columns);
    if (rescue->columns == NULL)
        return lx__fail_memory(error, "a repair");
    for (size_t i = 0; i < count; i++)
        rescue->columns[i] = (lx__rescue_column){
            .rules = lx__field_rules(lx__schema_field(rescue->meta.schema, i), rescue->meta.uuid),
            .offsets = LX__FILE_CLOSED,
            .checks = LX__FILE_CLOSED,
            .chunk = LX__FILE_CLOSED,
            .failure = LX_ERROR_INIT};
    return LX_OK;
}

/** Opens a table, and lowers @p rows to those that it has. What is no file has none. */
static lx_status open_table(lx__rescue *rescue, size_t field, const char *kind, size_t row,
                            lx__file *file, uint64_t *rows, lx_error *error)
{
    char name[LX__NAME_SIZE];
    uint64_t size = 0;
    const lx__field *about = lx__schema_field(rescue->meta.schema, field);
    lx_error *why = &rescue->columns[field].failure;
    lx_error refusal = LX_ERROR_INIT;
    lx__table_name(about->stem, kind, rescue->state.table_generation, name);
    lx_status status = lx__file_open(file, &rescue->directory, name, O_RDONLY, &refusal);
    if (status == LX_OK)
        status = lx__file_size(file, &size, &refusal);
    if (status != LX_OK && status != LX_ERR_NOT_FOUND && status != LX_ERR_CORRUPT) {
        lx__error_pass(error, &refusal);
        return status;
    }
    if (size / row >= *rows)
        return LX_OK;
    *rows = size / row;
    if (status == LX_OK)
        status = lx__fail(&refusal, LX_ERR_CORRUPT,
                          "the table has %llu bytes, %llu are committed",
                          (unsigned long long)size,
                          (unsigned long long)(rescue->state.rows * row));
    refusal.status = LX_ERR_CORRUPT;
    lx__error_pass(why, &refusal);
    lx__error_locate(why, file->path, about->name, *rows, size);
    return LX_OK;
}

static lx_status open_tables(lx__rescue *rescue, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < rescue->meta.schema->count; i++) {
        lx__rescue_column *column = &rescue->columns[i];
        column->rows = rescue->state.rows;
        if (column->rows == 0)
            continue;
        status = open_table(rescue, i, LX__OFFSET_KIND, LX__OFFSET_ROW, &column->offsets,
                            &column->rows, error);
        if (status == LX_OK)
            status = open_table(rescue, i, LX__CHECK_KIND, LX__CHECK_ROW, &column->checks,
                                &column->rows, error);
        column->window = status == LX_OK ? lx__alloc_array(LX__RESCUE_ROWS, LX__ENTRY_BYTES) : NULL;
        if (status == LX_OK && column->window == NULL)
            status = lx__fail_memory(error, "a repair");
    }
    return status;
}

lx_status lx__rescue_open(lx__rescue *rescue, const char *path, bool writing, lx_error *error)
{
    lx_error why = LX_ERROR_INIT;
    *rescue = (lx__rescue){.directory = LX__FILE_CLOSED,
                           .chunk_directory = LX__FILE_CLOSED,
                           .lock = LX__FILE_CLOSED,
                           .why_cut = LX_ERROR_INIT};
    lx_status status = lx__directory_open(&rescue->directory, LX__HERE, path, error);
    if (status == LX_OK)
        status = lock_and_load(rescue, writing, error);
    if (status != LX_OK)
        return status;
    status = lx__directory_open(&rescue->chunk_directory, &rescue->directory, LX__CHUNK_DIRECTORY,
                                &why);
    if (status != LX_OK && status != LX_ERR_NOT_FOUND && status != LX_ERR_CORRUPT) {
        lx__error_pass(error, &why);
        return status;
    }
    status = prepare_columns(rescue, error);
    if (status == LX_OK)
        status = refuse_log(rescue, error);
    if (status == LX_OK)
        status = lx__rescue_follow(rescue, error);
    if (status == LX_OK)
        status = refuse_links(rescue, error);
    if (status == LX_OK)
        status = open_tables(rescue, error);
    if (status == LX_OK)
        status = lx__rescue_find_reach(rescue, error);
    return status == LX_OK && rescue->alone ? lx__rescue_prove_seal(rescue, error) : status;
}

void lx__rescue_close(lx__rescue *rescue)
{
    for (size_t i = 0; rescue->columns != NULL && i < rescue->meta.schema->count; i++) {
        lx__file_close(&rescue->columns[i].offsets);
        lx__file_close(&rescue->columns[i].checks);
        lx__file_close(&rescue->columns[i].chunk);
        lx__free(rescue->columns[i].window);
    }
    lx__free(rescue->columns);
    lx__free(rescue->beyond);
    lx__free(rescue->payload);
    lx__free(rescue->value);
    lx__inflater_free(rescue->inflater);
    lx__state_free(&rescue->state);
    lx__state_free(&rescue->settled);
    lx__meta_free(&rescue->meta);
    lx__writer_unlock(&rescue->lock);
    lx__file_close(&rescue->chunk_directory);
    lx__file_close(&rescue->directory);
}
