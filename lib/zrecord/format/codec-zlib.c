/* SPDX-License-Identifier: MIT */
#include "zrecord/format/codec.h"

#include <limits.h>
#include <zlib.h>

#include "base/alloc.h"

/* A negative window size selects raw Deflate, without zlib's header and checksum. */
#define RAW_WINDOW (-15)
#define MEMORY_LEVEL 8

struct inflater {
    lx__inflater base;
    z_stream stream;
};

struct deflater {
    lx__deflater base;
    z_stream stream;
};

static lx__inflater *inflater_new(void)
{
    struct inflater *inflater = lx__alloc_array(1, sizeof *inflater);
    if (inflater == NULL)
        return NULL;
    if (inflateInit2(&inflater->stream, RAW_WINDOW) == Z_OK)
        return &inflater->base;
    lx__free(inflater);
    return NULL;
}

static void inflater_free(lx__inflater *inflater)
{
    inflateEnd(&((struct inflater *)inflater)->stream);
    lx__free(inflater);
}

/* Values are at most 2^32 - 1 bytes long, which zlib's counters can hold. */
_Static_assert(UINT_MAX >= UINT32_MAX, "zlib counts in unsigned int");

static bool inflate_value(lx__inflater *inflater, const void *stored, size_t size, void *value,
                          size_t value_size)
{
    z_stream *stream = &((struct inflater *)inflater)->stream;
    if (inflateReset(stream) != Z_OK)
        return false;
    stream->next_in = (Bytef *)stored; /* zlib does not write to it */
    stream->avail_in = (uInt)size;
    stream->next_out = value;
    stream->avail_out = (uInt)value_size;
    return inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_in == 0 &&
           stream->avail_out == 0;
}

static lx__deflater *deflater_new(int level)
{
    struct deflater *deflater = lx__alloc_array(1, sizeof *deflater);
    if (deflater == NULL)
        return NULL;
    if (deflateInit2(&deflater->stream, level, Z_DEFLATED, RAW_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return &deflater->base;
    lx__free(deflater);
    return NULL;
}

static void deflater_free(lx__deflater *deflater)
{
    deflateEnd(&((struct deflater *)deflater)->stream);
    lx__free(deflater);
}

static size_t deflate_value(lx__deflater *deflater, const void *value, size_t value_size,
                            void *stored, size_t capacity)
{
    z_stream *stream = &((struct deflater *)deflater)->stream;
    if (deflateReset(stream) != Z_OK)
        return 0;
    stream->next_in = (Bytef *)value;
    stream->avail_in = (uInt)value_size;
    stream->next_out = stored;
    stream->avail_out = (uInt)capacity;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? capacity - stream->avail_out : 0;
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
