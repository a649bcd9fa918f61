/* SPDX-License-Identifier: MIT */
#include "npy.h"

#include <stdlib.h>

#include <loaderx/npy.h>

#include "failure.h"

/* Enough bytes to distinguish .npy from IDX and from text. */
#define KIND_BYTES 4

static lx_status read_header(input *in, lx_npy_info *npy, lx_error *error)
{
    unsigned char *header = NULL;
    size_t have = 0;
    lx_status status;
    npy->header_size = KIND_BYTES;
    do {
        size_t size = npy->header_size;
        unsigned char *larger = realloc(header, size);
        if (larger == NULL) {
            status = fail_memory(error, "a header");
            break;
        }
        header = larger;
        status = input_read(in, header + have, size - have, error);
        if (status == LX_OK && header[0] == 0 && header[1] == 0)
            status = lx_fail(error, LX_ERR_UNSUPPORTED,
                             "not an .npy file; use --idx for IDX files");
        else if (status == LX_OK)
            status = lx_npy_parse_header(header, size, npy, error);
        have = size;
    } while (status == LX_END);
    free(header);
    return status;
}

lx_status npy_read_header(input *in, array_header *header, lx_error *error)
{
    lx_npy_info npy;
    lx_status status = read_header(in, &npy, error);
    if (status == LX_OK) {
        *header = (array_header){.dtype = npy.dtype, .big_endian = npy.big_endian};
        status = array_measure(header, npy.shape, npy.ndim, error);
    }
    lx_error_locate(error, input_path(in), NULL, LX_NONE, LX_NONE);
    return status;
}
