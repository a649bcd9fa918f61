/* SPDX-License-Identifier: MIT */
/* A source over a mapped file of raw records. */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/source-array.h"

/** Computes the size of a record, which must not be 0. */
static lx_status find_size(const lx_column_info *column, uint64_t *size, lx_error *error)
{
    *size = lx_dtype_get_size(column->dtype);
    bool fits = *size != 0 && !lx_dtype_is_bytes(column->dtype) && column->ndim <= LX_MAX_NDIM;
    if (column->ndim != 0 && column->shape == NULL)
        return lx__fail_null(error, "a shape");
    for (size_t i = 0; fits && i < column->ndim; i++)
        fits = column->shape[i] != LX_NONE && lx__multiply_fits(*size, column->shape[i], size);
    if (fits && *size != 0)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "the records of a flat file must have a fixed-size dtype, a shape, and a size "
                   "of 1 to 2^64 - 1 bytes");
}

static lx_status map(const lx__file *file, const lx_column_info *column, uint64_t offset,
                     lx_source **source, lx_error *error)
{
    uint64_t size, bytes;
    lx_status status = find_size(column, &size, error);
    if (status == LX_OK)
        status = lx__file_size(file, &bytes, error);
    if (status != LX_OK)
        return status;
    if (offset > bytes)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the file has %" PRIu64 " bytes, but its records begin at offset %" PRIu64,
                       bytes, offset);
    if ((bytes - offset) % size != 0)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the file has %" PRIu64 " bytes after the last whole record of %" PRIu64
                       " bytes: the file is truncated, or the record size is wrong",
                       (bytes - offset) % size, size);
    return lx__source_map_array(file, LX__ARRAY_FLAT, offset, (bytes - offset) / size, column,
                                source, error);
}

lx_status lx_source_open_flat(const char *path, const lx_column_info *column, uint64_t offset,
                              lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    lx__file file;
    if (path == NULL || column == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "column");
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = map(&file, column, offset, source, error);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&file);
    return status;
}
