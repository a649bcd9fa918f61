/* SPDX-License-Identifier: MIT */
#include "zrecord/write/arrow-column.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/content.h"

/* The longest value that a view contains itself, and the size of a view. */
#define VIEW_INLINE 12
#define VIEW_SIZE 16

/* ---- arrays */

lx_status lx__arrow_array_check(const struct ArrowArray *array, int64_t buffers, int64_t children,
                                const uint8_t **valid, lx_error *error)
{
    if (array == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow array lacks a child or a dictionary");
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX - array->offset)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the Arrow array has the invalid length %lld at offset %lld",
                       (long long)array->length, (long long)array->offset);
    if (array->null_count < -1 || array->null_count > array->length)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow array has an invalid null count: %lld",
                       (long long)array->null_count);
    if (array->n_buffers != buffers || (buffers != 0 && array->buffers == NULL))
        return lx_fail(
            error, LX_ERR_ARGUMENT, "the Arrow array has %lld buffers, but its type has %lld",
            array->buffers != NULL ? (long long)array->n_buffers : 0, (long long)buffers);
    if (array->n_children != children || (children != 0 && array->children == NULL))
        return lx_fail(
            error, LX_ERR_ARGUMENT, "the Arrow array has %lld children, but its type has %lld",
            array->children != NULL ? (long long)array->n_children : 0, (long long)children);
    *valid = buffers != 0 && array->null_count != 0 ? array->buffers[0] : NULL;
    if (buffers != 0 && array->null_count > 0 && *valid == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow array has %lld nulls, but no bitmap",
                       (long long)array->null_count);
    return LX_OK;
}

static lx_status check_layout(const struct ArrowArray *array, lx__arrow_layout layout,
                              const uint8_t **valid, lx_error *error)
{
    switch (layout) {
    case LX__ARROW_NULLS:
        return lx__arrow_array_check(array, 0, 0, valid, error);
    case LX__ARROW_OFFSETS32:
    case LX__ARROW_OFFSETS64:
        return lx__arrow_array_check(array, 3, 0, valid, error);
    case LX__ARROW_VIEWS: /* the bitmap, the views, any number of data buffers, and their sizes */
        return lx__arrow_array_check(
            array, array != NULL && array->n_buffers > 3 ? array->n_buffers : 3, 0, valid, error);
    case LX__ARROW_LISTS32:
    case LX__ARROW_LISTS64:
        return lx__arrow_array_check(array, 2, 1, valid, error);
    case LX__ARROW_FIXED_LISTS:
        return lx__arrow_array_check(array, 1, 1, valid, error);
    case LX__ARROW_FILES:
        return lx__arrow_array_check(array, 1, 2, valid, error);
    default:
        return lx__arrow_array_check(array, 2, 0, valid, error);
    }
}

static lx_status fail_buffer(lx_error *error)
{
    return lx_fail(error, LX_ERR_ARGUMENT, "a buffer of the Arrow array is NULL");
}

static lx_status fail_rows(const struct ArrowArray *array, lx_error *error)
{
    return lx_fail(error, LX_ERR_ARGUMENT, "the column has only %lld rows",
                   (long long)array->length);
}

/** Checks an array of elements of lists. */
static lx_status open_nested(lx__arrow_values *v, const struct ArrowArray *array,
                             lx__arrow_layout layout, uint64_t needed, lx_error *error)
{
    const uint8_t *valid;
    lx_status status = check_layout(array, layout, &valid, error);
    if (status == LX_OK && (uint64_t)array->length < needed)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the child of the Arrow array has the length %lld, but lists refer to "
                         "%llu elements",
                         (long long)array->length, (unsigned long long)needed);
    if (status == LX_OK)
        v->first += (uint64_t)array->offset;
    if (status == LX_OK && valid != NULL)
        v->nested[v->nested_count++] = (lx__arrow_bits){valid, v->first, v->items};
    return status;
}

/** Checks the arrays inside of lists, down to that of the elements; @p end is the end of the values
 * in the buffers of @p array. */
