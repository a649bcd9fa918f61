/* SPDX-License-Identifier: MIT */
#include "importer/columns.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/image-signature.h"
#include "base/utf8.h"
#include "importer/json-value.h"
#include "importer/number.h"

/* A batch hides the cost of a call of the writer, and stays in the cache of a core. */
#define ROWS ((size_t)1024)
#define BYTES ((uint64_t)1 << 19)

/** The values of one field. */
struct lx__import_column {
    uint8_t *data;
    size_t capacity;
    uint64_t *offsets; /**< ROWS + 1; NULL for a dense field. */
    uint8_t *present;  /**< ROWS. */
    bool missing;      /**< A value of the batch is missing. */
    uint64_t number;   /**< Of the last record with a value for this field. */
};

lx_status lx__import_columns_init(lx__import_columns *self, const lx__import_fields *fields,
                                  lx_error *error)
{
    *self = (lx__import_columns){.fields = fields};
    self->list = lx__alloc_array(fields->count, sizeof *self->list);
    self->values = lx__alloc_array(fields->count, sizeof *self->values);
    bool failed = self->list == NULL || self->values == NULL;
    for (size_t i = 0; !failed && i < fields->count; i++) {
        lx__import_column *column = &self->list[i];
        if (fields->list[i].type == LX__IMPORT_IGNORED)
            continue;
        self->value_count++;
        column->present = lx__alloc(ROWS);
        failed = column->present == NULL;
        if (fields->list[i].type != LX__IMPORT_AS_DENSE)
            column->offsets = lx__alloc_array(ROWS + 1, sizeof *column->offsets);
        if (fields->list[i].type != LX__IMPORT_AS_DENSE && column->offsets == NULL)
            failed = true;
    }
    return failed ? lx__fail_memory(error, "a batch of records") : LX_OK;
}

void lx__import_columns_free(lx__import_columns *self)
{
    for (size_t i = 0; self->list != NULL && i < self->fields->count; i++) {
        lx__free(self->list[i].data);
        lx__free(self->list[i].offsets);
        lx__free(self->list[i].present);
    }
    lx__free(self->list);
    lx__free(self->values);
    *self = (lx__import_columns){0};
}

bool lx__import_columns_full(const lx__import_columns *self)
{
    return self->rows == ROWS || self->bytes >= BYTES;
}

/* ---- converting a value */

/** Whether the field has derived the type float64, so that no digit of a number may be lost. */
static bool is_exact(const lx__import_field *field)
{
    return lx__import_field_is_array(field) && field->dtype == LX_FLOAT64 && !field->given;
}

/** The number of a value that the field must not round; false: there is none. */
static bool find_inexact(const lx__import_field *field, const lx__import_value *value,
                         const char **text, size_t *size)
{
    lx__json_list list;
    bool whole;
    *text = value->data;
    *size = value->size;
    if (!is_exact(field))
        return false;
    if (value->kind == LX__IMPORT_NUMBER || value->kind == LX__IMPORT_WORD)
        return lx__number_span(*text, *text + *size, &whole) == *size &&
               !lx__number_is_exact(*text, *size, value->decimal);
    if (value->kind != LX__IMPORT_JSON || !lx__json_measure(*text, *size, &list))
        return false;
    *text = list.inexact;
    *size = list.inexact_size;
    return list.inexact != NULL;
}

static lx_status fail_inexact(const lx__import_field *field, const char *text, size_t size,
                              lx_error *error)
{
    char type[128];
    lx_status status = lx_fail(
        error, LX_ERR_MISMATCH,
        "the type of the field is float64, which cannot store %.*s%s exactly: to round such "
        "numbers, set the type yourself (--field %s=%s); to keep them, set json or str",
        size < 40 ? (int)size : 40, text, size < 40 ? "" : "...", field->source,
        lx__import_type_print(field, type, sizeof type));
    lx_error_locate(error, NULL, field->source, LX_NONE, LX_NONE);
    return status;
}

