/* SPDX-License-Identifier: MIT */
#include "importer/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "importer/field-name.h"
#include "importer/json-value.h"
#include "importer/number.h"
#include "importer/varying.h"
#include "zrecord/format/schema.h"

/* Length of the longest text of a type: a dtype and LX_MAX_NDIM extents. */
#define TYPE_TEXT 768

void lx__import_fields_free(lx__import_fields *self)
{
    for (size_t i = 0; i < self->count; i++)
        lx__free(self->list[i].source);
    lx__free(self->list);
    *self = (lx__import_fields){0};
}

lx__import_field *lx__import_fields_find(const lx__import_fields *self, size_t hint,
                                         const char *name, size_t size)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t at = hint + i < self->count ? hint + i : (hint + i) % self->count;
        lx__import_field *field = &self->list[at];
        if (field->source_size == size && memcmp(field->source, name, size) == 0)
            return field;
    }
    return NULL;
}

/* ---- adding a field */

static lx_status add(lx__import_fields *self, const char *name, size_t size,
                     lx__import_field **added, lx_error *error)
{
    if (self->count == LX_MAX_FIELDS)
        return lx_fail(error, LX_ERR_LIMIT, "the inputs have more than %d fields", LX_MAX_FIELDS);
    if (memchr(name, '\0', size) != NULL || lx__utf8_span(name, size) != size)
        return lx_fail(error, LX_ERR_ARGUMENT, "the name of a field is not UTF-8 without NUL");
    void *list = lx__grow_array(self->list, self->count, &self->capacity, sizeof *self->list);
    if (list == NULL)
        return lx__fail_memory(error, "a field");
    self->list = list;
    lx__import_field field = {.source = lx__alloc(size + 1), .source_size = size};
    if (field.source == NULL)
        return lx__fail_memory(error, "a field");
    memcpy(field.source, name, size);
    field.source[size] = '\0';
    lx_status status = lx__field_name_make(field.source, field.name, error);
    if (status != LX_OK) {
        lx__free(field.source);
        return status;
    }
    self->list[self->count] = field;
    *added = &self->list[self->count++];
    return LX_OK;
}

/* ---- types */

/** The types that are not arrays, and the dtypes that store them. */
static const struct {
    const char *name;
    lx_dtype dtype;
} plain_types[] = {[LX__IMPORT_AS_BYTES] = {"bytes", LX_BYTES},
                   [LX__IMPORT_AS_STR] = {"str", LX_STR},
                   [LX__IMPORT_AS_JSON] = {"json", LX_JSON},
                   [LX__IMPORT_AS_IMAGE] = {"image", LX_IMAGE},
                   [LX__IMPORT_IGNORED] = {"ignore", LX_BYTES}};

static lx_status fail_type(const char *text, lx_error *error)
{
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "the type '%.64s' is invalid: use bytes, str, json, image, ignore, or a dtype "
                   "such as int64, float32[3,4] or, if the first extent varies, int32[?]",
                   text);
}

/** Sets a dense type or, if the first extent is LX_NONE, a ragged one; false if a value or an item
 * would be empty or too large. */
static bool set_array(lx__import_field *field, lx_dtype dtype, const uint64_t *shape, size_t ndim)
{
    uint64_t size = lx_dtype_get_size(dtype);
    bool ragged = ndim != 0 && shape[0] == LX_NONE;
    for (size_t i = ragged; i < ndim; i++)
        if (!lx__multiply_fits(size, shape[i], &size))
            return false;
    if (size == 0 || size > LX_MAX_VALUE)
        return false;
    field->type = ragged ? LX__IMPORT_AS_RAGGED : LX__IMPORT_AS_DENSE;
    field->dtype = dtype;
    field->ndim = ndim;
    field->size = (size_t)size;
    if (ndim != 0)
        memcpy(field->shape, shape, ndim * sizeof *shape);
    return true;
}