static lx_status open_lists(lx__arrow_values *v, const lx__arrow_type *type,
                            const struct ArrowArray **array, uint64_t *end, lx_error *error)
{
    lx_status status = LX_OK;
    size_t fixed = type->format->layout == LX__ARROW_BLOCKS ? 0 : type->ndim;
    lx__arrow_layout inner = fixed != 0 ? LX__ARROW_FIXED_LISTS : type->format->layout;
    if (type->list != NULL) {
        *array = (*array)->children[0];
        status = open_nested(v, *array, inner, 0, error);
        if (status != LX_OK)
            return status;
        v->limit = (uint64_t)(*array)->length;
        *end = (uint64_t)((*array)->offset + (*array)->length);
    }
    for (size_t i = 0; status == LX_OK && i < fixed; i++) {
        uint64_t needed;
        *array = (*array)->children[0];
        inner = i + 1 < fixed ? LX__ARROW_FIXED_LISTS : type->format->layout;
        if (!lx__multiply_fits(*end, type->shape[i], &needed))
            needed = UINT64_MAX;
        v->first *= type->shape[i];
        v->items *= type->shape[i];
        status = open_nested(v, *array, inner, needed, error);
        if (status == LX_OK)
            *end = (uint64_t)(*array)->offset + needed;
    }
    return status;
}

/** Takes the buffers of the values or, in lists, of the elements. */
static lx_status open_elements(lx__arrow_values *v, const struct ArrowArray *array,
                               lx__arrow_layout layout, uint64_t end, lx_error *error)
{
    uint64_t bytes;
    switch (layout) {
    case LX__ARROW_NULLS:
        return LX_OK;
    case LX__ARROW_OFFSETS32:
    case LX__ARROW_OFFSETS64:
        v->offsets = array->buffers[1];
        v->data = array->buffers[2];
        return v->offsets == NULL && v->count != 0 ? fail_buffer(error) : LX_OK;
    case LX__ARROW_VIEWS:
        v->offsets = array->buffers[1];
        v->variadic = array->buffers + 2;
        v->variadic_count = (uint64_t)array->n_buffers - 3;
        v->sizes = array->buffers[array->n_buffers - 1];
        return (v->offsets == NULL && v->count != 0) || (v->sizes == NULL && v->variadic_count != 0)
                   ? fail_buffer(error)
                   : LX_OK;
    default:
        v->bits = layout == LX__ARROW_BITS;
        v->data = array->buffers[1];
        if (layout == LX__ARROW_BLOCKS && !lx__multiply_fits(end, v->items, &end))
            end = UINT64_MAX;
        if (!lx__multiply_fits(end, v->size, &bytes) || bytes > SIZE_MAX)
            return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow array is too long: %lld values",
                           (long long)array->length);
        return v->data == NULL && bytes != 0 ? fail_buffer(error) : LX_OK;
    }
}

static lx_status open_values(lx__arrow_values *v, const lx__arrow_type *type, const lx_field *field,
                             const struct ArrowArray *array, uint64_t first, uint64_t count,
                             lx_error *error)
{
    bool fixed = type->ndim != 0 && type->format->layout != LX__ARROW_BLOCKS;
    lx__arrow_layout outer = type->list != NULL ? type->list->layout
                             : fixed            ? LX__ARROW_FIXED_LISTS
                                                : type->format->layout;
    lx_status status = check_layout(array, outer, &v->valid, error);
    if (status == LX_OK && !lx__range_fits(first, count, (uint64_t)array->length))
        status = fail_rows(array, error);
    if (status != LX_OK)
        return status;
    v->layout = outer == LX__ARROW_FIXED_LISTS ? type->format->layout : outer;
    v->stored = type->format->stored;
    v->dtype = field->dtype;
    v->size = lx_dtype_get_size(v->stored);
    v->converted = type->format->layout == LX__ARROW_BITS ||
                   (type->format->layout == LX__ARROW_FIXED &&
                    v->size != lx_dtype_get_size(v->dtype));
    v->items = 1;
    v->count = count;
    v->offset = (uint64_t)array->offset + first;
    if (type->list != NULL && (v->offsets = array->buffers[1]) == NULL && count != 0)
        return fail_buffer(error);
    uint64_t end = v->offset + count;
    status = open_lists(v, type, &array, &end, error);
    if (type->format->layout == LX__ARROW_BLOCKS)
        v->items = type->items;
    if (status == LX_OK)
        status = open_elements(v, array, type->format->layout, end, error);
    v->longest = v->items;
    return status;
}

