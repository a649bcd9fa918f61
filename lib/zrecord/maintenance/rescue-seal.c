/* SPDX-License-Identifier: MIT */
/* The part of a rescue that reads a sealed dataset without its log: see doc/zrecord-format.md, 9.7.
 *
 * meta.json says the length once for each table as well. Another meta.json of
 * the dataset, of a time before this one, may have been put in its place; it must not take away
 * what was committed since. So the log has the last word wherever it reaches what was sealed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/sealed.h"
#include "zrecord/maintenance/rescue.h"

/* ---- whether the seal is whole */

/** The name of table number @p table, two a field; returns the bytes of a row. */
static size_t name_table(const lx_schema *schema, size_t table, uint32_t generation, char *name)
{
    bool offsets = table % 2 == 0;
    lx__table_name(lx__schema_field(schema, table / 2)->stem,
                   offsets ? LX__OFFSET_KIND : LX__CHECK_KIND, generation, name);
    return offsets ? LX__OFFSET_ROW : LX__CHECK_ROW;
}

static bool find_generation(const lx__meta *meta, uint32_t *generation)
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

/** Whether a table has the size that was sealed. */
static bool has_size(const lx__rescue *rescue, const char *name, uint64_t bytes, bool or_more)
{
    lx__file file;
    uint64_t size = 0;
    if (lx__file_open(&file, &rescue->directory, name, O_RDONLY, NULL) != LX_OK)
        return false;
    bool known = lx__file_size(&file, &size, NULL) == LX_OK;
    lx__file_close(&file);
    return known && (size == bytes || (or_more && size > bytes));
}

/**
 * Whether all that it says of the length agrees, and one table at least bears witness: a length
 * that is too large would have a repair go on for years. Where there is no log, the table must not
 * be longer: a writer that came later has lengthened all of them, or removed them.
 */
static bool is_whole(const lx__rescue *rescue, bool has_log, uint32_t *generation)
{
    const lx__meta *meta = &rescue->meta;
    bool witness = false;
    if (meta->length > LX__LENGTH_MAX || !find_generation(meta, generation))
        return false;
    for (size_t i = 0; i < 2 * meta->schema->count; i++) {
        char name[LX__NAME_SIZE];
        lx__table_seal seal;
        size_t row = name_table(meta->schema, i, *generation, name);
        if (lx__meta_get_table(meta, name, &seal, NULL) != LX_OK ||
            seal.bytes != meta->length * row)
            return false;
        witness = witness || has_size(rescue, name, seal.bytes, has_log);
    }
    return witness;
}

/** Whether the log ends before what was sealed. Its rows never become fewer; as many with a damage
 * behind them may be those of a commit shortly before. */
static bool falls_short(const lx__rescue *rescue)
{
    uint64_t rows = rescue->state.rows, sealed = rescue->meta.length;
    return rows < sealed || (rescue->cut && rows == sealed);
}

/* ---- its state */

static int compare_chunks(const void *a, const void *b)
{
    uint32_t left = ((const lx__chunk_item *)a)->id, right = ((const lx__chunk_item *)b)->id;
    return (left > right) - (left < right);
}

static lx_status add_chunk(lx__state *state, uint64_t id, uint64_t records, uint64_t bytes,
                           lx_error *error)
{
    lx_status status = lx__state_reserve_chunks(state, 1, error);
    if (status == LX_OK)
        state->chunks[state->chunk_count++] =
            (lx__chunk_item){.id = (uint32_t)id, .records = (uint32_t)records, .bytes = bytes};
    return status;
}

static uint64_t number_at(const json_t *list, size_t position)
{
    return (uint64_t)json_integer_value(json_array_get(list, position));
}

/** The chunks of which meta.json has the numbers, also those that are not there any more. */
static lx_status add_unfull(const lx__meta *meta, lx__state *state, lx_error *error)
{
    const json_t *chunks = json_object_get(meta->document, "chunks");
    const json_t *unfull = json_object_get(chunks, "unfull");
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < json_array_size(unfull); i++) {
        const json_t *item = json_array_get(unfull, i);
        if (number_at(item, 0) <= LX__CHUNK_ID_MAX)
            status = add_chunk(state, number_at(item, 0), number_at(item, 2), number_at(item, 1),
                               error);
    }
    return status;
}

