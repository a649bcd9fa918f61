/* SPDX-License-Identifier: MIT */
/* Maps the tables and chunks of a store. */
#include "zrecord/snapshot/store-map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/snapshot/store.h"

/* Minimum number of rows to map for a table that may grow. */
#define TABLE_ROWS_MIN ((uint64_t)1 << 16)
/* A chunk of an unsealed dataset is mapped up to its byte limit, but at most to this size. */
#define CHUNK_MAP_MAX (1ull << 30)

/** Returns how many rows to map for a table of @p rows rows: enough for it to grow by half, unless
 * the dataset is sealed. The result is a multiple of 64, because a word holds the verified bits of
 * 64 rows. */
static uint64_t table_capacity(const lx__store *store, uint64_t rows)
{
    if (store->meta.sealed)
        return lx__align_up(rows, 64);
    uint64_t capacity = TABLE_ROWS_MIN;
    while (capacity < rows + rows / 2)
        capacity *= 2;
    return capacity;
}

/** Replaces the table of a field with a larger one. Keeps the old one, because snapshots may still
 * use it. */
static lx_status replace_table(lx__store *store, size_t field, lx__table *made, lx_error *error)
{
    lx__table *old = store->tables[field];
    if (old != NULL) {
        lx__table **list = lx__grow_array(store->retired_tables, store->retired_table_count,
                                          &store->retired_table_capacity, sizeof *list);
        if (list == NULL)
            return lx__fail_memory(error, "a table");
        store->retired_tables = list;
        list[store->retired_table_count++] = old;
        lx__table_inherit(made, old);
    }
    store->tables[field] = made;
    return LX_OK;
}

/** Returns the current table of a field. Drops an inherited table that was mapped from files other
 * than those at @p location. */
static lx__table *table_for(lx__store *store, size_t field, const lx__table_location *location)
{
    lx__table *present = store->tables[field];
    if (present != NULL && store->checked_rows[field] == 0 &&
        !lx__table_has_files(present, location)) {
        lx__table_close(present);
        store->tables[field] = present = NULL;
    }
    return present;
}

static lx_status map_table(lx__store *store, size_t field, uint32_t generation, uint64_t rows,
                           lx_error *error)
{
    lx__table_location location = {.directory = &store->directory,
                                   .stem = lx__schema_field(store->schema, field)->stem,
                                   .generation = generation,
                                   .exact = store->meta.sealed,
                                   .unmapped = store->access == LX_ACCESS_PREAD};
    lx__table *present = table_for(store, field, &location), *made;
    if (present != NULL && rows <= store->checked_rows[field])
        return LX_OK;
    if (present != NULL && present->capacity >= rows) {
        lx_status status = lx__table_check_files(&location, rows, error);
        if (status != LX_OK)
            return status;
        lx__table_raise_rows(present, rows);
        store->checked_rows[field] = rows;
        return LX_OK;
    }
    lx_status status = lx__table_open(&made, &location, rows, table_capacity(store, rows),
                                      store->verify == LX_VERIFY_FIRST, error);
    if (status != LX_OK)
        return status;
    status = replace_table(store, field, made, error);
    if (status == LX_OK)
        store->checked_rows[field] = rows;
    else
        lx__table_close(made);
    return status;
}

lx_status lx__store_map_table(lx__store *store, size_t field, uint32_t table_generation,
                              uint64_t rows, lx__table **table, lx_error *error)
{
    pthread_mutex_lock(&store->mutex);
    lx_status status = map_table(store, field, table_generation, rows, error);
    if (status == LX_OK)
        *table = store->tables[field];
    pthread_mutex_unlock(&store->mutex);
    return status;
}

