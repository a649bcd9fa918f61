/* SPDX-License-Identifier: MIT */
/* The part of a store that maps tables and chunks. */
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/names.h"
#include "zrecord/store.h"

/* Tables are mapped for this many rows at least, and for half as many more as there are. */
#define TABLE_ROWS_MIN ((uint64_t)1 << 16)
/* A chunk that is not sealed is mapped for its byte limit, up to this. */
#define CHUNK_MAP_MAX (1ull << 30)

/** Rows to map for @p rows: a multiple of 64, a word of the bits of what was verified. */
static uint64_t table_capacity(const lx__store *store, uint64_t rows)
{
    if (store->meta.sealed)
        return lx__align_up(rows, 64);
    uint64_t capacity = TABLE_ROWS_MIN;
    while (capacity < rows + rows / 2)
        capacity *= 2;
    return capacity;
}

/** Puts a larger table in the place of the one there is; snapshots may still use that one. */
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

static lx_status map_table(lx__store *store, size_t field, uint32_t generation, uint64_t rows,
                           lx_error *error)
{
    lx__table_place place = {.directory = &store->directory,
                             .stem = lx__schema_field(store->meta.schema, field)->stem,
                             .generation = generation,
                             .exact = store->meta.sealed};
    lx__table *there = store->tables[field], *made;
    if (there != NULL && there->capacity >= rows) {
        lx_status status = lx__table_look(&place, rows, error);
        if (status == LX_OK && atomic_load(&there->rows) < rows)
            atomic_store(&there->rows, rows);
        return status;
    }
    lx_status status = lx__table_open(&made, &place, rows, table_capacity(store, rows),
                                      store->verify == LX_VERIFY_FIRST, error);
    if (status != LX_OK)
        return status;
    status = replace_table(store, field, made, error);
    if (status != LX_OK)
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

/** The place of chunk @p id in the ascending list, or where it belongs. */
static size_t chunk_place(const lx__store *store, uint32_t id)
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
    size_t at = chunk_place(store, id);
    if (at == store->chunk_count || store->chunks[at].id != id) {
        if (store->chunk_count >= LX__MAPPED_CHUNKS_MAX)
            return lx__fail(error, LX_ERR_LIMIT, "more than %d chunks are in use at once",
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
    uint64_t limit =
        store->meta.chunk_limit < CHUNK_MAP_MAX ? store->meta.chunk_limit : CHUNK_MAP_MAX;
    if (!store->meta.sealed && bytes < limit &&
        lx__mapping_open(mapping, file, limit, LX__ACCESS_RANDOM, NULL) == LX_OK)
        return LX_OK;
    /* Sealed, larger than the limit, or address space is short: what is there must do. */
    return lx__mapping_open(mapping, file, bytes, LX__ACCESS_RANDOM, error);
}

static lx_status retire(lx__store *store, lx__mapping mapping, lx_error *error)
{
    lx__mapping *list = lx__grow_array(store->retired, store->retired_count,
                                       &store->retired_capacity, sizeof *list);
    if (list == NULL)
        return lx__fail_memory(error, "a chunk");
    store->retired = list;
    list[store->retired_count++] = mapping;
    return LX_OK;
}

static lx_status map_chunk(lx__store *store, const lx__file *file, uint32_t id, uint64_t bytes,
                           const uint8_t **data, lx_error *error)
{
    lx__chunk_map *chunk = NULL;
    lx_status status = find_or_add_chunk(store, id, &chunk, error);
    if (status == LX_OK && chunk->mapping.size < bytes) {
        if (chunk->mapping.data != NULL)
            status = retire(store, chunk->mapping, error);
        if (status == LX_OK) {
            chunk->mapping = (lx__mapping){0};
            status = map_file(store, file, bytes, &chunk->mapping, error);
        }
    }
    if (status == LX_OK)
        *data = chunk->mapping.data;
    return status;
}

/** A chunk of a sealed dataset has exactly its bytes, as long as nobody has taken the seal off. */
static lx_status open_chunk(const lx__store *store, uint32_t id, uint64_t bytes, lx__file *file,
                            lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx_error why = LX_ERROR_INIT;
    lx__chunk_name(id, name);
    lx_status status = lx__committed_open(file, &store->chunk_directory, name, O_RDONLY, bytes,
                                          store->meta.sealed, &why);
    if (status == LX_ERR_CORRUPT && store->meta.sealed && lx__store_was_replaced(store))
        return lx__committed_open(file, &store->chunk_directory, name, O_RDONLY, bytes, false,
                                  error);
    if (status != LX_OK)
        lx__error_pass(error, &why);
    return status;
}

lx_status lx__store_map_chunk(lx__store *store, uint32_t id, uint64_t bytes,
                              const uint8_t **data, lx_error *error)
{
    lx__file file;
    lx_status status = open_chunk(store, id, bytes, &file, error);
    if (status != LX_OK)
        return status;
    pthread_mutex_lock(&store->mutex);
    status = map_chunk(store, &file, id, bytes, data, error);
    pthread_mutex_unlock(&store->mutex);
    lx__file_close(&file);
    return status;
}
