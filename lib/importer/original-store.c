/* SPDX-License-Identifier: MIT */
#include "importer/original-store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "importer/original-unpack.h"

#define META_SHARDS 255
#define META_SIZES 16
#define META_SCHEMA 2056
#define META_ROWS 4096
#define ROW 16
/* Rows read at a time. */
#define ROWS ((size_t)4096)
/* The original's dictionaries have 32 KiB. */
#define DICTIONARY_LIMIT ((size_t)16 << 20)

enum { CODEC_RAW, CODEC_ZSTD, CODEC_ZSTD_DICT, CODECS };

/* ---- the schema */

/** Finds a dtype by its name; older stores have names such as "<f4". */
static bool find_dtype(const char *name, lx_dtype *dtype)
{
    static const struct {
        const char *name;
        lx_dtype dtype;
    } codes[] = {{"b1", LX_BOOL},      {"i1", LX_INT8},       {"i2", LX_INT16},
                 {"i4", LX_INT32},     {"i8", LX_INT64},      {"u1", LX_UINT8},
                 {"u2", LX_UINT16},    {"u4", LX_UINT32},     {"u8", LX_UINT64},
                 {"f2", LX_FLOAT16},   {"f4", LX_FLOAT32},    {"f8", LX_FLOAT64},
                 {"c8", LX_COMPLEX64}, {"c16", LX_COMPLEX128}};
    for (size_t i = 0; (*name == '<' || *name == '|') && i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(codes[i].name, name + 1) == 0) {
            *dtype = codes[i].dtype;
            return true;
        }
    }
    return lx_dtype_parse(name, dtype, NULL) == LX_OK && !lx_dtype_is_bytes(*dtype);
}

static lx_status fail_rank(lx_error *error)
{
    return lx_fail(error, LX_ERR_UNSUPPORTED, "records with more than %d dimensions", LX_MAX_NDIM);
}

/** Reads the shape of dense records, none of whose extents may be 0. */
static lx_status read_shape(lx__original_store *self, const json_t *shape, lx_error *error)
{
    self->varying.ndim = json_array_size(shape);
    if (self->varying.ndim > LX_MAX_NDIM)
        return fail_rank(error);
    for (size_t i = 0; i < self->varying.ndim; i++) {
        const json_t *extent = json_array_get(shape, i);
        if (!json_is_integer(extent) || json_integer_value(extent) <= 0)
            return lx_fail(error, LX_ERR_CORRUPT, "extent %zu of item_shape is invalid", i);
        self->varying.shape[i] = (uint64_t)json_integer_value(extent);
    }
    return LX_OK;
}

static lx_status read_schema(lx__original_store *self, const json_t *schema, lx_error *error)
{
    const char *name;
    uint64_t ndim = 0;
    json_t *shape;
    lx_status status = lx__json_get_text(schema, "dtype", &name, error);
    if (status != LX_OK)
        return status;
    if (!find_dtype(name, &self->dtype))
        return lx_fail(error, LX_ERR_UNSUPPORTED, "records of the dtype '%.64s'", name);
    self->ragged = json_object_get(schema, "item_shape") == NULL;
    if (!self->ragged) {
        status = lx__json_get(schema, "item_shape", JSON_ARRAY, &shape, error);
        return status == LX_OK ? read_shape(self, shape, error) : status;
    }
    status = lx__json_get_integer(schema, "ndim", 1, 64, &ndim, error);
    if (status == LX_OK && ndim > LX_MAX_NDIM)
        return fail_rank(error);
    self->varying.ndim = (size_t)ndim;
    return status;
}

/* ---- opening */

