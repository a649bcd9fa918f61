/* SPDX-License-Identifier: MIT */
#include "zrecord/format/meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <loaderx/card.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/uuid.h"

/* ---- writing */

static int set_integer(json_t *object, const char *key, uint64_t value)
{
    return json_object_set_new(object, key, json_integer((json_int_t)value));
}

/** Sets the optional keys of a field that say how it is compressed; 0 leaves a key out. */
static int set_codec_settings(json_t *field, int level, uint32_t dictionary)
{
    (void)json_object_del(field, "level");
    (void)json_object_del(field, "train");
    return (level != 0 ? set_integer(field, "level", (uint64_t)level) : 0) |
           (dictionary != 0 ? set_integer(field, "train", dictionary) : 0);
}

/** Sets the optional key that says where the shared payload is; leaves it out if there is none. */
static int set_shared(json_t *field, const lx__shared *shared)
{
    (void)json_object_del(field, "shared");
    return shared->bytes == 0
               ? 0
               : json_object_set_new(
                     field, "shared",
                     json_pack("{s:I, s:I, s:I}", "chunk", (json_int_t)shared->chunk, "offset",
                               (json_int_t)shared->offset, "bytes", (json_int_t)shared->bytes));
}

static json_t *field_document(const lx__field *field)
{
    json_t *shape = json_array();
    int failed = 0;
    for (size_t i = 0; i < field->shown.ndim; i++)
        failed |= json_array_append_new(shape, field->shape[i] == LX_NONE
                                                   ? json_null()
                                                   : json_integer((json_int_t)field->shape[i]));
    if (failed) {
        json_decref(shape);
        return NULL;
    }
    json_t *document = json_pack(
        "{s:I, s:s, s:s, s:s, s:o, s:s, s:I, s:n, s:b}", "id", (json_int_t)field->shown.id, "name",
        field->name, "stem", field->stem, "dtype", lx_dtype_get_name(field->shown.dtype), "shape",
        shape, "compress", lx__compression_name(field->shown.compression), "align",
        (json_int_t)field->shown.align, "dict", "complete", (int)field->complete);
    if (document == NULL ||
        (set_codec_settings(document, field->shown.level, field->shown.dictionary) |
         set_shared(document, &field->shared)) == 0)
        return document;
    json_decref(document);
    return NULL;
}

static json_t *chunks_document(uint64_t num, uint64_t size, uint64_t limit, json_t *unfull)
{
    return json_pack("{s:I, s:I, s:I, s:o}", "num", (json_int_t)num, "size", (json_int_t)size,
                     "limit", (json_int_t)limit, "unfull", unfull);
}

/** Returns the features that a reader of the dataset must know. */
static json_t *features_of(const json_t *document)
{
    return json_object_get(json_object_get(document, "features"), "must");
}

static bool has_feature(const json_t *document, const char *name)
{
    const json_t *must = features_of(document);
    for (size_t i = 0; i < json_array_size(must); i++)
        if (strcmp(json_string_value(json_array_get(must, i)), name) == 0)
            return true;
    return false;
}

/** Adds a feature unless it is there. */
static int require_feature(json_t *document, const char *name)
{
    return has_feature(document, name)
               ? 0
               : json_array_append_new(features_of(document), json_string(name));
}

static void drop_feature(json_t *document, const char *name)
{
    json_t *must = features_of(document);
    for (size_t i = json_array_size(must); i-- != 0;)
        if (strcmp(json_string_value(json_array_get(must, i)), name) == 0)
            (void)json_array_remove(must, i);
}

