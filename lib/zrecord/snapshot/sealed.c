/* SPDX-License-Identifier: MIT */
#include "zrecord/snapshot/sealed.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/format/names.h"

/* How many bytes to read at a time while computing the CRC of a file. */
#define STEP ((size_t)1 << 20)

static lx_status disagree(const lx__store *store, lx_error *error, const char *what)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "the dataset is sealed, but %s", what);
    lx_error_locate(error, store->meta_file.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static bool chunk_full(const lx__store *store, const lx__chunk_item *chunk)
{
    return chunk->records >= store->meta.chunk_records || chunk->bytes >= store->meta.chunk_limit;
}

/** Whether the chunk count and the list of unfull chunks match the state. */
static bool unfull_agrees(const lx__store *store, const lx__state *state)
{
    const json_t *chunks = json_object_get(store->meta.document, "chunks");
    const json_t *unfull = json_object_get(chunks, "unfull");
    size_t next = 0;
    if ((uint64_t)json_integer_value(json_object_get(chunks, "num")) != state->chunk_count)
        return false;
    for (size_t i = 0; i < state->chunk_count; i++) {
        const lx__chunk_item *chunk = &state->chunks[i];
        if (chunk_full(store, chunk))
            continue;
        const json_t *item = json_array_get(unfull, next++);
        if (json_array_size(item) != 3 ||
            json_integer_value(json_array_get(item, 0)) != (json_int_t)chunk->id ||
            json_integer_value(json_array_get(item, 1)) != (json_int_t)chunk->bytes ||
            json_integer_value(json_array_get(item, 2)) != (json_int_t)chunk->records)
            return false;
    }
    return next == json_array_size(unfull);
}

/** Checks the table called @p name; it must have @p bytes bytes. */
typedef lx_status table_visitor(const lx__store *store, const char *name, uint64_t bytes,
                                lx_error *error);

static lx_status visit_table(const lx__store *store, const lx__state *state, size_t position,
                             const char *kind, table_visitor *visit, lx_error *error)
{
    char name[LX__NAME_SIZE];
    const lx__field *field = lx__schema_field(store->meta.schema, position);
    size_t row = strcmp(kind, LX__OFFSET_KIND) == 0 ? LX__OFFSET_ROW : LX__CHECK_ROW;
    lx__table_name(field->stem, kind, state->table_generation, name);
    lx_status status = visit(store, name, state->length * row, error);
    lx_error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    return status;
}

static lx_status check_size(const lx__store *store, const char *name, uint64_t bytes,
                            lx_error *error)
{
    lx__table_seal seal;
    lx__file file;
    lx_status status = lx__meta_get_table(&store->meta, name, &seal, error);
    if (status == LX_OK && seal.bytes != bytes)
        status = disagree(store, error, "the size of a table does not match the length");
    if (status == LX_OK)
        status = lx__committed_open(&file, &store->directory, name, O_RDONLY, bytes, true, error);
    if (status == LX_OK)
        lx__file_close(&file);
    return status;
}

lx_status lx__sealed_check(const lx__store *store, const lx__state *state, const lx__wal_scan *scan,
                           lx_error *error)
{
    if (state->rows != state->length || lx__overlay_count(&state->overlay) != 0 ||
        scan->durable.offset != state->position.offset)
        return disagree(store, error,
                        "the WAL contains changes that are not durable or not in the tables");
    if (store->meta.length != state->length)
        return disagree(store, error, "the lengths in meta.json and in the WAL differ");
    if (!unfull_agrees(store, state))
        return disagree(store, error, "the chunks in meta.json and in the WAL differ");
    if (json_object_size(json_object_get(store->meta.document, "tables")) !=
        2 * store->meta.schema->count)
        return disagree(store, error, "the tables in meta.json do not match the fields");
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < store->meta.schema->count; i++) {
        status = visit_table(store, state, i, LX__OFFSET_KIND, check_size, error);
        if (status == LX_OK)
            status = visit_table(store, state, i, LX__CHECK_KIND, check_size, error);
    }
    return status;
}

lx_status lx__file_sum(const lx__file *file, uint64_t *bytes, uint32_t *crc, lx_error *error)
{
    uint8_t *buffer = lx__alloc(STEP);
    if (buffer == NULL)
        return lx__fail_memory(error, "a checksum");
    lx_status status;
    size_t got;
    *bytes = 0;
    *crc = 0;
    do {
        status = lx__file_read_some(file, buffer, STEP, *bytes, &got, error);
        if (status != LX_OK)
            break;
        *crc = lx__crc32c(*crc, buffer, got);
        *bytes += got;
    } while (got == STEP);
    lx__free(buffer);
    return status;
}

static lx_status check_crc(const lx__store *store, const char *name, uint64_t bytes,
                           lx_error *error)
{
    lx__table_seal seal;
    lx__file file;
    uint64_t size;
    uint32_t crc;
    lx_status status = lx__meta_get_table(&store->meta, name, &seal, error);
    if (status == LX_OK)
        status = lx__committed_open(&file, &store->directory, name, O_RDONLY, bytes, true, error);
    if (status != LX_OK)
        return status;
    status = lx__file_sum(&file, &size, &crc, error);
    if (status == LX_OK && crc != seal.crc && lx__file_renew(&file, 0, bytes))
        status = lx__file_sum(&file, &size, &crc, error);
    if (status == LX_OK && (crc != seal.crc || size != seal.bytes)) {
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "table checksum mismatch: expected %08x, computed %08x", seal.crc, crc);
        lx_error_locate(error, file.path, NULL, LX_NONE, LX_NONE);
    }
    lx__file_close(&file);
    return status;
}

lx_status lx__sealed_check_table(const lx__store *store, const lx__state *state, size_t field,
                                 const char *kind, lx_error *error)
{
    return visit_table(store, state, field, kind, check_crc, error);
}

lx_status lx__sealed_check_field(lx__store *store, const lx__state *state, size_t field,
                                 lx_error *error)
{
    uint32_t id = lx__schema_field(store->schema, field)->shown.id, position;
    if (!store->meta.sealed || !lx__schema_find_id(store->meta.schema, id, &position) ||
        atomic_load(&store->tables_checked[field]) || lx__store_was_replaced(store))
        return LX_OK;
    lx_status status = lx__sealed_check_table(store, state, position, LX__OFFSET_KIND, error);
    if (status == LX_OK)
        status = lx__sealed_check_table(store, state, position, LX__CHECK_KIND, error);
    if (status == LX_OK)
        atomic_store(&store->tables_checked[field], true);
    return status;
}
