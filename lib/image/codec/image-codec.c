/* SPDX-License-Identifier: MIT */
#include "image/codec/image-codec.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

lx_status lx__codec_check_size(const lx__codec_input *input, uint32_t width, uint32_t height,
                               lx_error *error)
{
    uint64_t pixels = (uint64_t)width * height;
    if (pixels == 0)
        return lx_fail(error, LX_ERR_CORRUPT, "the image has %" PRIu32 " x %" PRIu32 " pixels",
                       width, height);
    if (pixels > input->max_pixels)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the image has %" PRIu32 " x %" PRIu32 " pixels, more than max_pixels, "
                       "%" PRIu64 ": raise max_pixels if the file is to be trusted",
                       width, height, input->max_pixels);
    return LX_OK;
}

bool lx__codec_make_room(lx__codec_output *output, size_t count)
{
    size_t doubled = 2 * output->capacity, needed = output->size + count;
    if (count <= output->capacity - output->size)
        return true;
    if (needed < count)
        return false;
    return lx__reserve(&output->bytes, &output->capacity, needed > doubled ? needed : doubled);
}

bool lx__codec_append(lx__codec_output *output, const void *bytes, size_t count)
{
    if (!lx__codec_make_room(output, count))
        return false;
    memcpy(output->bytes + output->size, bytes, count);
    output->size += count;
    return true;
}