static json_t *new_document(const lx__meta *meta)
{
    json_t *document, *fields = json_array();
    int failed = 0;
    for (size_t i = 0; i < meta->schema->count; i++)
        failed |= json_array_append_new(fields, field_document(lx__schema_field(meta->schema, i)));
    if (failed) {
        json_decref(fields);
        return NULL;
    }
    document = json_pack("{s:[i,i], s:{s:[], s:[]}, s:I, s:s, s:b, s:I, s:o, s:I, s:o}", "format",
                         LX__FORMAT_MAJOR, LX__FORMAT_MINOR, "features", "must", "may",
                         "generation", (json_int_t)meta->generation, "uuid", meta->uuid_text,
                         "sealed", 0, "length", (json_int_t)0, "chunks",
                         chunks_document(0, meta->chunk_records, meta->chunk_limit, json_array()),
                         "next_field", (json_int_t)meta->schema->count, "fields", fields);
    if (document == NULL || !lx__schema_has_ragged(meta->schema) ||
        require_feature(document, LX__FEATURE_RAGGED) == 0)
        return document;
    json_decref(document);
    return NULL;
}

lx_status lx__meta_make(lx__meta *meta, const lx_schema *schema, uint64_t chunk_records,
                        uint64_t chunk_limit, lx_error *error)
{
    *meta =
        (lx__meta){.chunk_records = chunk_records, .chunk_limit = chunk_limit, .changes = LX_NONE};
    lx_status status = lx__uuid_make(meta->uuid, error);
    if (status != LX_OK)
        return status;
    lx__uuid_print(meta->uuid, meta->uuid_text);
    meta->schema = lx__schema_copy(schema);
    for (size_t i = 0; meta->schema != NULL && i < schema->count; i++)
        meta->schema->fields[i]->complete = true;
    if (meta->schema != NULL)
        meta->document = new_document(meta);
    if (meta->document != NULL)
        return LX_OK;
    lx__meta_free(meta);
    return lx__fail_memory(error, LX__META_NAME);
}

/* ---- successors */

lx_status lx__meta_succeed(lx__meta *successor, const lx__meta *meta, lx_error *error)
{
    *successor = *meta;
    successor->document = json_deep_copy(meta->document);
    return successor->document != NULL ? LX_OK : lx__fail_memory(error, LX__META_NAME);
}

void lx__meta_free_document(lx__meta *meta)
{
    json_decref(meta->document);
    *meta = (lx__meta){0};
}

/** Converts a jansson result: setting a value fails only when memory runs out. */
static lx_status have_set(int failed, lx_error *error)
{
    return failed == 0 ? LX_OK : lx__fail_memory(error, LX__META_NAME);
}

lx_status lx__meta_set_uuid(lx__meta *meta, const uint8_t uuid[LX__UUID_BYTES], lx_error *error)
{
    memcpy(meta->uuid, uuid, LX__UUID_BYTES);
    lx__uuid_print(uuid, meta->uuid_text);
    return have_set(json_object_set_new(meta->document, "uuid", json_string(meta->uuid_text)),
                    error);
}

lx_status lx__meta_set_generation(lx__meta *meta, uint64_t generation, lx_error *error)
{
    if (generation > LX__GENERATION_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "all generations have been used: copy the dataset to continue");
    meta->generation = generation;
    return have_set(set_integer(meta->document, "generation", generation), error);
}

lx_status lx__meta_set_state(lx__meta *meta, uint64_t length, const lx__chunk_item *chunks,
                             size_t chunk_count, lx_error *error)
{
    json_t *unfull = json_array(), *object = json_object_get(meta->document, "chunks");
    int failed = 0;
    for (size_t i = 0; i < chunk_count; i++)
        if (chunks[i].records < meta->chunk_records && chunks[i].bytes < meta->chunk_limit)
            failed |= json_array_append_new(unfull, json_pack("[I, I, I]", (json_int_t)chunks[i].id,
                                                              (json_int_t)chunks[i].bytes,
                                                              (json_int_t)chunks[i].records));
    failed |= set_integer(object, "num", chunk_count);
    failed |= json_object_set_new(object, "unfull", unfull);
    failed |= set_integer(meta->document, "length", length);
    meta->length = length;
    return have_set(failed, error);
}

