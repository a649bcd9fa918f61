/* SPDX-License-Identifier: MIT */
#include "zrecord/format/arrow-type.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/arrow-metadata.h"
#include "zrecord/format/schema.h"

/* All types. Columns become fields of the dtype of the first row with their format; values of a
 * field leave the library in the format of the first row with its dtype. A dtype without a row,
 * such as bfloat16, has no type in Arrow. */
/* clang-format off */
static const lx__arrow_format formats[] = {
    {"n",    "null",              LX__ARROW_NULLS,       LX_BYTES,   LX_BYTES},
    {"b",    "bool",              LX__ARROW_BITS,        LX_BOOL,    LX_BOOL},
    {"c",    "int8",              LX__ARROW_FIXED,       LX_INT8,    LX_INT8},
    {"s",    "int16",             LX__ARROW_FIXED,       LX_INT16,   LX_INT16},
    {"i",    "int32",             LX__ARROW_FIXED,       LX_INT32,   LX_INT32},
    {"l",    "int64",             LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"C",    "uint8",             LX__ARROW_FIXED,       LX_UINT8,   LX_UINT8},
    {"S",    "uint16",            LX__ARROW_FIXED,       LX_UINT16,  LX_UINT16},
    {"I",    "uint32",            LX__ARROW_FIXED,       LX_UINT32,  LX_UINT32},
    {"L",    "uint64",            LX__ARROW_FIXED,       LX_UINT64,  LX_UINT64},
    {"e",    "float16",           LX__ARROW_FIXED,       LX_FLOAT16, LX_FLOAT16},
    {"f",    "float32",           LX__ARROW_FIXED,       LX_FLOAT32, LX_FLOAT32},
    {"g",    "float64",           LX__ARROW_FIXED,       LX_FLOAT64, LX_FLOAT64},
    {"Z",    "large binary",      LX__ARROW_OFFSETS64,   LX_BYTES,   LX_BYTES},
    {"z",    "binary",            LX__ARROW_OFFSETS32,   LX_BYTES,   LX_BYTES},
    {"vz",   "binary view",       LX__ARROW_VIEWS,       LX_BYTES,   LX_BYTES},
    {"U",    "large string",      LX__ARROW_OFFSETS64,   LX_BYTES,   LX_STR},
    {"u",    "string",            LX__ARROW_OFFSETS32,   LX_BYTES,   LX_STR},
    {"vu",   "string view",       LX__ARROW_VIEWS,       LX_BYTES,   LX_STR},
    {"w:",   "fixed-size binary", LX__ARROW_BLOCKS,      LX_UINT8,   LX_BYTES},
    {"tdD",  "date32",            LX__ARROW_FIXED,       LX_INT32,   LX_DATETIME64_D},
    {"tss:", "timestamp",         LX__ARROW_FIXED,       LX_INT64,   LX_DATETIME64_S},
    {"tsm:", "timestamp",         LX__ARROW_FIXED,       LX_INT64,   LX_DATETIME64_MS},
    {"tsu:", "timestamp",         LX__ARROW_FIXED,       LX_INT64,   LX_DATETIME64_US},
    {"tsn:", "timestamp",         LX__ARROW_FIXED,       LX_INT64,   LX_DATETIME64_NS},
    {"tdm",  "date64",            LX__ARROW_FIXED,       LX_INT64,   LX_DATETIME64_MS},
    {"tts",  "time32",            LX__ARROW_FIXED,       LX_INT32,   LX_INT64},
    {"ttm",  "time32",            LX__ARROW_FIXED,       LX_INT32,   LX_INT64},
    {"ttu",  "time64",            LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"ttn",  "time64",            LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"tDs",  "duration",          LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"tDm",  "duration",          LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"tDu",  "duration",          LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"tDn",  "duration",          LX__ARROW_FIXED,       LX_INT64,   LX_INT64},
    {"+l",   "list",              LX__ARROW_LISTS32,     LX_BYTES,   LX_BYTES},
    {"+L",   "large list",        LX__ARROW_LISTS64,     LX_BYTES,   LX_BYTES},
    {"+w:",  "fixed-size list",   LX__ARROW_FIXED_LISTS, LX_BYTES,   LX_BYTES},
    {"d:",   "decimal",           LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"tiM",  "interval",          LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"tiD",  "interval",          LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"tin",  "interval",          LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"+s",   "struct",            LX__ARROW_FILES,       LX_BYTES,   LX_BYTES},
    {"+m",   "map",               LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"+ud:", "union",             LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"+us:", "union",             LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"+r",   "run-end encoded",   LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"+vl",  "list view",         LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    {"+vL",  "large list view",   LX__ARROW_REFUSED,     LX_BYTES,   LX_BYTES},
    /* Rows that only choose how values leave the library. */
    {"U",    "large string",      LX__ARROW_OFFSETS64,   LX_BYTES,   LX_JSON},
    {"Z",    "large binary",      LX__ARROW_OFFSETS64,   LX_BYTES,   LX_IMAGE},
};
/* clang-format on */

/* The longest text that describes a type in an error. */
#define DESCRIPTION 160

/* ---- formats */

static const lx__arrow_format *find_format(const char *text)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t length = strlen(formats[i].text);
        bool prefix = formats[i].text[length - 1] == ':';
        if (prefix ? strncmp(text, formats[i].text, length) == 0
                   : strcmp(text, formats[i].text) == 0)
            return &formats[i];
    }
    return NULL;
}

