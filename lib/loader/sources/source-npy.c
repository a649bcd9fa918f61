/* SPDX-License-Identifier: MIT */
/* A source over a mapped .npy file. */
#include "loader/sources/source-npy.h"

#include "base/error.h"
#include "loader/sources/npy-header.h"
#include "loader/sources/source-array.h"

static lx_status map(const lx__file *file, lx_source **source, lx_error *error)
{
    lx_npy_info npy;
    lx_status status = lx__npy_read(file, &npy, error);
    if (status == LX_OK && npy.ndim == 0)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the array has no dimensions: a source needs an array with one record for "
                         "each index of its first dimension");
    if (status != LX_OK)
        return status;
    lx_column_info column = {
        .name = "data", .dtype = npy.dtype, .ndim = npy.ndim - 1, .shape = npy.shape + 1};
    return lx__source_map_array(file, LX__ARRAY_NPY, npy.header_size, npy.shape[0], &column, source,
                                error);
}

lx_status lx__source_open_npy(const char *path, lx_source **source, lx_error *error)
{
    lx__file file;
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = map(&file, source, error);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&file);
    return status;
}
