/* SPDX-License-Identifier: MIT */
#include "zrecord/maintenance/join-fields.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/table/dictionary-file.h"

static const lx_schema *schema_of(const lx__join_part *part)
{
    return part->snapshot->store->schema;
}

/* ---- the fields */

/** Fails unless the values of the field are stored in the same way in the first part and in
 * @p part. */
static lx_status compare_field(const lx__join *self, const lx__join_part *part, size_t position,
                               lx_error *error)
{
    const lx_field *first = &lx__schema_field(schema_of(self->parts), position)->shown, *other;
    size_t found;
    const char *what = NULL;
    if (lx_schema_find_field(schema_of(part), first->name, &found, NULL) != LX_OK) {
        what = "is missing, unlike in the first part";
    } else {
        other = &lx__schema_field(schema_of(part), found)->shown;
        if (!lx__field_same_form(first, other))
            what = "has a different dtype or shape in the first part";
        else if (first->compression != other->compression)
            what = "is compressed differently in the first part";
        else if (first->align != other->align)
            what = "has a different alignment in the first part";
    }
    if (what == NULL)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                               "the field %s: all parts must have the same fields", what);
    lx_error_locate(error, part->snapshot->store->directory.path, first->name, LX_NONE, LX_NONE);
    return status;
}

static lx_status compare_fields(const lx__join *self, const lx__join_part *part, lx_error *error)
{
    size_t count = schema_of(self->parts)->count;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = compare_field(self, part, i, error);
    if (status == LX_OK && schema_of(part)->count != count) {
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the part has %zu fields, but the first part has %zu: all parts must have "
                         "the same fields",
                         schema_of(part)->count, count);
        lx_error_locate(error, part->snapshot->store->directory.path, NULL, LX_NONE, LX_NONE);
    }
    return status;
}

/** Makes the fields of the joined dataset, which is new: their stems are their names. */
static lx_status make_schema(const lx__join *self, lx_schema **schema, lx_error *error)
{
    lx_status status = LX_OK;
    *schema = lx_schema_new();
    if (*schema == NULL)
        return lx__fail_memory(error, "a schema");
    for (size_t i = 0; status == LX_OK && i < schema_of(self->parts)->count; i++) {
        lx_field field = lx__schema_field(schema_of(self->parts), i)->shown;
        field.id = (uint32_t)i;
        status = lx__schema_add(*schema, &field, field.name, true, error);
    }
    return status;
}

/** A field is complete if it is in all parts. */
static lx_status set_complete(lx__join *self, size_t position, lx_error *error)
{
    bool complete = true;
    for (size_t i = 0; i < self->count; i++) {
        const lx__join_part *part = &self->parts[i];
        complete = complete && !lx__snapshot_may_be_missing(
                                   part->snapshot, lx__join_find_field(self, part, position));
    }
    return lx__meta_set_complete(&self->meta, position, complete, error);
}

/* ---- dictionaries */

/** Whether the field at @p position has a dictionary in a part; sets @p dict. */
static bool find_dict(const lx__join *self, const lx__join_part *part, size_t position,
                      lx__dict *dict)
{
    const lx__meta *meta = &part->snapshot->store->meta;
    size_t there = lx__join_find_field(self, part, position);
    uint32_t at;
    return lx__schema_find_id(meta->schema, lx__schema_field(schema_of(part), there)->shown.id,
                              &at) &&
           lx__meta_find_dict(meta, at, dict);
}

/** Fails because the dictionary of a field in @p part differs from that in a part before it. */
static lx_status refuse_dict(const lx__join *self, const lx__join_part *part, size_t position,
                             lx_error *error)
{
    lx_status status =
        lx_fail(error, LX_ERR_UNSUPPORTED,
                "the field has a different zstd dictionary in another part, and a field has one "
                "dictionary: write the parts without dictionaries, or copy them to one dataset "
                "instead");
    lx_error_locate(error, part->snapshot->store->directory.path,
                    lx__schema_field(self->meta.schema, position)->name, LX_NONE, LX_NONE);
    return status;
}

/** Gives the field the dictionary of those parts that have one. Values of the others do not name
 * it, so it is not used for them. The bytes are compared later, when they are read. */