const lx__arrow_format *lx__arrow_format_for(lx_dtype dtype)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].dtype == dtype && formats[i].layout != LX__ARROW_NULLS)
            return &formats[i];
    return NULL;
}

static lx_status fail_format(const struct ArrowSchema *schema, const lx__arrow_format *format,
                             lx_error *error)
{
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "there is no field type for the Arrow type %s ('%.32s'): cast the column or "
                   "leave it out",
                   format->name, schema->format);
}

static bool is_named(const struct ArrowSchema *child, const char *name)
{
    return child != NULL && child->name != NULL && strcmp(child->name, name) == 0;
}

/** Whether a struct has bytes and a path, as those in which Hugging Face stores images. */
static bool is_file(const struct ArrowSchema *schema)
{
    return schema->n_children == 2 && schema->children != NULL &&
           is_named(schema->children[0], "bytes") && is_named(schema->children[1], "path");
}

/** Checks the schema of a column or of its child, and finds its format. */
static lx_status read_format(const struct ArrowSchema *schema, const lx__arrow_format **format,
                             lx_error *error)
{
    if (schema == NULL || schema->format == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow schema lacks a format");
    *format = find_format(schema->format);
    if (*format == NULL)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the Arrow type '%.32s' is unknown: cast the column or leave it out",
                       schema->format);
    bool refused = (*format)->layout == LX__ARROW_REFUSED ||
                   ((*format)->layout == LX__ARROW_FILES && !is_file(schema));
    return refused ? fail_format(schema, *format, error) : LX_OK;
}

/** Returns the single child of a list. */
static lx_status read_child(const struct ArrowSchema *schema, const struct ArrowSchema **child,
                            lx_error *error)
{
    if (schema->n_children != 1 || schema->children == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow schema of a list must have one child");
    *child = schema->children[0];
    return LX_OK;
}

/** Appends the number at the end of a format such as "w:16" to the shape. */
static lx_status add_extent(lx__arrow_type *type, const char *digits, lx_error *error)
{
    uint64_t extent = 0;
    size_t length = strspn(digits, "0123456789");
    bool valid = length != 0 && digits[length] == '\0';
    for (size_t i = 0; valid && i < length; i++) {
        extent = extent * 10 + (uint64_t)(digits[i] - '0');
        valid = extent <= LX_MAX_VALUE;
    }
    if (!valid)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow format has an invalid size: '%.32s'",
                       digits);
    if (type->ndim == LX_MAX_NDIM)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "lists are nested more than %d deep",
                       LX_MAX_NDIM);
    type->shape[type->ndim++] = extent;
    if (!lx__multiply_fits(type->items, extent, &type->items) || type->items > LX_MAX_VALUE)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "a value has more than %u elements",
                       LX_MAX_VALUE);
    return LX_OK;
}

/* ---- parse */

