/* SPDX-License-Identifier: MIT */
#include "zrecord/format/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

#define ALIGN_VARYING 8u
/* The largest default alignment: one cache line. */
#define ALIGN_EQUAL 64u

lx_schema *lx_schema_new(void)
{
    return lx__alloc_array(1, sizeof(lx_schema));
}

static void field_free(lx__field *field)
{
    if (field == NULL)
        return;
    lx__free(field->shape);
    lx__free(field);
}

void lx_schema_free(lx_schema *schema)
{
    if (schema == NULL || atomic_fetch_sub_explicit(&schema->more, 1, memory_order_acq_rel) != 0)
        return;
    for (size_t i = 0; i < schema->count; i++)
        field_free(schema->fields[i]);
    lx__free(schema->fields);
    lx__free(schema);
}

static const char name_characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_.-";

bool lx__field_name_valid(const char *name)
{
    size_t length = strspn(name, name_characters);
    return length >= 1 && length <= LX_MAX_FIELD_NAME && name[length] == '\0' && name[0] != '.';
}

lx_status lx__field_name_make(const char *source, char name[LX_MAX_FIELD_NAME + 1], lx_error *error)
{
    size_t size = strlen(source);
    if (size == 0 || size > LX_MAX_FIELD_NAME)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the name '%.64s' of a field has %zu bytes: it must have 1 to %d", source,
                       size, LX_MAX_FIELD_NAME);
    memcpy(name, source, size + 1);
    for (size_t i = 0; i < size; i++)
        if (strchr(name_characters, name[i]) == NULL || (i == 0 && name[i] == '.'))
            name[i] = '_';
    return LX_OK;
}

static lx_status measure_bytes(lx_field *field, lx_error *error)
{
    if (field->ndim != 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "field '%s': a field of %s cannot have a shape",
                       field->name, lx_dtype_get_name(field->dtype));
    field->size = LX_NONE;
    field->item_size = 1;
    return LX_OK;
}

/** Checks the extents that a ragged field may have. */
static lx_status check_ragged(const lx_field *field, lx_error *error)
{
    for (size_t i = 1; i < field->ndim; i++) {
        if (field->shape[i] == LX_NONE)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "field '%s': extent %zu of the shape varies, but only the first one may",
                           field->name, i);
        if (field->shape[i] == 0 && field->shape[0] == LX_NONE)
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "field '%s': extent %zu of the shape is 0, so the first extent, which "
                           "varies, would be unknown: use a positive extent",
                           field->name, i);
    }
    return LX_OK;
}

/** Computes the sizes of values and of their items. Even if an extent is 0, the product of the
 * other extents must be within the limit, as in NumPy. */
static lx_status measure(lx_field *field, lx_error *error)
{
    if (lx_dtype_is_bytes(field->dtype))
        return measure_bytes(field, error);
    uint64_t item = lx_dtype_get_size(field->dtype), nonzero = item;
    if (item == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "field '%s': dtype %d is invalid", field->name,
                       (int)field->dtype);
    if (field->ndim > LX_MAX_NDIM)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field '%s': the shape has %zu dimensions, but at most %d are supported",
                       field->name, field->ndim, LX_MAX_NDIM);
    lx_status status = check_ragged(field, error);
    if (status != LX_OK)
        return status;
    bool fits = true, ragged = lx__field_is_ragged(field);
    for (size_t i = ragged ? 1 : 0; i < field->ndim; i++) {
        uint64_t extent = field->shape[i];
        fits = fits && (extent == 0 || lx__multiply_fits(nonzero, extent, &nonzero));
        item *= i != 0 ? extent : 1; /* if this overflows, fits is false */
    }
    uint64_t size = ragged ? LX_NONE : field->ndim != 0 ? item * field->shape[0] : item;
    if (!fits || nonzero > LX_MAX_VALUE)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field '%s': the size of a%s value%s exceeds %u bytes", field->name,
                       ragged ? "n item of a" : "", size == 0 ? ", not counting extents of 0," : "",
                       LX_MAX_VALUE);
    field->size = size;
    field->item_size = item;
    return LX_OK;
}