/** Reads "[3,4]" or "[?,4]". */
static bool parse_shape(const char *text, uint64_t *shape, size_t *ndim)
{
    *ndim = 0;
    do {
        char *end;
        text++;
        if (*ndim == 0 && *text == '?') {
            shape[(*ndim)++] = LX_NONE;
            text++;
            continue;
        }
        if (*text < '0' || *text > '9' || *ndim == LX_MAX_NDIM)
            return false;
        shape[*ndim] = strtoull(text, &end, 10);
        if (shape[(*ndim)++] == LX_NONE)
            return false;
        text = end;
    } while (*text == ',');
    return strcmp(text, "]") == 0;
}

lx_status lx__import_type_parse(const char *text, lx__import_field *field, lx_error *error)
{
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; i++) {
        if (plain_types[i].name != NULL && strcmp(text, plain_types[i].name) == 0) {
            field->type = (lx__import_type)i;
            return LX_OK;
        }
    }
    char name[16] = "";
    uint64_t shape[LX_MAX_NDIM];
    size_t length = strcspn(text, "["), ndim = 0;
    lx_dtype dtype;
    if (length >= sizeof name)
        return fail_type(text, error);
    memcpy(name, text, length);
    if (lx_dtype_parse(name, &dtype, NULL) != LX_OK || lx_dtype_is_bytes(dtype) ||
        (text[length] == '[' && !parse_shape(text + length, shape, &ndim)) ||
        !set_array(field, dtype, shape, ndim))
        return fail_type(text, error);
    return LX_OK;
}

char *lx__import_type_print(const lx__import_field *field, char *text, size_t size)
{
    if (!lx__import_field_is_array(field)) {
        snprintf(text, size, "%s", plain_types[field->type].name);
        return text;
    }
    size_t at = (size_t)snprintf(text, size, "%s", lx_dtype_get_name(field->dtype));
    for (size_t i = 0; i < field->ndim && at < size; i++) {
        char separator = i == 0 ? '[' : ',';
        at += field->shape[i] == LX_NONE ? (size_t)snprintf(text + at, size - at, "%c?", separator)
                                         : (size_t)snprintf(text + at, size - at, "%c%" PRIu64,
                                                            separator, field->shape[i]);
    }
    if (field->ndim != 0 && at < size)
        snprintf(text + at, size - at, "]");
    return text;
}

lx_status lx__import_fields_set(lx__import_fields *self, const char *name, const char *type,
                                lx_error *error)
{
    lx__import_field *field = lx__import_fields_find(self, 0, name, strlen(name));
    lx_status status = field != NULL ? LX_OK : add(self, name, strlen(name), &field, error);
    if (status != LX_OK)
        return status;
    field->seen.is_shape = false;
    return lx__import_type_parse(type, field, error);
}

/* ---- checking values */

/** Adds the name of a value to a failure, if there is one. */
static lx_status locate(const lx__import_value *value, lx_status status, lx_error *error)
{
    char name[LX_MAX_FIELD_NAME + 1];
    if (status == LX_OK)
        return LX_OK;
    size_t size = value->name_size < sizeof name ? value->name_size : sizeof name - 1;
    snprintf(name, sizeof name, "%.*s", (int)size, value->name);
    lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
    return status;
}

/** Whether the field stores any bytes as they are. */
static bool takes_bytes(const lx__import_field *field)
{
    return field->type == LX__IMPORT_AS_BYTES || field->type == LX__IMPORT_AS_IMAGE;
}

lx_status lx__import_field_check(const lx__import_field *field, const lx__import_value *value,
                                 lx_error *error)
{
    const char *text = value->data;
    lx_status status = LX_OK;
    bool whole;
    if (!value->unchecked)
        return LX_OK;
    if (value->kind == LX__IMPORT_UNUSABLE)
        return locate(value, lx_fail(error, LX_ERR_UNSUPPORTED, "%s", text), error);
    if (field != NULL && takes_bytes(field))
        return LX_OK;
    if (value->kind == LX__IMPORT_JSON)
        return locate(value, lx__json_check("the value", text, value->size, error), error);
    if (value->size == 0)
        return LX_OK;
    size_t valid = lx__utf8_span(text, value->size);
    if (valid != value->size)
        status = lx_fail(error, LX_ERR_CORRUPT, "byte %zu of the value is not valid UTF-8", valid);
    else if (field == NULL && value->kind == LX__IMPORT_WORD &&
             lx__number_span(text, text + value->size, &whole) != value->size)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the value '%.*s' is not a number: set the type of the field to str if it "
                         "is a text",
                         value->size < 40 ? (int)value->size : 40, text);
    return locate(value, status, error);
}

