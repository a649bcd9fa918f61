/* SPDX-License-Identifier: MIT */
#include "zrecord/format/codec.h"

#include <libdeflate.h>

#include "base/alloc.h"

struct inflater {
    lx__inflater base;
    struct libdeflate_decompressor *context;
};

struct deflater {
    lx__deflater base;
    struct libdeflate_compressor *context;
};

static lx__inflater *inflater_new(void)
{
    struct inflater *inflater = lx__alloc(sizeof *inflater);
    if (inflater == NULL)
        return NULL;
    inflater->context = libdeflate_alloc_decompressor();
    if (inflater->context != NULL)
        return &inflater->base;
    lx__free(inflater);
    return NULL;
}

static void inflater_free(lx__inflater *inflater)
{
    libdeflate_free_decompressor(((struct inflater *)inflater)->context);
    lx__free(inflater);
}

static bool inflate_value(lx__inflater *inflater, const void *stored, size_t size, void *value,
                          size_t value_size)
{
    size_t consumed, produced;
    return libdeflate_deflate_decompress_ex(((struct inflater *)inflater)->context, stored, size,
                                            value, value_size, &consumed,
                                            &produced) == LIBDEFLATE_SUCCESS &&
           consumed == size && produced == value_size;
}

static lx__deflater *deflater_new(int level)
{
    struct deflater *deflater = lx__alloc(sizeof *deflater);
    if (deflater == NULL)
        return NULL;
    deflater->context = libdeflate_alloc_compressor(level);
    if (deflater->context != NULL)
        return &deflater->base;
    lx__free(deflater);
    return NULL;
}

static void deflater_free(lx__deflater *deflater)
{
    libdeflate_free_compressor(((struct deflater *)deflater)->context);
    lx__free(deflater);
}

static size_t deflate_value(lx__deflater *deflater, const void *value, size_t value_size,
                            void *stored, size_t capacity)
{
    return libdeflate_deflate_compress(((struct deflater *)deflater)->context, value, value_size,
                                       stored, capacity);
}

const lx__codec lx__flate = {.name = "flate",
                             .ratio_max = LX__FLATE_RATIO_MAX,
                             .level_default = 6,
                             .level_max = 9,
                             .inflater_new = inflater_new,
                             .inflater_free = inflater_free,
                             .inflate = inflate_value,
                             .deflater_new = deflater_new,
                             .deflater_free = deflater_free,
                             .deflate = deflate_value};