/* ---- values */

static uint64_t load_integer(const uint8_t *data, lx_dtype dtype, uint64_t i)
{
    switch (dtype) {
#define LOAD(name, type)                                                                           \
    case name: {                                                                                   \
        type number;                                                                               \
        memcpy(&number, data + i * sizeof number, sizeof number);                                  \
        return (uint64_t)number;                                                                   \
    }
        LOAD(LX_INT8, int8_t)
        LOAD(LX_INT16, int16_t)
        LOAD(LX_INT32, int32_t)
        LOAD(LX_UINT8, uint8_t)
        LOAD(LX_UINT16, uint16_t)
        LOAD(LX_UINT32, uint32_t)
        LOAD(LX_INT64, int64_t)
    default:
        LOAD(LX_UINT64, uint64_t)
#undef LOAD
    }
}

/** Stores element @p i in the form of the field. */
static void convert(const lx__arrow_values *v, uint64_t i, uint8_t *out, size_t size)
{
    uint8_t bytes[sizeof(uint64_t)];
    uint64_t number;
    if (v->bits) {
        number = lx__arrow_bit(v->data, i);
    } else if (v->stored == LX_FLOAT32) {
        float narrow;
        memcpy(&narrow, v->data + i * sizeof narrow, sizeof narrow);
        double wide = narrow;
        memcpy(&number, &wide, sizeof number);
    } else {
        number = load_integer(v->data, v->stored, i);
    }
    lx__store_le64(bytes, number);
    memcpy(out, bytes, size);
}

/** Returns @p count elements. */
static lx_value elements(const lx__arrow_values *v, uint64_t first, uint64_t count)
{
    if (!v->converted)
        return (lx_value){count != 0 ? v->data + first * v->size : NULL, count * v->size};
    size_t size = lx_dtype_get_size(v->dtype);
    for (uint64_t i = 0; i < count; i++)
        convert(v, first + i, v->value + i * size, size);
    return (lx_value){v->value, count * size};
}

/** Loads the offsets at which a value begins and ends. */
static void load_offsets(const lx__arrow_values *v, uint64_t i, int64_t *start, int64_t *end)
{
    bool wide = v->layout == LX__ARROW_OFFSETS64 || v->layout == LX__ARROW_LISTS64;
    lx_dtype dtype = wide ? LX_INT64 : LX_INT32;
    *start = (int64_t)load_integer(v->offsets, dtype, i);
    *end = (int64_t)load_integer(v->offsets, dtype, i + 1);
}

/** A view of bytes: the length, followed by the bytes themselves, or by their first four, a buffer
 * and an offset. */
typedef struct view {
    int32_t length;
    int32_t start;
    int32_t buffer;
    int32_t offset;
} view;

static view load_view(const lx__arrow_values *v, uint64_t i)
{
    view loaded;
    _Static_assert(sizeof loaded == VIEW_SIZE, "the size of a view is part of Arrow's format");
    memcpy(&loaded, v->offsets + i * VIEW_SIZE, VIEW_SIZE);
    return loaded;
}

static lx_value viewed(const lx__arrow_values *v, uint64_t i)
{
    view loaded = load_view(v, i);
    const uint8_t *data = loaded.length <= VIEW_INLINE
                              ? v->offsets + i * VIEW_SIZE + sizeof loaded.length
                              : (const uint8_t *)v->variadic[loaded.buffer] + loaded.offset;
    return (lx_value){data, (uint64_t)loaded.length};
}