lx_status lx__import_fields_check(const lx__import_fields *self, const lx__import_record *record,
                                  lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < record->count; i++) {
        const lx__import_value *value = &record->values[i];
        const lx__import_field *field = lx__import_fields_find(self, i, value->name,
                                                               value->name_size);
        if (field == NULL || field->type != LX__IMPORT_IGNORED)
            status = lx__import_field_check(field, value, error);
    }
    return status;
}

/* ---- deriving types */

static void observe_number(lx__import_seen *seen, const lx__import_value *value)
{
    bool whole, word = value->kind == LX__IMPORT_WORD;
    const char *text = value->data;
    if (value->size == 0)
        return;
    if (word && lx__number_is_word(text, value->size))
        seen->numbers.fractions = true;
    else if (lx__number_span(text, text + value->size, &whole) != value->size)
        seen->words = word;
    else
        (void)lx__numbers_add(&seen->numbers, text, value->size, whole, value->decimal);
}

static void observe_shape(lx__import_seen *seen, lx_dtype dtype, const uint64_t *shape, size_t ndim)
{
    if (!seen->has_shape) {
        seen->has_shape = true;
        seen->dtype = dtype;
        seen->ndim = ndim;
        if (ndim != 0)
            memcpy(seen->shape, shape, ndim * sizeof *shape);
    }
    if (seen->dtype != dtype || seen->ndim != ndim ||
        (ndim > 1 && memcmp(seen->shape + 1, shape + 1, (ndim - 1) * sizeof *shape) != 0))
        seen->irregular = true;
    else if (ndim != 0 && seen->shape[0] != shape[0])
        seen->varies = true;
}

static void observe_json(lx__import_seen *seen, const lx__import_value *value)
{
    lx__json_list list;
    if (!lx__json_measure(value->data, value->size, &list))
        seen->irregular = true;
    else if (lx__json_list_is_empty(&list))
        seen->varies = true; /* it may have any number of dimensions */
    else
        observe_shape(seen, LX_INT64, list.shape, list.ndim);
    seen->numbers.fractions = seen->numbers.fractions || list.numbers.fractions;
    seen->numbers.large = seen->numbers.large || list.numbers.large;
    seen->numbers.inexact = seen->numbers.inexact || list.numbers.inexact;
}

static void observe_array(lx__import_seen *seen, const lx__import_value *value)
{
    observe_shape(seen, value->dtype, value->shape, value->ndim);
    seen->list = seen->list || value->list;
    seen->is_shape = seen->is_shape || value->is_shape;
    seen->varies = seen->varies || value->varies;
    if (value->varies && value->ndim == 0)
        seen->irregular = true;
}

static void observe(lx__import_seen *seen, const lx__import_value *value)
{
    if (value->kind == LX__IMPORT_UNUSABLE ||
        (value->kind == LX__IMPORT_JSON && value->unchecked &&
         lx__json_check("the value", value->data, value->size, NULL) != LX_OK))
        return; /* the type of the field was set: it takes any bytes, or ignores them */
    seen->kinds |= 1u << value->kind;
    switch (value->kind) {
    case LX__IMPORT_NUMBER:
    case LX__IMPORT_WORD:
        observe_number(seen, value);
        break;
    case LX__IMPORT_JSON:
        observe_json(seen, value);
        break;
    case LX__IMPORT_ARRAY:
        observe_array(seen, value);
        break;
    default:
        break;
    }
}

lx_status lx__import_fields_observe(lx__import_fields *self, const lx__import_record *record,
                                    lx_error *error)
{
    for (size_t i = 0; i < record->count; i++) {
        const lx__import_value *value = &record->values[i];
        lx__import_field *field = lx__import_fields_find(self, i, value->name, value->name_size);
        lx_status status = field != NULL ? LX_OK
                                         : add(self, value->name, value->name_size, &field, error);
        if (status != LX_OK)
            return status;
        observe(&field->seen, value);
    }
    return LX_OK;
}