/** Returns the position of chunk @p id in the sorted list, or the position to insert it at. */
static size_t chunk_position(const lx__store *store, uint32_t id)
{
    size_t low = 0, high = store->chunk_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (store->chunks[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static lx_status find_or_add_chunk(lx__store *store, uint32_t id, lx__chunk_map **chunk,
                                   lx_error *error)
{
    size_t at = chunk_position(store, id);
    if (at == store->chunk_count || store->chunks[at].id != id) {
        if (store->chunk_count >= LX__MAPPED_CHUNKS_MAX)
            return lx_fail(error, LX_ERR_LIMIT,
                           "cannot map more than %d chunks: open the dataset in access mode pread",
                           LX__MAPPED_CHUNKS_MAX);
        lx__chunk_map *list = lx__grow_array(store->chunks, store->chunk_count,
                                             &store->chunk_capacity, sizeof *list);
        if (list == NULL)
            return lx__fail_memory(error, "a chunk");
        store->chunks = list;
        memmove(list + at + 1, list + at, (store->chunk_count - at) * sizeof *list);
        list[at] = (lx__chunk_map){.id = id};
        store->chunk_count++;
    }
    *chunk = &store->chunks[at];
    return LX_OK;
}

static lx_status map_file(const lx__store *store, const lx__file *file, uint64_t bytes,
                          lx__mapping *mapping, lx_error *error)
{
    uint64_t limit = store->meta.chunk_limit < CHUNK_MAP_MAX ? store->meta.chunk_limit
                                                             : CHUNK_MAP_MAX;
    if (!store->meta.sealed && bytes < limit &&
        lx__mapping_open(mapping, file, limit, LX__ADVICE_RANDOM, NULL) == LX_OK)
        return LX_OK;
    /* The dataset is sealed, the chunk is at or above the limit, or address space is short: map
     * only the committed bytes. */
    return lx__mapping_open(mapping, file, bytes, LX__ADVICE_RANDOM, error);
}

void lx__chunk_mapping_unref(lx__chunk_mapping *mapping)
{
    if (mapping == NULL ||
        atomic_fetch_sub_explicit(&mapping->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__mapping_close(&mapping->mapping);
    lx__free(mapping);
}

static lx_status new_mapping(const lx__store *store, const lx__file *file, uint64_t bytes,
                             lx__chunk_mapping **mapping, lx_error *error)
{
    lx__chunk_mapping *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a chunk");
    atomic_init(&made->references, 1);
    made->file = lx__file_get_id(file);
    lx_status status = map_file(store, file, bytes, &made->mapping, error);
    if (status == LX_OK)
        *mapping = made;
    else
        lx__chunk_mapping_unref(made);
    return status;
}

static lx_status retire(lx__store *store, lx__chunk_mapping *mapping, lx_error *error)
{
    lx__chunk_mapping **list = lx__grow_array(store->retired, store->retired_count,
                                              &store->retired_capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a chunk");
    store->retired = list;
    list[store->retired_count++] = mapping;
    return LX_OK;
}

/** Whether a mapping covers @p bytes bytes of @p file. An inherited one may be of a different
 * file. */
static bool is_mapped(const lx__chunk_mapping *mapped, const lx__file *file, uint64_t bytes)
{
    return mapped != NULL && mapped->mapping.size >= bytes &&
           lx__file_id_equal(mapped->file, lx__file_get_id(file));
}

static lx_status map_chunk(lx__store *store, const lx__file *file, uint32_t id, uint64_t bytes,
                           const uint8_t **data, lx_error *error)
{
    lx__chunk_map *chunk = NULL;
    lx_status status = find_or_add_chunk(store, id, &chunk, error);
    if (status == LX_OK && !is_mapped(chunk->mapped, file, bytes)) {
        if (chunk->mapped != NULL)
            status = retire(store, chunk->mapped, error);
        if (status == LX_OK) {
            chunk->mapped = NULL;
            status = new_mapping(store, file, bytes, &chunk->mapped, error);
        }
    }
    if (status == LX_OK)
        *data = chunk->mapped->mapping.data;
    return status;
}

lx_status lx__store_map_chunk(lx__store *store, uint32_t id, uint64_t bytes, const uint8_t **data,
                              lx_error *error)
{
    lx__open_file *opened;
    const lx__file_name name = {.part = LX__PART_CHUNK, .number = id, .bytes = bytes};
    lx_status status = lx__fd_cache_take(&store->files, &name, &opened, error);
    if (status != LX_OK)
        return status;
    /* The cache may have opened the file at a time when fewer bytes were committed. */
    status = lx__file_expect_size(&opened->file, bytes, false, error);
    if (status == LX_OK) {
        pthread_mutex_lock(&store->mutex);
        status = map_chunk(store, &opened->file, id, bytes, data, error);
        pthread_mutex_unlock(&store->mutex);
    }
    lx__fd_cache_release(&store->files, opened);
    return status;
}

/* ---- inheriting from the previous generation */

static void inherit_tables(lx__store *store, const lx__store *former)
{
    for (size_t i = 0; i < store->schema->count; i++) {
        const char *stem = lx__schema_field(store->schema, i)->stem;
        if (former->tables[i] != NULL &&
            strcmp(stem, lx__schema_field(former->schema, i)->stem) == 0)
            store->tables[i] = lx__table_ref(former->tables[i]);
    }
}

/** Shares only the chunks of the state, because mappings of other chunks would keep deleted files
 * alive. */
static void inherit_chunks(lx__store *store, const lx__store *former, const lx__chunk_item *items,
                           size_t count)
{
    store->chunks = lx__alloc_array(former->chunk_count, sizeof *store->chunks);
    if (store->chunks == NULL)
        return; /* chunks will be mapped again on first access */
    store->chunk_capacity = former->chunk_count;
    for (size_t i = 0, k = 0; i < former->chunk_count; i++) {
        const lx__chunk_map *chunk = &former->chunks[i];
        while (k < count && items[k].id < chunk->id)
            k++;
        if (k == count || items[k].id != chunk->id || chunk->mapped == NULL)
            continue;
        atomic_fetch_add_explicit(&chunk->mapped->references, 1, memory_order_relaxed);
        store->chunks[store->chunk_count++] = *chunk;
    }
}

void lx__store_inherit(lx__store *store, lx__store *former, const lx__chunk_item *chunks,
                       size_t chunk_count)
{
    pthread_mutex_lock(&former->mutex);
    inherit_tables(store, former);
    inherit_chunks(store, former, chunks, chunk_count);
    pthread_mutex_unlock(&former->mutex);
}