static bool is_signed(lx_dtype dtype)
{
    return dtype >= LX_INT8 && dtype <= LX_INT64;
}

static bool is_integer(lx_dtype dtype)
{
    return dtype >= LX_INT8 && dtype <= LX_UINT64;
}

/** For a dictionary-encoded column, takes the type of the indices, and continues with that of the
 * values. */
static lx_status parse_index(const struct ArrowSchema **schema, lx__arrow_type *type,
                             lx_error *error)
{
    lx_status status = read_format(*schema, &type->format, error);
    if (status != LX_OK || (*schema)->dictionary == NULL)
        return status;
    if (type->format->layout != LX__ARROW_FIXED || !is_integer(type->format->dtype))
        return lx_fail(error, LX_ERR_ARGUMENT, "the indices of a dictionary must be integers");
    type->index = type->format;
    *schema = (*schema)->dictionary;
    return read_format(*schema, &type->format, error);
}

static lx_status parse_lists(const struct ArrowSchema **schema, lx__arrow_type *type,
                             lx_error *error)
{
    lx_status status = LX_OK;
    lx__arrow_layout layout = type->format->layout;
    if (layout == LX__ARROW_LISTS32 || layout == LX__ARROW_LISTS64) {
        type->list = type->format;
        status = read_child(*schema, schema, error);
        if (status == LX_OK)
            status = read_format(*schema, &type->format, error);
    }
    while (status == LX_OK && type->format->layout == LX__ARROW_FIXED_LISTS) {
        status = add_extent(type, (*schema)->format + strlen(type->format->text), error);
        if (status == LX_OK)
            status = read_child(*schema, schema, error);
        if (status == LX_OK)
            status = read_format(*schema, &type->format, error);
    }
    return status;
}

static bool holds_bytes(lx__arrow_layout layout)
{
    return layout == LX__ARROW_OFFSETS32 || layout == LX__ARROW_OFFSETS64 ||
           layout == LX__ARROW_VIEWS;
}

/** For a struct of bytes and a path, continues with the type of the bytes. */
static lx_status parse_file(const struct ArrowSchema **schema, lx__arrow_type *type,
                            lx_error *error)
{
    const struct ArrowSchema *bytes = (*schema)->children[0], *path = (*schema)->children[1];
    lx_status status = read_format(path, &type->path, error);
    if (status == LX_OK)
        status = read_format(bytes, &type->format, error);
    if (status != LX_OK)
        return status;
    if (!holds_bytes(type->format->layout) || !holds_bytes(type->path->layout) ||
        bytes->dictionary != NULL || path->dictionary != NULL)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "a struct of bytes and a path must have the Arrow types binary and string, "
                       "not %s and %s: cast the column or leave it out",
                       type->format->name, type->path->name);
    *schema = bytes;
    return LX_OK;
}

/* ---- whole types */

static lx_status parse_values(const struct ArrowSchema *column, lx__arrow_type *type,
                              lx_error *error)
{
    const struct ArrowSchema *values = column;
    lx_status status = parse_lists(&column, type, error);
    if (status != LX_OK)
        return status;
    lx__arrow_layout layout = type->format->layout;
    if (column != values && layout != LX__ARROW_FIXED && layout != LX__ARROW_BITS)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "there is no field type for lists of the Arrow type %s: cast the column or "
                       "leave it out",
                       type->format->name);
    if (column->dictionary != NULL)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "a dictionary is inside of a list or of another dictionary: decode it, for "
                       "example by a cast");
    return layout != LX__ARROW_BLOCKS
               ? LX_OK
               : add_extent(type, column->format + strlen(type->format->text), error);
}

lx_status lx__arrow_type_parse(const struct ArrowSchema *column, lx__arrow_type *type,
                               lx_error *error)
{
    *type = (lx__arrow_type){.items = 1};
    const struct ArrowSchema *values = column;
    lx_status status = parse_index(&values, type, error);
    if (status == LX_OK && type->format->layout == LX__ARROW_FILES)
        status = type->index == NULL ? parse_file(&values, type, error)
                                     : fail_format(values, type->format, error);
    if (status == LX_OK)
        status = parse_values(values, type, error);
    if (status != LX_OK)
        return status;
    type->dtype = type->path != NULL ? LX_IMAGE : type->format->dtype;
    if (type->dtype == LX_STR && lx__arrow_is_extension(column, "arrow.json"))
        type->dtype = LX_JSON;
    return lx__arrow_tensor_shape(column, type->items, type->tensor, &type->tensor_ndim, error);
}

