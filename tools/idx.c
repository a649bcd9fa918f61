/* SPDX-License-Identifier: MIT */
#include "idx.h"

#include <string.h>

#include "failure.h"

/** Maps an IDX type number to a dtype. */
static bool find_dtype(unsigned char type, lx_dtype *dtype)
{
    switch (type) {
    case 0x08:
        *dtype = LX_UINT8;
        return true;
    case 0x09:
        *dtype = LX_INT8;
        return true;
    case 0x0b:
        *dtype = LX_INT16;
        return true;
    case 0x0c:
        *dtype = LX_INT32;
        return true;
    case 0x0d:
        *dtype = LX_FLOAT32;
        return true;
    case 0x0e:
        *dtype = LX_FLOAT64;
        return true;
    default:
        return false;
    }
}

static lx_status fail_magic(input *in, const unsigned char *magic, lx_error *error)
{
    lx_status status =
        lx_fail(error, LX_ERR_CORRUPT,
                "not an IDX file: it begins with %02x %02x %02x %02x instead of 00 00, a type "
                "(08, 09, 0b, 0c, 0d or 0e) and the number of axes%s",
                magic[0], magic[1], magic[2], magic[3],
                memcmp(magic, "\x93NUM", 4) == 0 ? "; use --npy for .npy files" : "");
    lx_error_locate(error, input_path(in), NULL, LX_NONE, 0);
    return status;
}

lx_status idx_read_header(input *in, array_header *header, lx_error *error)
{
    unsigned char magic[4], extent[4];
    uint64_t extents[UINT8_MAX];
    lx_status status = input_read(in, magic, sizeof magic, error);
    if (status != LX_OK)
        return status;
    *header = (array_header){.big_endian = true};
    if (magic[0] != 0 || magic[1] != 0 || !find_dtype(magic[2], &header->dtype))
        return fail_magic(in, magic, error);
    for (size_t i = 0; i < magic[3]; i++) {
        status = input_read(in, extent, sizeof extent, error);
        if (status != LX_OK)
            return status;
        extents[i] = (uint64_t)extent[0] << 24 | (uint64_t)extent[1] << 16 |
                     (uint64_t)extent[2] << 8 | extent[3];
    }
    status = array_measure(header, extents, magic[3], error);
    lx_error_locate(error, input_path(in), NULL, LX_NONE, 4);
    return status;
}