/** Returns the default alignment of a field. For dense raw values, it is the largest power of two
 * that divides the value size, but at most a cache line, so that chunks have no gaps between
 * values. Allowing up to a page would waste space: a short value between page-sized values would
 * take up a page as well. */
static uint32_t default_align(uint64_t size, lx_compression compression)
{
    if (size == LX_NONE || size == 0 || compression != LX_COMPRESSION_RAW)
        return ALIGN_VARYING;
    uint64_t power = size & -size;
    return power < ALIGN_EQUAL ? (uint32_t)power : ALIGN_EQUAL;
}

static lx_status check_new(const lx_schema *schema, const lx_field *field, const char *stem,
                           lx_error *error)
{
    if (field->name == NULL || !lx__field_name_valid(field->name))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field name '%.80s' is invalid: use 1 to %d of the characters A-Z a-z 0-9 _ "
                       ". - without a leading dot",
                       field->name != NULL ? field->name : "(null)", LX_MAX_FIELD_NAME);
    if (schema->count >= LX_MAX_FIELDS)
        return lx_fail(error, LX_ERR_LIMIT, "cannot add a field: the limit is %d fields",
                       LX_MAX_FIELDS);
    for (size_t i = 0; i < schema->count; i++) {
        const lx__field *other = schema->fields[i];
        if (strcmp(other->name, field->name) == 0 || strcmp(other->stem, stem) == 0 ||
            other->shown.id == field->id)
            return lx_fail(error, LX_ERR_EXISTS, "field '%s' already exists", field->name);
    }
    return LX_OK;
}

static lx_status fill(lx__field *field, const lx_field *from, const char *stem, lx_error *error)
{
    field->shape = lx__alloc_array(from->ndim, sizeof *field->shape);
    if (field->shape == NULL)
        return lx__fail_memory(error, "a field");
    if (from->ndim != 0)
        memcpy(field->shape, from->shape, from->ndim * sizeof *field->shape);
    snprintf(field->name, sizeof field->name, "%s", from->name);
    snprintf(field->stem, sizeof field->stem, "%s", stem);
    field->shown = *from;
    field->shown.name = field->name;
    field->shown.shape = field->shape;
    if (field->shown.align == 0)
        field->shown.align = default_align(from->size, from->compression);
    return LX_OK;
}

lx_status lx__schema_add(lx_schema *schema, const lx_field *given, const char *stem, bool complete,
                         lx_error *error)
{
    lx_field from = *given;
    lx_status status = check_new(schema, &from, stem, error);
    if (status == LX_OK)
        status = measure(&from, error);
    if (status == LX_OK)
        status = lx__codec_settings_check(from.name, from.compression, from.level, from.dictionary,
                                          error);
    if (status != LX_OK)
        return status;

    lx__field **fields = lx__grow_array(schema->fields, schema->count, &schema->capacity,
                                        sizeof *fields);
    if (fields == NULL)
        return lx__fail_memory(error, "a field");
    schema->fields = fields;
    lx__field *field = lx__alloc_array(1, sizeof *field);
    if (field == NULL)
        return lx__fail_memory(error, "a field");
    status = fill(field, &from, stem, error);
    field->complete = complete;
    if (status == LX_OK)
        fields[schema->count++] = field;
    else
        field_free(field);
    return status;
}

lx_status lx__schema_add_copy(lx_schema *schema, const lx__field *field, const char *name,
                              lx_error *error)
{
    lx_field shown = field->shown;
    shown.name = name;
    lx_status status = lx__schema_add(schema, &shown, field->stem, field->complete, error);
    if (status != LX_OK)
        return status;
    schema->fields[schema->count - 1]->changes = field->changes;
    schema->fields[schema->count - 1]->shared = field->shared;
    return LX_OK;
}