lx_status lx__arrow_machine_check(lx_error *error)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return lx_fail(error, LX_ERR_UNSUPPORTED,
                   "Arrow arrays of big-endian machines are not supported");
#else
    (void)error;
    return LX_OK;
#endif
}

lx_status lx__arrow_struct_check(const struct ArrowSchema *columns, lx_error *error)
{
    lx_status status = lx__arrow_machine_check(error);
    if (status != LX_OK)
        return status;
    if (columns->release == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow schema was released");
    if (columns->format == NULL || strcmp(columns->format, "+s") != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a table must have the Arrow type struct ('+s'), with a child for each "
                       "column, not '%.32s'",
                       columns->format != NULL ? columns->format : "(null)");
    if (columns->n_children < 0 || (columns->n_children != 0 && columns->children == NULL))
        return lx_fail(error, LX_ERR_ARGUMENT, "the Arrow schema has invalid children");
    for (int64_t i = 0; i < columns->n_children; i++)
        if (columns->children[i] == NULL || columns->children[i]->name == NULL)
            return lx_fail(error, LX_ERR_ARGUMENT, "column %lld of the Arrow schema has no name",
                           (long long)i);
    return LX_OK;
}

/* ---- compare with a field */

/** Writes, for example, "list of float32 [2, 3]". */
static void describe(char text[DESCRIPTION], const char *list, const char *name,
                     const uint64_t *shape, size_t ndim)
{
    int used = snprintf(text, DESCRIPTION, "%s%s%s", list != NULL ? list : "",
                        list != NULL ? " of " : "", name);
    for (size_t i = 0; i < ndim && used < DESCRIPTION; i++)
        used += shape[i] == LX_NONE ? snprintf(text + used, (size_t)(DESCRIPTION - used), " [any")
                                    : snprintf(text + used, (size_t)(DESCRIPTION - used), "%s%llu",
                                               i == 0 ? " [" : ", ", (unsigned long long)shape[i]);
    if (ndim != 0 && used < DESCRIPTION)
        snprintf(text + used, (size_t)(DESCRIPTION - used), "]");
}

/** Whether a number of dtype @p to can represent all numbers of dtype @p from. */
static bool widens(lx_dtype from, lx_dtype to)
{
    if (from == to || (from == LX_FLOAT32 && to == LX_FLOAT64))
        return true;
    return is_integer(from) && is_integer(to) && lx_dtype_get_size(from) < lx_dtype_get_size(to) &&
           (is_signed(to) || !is_signed(from));
}

static bool same_extents(const uint64_t *a, const uint64_t *b, size_t ndim)
{
    return ndim == 0 || memcmp(a, b, ndim * sizeof *a) == 0;
}

/** Whether values with the shape of the type may become values of a ragged field. */
static bool fits_ragged(const lx__arrow_type *type, const lx_field *field)
{
    if (type->list != NULL)
        return type->ndim + 1 == field->ndim &&
               same_extents(type->shape, field->shape + 1, type->ndim);
    return type->ndim == field->ndim &&
           same_extents(type->shape + 1, field->shape + 1, type->ndim - 1) &&
           type->items * lx_dtype_get_size(field->dtype) <= LX_MAX_VALUE;
}

/** Whether values with the shape of the type may become values of a dense field. */
static bool fits_dense(const lx__arrow_type *type, const lx_field *field)
{
    if (type->list == NULL && type->ndim == 0)
        return field->ndim == 0;
    if (field->ndim == 0)
        return false;
    if (type->list != NULL) /* the first extent is the length of each list */
        return type->ndim == 0 || (field->ndim == type->ndim + 1 &&
                                   same_extents(type->shape, field->shape + 1, type->ndim));
    return type->items * lx_dtype_get_size(field->dtype) == field->size &&
           (type->ndim == 1 ||
            (type->ndim == field->ndim && same_extents(type->shape, field->shape, type->ndim)));
}

static bool fits_numbers(const lx__arrow_type *type, const lx_field *field)
{
    if (type->format->dtype != field->dtype && !widens(type->format->stored, field->dtype))
        return false;
    return lx__field_is_ragged(field) ? fits_ragged(type, field) : fits_dense(type, field);
}

static bool fits(const lx__arrow_type *type, const lx_field *field)
{
    bool bytes = lx_dtype_is_bytes(field->dtype);
    switch (type->format->layout) {
    case LX__ARROW_NULLS:
        return true;
    case LX__ARROW_BITS:
    case LX__ARROW_FIXED:
        return fits_numbers(type, field);
    case LX__ARROW_BLOCKS:
        return bytes || (field->dtype == LX_UINT8 && field->size == type->items);
    default: /* text is not an image, but may be the path of one */
        return bytes && (type->format->dtype != LX_STR || field->dtype != LX_IMAGE);
    }
}

lx_status lx__arrow_type_check(const lx__arrow_type *type, const lx_field *field, lx_error *error)
{
    if (fits(type, field))
        return LX_OK;
    char found[DESCRIPTION], expected[DESCRIPTION];
    const char *outer = type->path != NULL   ? "struct"
                        : type->list != NULL ? type->list->name
                                             : NULL;
    describe(found, outer, type->format->name, type->shape, type->ndim);
    describe(expected, NULL, lx_dtype_get_name(field->dtype), field->shape, field->ndim);
    return lx_fail(error, LX_ERR_MISMATCH,
                   "the column has the Arrow type %s, but the field is %s: %s", found, expected,
                   lx__arrow_format_for(field->dtype) != NULL
                       ? "cast the column"
                       : "Arrow has no such type, so append the values without Arrow");
}

/* ---- fields for columns */

static lx_status add_field_of_type(lx_schema *schema, const char *column,
                                   const lx__arrow_type *type, lx_compression compression,
                                   lx_error *error)
{
    char name[LX_MAX_FIELD_NAME + 1];
    lx_status status = lx__field_name_make(column, name, error);
    if (status != LX_OK)
        return status;
    if (type->format->layout == LX__ARROW_NULLS)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the column contains only nulls, so its type is unknown: cast the column or "
                       "leave it out");
    lx_dtype dtype = type->dtype;
    if (lx_dtype_is_bytes(dtype)) /* which have no shape, even if all have the same size */
        return lx_schema_add_field(schema, name, dtype, NULL, 0, compression, error);
    if (type->tensor_ndim != 0)
        return lx_schema_add_field(schema, name, dtype, type->tensor, type->tensor_ndim,
                                   compression, error);
    uint64_t shape[LX_MAX_NDIM + 1] = {LX_NONE};
    memcpy(shape + 1, type->shape, sizeof type->shape);
    bool ragged = type->list != NULL;
    return lx_schema_add_field(schema, name, dtype, ragged ? shape : shape + 1, type->ndim + ragged,
                               compression, error);
}

static lx_status add_field(lx_schema *schema, const struct ArrowSchema *columns, int64_t position,
                           lx_compression compression, lx_error *error)
{
    lx__arrow_type type;
    const struct ArrowSchema *column = columns->children[position];
    lx_status status = lx__arrow_type_parse(column, &type, error);
    if (status == LX_OK && type.path != NULL && lx__arrow_is_no_image(columns, column->name))
        type.dtype = LX_BYTES;
    if (status == LX_OK)
        status = add_field_of_type(schema, column->name, &type, compression, error);
    if (status != LX_OK)
        lx_error_locate(error, NULL, column->name, LX_NONE, LX_NONE);
    return status;
}

lx_status lx_schema_add_arrow(lx_schema *schema, const struct ArrowSchema *columns,
                              lx_compression compression, lx_error *error)
{
    if (schema == NULL)
        return lx__fail_null(error, "schema");
    if (columns == NULL)
        return lx__fail_null(error, "columns");
    lx_status status = lx__arrow_struct_check(columns, error);
    for (int64_t i = 0; status == LX_OK && i < columns->n_children; i++)
        status = add_field(schema, columns, i, compression, error);
    return status;
}