/** Returns value @p i of the buffers, which is not null. */
static lx_value value_at(const lx__arrow_values *v, uint64_t i)
{
    int64_t start, end;
    switch (v->layout) {
    case LX__ARROW_OFFSETS32:
    case LX__ARROW_OFFSETS64:
        load_offsets(v, i, &start, &end);
        return (lx_value){end != start ? v->data + start : NULL, (uint64_t)(end - start)};
    case LX__ARROW_LISTS32:
    case LX__ARROW_LISTS64:
        load_offsets(v, i, &start, &end);
        return elements(v, (uint64_t)start * v->items + v->first,
                        (uint64_t)(end - start) * v->items);
    case LX__ARROW_VIEWS:
        return viewed(v, i);
    default:
        return elements(v, i * v->items + v->first, v->items);
    }
}

static bool is_missing(const lx__arrow_values *v, uint64_t row)
{
    return v->layout == LX__ARROW_NULLS ||
           (v->valid != NULL && !lx__arrow_bit(v->valid, v->offset + row));
}

/** Returns the value of a row. */
static lx_value row_at(const lx__arrow_values *v, uint64_t row)
{
    return is_missing(v, row) ? (lx_value){NULL, LX_NONE} : value_at(v, v->offset + row);
}

/* ---- check of each value */

/** Checks the size of a value of @p count elements. */
static lx_status check_size(const lx_field *field, uint64_t count, lx_error *error)
{
    size_t size = lx_dtype_get_size(field->dtype);
    if (count <= LX_MAX_VALUE / size && (field->size == LX_NONE || count * size == field->size))
        return LX_OK;
    if (field->size == LX_NONE)
        return lx_fail(error, LX_ERR_LIMIT, "the value has %llu bytes, but at most %u are allowed",
                       (unsigned long long)(count * size), LX_MAX_VALUE);
    return lx_fail(error, LX_ERR_MISMATCH,
                   "the list has %llu elements, but a value of this field has %llu",
                   (unsigned long long)count, (unsigned long long)(field->size / size));
}

static lx_status check_offsets(const lx__arrow_values *v, const lx_field *field, int64_t start,
                               int64_t end, lx_error *error)
{
    bool lists = v->layout == LX__ARROW_LISTS32 || v->layout == LX__ARROW_LISTS64;
    if (start < 0 || end < start)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the Arrow offsets %lld and %lld are negative or decrease", (long long)start,
                       (long long)end);
    if (lists && (uint64_t)end > v->limit)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the list ends at item %lld, but the child of the Arrow array has %llu",
                       (long long)end, (unsigned long long)v->limit);
    if (!lists && end != start && v->data == NULL)
        return fail_buffer(error);
    return check_size(field, (uint64_t)(end - start) * v->items, error);
}

static lx_status check_view(const lx__arrow_values *v, const lx_field *field, uint64_t i,
                            lx_error *error)
{
    view loaded = load_view(v, i);
    if (loaded.length < 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow view has the invalid length %d",
                       loaded.length);
    if (loaded.length > VIEW_INLINE) {
        bool known = loaded.buffer >= 0 && (uint64_t)loaded.buffer < v->variadic_count;
        uint64_t size = known ? load_integer(v->sizes, LX_INT64, (uint64_t)loaded.buffer) : 0;
        if (!known || loaded.offset < 0 || size > INT64_MAX || v->variadic[loaded.buffer] == NULL ||
            !lx__range_fits((uint64_t)loaded.offset, (uint64_t)loaded.length, size))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the Arrow view refers to %d bytes at offset %d of buffer %d, which has "
                           "%llu bytes",
                           loaded.length, loaded.offset, loaded.buffer, (unsigned long long)size);
    }
    return check_size(field, (uint64_t)loaded.length, error);
}

