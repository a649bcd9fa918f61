/* SPDX-License-Identifier: MIT */
#include "zrecord/format/codec.h"

#include <string.h>

#ifndef HAVE_ZSTD
const lx__codec lx__zstd = {LX__ZSTD_PROPERTIES};
#endif

static const lx__codec *const codecs[] = {[LX_COMPRESSION_RAW] = NULL,
                                          [LX_COMPRESSION_FLATE] = &lx__flate,
                                          [LX_COMPRESSION_ZSTD] = &lx__zstd};

#define COMPRESSIONS (sizeof codecs / sizeof *codecs)

const lx__codec *lx__codec_of(lx_compression compression)
{
    return (size_t)compression < COMPRESSIONS ? codecs[compression] : NULL;
}

const char *lx__compression_name(lx_compression compression)
{
    const lx__codec *codec = lx__codec_of(compression);
    return codec != NULL ? codec->name : "raw";
}

bool lx__compression_find(const char *name, lx_compression *compression)
{
    for (size_t i = 0; i < COMPRESSIONS; i++) {
        if (strcmp(name, lx__compression_name((lx_compression)i)) == 0) {
            *compression = (lx_compression)i;
            return true;
        }
    }
    return false;
}

lx__inflater *lx__inflater_new(const lx__codec *codec)
{
    lx__inflater *inflater = codec->inflater_new();
    if (inflater != NULL) {
        inflater->codec = codec;
        inflater->dictionary = NULL;
    }
    return inflater;
}

void lx__inflater_free(lx__inflater *inflater)
{
    if (inflater != NULL)
        inflater->codec->inflater_free(inflater);
}

bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size)
{
    return inflater->codec->inflate(inflater, stored, size, value, value_size);
}

lx__deflater *lx__deflater_new(const lx__codec *codec, int level)
{
    lx__deflater *deflater = codec->deflater_new(level);
    if (deflater != NULL) {
        deflater->codec = codec;
        deflater->level = level;
        deflater->dictionary = NULL;
    }
    return deflater;
}

void lx__deflater_free(lx__deflater *deflater)
{
    if (deflater != NULL)
        deflater->codec->deflater_free(deflater);
}

size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity)
{
    return deflater->codec->deflate(deflater, value, value_size, stored, capacity);
}

/* ---- dictionaries */

bool lx__codec_needs_dictionary(const lx__codec *codec, const void *stored, size_t size)
{
    return codec->needs_dictionary != NULL && codec->needs_dictionary(stored, size);
}

lx_status lx__dictionary_new(const lx__codec *codec, const void *data, size_t size, int level,
                             lx__dictionary **dictionary, lx_error *error)
{
    *dictionary = NULL;
    lx_status status = codec->dictionary_new(data, size, level, dictionary, error);
    if (status == LX_OK)
        (*dictionary)->codec = codec;
    return status;
}

void lx__dictionary_free(lx__dictionary *dictionary)
{
    if (dictionary != NULL)
        dictionary->codec->dictionary_free(dictionary);
}

lx_status lx__dictionary_train(const lx__codec *codec, const void *samples, const size_t *sizes,
                               size_t count, void *data, size_t capacity, size_t *size,
                               lx_error *error)
{
    return codec->dictionary_train(samples, sizes, count, data, capacity, size, error);
}