/** Files of chunks that are to be added. */
typedef struct chunk_walk {
    const lx__rescue *rescue;
    lx__state *state;
    size_t unfull; /**< So many chunks of the state are those that are not full, in order. */
} chunk_walk;

/** A file of which the seal does not tell, or less than there is: it counts as full. */
static lx_status see_chunk(void *user, const char *name, lx_error *error)
{
    chunk_walk *self = user;
    const lx__file *directory = &self->rescue->chunk_directory;
    uint32_t records = (uint32_t)self->rescue->meta.chunk_records;
    uint64_t id, size = 0;
    bool regular;
    lx__file file;
    if (!lx__name_is_chunk(name, &id))
        return LX_OK;
    lx_status status = lx__file_is_regular(directory, name, &regular, error);
    if (status != LX_OK || (!regular && !lx__file_is_link(directory, name)))
        return status;
    if (regular) { /* a link is for whoever refuses those */
        status = lx__file_open(&file, directory, name, O_RDONLY, error);
        if (status == LX_OK)
            status = lx__file_size(&file, &size, error);
        lx__file_close(&file);
    }
    lx__chunk_item key = {.id = (uint32_t)id};
    lx__chunk_item *known = self->unfull == 0 ? NULL
                                              : bsearch(&key, self->state->chunks, self->unfull,
                                                        sizeof key, compare_chunks);
    if (status != LX_OK || (known != NULL && known->bytes >= size))
        return status;
    if (known == NULL)
        return add_chunk(self->state, id, records, size, error);
    known->bytes = size;
    known->records = known->records > records ? known->records : records;
    return LX_OK;
}

/** Above the ids of chunks that are there, and those that are not. */
static uint32_t find_next_chunk(const lx__meta *meta, const lx__state *state, uint64_t least)
{
    const json_t *chunks = json_object_get(meta->document, "chunks");
    uint64_t there = state->chunk_count, next = there == 0 ? 0 : state->chunks[there - 1].id + 1ull;
    uint64_t sealed = (uint64_t)json_integer_value(json_object_get(chunks, "num"));
    if (sealed > there && sealed - there <= LX__CHUNK_ID_MAX - next)
        next += sealed - there;
    return (uint32_t)(next > least ? next : least);
}

static lx_status build(const lx__rescue *rescue, lx__state *state, lx_error *error)
{
    lx_status status = add_unfull(&rescue->meta, state, error);
    chunk_walk walk = {.rescue = rescue, .state = state, .unfull = state->chunk_count};
    if (status == LX_OK && rescue->chunk_directory.fd != -1)
        status = lx__directory_each(&rescue->chunk_directory, see_chunk, &walk, error);
    if (status != LX_OK)
        return status;
    if (state->chunk_count != 0)
        qsort(state->chunks, state->chunk_count, sizeof *state->chunks, compare_chunks);
    state->next_chunk = find_next_chunk(&rescue->meta, state, rescue->state.next_chunk);
    return LX_OK;
}

/** Says how the log is damaged, and that it does no harm. */
static void explain(lx__rescue *rescue, const lx_error *why)
{
    lx_error *told = &rescue->why_cut;
    char name[LX__NAME_SIZE], path[sizeof told->path];
    if (why != NULL) {
        *told = *why;
    } else if (!rescue->cut) {
        lx__log_name(rescue->identity.generation, name);
        snprintf(path, sizeof path, "%.300s/%s", rescue->directory.path, name);
        (void)lx__fail(told, LX_ERR_CORRUPT, "the log ends before what was sealed");
        lx__error_locate(told, path, NULL, LX_NONE, rescue->state.place.offset);
    }
    size_t used = strlen(told->message);
    snprintf(told->message + used, sizeof told->message - used,
             "; the dataset is sealed, and meta.json tells what is in it: %llu records, which are "
             "kept",
             (unsigned long long)rescue->meta.length);
}

