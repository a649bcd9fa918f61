/* SPDX-License-Identifier: MIT */
#include "zrecord/format/codec.h"

#include <libdeflate.h>

#include "base/alloc.h"

struct lx__inflater {
    struct libdeflate_decompressor *context;
};

struct lx__deflater {
    struct libdeflate_compressor *context;
};

lx__inflater *lx__inflater_new(void)
{
    lx__inflater *inflater = lx__alloc(sizeof *inflater);
    if (inflater == NULL)
        return NULL;
    inflater->context = libdeflate_alloc_decompressor();
    if (inflater->context != NULL)
        return inflater;
    lx__free(inflater);
    return NULL;
}

void lx__inflater_free(lx__inflater *inflater)
{
    if (inflater == NULL)
        return;
    libdeflate_free_decompressor(inflater->context);
    lx__free(inflater);
}

bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size)
{
    size_t consumed, produced;
    return libdeflate_deflate_decompress_ex(inflater->context, stored, size, value, value_size,
                                            &consumed, &produced) == LIBDEFLATE_SUCCESS &&
           consumed == size && produced == value_size;
}

lx__deflater *lx__deflater_new(int level)
{
    lx__deflater *deflater = lx__alloc(sizeof *deflater);
    if (deflater == NULL)
        return NULL;
    deflater->context = libdeflate_alloc_compressor(level);
    if (deflater->context != NULL)
        return deflater;
    lx__free(deflater);
    return NULL;
}

void lx__deflater_free(lx__deflater *deflater)
{
    if (deflater == NULL)
        return;
    libdeflate_free_compressor(deflater->context);
    lx__free(deflater);
}

size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity)
{
    return libdeflate_deflate_compress(deflater->context, value, value_size, stored, capacity);
}