static bool all_set(const uint8_t *bits, uint64_t from, uint64_t to)
{
    while (from < to) {
        bool whole = from % 8 == 0 && to - from >= 8;
        if (whole ? bits[from / 8] != 0xff : !lx__arrow_bit(bits, from))
            return false;
        from += whole ? 8 : 1;
    }
    return true;
}

/** Checks the offsets of value @p i of the buffers, and that no element of it is null. */
static lx_status check_elements(lx__arrow_values *v, const lx_field *field, uint64_t i,
                                lx_error *error)
{
    lx_status status = LX_OK;
    int64_t start = (int64_t)i, end = (int64_t)i + 1;
    if (v->offsets != NULL) {
        load_offsets(v, i, &start, &end);
        status = check_offsets(v, field, start, end, error);
    }
    for (size_t k = 0; status == LX_OK && k < v->nested_count; k++) {
        const lx__arrow_bits *nested = &v->nested[k];
        if (!all_set(nested->bits, (uint64_t)start * nested->items + nested->first,
                     (uint64_t)end * nested->items + nested->first))
            status = lx_fail(error, LX_ERR_MISMATCH,
                             "the list contains a null, but only whole values can be missing");
    }
    if (status == LX_OK && (uint64_t)(end - start) * v->items > v->longest)
        v->longest = (uint64_t)(end - start) * v->items;
    return status;
}

/** Checks value @p i of the buffers, which is not null. */
static lx_status check_value(lx__arrow_values *v, const lx_field *field, uint64_t i,
                             lx_error *error)
{
    lx_status status = v->layout == LX__ARROW_VIEWS ? check_view(v, field, i, error)
                                                    : check_elements(v, field, i, error);
    if (status != LX_OK || !lx__content_is_restricted(field->dtype))
        return status;
    lx_value value = value_at(v, i);
    return lx__content_check_new(field->dtype, value.data, (size_t)value.size, error);
}

/** Whether the struct that a value is in is present; its children may have any values if not. */
static bool is_in_struct(const lx__arrow_column *column, uint64_t row)
{
    return column->outer_valid == NULL ||
           lx__arrow_bit(column->outer_valid, column->outer_offset + row);
}

/** Checks all values, and makes room to convert one. */
static lx_status check_values(lx__arrow_column *column, const lx_field *field, bool dictionary,
                              lx_error *error)
{
    lx__arrow_values *v = &column->values;
    lx_status status = LX_OK;
    bool each = v->offsets != NULL || v->nested_count != 0 ||
                (v->layout != LX__ARROW_NULLS && lx__content_is_restricted(field->dtype));
    for (uint64_t row = 0; each && status == LX_OK && row < v->count; row++) {
        if (is_in_struct(column, row) &&
            (v->valid == NULL || lx__arrow_bit(v->valid, v->offset + row)))
            status = check_value(v, field, v->offset + row, error);
        if (status != LX_OK && dictionary)
            lx__error_append(error, " (value %llu of the dictionary)", (unsigned long long)row);
        else if (status != LX_OK)
            lx_error_locate(error, NULL, NULL, row, LX_NONE);
    }
    uint64_t size = v->longest * lx_dtype_get_size(v->dtype); /* at most LX_MAX_VALUE */
    if (status == LX_OK && v->converted && (v->value = lx__alloc((size_t)size)) == NULL)
        status = lx__fail_memory(error, "a column");
    return status;
}

/* ---- columns */

