/* SPDX-License-Identifier: MIT */
#include "array.h"

#include <string.h>

#include "failure.h"

lx_status array_measure(array_header *header, const uint64_t *extents, size_t count,
                        lx_error *error)
{
    if (count == 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the array is a single value, but it needs a first axis with one element "
                       "per record");
    if (count - 1 > LX_MAX_NDIM)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the array has %zu axes, but at most %d are supported", count,
                       LX_MAX_NDIM + 1);
    header->length = extents[0];
    header->ndim = count - 1;
    memcpy(header->shape, extents + 1, (count - 1) * sizeof *extents);

    uint64_t size = lx_dtype_get_size(header->dtype), total;
    for (size_t i = 0; i < header->ndim; i++)
        if (__builtin_mul_overflow(size, header->shape[i], &size) || size > LX_MAX_VALUE)
            return lx_fail(error, LX_ERR_UNSUPPORTED, "a record has more than %u bytes",
                           LX_MAX_VALUE);
    if (size == 0 && header->length != 0)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "a record has no bytes");
    if (__builtin_mul_overflow(size, header->length, &total))
        return lx_fail(error, LX_ERR_CORRUPT, "the header declares more than 2^64 bytes");
    header->size = size;
    return LX_OK;
}

static void swap_2(unsigned char *at, uint64_t count)
{
    for (uint16_t word; count != 0; count--, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word = __builtin_bswap16(word);
        memcpy(at, &word, sizeof word);
    }
}

static void swap_4(unsigned char *at, uint64_t count)
{
    for (uint32_t word; count != 0; count--, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word = __builtin_bswap32(word);
        memcpy(at, &word, sizeof word);
    }
}

static void swap_8(unsigned char *at, uint64_t count)
{
    for (uint64_t word; count != 0; count--, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word = __builtin_bswap64(word);
        memcpy(at, &word, sizeof word);
    }
}

void array_swap(const array_header *header, void *data, uint64_t records)
{
    size_t unit = lx_dtype_get_size(header->dtype);
    uint64_t bytes = records * header->size;
    if (!header->big_endian)
        return;
    if (header->dtype == LX_COMPLEX64 || header->dtype == LX_COMPLEX128)
        unit /= 2;
    if (unit == 2)
        swap_2(data, bytes / unit);
    else if (unit == 4)
        swap_4(data, bytes / unit);
    else if (unit == 8)
        swap_8(data, bytes / unit);
}