static lx_status set_dict(lx__join *self, size_t position, lx_error *error)
{
    lx__dict dict, first = {0};
    for (size_t i = 0; i < self->count; i++) {
        const lx__join_part *part = &self->parts[i];
        if (!find_dict(self, part, position, &dict))
            continue;
        if (first.bytes != 0 && (dict.bytes != first.bytes || dict.crc != first.crc))
            return refuse_dict(self, part, position, error);
        first = dict;
    }
    return first.bytes != 0 ? lx__meta_set_dict(&self->meta, position, &first, error) : LX_OK;
}

static lx_status read_dict(const lx__join *self, const lx__join_part *part, size_t position,
                           const lx__dict *dict, uint8_t **data, lx_error *error)
{
    const lx__store *store = part->snapshot->store;
    const lx__field *field = lx__schema_field(store->schema,
                                              lx__join_find_field(self, part, position));
    return lx__dictionary_read(&store->directory, field->stem, dict, data, error);
}

static lx_status write_dict(const lx__join *self, size_t position, const uint8_t *data, size_t size,
                            lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__file file;
    lx__dict_name(lx__schema_field(self->meta.schema, position)->stem, name);
    lx_status status = lx__file_open(&file, &self->directory, name, O_WRONLY | O_CREAT | O_TRUNC,
                                     error);
    if (status != LX_OK)
        return status;
    status = lx__file_write(&file, data, size, 0, error);
    if (status == LX_OK)
        status = lx__file_sync(&file, error);
    lx__file_close(&file);
    return status;
}

/** Writes the dictionary of a field, which all parts that have one must have byte by byte. */
static lx_status copy_dict(const lx__join *self, size_t position, lx_error *error)
{
    lx__dict dict;
    uint8_t *first = NULL, *data;
    size_t size = 0; /* of all of them */
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++) {
        const lx__join_part *part = &self->parts[i];
        if (!find_dict(self, part, position, &dict))
            continue;
        status = read_dict(self, part, position, &dict, &data, error);
        size = (size_t)dict.bytes;
        if (first == NULL) {
            first = data;
        } else {
            if (status == LX_OK && memcmp(first, data, size) != 0)
                status = refuse_dict(self, part, position, error);
            lx__free(data);
        }
    }
    if (status == LX_OK && first != NULL)
        status = write_dict(self, position, first, size, error);
    lx__free(first);
    return status;
}

lx_status lx__join_copy_dictionaries(const lx__join *self, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->meta.schema->count; i++)
        status = copy_dict(self, i, error);
    return status;
}

/* ---- everything else */

/** Whether all parts have this text in their cards. */
static bool is_common(const lx__join *self, const char *key, const json_t *text)
{
    bool common = true;
    for (size_t i = 1; i < self->count && common; i++) {
        const json_t *card = lx__meta_get_card(&self->parts[i].snapshot->store->meta);
        common = json_equal(json_object_get(card, key), text);
    }
    return common;
}

/** Gives the joined dataset what the cards of all parts have in common. */
static lx_status set_card(lx__join *self, lx_error *error)
{
    const json_t *there = lx__meta_get_card(&self->parts->snapshot->store->meta);
    json_t *first = json_deep_copy(there), *card = json_object(), *text;
    const char *key;
    int failed = there != NULL && first == NULL;
    json_object_foreach(first, key, text)
    {
        if (is_common(self, key, text))
            failed |= json_object_set(card, key, text);
    }
    lx_status status = failed == 0 ? lx__meta_set_card(&self->meta, card, error)
                                   : lx__fail_memory(error, "a card");
    json_decref(card);
    json_decref(first);
    return status;
}

lx_status lx__join_make_meta(lx__join *self, lx_error *error)
{
    lx_schema *schema = NULL;
    uint64_t records = 0, limit = 0;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->count; i++) {
        const lx__meta *meta = &self->parts[i].snapshot->store->meta;
        status = compare_fields(self, &self->parts[i], error);
        records = meta->chunk_records > records ? meta->chunk_records : records;
        limit = meta->chunk_limit > limit ? meta->chunk_limit : limit;
    }
    if (status == LX_OK)
        status = make_schema(self, &schema, error);
    if (status == LX_OK)
        status = lx__meta_make(&self->meta, schema, records, limit, error);
    lx_schema_free(schema);
    for (size_t i = 0; status == LX_OK && i < self->meta.schema->count; i++) {
        status = set_complete(self, i, error);
        if (status == LX_OK)
            status = set_dict(self, i, error);
    }
    return status == LX_OK ? set_card(self, error) : status;
}
