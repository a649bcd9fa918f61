/* SPDX-License-Identifier: MIT */
#include "loader/sources/npy-header.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/** Checks that the file contains every element. */
static lx_status check_length(const lx__file *file, const lx_npy_info *npy, lx_error *error)
{
    uint64_t size, bytes = lx_dtype_get_size(npy->dtype);
    bool empty = false;
    for (size_t i = 0; i < npy->ndim; i++) {
        empty = empty || npy->shape[i] == 0;
        if (npy->shape[i] != 0 && !lx__multiply_fits(bytes, npy->shape[i], &bytes))
            return lx_fail(error, LX_ERR_CORRUPT,
                           "the header is invalid: the array's size "
                           "exceeds 2^64 bytes");
    }
    if (empty)
        return LX_OK;
    lx_status status = lx__file_size(file, &size, error);
    if (status == LX_OK && !lx__range_fits(npy->header_size, bytes, size))
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the file is truncated: the array has %" PRIu64 " bytes, but only %" PRIu64
                         " follow the header",
                         bytes, size - npy->header_size);
    return status;
}

static lx_status read_header(const lx__file *file, lx_npy_info *npy, lx_error *error)
{
    uint8_t start[LX_NPY_PREFIX];
    size_t got;
    lx_status status = lx__file_read_some(file, start, sizeof start, 0, &got, error);
    if (status == LX_OK)
        status = lx_npy_parse_header(start, got, npy, error);
    if (status != LX_END)
        return status;
    size_t size = npy->header_size;
    void *header = lx__alloc(size);
    if (header == NULL)
        return lx__fail_memory(error, "a header");
    status = lx__file_read(file, header, size, 0, error);
    if (status == LX_OK)
        status = lx_npy_parse_header(header, size, npy, error);
    lx__free(header);
    return status;
}

lx_status lx__npy_read(const lx__file *file, lx_npy_info *npy, lx_error *error)
{
    lx_status status = read_header(file, npy, error);
    if (status == LX_OK && npy->big_endian)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the array is big-endian: save it with astype(dtype.newbyteorder('<'))");
    return status == LX_OK ? check_length(file, npy, error) : status;
}