/** Reads what precedes the table of records in meta.zr. */
static lx_status read_head(lx__original_store *self, lx_error *error)
{
    uint8_t head[META_ROWS];
    uint64_t size, rows;
    json_t *schema = NULL;
    lx_status status = lx__file_size(&self->meta, &size, error);
    if (status == LX_OK)
        status = lx__file_read(&self->meta, head, sizeof head, 0, error);
    if (status != LX_OK)
        return status;
    self->count = lx__load_le64(head);
    size_t length = head[8] | (size_t)head[9] << 8;
    self->file_count = head[10];
    self->codec = head[11];
    if (!lx__multiply_fits(self->count, ROW, &rows) || !lx__range_fits(META_ROWS, rows, size))
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the table of %" PRIu64 " records does not fit in the file", self->count);
    if (length > META_ROWS - META_SCHEMA || self->file_count == 0 ||
        self->file_count > META_SHARDS || self->codec >= CODECS)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the file is not that of a store of loaderx 2.8: its length of the schema, "
                       "number of data files or codec is invalid");
    for (size_t i = 0; i < self->file_count; i++)
        self->sizes[i] = lx__load_le64(head + META_SIZES + 8 * i);
    status = lx__json_parse((const char *)head + META_SCHEMA, length, &schema, error);
    if (status == LX_OK)
        status = read_schema(self, schema, error);
    json_decref(schema);
    return status;
}

