/* SPDX-License-Identifier: MIT */
#include "zrecord/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/uuid.h"

const char *const lx__compression_names[LX__COMPRESSIONS] = {"raw", "flate", "zstd"};

/* ---- writing */

static json_t *field_document(const lx__field *field)
{
    json_t *shape = json_array();
    for (size_t i = 0; shape != NULL && i < field->shown.ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)field->shape[i]));
    return json_pack("{s:I, s:s, s:s, s:s, s:o, s:s, s:I, s:n}", "id",
                     (json_int_t)field->shown.id, "name", field->name, "stem", field->stem,
                     "dtype", lx_dtype_get_name(field->shown.dtype), "shape", shape, "compress",
                     lx__compression_names[field->shown.compression], "align",
                     (json_int_t)field->shown.align, "dict");
}

static json_t *chunks_document(uint64_t num, uint64_t size, uint64_t limit, json_t *unfull)
{
    return json_pack("{s:I, s:I, s:I, s:o}", "num", (json_int_t)num, "size", (json_int_t)size,
                     "limit", (json_int_t)limit, "unfull", unfull);
}

static json_t *new_document(const lx__meta *meta)
{
    json_t *fields = json_array();
    for (size_t i = 0; fields != NULL && i < meta->schema->count; i++)
        if (json_array_append_new(fields, field_document(lx__schema_field(meta->schema, i))) != 0)
            return NULL;
    return json_pack("{s:[i,i], s:{s:[], s:[]}, s:I, s:s, s:b, s:I, s:o, s:I, s:o}", "format",
                     LX__FORMAT_MAJOR, LX__FORMAT_MINOR, "features", "must", "may", "generation",
                     (json_int_t)meta->generation, "uuid", meta->uuid_text, "sealed", 0, "length",
                     (json_int_t)0, "chunks",
                     chunks_document(0, meta->chunk_records, meta->chunk_limit, json_array()),
                     "next_field", (json_int_t)meta->schema->count, "fields", fields);
}

lx_status lx__meta_make(lx__meta *meta, const lx_schema *schema, uint64_t chunk_records,
                        uint64_t chunk_limit, lx_error *error)
{
    *meta = (lx__meta){.chunk_records = chunk_records, .chunk_limit = chunk_limit};
    lx_status status = lx__uuid_make(meta->uuid, error);
    if (status != LX_OK)
        return status;
    lx__uuid_print(meta->uuid, meta->uuid_text);
    meta->schema = lx__schema_copy(schema);
    if (meta->schema != NULL)
        meta->document = new_document(meta);
    if (meta->document != NULL)
        return LX_OK;
    lx__meta_free(meta);
    return lx__fail_memory(error, LX__META_NAME);
}

lx_status lx__meta_seal(lx__meta *meta, uint64_t length, const lx__chunk_item *chunks,
                        size_t chunk_count, const lx__table_seal *tables, size_t table_count,
                        lx_error *error)
{
    json_t *unfull = json_array(), *sums = json_object();
    int failed = 0;
    for (size_t i = 0; i < chunk_count; i++)
        if (chunks[i].records < meta->chunk_records && chunks[i].bytes < meta->chunk_limit)
            failed |= json_array_append_new(
                unfull, json_pack("[I, I, I]", (json_int_t)chunks[i].id,
                                  (json_int_t)chunks[i].bytes, (json_int_t)chunks[i].records));
    for (size_t i = 0; i < table_count; i++)
        failed |= json_object_set_new(sums, tables[i].name,
                                      json_pack("{s:I, s:I}", "bytes",
                                                (json_int_t)tables[i].bytes, "crc",
                                                (json_int_t)tables[i].crc));
    json_t *document = meta->document;
    failed |= json_object_set_new(document, "sealed", json_true());
    failed |= json_object_set_new(document, "length", json_integer((json_int_t)length));
    failed |= json_object_set_new(
        document, "chunks",
        chunks_document(chunk_count, meta->chunk_records, meta->chunk_limit, unfull));
    failed |= json_object_set_new(document, "tables", sums);
    if (failed)
        return lx__fail_memory(error, LX__META_NAME);
    meta->sealed = true;
    meta->length = length;
    return LX_OK;
}

static lx_status write_new(const char *text, const lx__file *directory, lx_error *error)
{
    lx__file file;
    lx_status status = lx__file_open(&file, directory, LX__META_NEW_NAME,
                                     O_WRONLY | O_CREAT | O_TRUNC, error);
    if (status != LX_OK)
        return status;
    status = lx__file_write(&file, text, strlen(text), 0, error);
    if (status == LX_OK && !LX__FAULT(META_BEFORE_PARTS))
        status = lx__file_sync(&file, error);
    lx__file_close(&file);
    return status;
}

lx_status lx__meta_replace(const lx__meta *meta, const lx__file *directory, lx_error *error)
{
    char *text = lx__json_text(meta->document, JSON_INDENT(2));
    if (text == NULL)
        return lx__fail_memory(error, LX__META_NAME);
    lx_status status = write_new(text, directory, error);
    lx__free(text);
    if (status == LX_OK)
        status = lx__file_rename(directory, LX__META_NEW_NAME, LX__META_NAME, error);
    if (status == LX_OK && !LX__FAULT(META_SYNC))
        status = lx__file_sync(directory, error);
    return status;
}

/* ---- what it says */

lx_status lx__meta_get_table(const lx__meta *meta, const char *name, lx__table_seal *table,
                             lx_error *error)
{
    json_t *tables, *entry;
    uint64_t crc;
    lx_status status = lx__json_get(meta->document, "tables", JSON_OBJECT, &tables, error);
    if (status == LX_OK)
        status = lx__json_get(tables, name, JSON_OBJECT, &entry, error);
    if (status == LX_OK)
        status = lx__json_get_integer(entry, "bytes", 0, INT64_MAX, &table->bytes, error);
    if (status == LX_OK)
        status = lx__json_get_integer(entry, "crc", 0, UINT32_MAX, &crc, error);
    if (status == LX_OK)
        table->crc = (uint32_t)crc;
    return status;
}

void lx__meta_free(lx__meta *meta)
{
    json_decref(meta->document);
    lx_schema_free(meta->schema);
    *meta = (lx__meta){0};
}