/** Checks the indices into the dictionary. */
static lx_status open_indices(lx__arrow_column *column, const lx__arrow_type *type,
                              const struct ArrowArray *array, uint64_t first, uint64_t count,
                              lx_error *error)
{
    lx_status status = check_layout(array, LX__ARROW_FIXED, &column->index_valid, error);
    if (status == LX_OK && !lx__range_fits(first, count, (uint64_t)array->length))
        status = fail_rows(array, error);
    if (status == LX_OK && array->buffers[1] == NULL && count != 0)
        status = fail_buffer(error);
    if (status != LX_OK)
        return status;
    static const uint8_t none; /* the address for no indices, as NULL stands for no dictionary */
    column->indices = count != 0 ? array->buffers[1] : &none;
    column->index_dtype = type->index->stored;
    column->index_offset = (uint64_t)array->offset + first;
    for (uint64_t row = 0; row < count; row++) {
        uint64_t i = column->index_offset + row;
        if (column->index_valid != NULL && !lx__arrow_bit(column->index_valid, i))
            continue;
        uint64_t index = load_integer(column->indices, column->index_dtype, i);
        if (index < column->values.count)
            continue;
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the index %lld is invalid: the dictionary has %llu values",
                         (long long)index, (unsigned long long)column->values.count);
        lx_error_locate(error, NULL, NULL, row, LX_NONE);
        return status;
    }
    return LX_OK;
}

/** Takes the bytes of structs of bytes and paths. A path alone is refused: no path is followed. */
static lx_status open_files(lx__arrow_column *column, const lx__arrow_type *type,
                            const lx_field *field, const struct ArrowArray *array, uint64_t first,
                            uint64_t count, lx_error *error)
{
    lx__arrow_values paths = {0};
    const lx__arrow_type path = {.format = type->path, .items = 1};
    lx_status status = check_layout(array, LX__ARROW_FILES, &column->outer_valid, error);
    if (status == LX_OK && !lx__range_fits(first, count, (uint64_t)array->length))
        status = fail_rows(array, error);
    if (status != LX_OK)
        return status;
    column->outer_offset = (uint64_t)array->offset + first;
    status = open_values(&column->values, type, field, array->children[0], column->outer_offset,
                         count, error);
    if (status == LX_OK)
        status = open_values(&paths, &path, field, array->children[1], column->outer_offset, count,
                             error);
    for (uint64_t row = 0; status == LX_OK && row < count; row++) {
        if (!is_in_struct(column, row) || !is_missing(&column->values, row) ||
            is_missing(&paths, row))
            continue;
        status = lx_fail(error, LX_ERR_MISMATCH,
                         "the value has a path but no bytes, and paths are not followed: store the "
                         "bytes of the file in the column");
        lx_error_locate(error, NULL, NULL, row, LX_NONE);
    }
    return status == LX_OK ? check_values(column, field, false, error) : status;
}

lx_status lx__arrow_column_open(lx__arrow_column *column, const lx_field *field,
                                const struct ArrowSchema *schema, const struct ArrowArray *array,
                                uint64_t first, uint64_t count, lx_error *error)
{
    lx__arrow_type type;
    *column = (lx__arrow_column){0};
    lx_status status = lx__arrow_type_parse(schema, &type, error);
    if (status == LX_OK)
        status = lx__arrow_type_check(&type, field, error);
    if (status != LX_OK)
        return status;
    if (type.path != NULL)
        return open_files(column, &type, field, array, first, count, error);
    if (type.index == NULL) {
        status = open_values(&column->values, &type, field, array, first, count, error);
        return status == LX_OK ? check_values(column, field, false, error) : status;
    }
    const struct ArrowArray *dictionary = array != NULL ? array->dictionary : NULL;
    status = open_values(&column->values, &type, field, dictionary, 0,
                         dictionary != NULL ? (uint64_t)dictionary->length : 0, error);
    if (status == LX_OK)
        status = check_values(column, field, true, error);
    return status == LX_OK ? open_indices(column, &type, array, first, count, error) : status;
}

lx_value lx__arrow_column_value(lx__arrow_column *column, uint64_t row)
{
    if (!is_in_struct(column, row))
        return (lx_value){NULL, LX_NONE};
    if (column->indices == NULL)
        return row_at(&column->values, row);
    uint64_t i = column->index_offset + row;
    if (column->index_valid != NULL && !lx__arrow_bit(column->index_valid, i))
        return (lx_value){NULL, LX_NONE};
    return row_at(&column->values, load_integer(column->indices, column->index_dtype, i));
}

void lx__arrow_column_close(lx__arrow_column *column)
{
    lx__free(column->values.value);
}