lx_status lx__meta_seal(lx__meta *meta, const lx__table_seal *tables, size_t table_count,
                        lx_error *error)
{
    json_t *sums = json_object();
    int failed = 0;
    for (size_t i = 0; i < table_count; i++)
        failed |= json_object_set_new(sums, tables[i].name,
                                      json_pack("{s:I, s:I}", "bytes", (json_int_t)tables[i].bytes,
                                                "crc", (json_int_t)tables[i].crc));
    failed |= json_object_set_new(meta->document, "tables", sums);
    failed |= json_object_set_new(meta->document, "sealed", json_true());
    meta->sealed = true;
    return have_set(failed, error);
}

lx_status lx__meta_unseal(lx__meta *meta, lx_error *error)
{
    (void)json_object_del(meta->document, "tables");
    meta->sealed = false;
    return have_set(json_object_set_new(meta->document, "sealed", json_false()), error);
}

lx_status lx__meta_set_parts(lx__meta *meta, const lx__chunk_run *runs, size_t count,
                             lx_error *error)
{
    lx__free(meta->runs);
    meta->runs = NULL;
    meta->run_count = 0;
    if (count == 0) {
        drop_feature(meta->document, LX__FEATURE_PARTS);
        (void)json_object_del(meta->document, LX__KEY_PARTS);
        return LX_OK;
    }
    json_t *parts = lx__parts_document(runs, count);
    lx_status status = have_set(json_object_set_new(meta->document, LX__KEY_PARTS, parts) |
                                    require_feature(meta->document, LX__FEATURE_PARTS),
                                error);
    return status == LX_OK ? lx__parts_read(parts, &meta->runs, &meta->run_count, error) : status;
}

uint64_t lx__meta_get_next_field(const lx__meta *meta)
{
    return (uint64_t)json_integer_value(json_object_get(meta->document, "next_field"));
}

lx_status lx__meta_set_next_field(lx__meta *meta, uint64_t id, lx_error *error)
{
    return have_set(set_integer(meta->document, "next_field", id), error);
}

static json_t *fields_of(const lx__meta *meta)
{
    return json_object_get(meta->document, "fields");
}

bool lx__meta_find_dict(const lx__meta *meta, size_t position, lx__dict *dict)
{
    const json_t *object = json_object_get(json_array_get(fields_of(meta), position), "dict");
    if (dict != NULL)
        *dict = (lx__dict){(uint64_t)json_integer_value(json_object_get(object, "bytes")),
                           (uint32_t)json_integer_value(json_object_get(object, "crc"))};
    return json_is_object(object);
}

/** Sets what the document says because of a new field. */
static int note_field(lx__meta *meta, const lx__field *field)
{
    int failed = set_integer(meta->document, "next_field", (uint64_t)field->shown.id + 1);
    return lx__field_is_ragged(&field->shown)
               ? failed | require_feature(meta->document, LX__FEATURE_RAGGED)
               : failed;
}

lx_status lx__meta_add_field(lx__meta *meta, const lx__field *field, lx_error *error)
{
    int failed = json_array_append_new(fields_of(meta), field_document(field));
    return have_set(failed | note_field(meta, field), error);
}

lx_status lx__meta_replace_field(lx__meta *meta, size_t position, const lx__field *field,
                                 lx_error *error)
{
    int failed = json_array_set_new(fields_of(meta), position, field_document(field));
    return have_set(failed | note_field(meta, field), error);
}

lx_status lx__meta_drop_field(lx__meta *meta, size_t position, lx_error *error)
{
    return have_set(json_array_remove(fields_of(meta), position), error);
}

lx_status lx__meta_rename_field(lx__meta *meta, size_t position, const char *name, lx_error *error)
{
    json_t *field = json_array_get(fields_of(meta), position);
    return have_set(json_object_set_new(field, "name", json_string(name)), error);
}

lx_status lx__meta_set_codec_settings(lx__meta *meta, size_t position, int level,
                                      uint32_t dictionary, lx_error *error)
{
    return have_set(
        set_codec_settings(json_array_get(fields_of(meta), position), level, dictionary), error);
}

lx_status lx__meta_set_dict(lx__meta *meta, size_t position, const lx__dict *dict, lx_error *error)
{
    json_t *value = json_pack("{s:I, s:I}", "bytes", (json_int_t)dict->bytes, "crc",
                              (json_int_t)dict->crc);
    return have_set(json_object_set_new(json_array_get(fields_of(meta), position), "dict", value),
                    error);
}