static lx_status fail_type(const lx__import_field *field, const lx__import_value *value,
                           lx_error *error)
{
    static const char *const kinds[] = {
        [LX__IMPORT_MISSING] = "missing", [LX__IMPORT_BYTES] = "bytes",
        [LX__IMPORT_IMAGE] = "an image",  [LX__IMPORT_TEXT] = "text",
        [LX__IMPORT_WORD] = "a word",     [LX__IMPORT_NUMBER] = "a number",
        [LX__IMPORT_BOOL] = "a boolean",  [LX__IMPORT_JSON] = "a JSON array or object",
        [LX__IMPORT_ARRAY] = "an array"};
    char type[128], shown[41] = "";
    bool binary = value->kind == LX__IMPORT_BYTES || value->kind == LX__IMPORT_IMAGE ||
                  value->kind == LX__IMPORT_ARRAY;
    const char *inexact;
    size_t inexact_size;
    if (find_inexact(field, value, &inexact, &inexact_size))
        return fail_inexact(field, inexact, inexact_size, error);
    if (!binary && value->size != 0)
        memcpy(shown, value->data, value->size < 40 ? value->size : 40);
    shown[lx__utf8_span(shown, strlen(shown))] = '\0'; /* the end may be half a character */
    lx_status status =
        lx_fail(error, LX_ERR_MISMATCH,
                "the value is %s%s%s%s and does not fit the type of the field, %s: skip bad "
                "records, or import into a new dataset with another type, such as json",
                kinds[value->kind], *shown != '\0' ? " ('" : "", shown, *shown != '\0' ? "')" : "",
                lx__import_type_print(field, type, sizeof type));
    lx_error_locate(error, NULL, field->source, LX_NONE, LX_NONE);
    return status;
}

static lx_status fail_value(const lx__import_field *field, const char *why, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "%s", why);
    lx_error_locate(error, NULL, field->source, LX_NONE, LX_NONE);
    return status;
}

static bool store_word(const lx__import_value *value, lx_dtype dtype, void *to)
{
    const char *text = value->data;
    bool whole;
    if (dtype == LX_BOOL && (value->size == 4 || value->size == 5)) {
        bool is_true = value->size == 4 &&
                       (memcmp(text, "true", 4) == 0 || memcmp(text, "True", 4) == 0);
        bool is_false = value->size == 5 &&
                        (memcmp(text, "false", 5) == 0 || memcmp(text, "False", 5) == 0);
        *(uint8_t *)to = is_true;
        return is_true || is_false;
    }
    return (lx__number_span(text, text + value->size, &whole) == value->size ||
            (value->kind == LX__IMPORT_WORD && lx__number_is_word(text, value->size))) &&
           lx__number_store(text, value->size, dtype, to);
}

static bool same_shape(const lx__import_field *field, const uint64_t *shape, size_t ndim)
{
    return field->ndim == ndim &&
           (ndim == 0 || memcmp(field->shape, shape, ndim * sizeof *shape) == 0);
}

static bool store_dense(const lx__import_field *field, const lx__import_value *value, void *to)
{
    lx__json_list list;
    const char *text;
    size_t size;
    switch (value->kind) {
    case LX__IMPORT_NUMBER:
    case LX__IMPORT_WORD:
        return field->ndim == 0 && store_word(value, field->dtype, to) &&
               !find_inexact(field, value, &text, &size);
    case LX__IMPORT_BOOL:
        return field->ndim == 0 && field->dtype == LX_BOOL && store_word(value, LX_BOOL, to);
    case LX__IMPORT_JSON:
        return lx__number_has_text(field->dtype) &&
               lx__json_measure(value->data, value->size, &list) &&
               same_shape(field, list.shape, list.ndim) &&
               !(is_exact(field) && list.inexact != NULL) &&
               lx__json_store(value->data, value->size, field->dtype, to);
    case LX__IMPORT_ARRAY:
        if (value->dtype != field->dtype || value->size != field->size ||
            !(same_shape(field, value->shape, value->ndim) || (value->list && field->ndim == 0)))
            return false;
        memcpy(to, value->data, value->size);
        return true;
    default:
        return false;
    }
}

