/* SPDX-License-Identifier: MIT */
/* Source: streaming/base/format/mds/encodings.py of mosaicml-streaming. */
#include "importer/mds-column.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"
#include "importer/json-value.h"

/** The encodings without parameters. */
static const struct {
    const char *name;
    lx__mds_kind kind;
    lx_dtype dtype;
} encodings[] = {
    {"bytes", LX__MDS_BYTES, LX_BYTES},      {"str", LX__MDS_STR, LX_BYTES},
    {"int", LX__MDS_SCALAR, LX_INT64},       {"ndarray", LX__MDS_ARRAY, LX_BYTES},
    {"uint8", LX__MDS_SCALAR, LX_UINT8},     {"uint16", LX__MDS_SCALAR, LX_UINT16},
    {"uint32", LX__MDS_SCALAR, LX_UINT32},   {"uint64", LX__MDS_SCALAR, LX_UINT64},
    {"int8", LX__MDS_SCALAR, LX_INT8},       {"int16", LX__MDS_SCALAR, LX_INT16},
    {"int32", LX__MDS_SCALAR, LX_INT32},     {"int64", LX__MDS_SCALAR, LX_INT64},
    {"float16", LX__MDS_SCALAR, LX_FLOAT16}, {"float32", LX__MDS_SCALAR, LX_FLOAT32},
    {"float64", LX__MDS_SCALAR, LX_FLOAT64}, {"str_int", LX__MDS_WORD, LX_BYTES},
    {"str_float", LX__MDS_WORD, LX_BYTES},   {"str_decimal", LX__MDS_DECIMAL, LX_BYTES},
    {"json", LX__MDS_JSON, LX_BYTES},        {"jpeg", LX__MDS_IMAGE, LX_BYTES},
    {"png", LX__MDS_IMAGE, LX_BYTES},        {"pil", LX__MDS_BYTES, LX_BYTES},
    {"jpeg_array", LX__MDS_IMAGE, LX_BYTES}, {"jpegarray", LX__MDS_IMAGE, LX_BYTES},
    {"list[jpeg]", LX__MDS_BYTES, LX_BYTES}, {"list[png]", LX__MDS_BYTES, LX_BYTES},
    {"list[pil]", LX__MDS_BYTES, LX_BYTES},  {"pkl", LX__MDS_BYTES, LX_BYTES},
};

/** The numbers of dtypes in arrays. */
static const struct {
    uint8_t number;
    lx_dtype dtype;
} array_dtypes[] = {{8, LX_UINT8},    {9, LX_INT8},    {16, LX_UINT16}, {17, LX_INT16},
                    {18, LX_FLOAT16}, {32, LX_UINT32}, {33, LX_INT32},  {34, LX_FLOAT32},
                    {64, LX_UINT64},  {65, LX_INT64},  {66, LX_FLOAT64}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- encodings */

/** Reads "3,4" as the shape of a column. */
static bool parse_shape(lx__varying *self, const char *text)
{
    for (self->ndim = 0;; text++) {
        char *end;
        if (*text < '1' || *text > '9' || self->ndim == LX_MAX_NDIM)
            return false;
        self->shape[self->ndim++] = strtoull(text, &end, 10);
        text = end;
        if (*text != ',')
            return *text == '\0';
    }
}

/** Reads "float32" or "float32:3,4", which follow "ndarray:". */
static bool parse_array(lx__mds_column *self, const char *text)
{
    char name[16] = "";
    size_t length = strcspn(text, ":");
    if (length >= sizeof name)
        return false;
    memcpy(name, text, length);
    if (lx_dtype_parse(name, &self->dtype, NULL) != LX_OK)
        return false;
    for (size_t i = 0; i < COUNT(array_dtypes); i++)
        self->has_dtype = self->has_dtype || array_dtypes[i].dtype == self->dtype;
    self->has_shape = text[length] == ':';
    return self->has_dtype && (!self->has_shape || parse_shape(&self->varying, text + length + 1));
}

static bool parse_encoding(lx__mds_column *self, const char *text)
{
    static const char array[] = "ndarray:";
    if (strncmp(text, array, sizeof array - 1) == 0) {
        self->kind = LX__MDS_ARRAY;
        return parse_array(self, text + sizeof array - 1);
    }
    for (size_t i = 0; i < COUNT(encodings); i++) {
        if (strcmp(encodings[i].name, text) == 0) {
            self->kind = encodings[i].kind;
            self->dtype = encodings[i].dtype;
            return true;
        }
    }
    return false;
}

/** Sets the size of the values; false if it is too large. */
static bool set_size(lx__mds_column *self)
{
    uint64_t size = lx_dtype_get_size(self->dtype);
    self->size = LX__MDS_VARIES;
    if (self->kind != LX__MDS_SCALAR && !self->has_shape)
        return true;
    for (size_t i = 0; i < self->varying.ndim; i++)
        if (!lx__multiply_fits(size, self->varying.shape[i], &size))
            return false;
    self->size = (size_t)size;
    return size <= LX_MAX_VALUE;
}

static lx_status fail_column(const lx__mds_column *self, lx_status status, const char *what,
                             lx_error *error)
{
    (void)lx_fail(error, status, "%s", what);
    lx_error_locate(error, NULL, self->varying.name, LX_NONE, LX_NONE);
    return status;
}

lx_status lx__mds_column_open(lx__mds_column *self, const char *name, const char *encoding,
                              const json_t *size, lx_error *error)
{
    *self = (lx__mds_column){.size = LX__MDS_VARIES};
    self->varying.name = name;
    if (!parse_encoding(self, encoding) || !set_size(self)) {
        lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                                   "the encoding '%.64s' is not supported", encoding);
        lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
        return status;
    }
    bool agrees = self->size == LX__MDS_VARIES
                      ? json_is_null(size)
                      : json_is_integer(size) && json_integer_value(size) == (json_int_t)self->size;
    if (!agrees)
        return fail_column(self, LX_ERR_CORRUPT,
                           "the size of the values is not that of their encoding", error);
    return lx__varying_open(&self->varying, name, error);
}