/** The type of numbers; @p otherwise if no dtype can store them. */
static void derive_numbers(lx__import_field *field, lx__import_type otherwise)
{
    lx_dtype dtype;
    field->type = otherwise;
    if (!field->seen.words && lx__numbers_choose(&field->seen.numbers, &dtype))
        set_array(field, dtype, NULL, 0);
}

/** The type of arrays; @p otherwise if they have no common one. */
static void derive_array(lx__import_field *field, lx_dtype dtype, lx__import_type otherwise)
{
    const lx__import_seen *seen = &field->seen;
    uint64_t shape[LX_MAX_NDIM];
    size_t ndim = seen->ndim;
    field->type = otherwise;
    if (!seen->has_shape || seen->irregular)
        return;
    memcpy(shape, seen->shape, sizeof shape);
    if (seen->varies)
        shape[0] = LX_NONE;
    else if (seen->list && shape[0] == 1)
        ndim = 0;
    set_array(field, dtype, shape, ndim);
}

static void derive(lx__import_field *field)
{
    const lx__import_seen *seen = &field->seen;
    const unsigned json = 1u << LX__IMPORT_NUMBER | 1u << LX__IMPORT_BOOL | 1u << LX__IMPORT_JSON |
                          1u << LX__IMPORT_TEXT;
    lx_dtype dtype;
    switch (seen->kinds & ~(1u << LX__IMPORT_MISSING)) {
    case 1u << LX__IMPORT_NUMBER:
        derive_numbers(field, LX__IMPORT_AS_JSON);
        break;
    case 1u << LX__IMPORT_WORD:
        derive_numbers(field, LX__IMPORT_AS_STR);
        break;
    case 1u << LX__IMPORT_TEXT:
        field->type = LX__IMPORT_AS_STR;
        break;
    case 1u << LX__IMPORT_IMAGE:
        field->type = LX__IMPORT_AS_IMAGE;
        break;
    case 1u << LX__IMPORT_BOOL:
        set_array(field, LX_BOOL, NULL, 0);
        break;
    case 1u << LX__IMPORT_JSON:
        field->type = LX__IMPORT_AS_JSON;
        if (lx__numbers_choose(&seen->numbers, &dtype))
            derive_array(field, dtype, LX__IMPORT_AS_JSON);
        break;
    case 1u << LX__IMPORT_ARRAY:
        derive_array(field, seen->dtype, LX__IMPORT_AS_BYTES);
        break;
    default:
        field->type = (seen->kinds & ~(json | 1u << LX__IMPORT_MISSING)) == 0 ? LX__IMPORT_AS_JSON
                                                                              : LX__IMPORT_AS_BYTES;
        break;
    }
}

void lx__import_fields_derive(lx__import_fields *self)
{
    for (size_t i = 0; i < self->count; i++)
        derive(&self->list[i]);
}

void lx__import_fields_drop_shapes(lx__import_fields *self)
{
    for (size_t i = 0; i < self->count; i++) {
        lx__import_field *field = &self->list[i];
        if (!field->seen.is_shape)
            continue;
        const lx__import_field *array = lx__import_fields_find(
            self, i, field->source, field->source_size - strlen(LX__VARYING_SUFFIX));
        if (array != NULL && lx__import_field_is_array(array))
            field->type = LX__IMPORT_IGNORED;
    }
}

/* ---- fields and schemas */