lx_status lx__rescue_take_seal(lx__rescue *rescue, const lx_error *why, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__state state = {.length = rescue->meta.length, .rows = rescue->meta.length};
    lx__log_name(rescue->identity.generation, name);
    if (!is_whole(rescue, why == NULL, &state.table_generation) ||
        lx__file_is_link(&rescue->directory, name))
        return LX_OK;
    if (why == NULL && (state.table_generation != rescue->state.table_generation ||
                        !falls_short(rescue)))
        return LX_OK;
    lx_status status = build(rescue, &state, error);
    if (status != LX_OK) {
        lx__state_free(&state);
        return status;
    }
    explain(rescue, why);
    lx__state_free(&rescue->state);
    lx__state_free(&rescue->settled);
    rescue->state = state;
    lx__state_copy(&rescue->settled, &state); /* all that is sealed was synced */
    rescue->cut = false;
    rescue->by_seal = true;
    rescue->alone = why != NULL;
    return LX_OK;
}

/** With a wrong uuid the log is as none, and every value is damaged: they are not to be given up
 * for one letter of meta.json. */
lx_status lx__rescue_prove_seal(lx__rescue *rescue, lx_error *error)
{
    lx_error damage = LX_ERROR_INIT;
    bool any = false;
    uint64_t length = rescue->state.length, index = lx__rescue_next(rescue, 0);
    for (; index < length; index = lx__rescue_next(rescue, index + 1)) {
        for (size_t i = 0; i < rescue->meta.schema->count; i++) {
            lx__entry entry;
            lx_status status = lx__rescue_check(rescue, i, index, &entry, &damage);
            if (status == LX_OK && !lx__entry_is_missing(&entry))
                return LX_OK;
            if (status != LX_OK && status != LX_ERR_CORRUPT) {
                lx__error_pass(error, &damage);
                return status;
            }
            any = any || status == LX_ERR_CORRUPT;
            if (status == LX_ERR_CORRUPT)
                lx_error_clear(&damage);
        }
    }
    if (!any)
        return LX_OK;
    lx_status status =
        lx__fail(error, LX_ERR_CORRUPT,
                 "neither the log nor any value agrees with it: put the meta.json of a backup of "
                 "this dataset in its place, or the backup in the place of all");
    char path[sizeof damage.path];
    snprintf(path, sizeof path, "%.300s/" LX__META_NAME, rescue->directory.path);
    lx__error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}

/* ---- tables */

lx_status lx__rescue_check_table(const lx__rescue *rescue, size_t table, lx_error *damage,
                                 lx_error *error)
{
    const lx__rescue_column *column = &rescue->columns[table / 2];
    const lx__file *file = table % 2 == 0 ? &column->offsets : &column->checks;
    char name[LX__NAME_SIZE];
    lx__table_seal seal;
    uint64_t bytes;
    uint32_t crc;
    if (file->fd == -1 || column->rows < rescue->state.rows)
        return LX_OK;
    (void)name_table(rescue->meta.schema, table, rescue->state.table_generation, name);
    lx_status status = lx__meta_get_table(&rescue->meta, name, &seal, error);
    if (status == LX_OK)
        status = lx__file_sum(file, &bytes, &crc, error);
    if (status != LX_OK)
        return status;
    if (bytes != seal.bytes)
        (void)lx__fail(damage, LX_ERR_CORRUPT, "the table has %llu bytes, %llu were sealed",
                       (unsigned long long)bytes, (unsigned long long)seal.bytes);
    else if (crc != seal.crc)
        (void)lx__fail(damage, LX_ERR_CORRUPT,
                       "the checksum of the table is %08x, meta.json says %08x", crc, seal.crc);
    lx__error_locate(damage, file->path, lx__schema_field(rescue->meta.schema, table / 2)->name,
                     LX_NONE, LX_NONE);
    return LX_OK;
}