lx_status lx__compression_check(const char *name, lx_compression compression, lx_error *error)
{
    const lx__codec *codec = lx__codec_of(compression);
    if (compression == LX_COMPRESSION_RAW || (codec != NULL && codec->deflate != NULL))
        return LX_OK;
    if (codec != NULL)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "field '%.80s': compression %s is not supported: this library was built "
                       "without it: use raw or flate",
                       name != NULL ? name : "(null)", codec->name);
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "field '%.80s': compression %d is invalid: use raw, flate or zstd",
                   name != NULL ? name : "(null)", (int)compression);
}

lx_status lx__codec_settings_check(const char *name, lx_compression compression, int level,
                                   uint32_t dictionary, lx_error *error)
{
    const lx__codec *codec = lx__codec_of(compression);
    if (codec == NULL && (level != 0 || dictionary != 0))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field '%.80s' is not compressed: it cannot have a %s", name,
                       level != 0 ? "level" : "dictionary");
    if (codec == NULL)
        return LX_OK;
    if (level < 0 || level > codec->level_max)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field '%.80s': level %d is out of range: use 1 to %d for %s", name, level,
                       codec->level_max, codec->name);
    if (dictionary != 0 && !codec->dictionaries)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field '%.80s': compression %s has no dictionaries: use zstd", name,
                       codec->name);
    if (dictionary > LX_MAX_DICTIONARY)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "field '%.80s': a dictionary of %u bytes is too large: use at most %u", name,
                       dictionary, LX_MAX_DICTIONARY);
    return LX_OK;
}

lx_status lx_schema_set_compression(lx_schema *schema, const char *name, int level,
                                    uint32_t dictionary, lx_error *error)
{
    size_t position;
    lx_status status = lx_schema_find_field(schema, name, &position, error);
    if (status != LX_OK)
        return status;
    lx_field *field = &schema->fields[position]->shown;
    status = lx__codec_settings_check(name, field->compression, level, dictionary, error);
    if (status == LX_OK) {
        field->level = level;
        field->dictionary = dictionary;
    }
    return status;
}

lx_status lx_schema_add_field(lx_schema *schema, const char *name, lx_dtype dtype,
                              const uint64_t *shape, size_t ndim, lx_compression compression,
                              lx_error *error)
{
    if (schema == NULL)
        return lx__fail_null(error, "schema");
    if (ndim != 0 && shape == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "shape is NULL");
    lx_status status = lx__compression_check(name, compression, error);
    if (status != LX_OK)
        return status;
    lx_field field = {.name = name,
                      .dtype = dtype,
                      .ndim = ndim,
                      .shape = shape,
                      .compression = compression,
                      .id = (uint32_t)schema->count};
    return lx__schema_add(schema, &field, name != NULL ? name : "", false, error);
}

lx_schema *lx__schema_ref(lx_schema *schema)
{
    atomic_fetch_add_explicit(&schema->more, 1, memory_order_relaxed);
    return schema;
}

bool lx__field_same_form(const lx_field *a, const lx_field *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           (a->ndim == 0 || memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0);
}

/** Whether both fields have the same dtype, shape and compression. */
static bool same_values(const lx_field *a, const lx_field *b)
{
    return a->compression == b->compression && lx__field_same_form(a, b);
}

static lx_status pick(lx_schema *schema, const lx_schema *now, const lx__field *shown,
                      lx_error *error)
{
    uint32_t position;
    lx_status status = LX_OK;
    if (!lx__schema_find_id(now, shown->shown.id, &position)) {
        status = lx_fail(error, LX_ERR_STATE,
                         "the field was dropped: close this handle and open the dataset again");
    } else {
        const lx__field *there = lx__schema_field(now, position);
        if (same_values(&there->shown, &shown->shown))
            return lx__schema_add_copy(schema, there, shown->name, error);
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the dtype, shape or compression of the field has changed");
    }
    lx_error_locate(error, NULL, shown->name, LX_NONE, LX_NONE);
    return status;
}