/** Sets the size of a value of a ragged field; false if it does not fit the type of the field. */
static bool measure_ragged(const lx__import_field *field, const lx__import_value *value,
                           size_t *size)
{
    lx__json_list list = {.ndim = value->ndim};
    bool array = value->kind == LX__IMPORT_ARRAY && value->dtype == field->dtype;
    uint64_t bytes;
    *size = 0;
    if (array && value->ndim != 0)
        memcpy(list.shape, value->shape, value->ndim * sizeof *list.shape);
    else if (!array && (value->kind != LX__IMPORT_JSON || !lx__number_has_text(field->dtype) ||
                        !lx__json_measure(value->data, value->size, &list)))
        return false;
    if (!array && lx__json_list_is_empty(&list))
        return true;
    if (list.ndim != field->ndim || (is_exact(field) && list.inexact != NULL) ||
        memcmp(list.shape + 1, field->shape + 1, (list.ndim - 1) * sizeof *list.shape) != 0)
        return false;
    if (!lx__multiply_fits(list.shape[0], field->size, &bytes) || bytes > LX_MAX_VALUE)
        return false;
    *size = (size_t)bytes;
    return true;
}

static lx_status check_image(const lx__import_field *field, const lx__import_value *value,
                             lx_error *error)
{
    if (lx__image_signature_find(value->data, value->size) != LX__IMAGE_NONE)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                               LX__NO_IMAGE "; skip bad records, or set the type of the field to "
                                            "bytes",
                               value->size);
    lx_error_locate(error, NULL, field->source, LX_NONE, LX_NONE);
    return status;
}

/** What a field of bytes stores for a value. */
static lx_status choose_bytes(const lx__import_field *field, const lx__import_value *value,
                              const void **data, size_t *size, lx_error *error)
{
    bool text = value->kind == LX__IMPORT_TEXT || value->kind == LX__IMPORT_WORD;
    bool raw = value->kind == LX__IMPORT_BYTES || value->kind == LX__IMPORT_IMAGE ||
               (value->kind == LX__IMPORT_ARRAY && value->dtype == LX_UINT8 && value->ndim == 1);
    *data = value->data;
    *size = value->size;
    if (field->type == LX__IMPORT_AS_STR) {
        if (!text && !raw)
            return fail_type(field, value, error);
        if (raw && lx__utf8_span(value->data, value->size) != value->size)
            return fail_value(field, "the value is not valid UTF-8", error);
    } else if (field->type == LX__IMPORT_AS_JSON) {
        if (value->kind == LX__IMPORT_ARRAY && !raw)
            return fail_type(field, value, error);
        if (value->json != NULL) {
            *data = value->json;
            *size = value->json_size;
        } else if (text || raw) {
            lx_status status = lx__json_check("the value", value->data, value->size, error);
            lx_error_locate(error, NULL, field->source, LX_NONE, LX_NONE);
            return status;
        }
    } else if (field->type == LX__IMPORT_AS_IMAGE && !raw) {
        return fail_type(field, value, error);
    } else if (field->type == LX__IMPORT_AS_IMAGE) {
        return check_image(field, value, error);
    }
    return LX_OK;
}

/** Checks a value, and finds what a field whose values vary in size stores for it. */
static lx_status measure(const lx__import_field *field, const lx__import_value *value,
                         const void **data, size_t *size, lx_error *error)
{
    lx_status status = lx__import_field_check(field, value, error);
    if (status != LX_OK || field->type == LX__IMPORT_AS_DENSE)
        return status;
    if (field->type != LX__IMPORT_AS_RAGGED)
        return choose_bytes(field, value, data, size, error);
    return measure_ragged(field, value, size) ? LX_OK : fail_type(field, value, error);
}

/** Stores a value of a ragged field or a field of bytes, which has @p size bytes. */
static bool store_varying(const lx__import_field *field, const lx__import_value *value,
                          const void *data, size_t size, void *to)
{
    if (size != 0 && field->type == LX__IMPORT_AS_RAGGED && value->kind == LX__IMPORT_JSON)
        return lx__json_store(value->data, value->size, field->dtype, to);
    if (size != 0)
        memcpy(to, data, size);
    return true;
}

/* ---- adding a record */

static bool is_missing(const lx__import_field *field, const lx__import_value *value)
{
    return value->kind == LX__IMPORT_MISSING ||
           (value->kind == LX__IMPORT_WORD && value->size == 0 && lx__import_field_is_array(field));
}

