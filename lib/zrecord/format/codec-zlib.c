/* SPDX-License-Identifier: MIT */
#include "zrecord/format/codec.h"

#include <limits.h>
#include <zlib.h>

#include "base/alloc.h"

/* A negative window: raw Deflate, without zlib's header and checksum. */
#define RAW_WINDOW (-15)
#define MEMORY_LEVEL 8

struct lx__inflater {
    z_stream stream;
};

struct lx__deflater {
    z_stream stream;
};

lx__inflater *lx__inflater_new(void)
{
    lx__inflater *inflater = lx__alloc_array(1, sizeof *inflater);
    if (inflater == NULL || inflateInit2(&inflater->stream, RAW_WINDOW) == Z_OK)
        return inflater;
    lx__free(inflater);
    return NULL;
}

void lx__inflater_free(lx__inflater *inflater)
{
    if (inflater == NULL)
        return;
    inflateEnd(&inflater->stream);
    lx__free(inflater);
}

/* A record has at most 2^32 - 1 bytes, which is what zlib's counters hold. */
_Static_assert(UINT_MAX >= UINT32_MAX, "zlib counts in unsigned int");

bool lx__inflate(lx__inflater *inflater, const void *stored, size_t size, void *value,
                 size_t value_size)
{
    z_stream *stream = &inflater->stream;
    if (inflateReset(stream) != Z_OK)
        return false;
    stream->next_in = (Bytef *)stored; /* zlib reads it only */
    stream->avail_in = (uInt)size;
    stream->next_out = value;
    stream->avail_out = (uInt)value_size;
    return inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_in == 0 &&
           stream->avail_out == 0;
}

lx__deflater *lx__deflater_new(int level)
{
    lx__deflater *deflater = lx__alloc_array(1, sizeof *deflater);
    if (deflater == NULL || deflateInit2(&deflater->stream, level, Z_DEFLATED, RAW_WINDOW,
                                         MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK)
        return deflater;
    lx__free(deflater);
    return NULL;
}

void lx__deflater_free(lx__deflater *deflater)
{
    if (deflater == NULL)
        return;
    deflateEnd(&deflater->stream);
    lx__free(deflater);
}

size_t lx__deflate(lx__deflater *deflater, const void *value, size_t value_size, void *stored,
                   size_t capacity)
{
    z_stream *stream = &deflater->stream;
    if (deflateReset(stream) != Z_OK)
        return 0;
    stream->next_in = (Bytef *)value;
    stream->avail_in = (uInt)value_size;
    stream->next_out = stored;
    stream->avail_out = (uInt)capacity;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? capacity - stream->avail_out : 0;
}
