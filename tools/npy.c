/* SPDX-License-Identifier: MIT */
#include "npy.h"

#include <stdlib.h>

#include <loaderx/npy.h>

#include "failure.h"

/** What follows the first bytes of a header. */
static lx_status read_rest(input *in, const unsigned char *start, lx_npy *npy, lx_error *error)
{
    size_t size = npy->header_size;
    unsigned char *header = malloc(size);
    if (header == NULL)
        return fail_memory(error, "a header");
    for (size_t i = 0; i < LX_NPY_START; i++)
        header[i] = start[i];
    lx_status status = input_read(in, header + LX_NPY_START, size - LX_NPY_START, error);
    if (status == LX_OK)
        status = lx_npy_parse(header, size, npy, error);
    free(header);
    return status;
}

static lx_status read_header(input *in, lx_npy *npy, lx_error *error)
{
    unsigned char start[LX_NPY_START];
    lx_status status = input_read(in, start, sizeof start, error);
    if (status != LX_OK)
        return status;
    if (start[0] == 0 && start[1] == 0)
        return fail(error, LX_ERR_UNSUPPORTED, "this is no .npy file; --idx reads IDX files");
    status = lx_npy_parse(start, sizeof start, npy, error);
    return status == LX_END ? read_rest(in, start, npy, error) : status;
}

lx_status npy_read_header(input *in, array_header *header, lx_error *error)
{
    lx_npy npy;
    lx_status status = read_header(in, &npy, error);
    if (status == LX_OK) {
        *header = (array_header){.dtype = npy.dtype, .big_endian = npy.big_endian};
        status = array_measure(header, npy.shape, npy.ndim, error);
    }
    locate(error, input_path(in), NULL, LX_NONE, LX_NONE);
    return status;
}