bool lx__schema_find_stem(const lx_schema *schema, const char *stem, size_t *position)
{
    for (*position = 0; *position < schema->count; ++*position)
        if (strcmp(lx__schema_field(schema, *position)->stem, stem) == 0)
            return true;
    return false;
}

lx_status lx__schema_pick(const lx_schema *now, const lx_schema *shown, lx_schema **schema,
                          lx_error *error)
{
    lx_schema *picked = lx_schema_new();
    lx_status status = picked != NULL ? LX_OK : lx__fail_memory(error, "a dataset");
    for (size_t i = 0; status == LX_OK && i < shown->count; i++)
        status = pick(picked, now, lx__schema_field(shown, i), error);
    if (status == LX_OK)
        *schema = picked;
    else
        lx_schema_free(picked);
    return status;
}

lx_schema *lx__schema_copy(const lx_schema *schema)
{
    lx_schema *copy = lx_schema_new();
    for (size_t i = 0; copy != NULL && i < schema->count; i++) {
        const lx__field *field = schema->fields[i];
        if (lx__schema_add_copy(copy, field, field->name, NULL) != LX_OK) {
            lx_schema_free(copy);
            copy = NULL;
        }
    }
    return copy;
}

static bool field_equal(const lx__field *a, const lx__field *b)
{
    return a->shown.id == b->shown.id && strcmp(a->name, b->name) == 0 &&
           strcmp(a->stem, b->stem) == 0 && a->shown.align == b->shown.align &&
           same_values(&a->shown, &b->shown);
}

bool lx__schema_equal(const lx_schema *a, const lx_schema *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = field_equal(a->fields[i], b->fields[i]);
    return equal;
}

size_t lx_schema_get_field_count(const lx_schema *schema)
{
    return schema->count;
}

const lx_field *lx_schema_get_field(const lx_schema *schema, size_t position)
{
    return position < schema->count ? &schema->fields[position]->shown : NULL;
}

lx_status lx_schema_find_field(const lx_schema *schema, const char *name, size_t *position,
                               lx_error *error)
{
    if (schema == NULL)
        return lx__fail_null(error, "schema");
    if (name == NULL)
        return lx__fail_null(error, "name");
    if (position == NULL)
        return lx__fail_null(error, "position");
    char names[256] = "";
    for (size_t i = 0; i < schema->count; i++) {
        if (strcmp(schema->fields[i]->name, name) == 0) {
            *position = i;
            return LX_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", schema->fields[i]->name);
    }
    lx_status status = lx_fail(error, LX_ERR_NOT_FOUND, "field not found: the fields are%s", names);
    lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
    return status;
}

bool lx__schema_has_ragged(const lx_schema *schema)
{
    bool found = false;
    for (size_t i = 0; !found && i < schema->count; i++)
        found = lx__field_is_ragged(&schema->fields[i]->shown);
    return found;
}

bool lx__schema_find_id(const lx_schema *schema, uint32_t id, uint32_t *position)
{
    /* A field's id is also its position, unless fields were dropped. */
    if (id < schema->count && lx__schema_field(schema, id)->shown.id == id) {
        *position = id;
        return true;
    }
    for (size_t i = 0; i < schema->count; i++) {
        if (lx__schema_field(schema, i)->shown.id == id) {
            *position = (uint32_t)i;
            return true;
        }
    }
    return false;
}

lx__entry_rules lx__field_rules(const lx__field *field, const uint8_t uuid[LX__UUID_BYTES])
{
    lx__entry_rules rules = {.field = field->shown.id,
                             .align = field->shown.align,
                             .size = field->shown.size,
                             .codec = lx__codec_of(field->shown.compression),
                             .item = (uint32_t)field->shown.item_size};
    memcpy(rules.uuid, uuid, LX__UUID_BYTES);
    return rules;
}