static lx_status open_meta(lx__original_store *self, lx_error *error)
{
    lx_status status = lx__file_open(&self->meta, &self->directory, "meta.zr", O_RDONLY, error);
    if (status == LX_OK)
        status = read_head(self, error);
    lx_error_locate(error, self->meta.path, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Opens a data file, which must have the size in meta.zr. */
static lx_status open_file(lx__original_store *self, size_t i, lx_error *error)
{
    char name[32];
    uint64_t size;
    snprintf(name, sizeof name, "data_%zu.zr", i);
    lx_status status = lx__file_open(&self->files[i], &self->directory, name, O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_size(&self->files[i], &size, error);
    if (status == LX_OK && size < self->sizes[i])
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the file has %" PRIu64 " bytes, but should have %" PRIu64, size,
                         self->sizes[i]);
    lx_error_locate(error, self->files[i].path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status open_files(lx__original_store *self, lx_error *error)
{
    lx_status status = LX_OK;
    self->files = lx__alloc_array(self->file_count, sizeof *self->files);
    if (self->files == NULL)
        return lx__fail_memory(error, "a store");
    for (size_t i = 0; i < self->file_count; i++)
        self->files[i] = (lx__file)LX__FILE_CLOSED;
    for (size_t i = 0; status == LX_OK && i < self->file_count; i++)
        status = open_file(self, i, error);
    return status;
}

static lx_status open_dictionary(lx__original_store *self, lx_error *error)
{
    lx__file file = LX__FILE_CLOSED;
    char *data = NULL;
    size_t size = 0;
    if (self->codec == CODEC_RAW)
        return LX_OK;
    if (self->codec == CODEC_ZSTD)
        return lx__original_unpacker_new(NULL, 0, &self->unpacker, error);
    lx_status status = lx__file_open(&file, &self->directory, "dict.zr", O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_read_all(&file, DICTIONARY_LIMIT, &data, &size, error);
    if (status == LX_OK)
        status = lx__original_unpacker_new(data, size, &self->unpacker, error);
    lx_error_locate(error, file.path, NULL, LX_NONE, LX_NONE);
    lx__free(data);
    lx__file_close(&file);
    return status;
}

lx_status lx__original_store_open(lx__original_store *self, const char *path, const char *name,
                                  lx_error *error)
{
    *self = (lx__original_store){.directory = LX__FILE_CLOSED, .meta = LX__FILE_CLOSED};
    self->name = lx__strdup(name);
    if (self->name == NULL)
        return lx__fail_memory(error, "a store");
    lx_status status = lx__varying_open(&self->varying, self->name, error);
    if (status == LX_OK)
        status = lx__directory_open(&self->directory, LX__CWD, path, error);
    if (status == LX_OK)
        status = open_meta(self, error);
    if (status == LX_OK)
        status = open_files(self, error);
    return status == LX_OK ? open_dictionary(self, error) : status;
}

void lx__original_store_close(lx__original_store *self)
{
    for (size_t i = 0; self->files != NULL && i < self->file_count; i++)
        lx__file_close(&self->files[i]);
    lx__file_close(&self->meta);
    lx__file_close(&self->directory);
    lx__original_unpacker_free(self->unpacker);
    lx__varying_close(&self->varying);
    lx__free(self->name);
    lx__free(self->files);
    lx__free(self->rows);
    lx__free(self->stored);
    lx__free(self->data);
    *self = (lx__original_store){.directory = LX__FILE_CLOSED, .meta = LX__FILE_CLOSED};
}

/* ---- records */

/** Finds the row of a record in meta.zr. */
static lx_status read_row(lx__original_store *self, uint64_t i, const uint8_t **row,
                          lx_error *error)
{
    if (self->rows == NULL && (self->rows = lx__alloc(ROWS * ROW)) == NULL)
        return lx__fail_memory(error, "a table of records");
    if (i < self->first_row || i - self->first_row >= self->row_count) {
        uint64_t left = self->count - i;
        self->first_row = i;
        self->row_count = left < ROWS ? (size_t)left : ROWS;
        lx_status status = lx__file_read(&self->meta, self->rows, self->row_count * ROW,
                                         META_ROWS + i * ROW, error);
        if (status != LX_OK) {
            self->row_count = 0;
            return status;
        }
    }
    *row = self->rows + (size_t)(i - self->first_row) * ROW;
    return LX_OK;
}

static bool reserve(uint8_t **memory, size_t *capacity, size_t size)
{
    size += size == 0; /* so that there is an address */
    return size <= *capacity || lx__reserve(memory, capacity, size);
}

/** Reads a record into self->data. */
static lx_status read_data(lx__original_store *self, size_t file, uint64_t offset,
                           size_t stored_size, size_t size, lx_error *error)
{
    if (!lx__range_fits(offset, stored_size, self->sizes[file]))
        return lx_fail(error, LX_ERR_CORRUPT, "the record does not lie within its file");
    if (!reserve(&self->data, &self->data_capacity, size) ||
        (self->unpacker != NULL && !reserve(&self->stored, &self->stored_capacity, stored_size)))
        return lx__fail_memory(error, "a record");
    if (self->unpacker == NULL)
        return stored_size == size
                   ? lx__file_read(&self->files[file], self->data, size, offset, error)
                   : lx_fail(error, LX_ERR_CORRUPT, "the two sizes of a raw record differ");
    lx_status status = lx__file_read(&self->files[file], self->stored, stored_size, offset, error);
    return status == LX_OK ? lx__original_unpack(self->unpacker, self->stored, stored_size,
                                                 self->data, size, error)
                           : status;
}

/** Makes values of the bytes of a record. */
static lx_status read_values(lx__original_store *self, const uint8_t *data, size_t size,
                             lx__import_value *values, size_t *count, lx_error *error)
{
    lx__varying *varying = &self->varying;
    size_t head = self->ragged ? 4 * varying->ndim : 0;
    if (size < head)
        return lx_fail(error, LX_ERR_CORRUPT, "the record is too small for its shape");
    for (size_t i = 0; self->ragged && i < varying->ndim; i++)
        varying->shape[i] = lx__load_le32(data + 4 * i);
    if (!lx__varying_fits(varying, self->dtype, size - head))
        return lx_fail(error, LX_ERR_CORRUPT, "the size of the record is not that of its shape");
    *count = lx__varying_put(varying, self->dtype, data + head, size - head, values);
    if (!self->ragged) {
        values->varies = false;
        *count = 1;
    }
    return LX_OK;
}

lx_status lx__original_store_read(lx__original_store *self, uint64_t i, uint64_t limit,
                                  lx__import_value *values, size_t *count, lx_error *error)
{
    const uint8_t *row = NULL;
    size_t file = (size_t)(i % self->file_count);
    lx_status status = read_row(self, i, &row, error);
    if (status != LX_OK)
        return status;
    uint64_t offset = lx__load_le64(row);
    uint32_t stored_size = lx__load_le32(row + 8), size = lx__load_le32(row + 12);
    if (size > limit || stored_size > limit)
        status = lx_fail(error, LX_ERR_LIMIT,
                         "the record has more than %" PRIu64 " bytes: raise the limit of a record",
                         limit);
    if (status == LX_OK)
        status = read_data(self, file, offset, stored_size, size, error);
    if (status == LX_OK)
        status = read_values(self, self->data, size, values, count, error);
    lx_error_locate(error, self->files[file].path, self->name, i, offset);
    return status;
}