/** Makes room for @p size bytes at @p at. */
static bool reserve(lx__import_column *column, size_t at, size_t size)
{
    if (size > SIZE_MAX / 2 - at)
        return false;
    if (at + size <= column->capacity)
        return true;
    return lx__reserve(&column->data, &column->capacity, at + size + (at + size) / 2);
}

/** Adds a value to row self->rows of a column; NULL: a missing one. */
static lx_status add_value(lx__import_columns *self, const lx__import_field *field,
                           lx__import_column *column, const lx__import_value *value,
                           lx_error *error)
{
    const void *data = value != NULL ? value->data : NULL;
    size_t row = self->rows, at, size = 0;
    bool dense = field->type == LX__IMPORT_AS_DENSE;
    bool missing = value == NULL || is_missing(field, value);
    lx_status status = missing ? LX_OK : measure(field, value, &data, &size, error);
    if (status != LX_OK)
        return status;
    at = dense ? row * field->size : (size_t)column->offsets[row];
    size = dense ? field->size : size;
    if (!reserve(column, at, size))
        return lx__fail_memory(error, "a batch of records");
    if (!dense)
        column->offsets[row + 1] = at + size;
    if (dense && missing)
        memset(column->data + at, 0, size);
    else if (!missing && !(dense ? store_dense(field, value, column->data + at)
                                 : store_varying(field, value, data, size, column->data + at)))
        return fail_type(field, value, error);
    column->present[row] = !missing;
    column->missing = column->missing || missing;
    self->row_bytes += size;
    return LX_OK;
}

static lx_status fail_name(const lx__import_value *value, lx_error *error)
{
    int size = value->name_size < 64 ? (int)value->name_size : 64;
    return lx_fail(error, LX_ERR_MISMATCH,
                   "the record has a value '%.*s', which the first records do not have: skip "
                   "bad records, or import into a new dataset and set the type of this field",
                   size, value->name);
}

lx_status lx__import_columns_add(lx__import_columns *self, const lx__import_record *record,
                                 lx_error *error)
{
    lx_status status = LX_OK;
    self->number++;
    self->row_bytes = 0;
    for (size_t i = 0; status == LX_OK && i < record->count; i++) {
        const lx__import_value *value = &record->values[i];
        const lx__import_field *field = lx__import_fields_find(self->fields, i, value->name,
                                                               value->name_size);
        if (field == NULL)
            return fail_name(value, error);
        lx__import_column *column = &self->list[field - self->fields->list];
        if (column->number == self->number)
            return fail_value(field, "the record has two values for this field", error);
        column->number = self->number;
        if (field->type != LX__IMPORT_IGNORED)
            status = add_value(self, field, column, value, error);
    }
    for (size_t i = 0; status == LX_OK && i < self->fields->count; i++)
        if (self->list[i].number != self->number &&
            self->fields->list[i].type != LX__IMPORT_IGNORED)
            status = add_value(self, &self->fields->list[i], &self->list[i], NULL, error);
    if (status != LX_OK)
        return status;
    self->rows++;
    self->bytes += self->row_bytes;
    return LX_OK;
}

void lx__import_columns_drop(lx__import_columns *self)
{
    self->rows--;
    self->bytes -= self->row_bytes;
}

bool lx__import_columns_saw(const lx__import_columns *self, size_t i)
{
    return self->list[i].number != 0;
}

lx_status lx__import_columns_write(lx__import_columns *self, lx_writer *writer, lx_error *error)
{
    if (self->rows == 0)
        return LX_OK;
    for (size_t i = 0; i < self->fields->count; i++) {
        const lx__import_field *field = &self->fields->list[i];
        lx__import_column *column = &self->list[i];
        if (field->type == LX__IMPORT_IGNORED)
            continue;
        self->values[field->position] = (lx_values){column->data, column->offsets,
                                                    column->missing ? column->present : NULL};
        column->missing = false;
    }
    lx_status status = lx_writer_extend(writer, self->rows, self->values, self->value_count, NULL,
                                        error);
    self->rows = 0;
    self->bytes = 0;
    return status;
}