/** Refuses a dtype to which the importer cannot convert the text that was seen. */
static lx_status check_dtype(const lx__import_field *field, lx_error *error)
{
    const unsigned texts = 1u << LX__IMPORT_WORD | 1u << LX__IMPORT_NUMBER | 1u << LX__IMPORT_JSON;
    if (!lx__import_field_is_array(field) || (field->seen.kinds & texts) == 0 ||
        lx__number_has_text(field->dtype))
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                               "the values are text, which the importer cannot convert to %s: set "
                               "float32 or float64, or str or json to keep the text",
                               lx_dtype_get_name(field->dtype));
    lx_error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__import_fields_fill(lx__import_fields *self, lx_schema *schema, lx_error *error)
{
    for (size_t i = 0; i < self->count; i++) {
        lx__import_field *field = &self->list[i];
        if (field->type == LX__IMPORT_IGNORED)
            continue;
        bool array = lx__import_field_is_array(field);
        field->position = lx_schema_get_field_count(schema);
        lx_status status = check_dtype(field, error);
        if (status == LX_OK)
            status = lx_schema_add_field(
                schema, field->name, array ? field->dtype : plain_types[field->type].dtype,
                array ? field->shape : NULL, array ? field->ndim : 0, LX_COMPRESSION_RAW, error);
        if (status != LX_OK)
            return status;
    }
    return lx_schema_get_field_count(schema) != 0
               ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT,
                         "the inputs have no record, or a record has no field: nothing to import");
}

static lx_status fail_match(const char *name, const char *why, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_MISMATCH, "%s", why);
    lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
    return status;
}

/** Whether arrays of the type of @p field can be stored in a field of the dataset. */
static bool fits(const lx__import_field *field, const lx_field *theirs)
{
    bool ragged = theirs->ndim != 0 && theirs->shape[0] == LX_NONE;
    if (!lx__import_field_is_array(field))
        return false;
    if (field->seen.list && field->ndim == 0 && theirs->ndim == 1)
        return ragged || theirs->shape[0] == 1;
    if (field->ndim != theirs->ndim)
        return false;
    for (size_t i = ragged; i < field->ndim; i++)
        if (field->shape[i] != theirs->shape[i])
            return false;
    return true;
}

/** Takes the type of a field of the dataset. */
static lx_status match(lx__import_field *field, const lx_field *theirs, lx_error *error)
{
    if (lx_dtype_is_bytes(theirs->dtype)) {
        if (lx__import_field_is_array(field))
            return fail_match(theirs->name,
                              "the dataset stores bytes, text, JSON or images, and the inputs "
                              "elements: set the type of the field to bytes, str or json",
                              error);
        for (size_t i = 0; theirs->dtype != LX_BYTES && i < LX__IMPORT_AS_DENSE; i++)
            if (plain_types[i].dtype == theirs->dtype)
                field->type = (lx__import_type)i;
        return LX_OK;
    }
    bool rounds = theirs->dtype == LX_FLOAT64 && field->seen.numbers.inexact;
    if (!rounds && !fits(field, theirs)) /* a number that would be rounded is refused by name */
        return fail_match(theirs->name,
                          "the values of the inputs do not have the shape of the "
                          "field in the dataset",
                          error);
    set_array(field, theirs->dtype, theirs->shape, theirs->ndim);
    return LX_OK;
}

lx_status lx__import_fields_match(lx__import_fields *self, const lx_schema *schema, lx_error *error)
{
    size_t count = lx_schema_get_field_count(schema), matched = 0;
    for (size_t i = 0; i < self->count; i++) {
        lx__import_field *field = &self->list[i];
        if (field->type == LX__IMPORT_IGNORED)
            continue;
        if (lx_schema_find_field(schema, field->name, &field->position, NULL) != LX_OK)
            return fail_match(field->name,
                              "the inputs have this field, but the dataset does not: set its type "
                              "to ignore, or add it to the dataset",
                              error);
        lx_status status = match(field, lx_schema_get_field(schema, field->position), error);
        if (status == LX_OK)
            status = check_dtype(field, error);
        if (status != LX_OK)
            return status;
        for (size_t j = 0; j < i; j++)
            if (self->list[j].type != LX__IMPORT_IGNORED &&
                self->list[j].position == field->position)
                return fail_match(field->name, "two fields of the inputs have this name", error);
        matched++;
    }
    if (matched != count)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the dataset has %zu fields, and the first records of the inputs %zu of "
                       "them: set the types of the others",
                       count, matched);
    return LX_OK;
}