lx_status lx__meta_set_shared(lx__meta *meta, size_t position, const lx__shared *shared,
                              lx_error *error)
{
    return have_set(set_shared(json_array_get(fields_of(meta), position), shared), error);
}

lx_status lx__meta_set_complete(lx__meta *meta, size_t position, bool complete, lx_error *error)
{
    json_t *field = json_array_get(fields_of(meta), position);
    return have_set(json_object_set_new(field, "complete", json_boolean(complete)), error);
}

lx_status lx__meta_set_changes(lx__meta *meta, lx_error *error)
{
    int failed = 0;
    for (size_t i = 0; i < meta->schema->count; i++)
        failed |= set_integer(json_array_get(fields_of(meta), i), "changes",
                              lx__schema_field(meta->schema, i)->changes & LX__CHANGES_MAX);
    if (meta->changes == LX_NONE)
        (void)json_object_del(meta->document, "changes");
    else
        failed |= set_integer(meta->document, "changes", meta->changes & LX__CHANGES_MAX);
    return have_set(failed, error);
}

const json_t *lx__meta_get_card(const lx__meta *meta)
{
    return json_object_get(meta->document, "card");
}

lx_status lx__meta_fail_incomplete(lx_error *error)
{
    return lx_fail(error, LX_ERR_STATE,
                   "an import into the dataset is not complete: resume it or, to keep the dataset "
                   "as it is, remove the entry " LX_CARD_IMPORT " of its card");
}

lx_status lx__meta_check_imported(const lx__meta *meta, lx_error *error)
{
    return json_object_get(lx__meta_get_card(meta), LX_CARD_IMPORT) == NULL
               ? LX_OK
               : lx__meta_fail_incomplete(error);
}

lx_status lx__meta_set_card(lx__meta *meta, const json_t *card, lx_error *error)
{
    if (json_object_size(card) != 0)
        return have_set(json_object_set_new(meta->document, "card", json_deep_copy(card)), error);
    (void)json_object_del(meta->document, "card");
    return LX_OK;
}

/* ---- reading */

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

bool lx__meta_requires(const lx__meta *meta, const char *name)
{
    return has_feature(meta->document, name);
}

lx_status lx__meta_check_whole(const lx__meta *meta, lx_error *error)
{
    return meta->run_count == 0
               ? LX_OK
               : lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the dataset cannot be changed, because it was joined from parts: copy "
                         "it, for example with 'loaderx copy', and change the copy");
}

size_t lx__meta_count_parts(const lx__meta *meta)
{
    return json_array_size(json_object_get(meta->document, LX__KEY_PARTS));
}

void lx__meta_get_chunk_path(const lx__meta *meta, uint32_t id, char path[LX__CHUNK_PATH_SIZE])
{
    char name[LX__NAME_SIZE];
    const lx__chunk_run *run = lx__parts_find(meta->runs, meta->run_count, id);
    lx__chunk_name(run != NULL ? run->first_there + (id - run->first) : id, name);
    snprintf(path, LX__CHUNK_PATH_SIZE, "%s%s" LX__CHUNK_DIRECTORY "/%s",
             run != NULL ? run->part : "", run != NULL ? "/" : "", name);
}

uint64_t lx__meta_count_table_bytes(const lx__meta *meta)
{
    const char *name;
    json_t *table;
    uint64_t total = 0, bytes;
    json_object_foreach(json_object_get(meta->document, "tables"), name, table)
    {
        if (lx__json_get_integer(table, "bytes", 0, INT64_MAX, &bytes, NULL) != LX_OK ||
            !lx__add_fits(total, bytes, &total))
            return LX_NONE;
    }
    return total;
}

void lx__meta_free(lx__meta *meta)
{
    json_decref(meta->document);
    lx_schema_free(meta->schema);
    lx__free(meta->runs);
    *meta = (lx__meta){0};
}