void lx__mds_column_close(lx__mds_column *self)
{
    lx__varying_close(&self->varying);
}

/* ---- values */

/** Reads the dtype at the beginning of an array. */
static lx_status read_dtype(lx__mds_column *self, const uint8_t **at, const uint8_t *end,
                            lx_error *error)
{
    size_t i = 0;
    while (*at < end && i < COUNT(array_dtypes) && array_dtypes[i].number != **at)
        i++;
    if (*at == end || i == COUNT(array_dtypes))
        return fail_column(self, LX_ERR_CORRUPT, "an array has no valid dtype", error);
    if (self->seen_dtype && self->dtype != array_dtypes[i].dtype)
        return fail_column(self, LX_ERR_UNSUPPORTED,
                           "an array has another dtype than the first one, but all values of a "
                           "field have the same",
                           error);
    self->seen_dtype = true;
    self->dtype = array_dtypes[i].dtype;
    *at += 1;
    return LX_OK;
}

/** Reads the shape that precedes the elements: a byte with the number of extents and the logarithm
 * of their size, and the extents. */
static lx_status read_shape(lx__mds_column *self, const uint8_t **at, const uint8_t *end,
                            lx_error *error)
{
    lx__varying *varying = &self->varying;
    if (*at == end)
        return fail_column(self, LX_ERR_CORRUPT, "an array has no shape", error);
    size_t ndim = **at >> 2, size = (size_t)1 << (**at & 3);
    *at += 1;
    if (ndim > LX_MAX_NDIM)
        return fail_column(self, LX_ERR_UNSUPPORTED, "an array has more than 32 dimensions", error);
    if (ndim * size > (size_t)(end - *at))
        return fail_column(self, LX_ERR_CORRUPT, "an array has no valid shape", error);
    varying->ndim = ndim;
    for (size_t i = 0; i < ndim; i++, *at += size) {
        uint64_t extent = 0;
        memcpy(&extent, *at, size);
        varying->shape[i] = LX__LE64(extent);
    }
    return LX_OK;
}

static lx_status read_array(lx__mds_column *self, const uint8_t *data, size_t size,
                            lx__import_value *values, size_t *count, lx_error *error)
{
    const uint8_t *at = data, *end = data + size;
    lx_status status = self->has_dtype ? LX_OK : read_dtype(self, &at, end, error);
    if (status == LX_OK && !self->has_shape)
        status = read_shape(self, &at, end, error);
    if (status != LX_OK)
        return status;
    if (!lx__varying_fits(&self->varying, self->dtype, (uint64_t)(end - at)))
        return fail_column(self, LX_ERR_CORRUPT, "the size of an array is not that of its shape",
                           error);
    *count = lx__varying_put(&self->varying, self->dtype, at, (size_t)(end - at), values);
    if (self->has_shape) {
        values->varies = false;
        *count = 1;
    }
    return LX_OK;
}

static lx_status read_text(lx__mds_column *self, lx__import_value *value, lx_error *error)
{
    if (lx__utf8_span(value->data, value->size) != value->size)
        return fail_column(self, LX_ERR_CORRUPT, "a text is not valid UTF-8", error);
    value->kind = self->kind == LX__MDS_STR ? LX__IMPORT_TEXT : LX__IMPORT_WORD;
    value->decimal = self->kind == LX__MDS_DECIMAL;
    return LX_OK;
}

static lx_status read_json(lx__mds_column *self, lx__import_value *value, lx_error *error)
{
    lx_status status = lx__json_check("the value", value->data, value->size, error);
    lx_error_locate(error, NULL, self->varying.name, LX_NONE, LX_NONE);
    value->kind = LX__IMPORT_JSON;
    return status;
}

lx_status lx__mds_column_read(lx__mds_column *self, const uint8_t *data, size_t size,
                              lx__import_value *values, size_t *count, lx_error *error)
{
    *count = 1;
    *values = (lx__import_value){.name = self->varying.name,
                                 .name_size = strlen(self->varying.name),
                                 .kind = LX__IMPORT_BYTES,
                                 .data = data,
                                 .size = size,
                                 .dtype = self->dtype};
    switch (self->kind) {
    case LX__MDS_STR:
    case LX__MDS_WORD:
    case LX__MDS_DECIMAL:
        return read_text(self, values, error);
    case LX__MDS_JSON:
        return read_json(self, values, error);
    case LX__MDS_IMAGE:
        values->kind = LX__IMPORT_IMAGE;
        return LX_OK;
    case LX__MDS_SCALAR:
        values->kind = LX__IMPORT_ARRAY;
        return LX_OK;
    case LX__MDS_ARRAY:
        return read_array(self, data, size, values, count, error);
    default:
        return LX_OK;
    }
}
