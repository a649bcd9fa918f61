/* SPDX-License-Identifier: MIT */
/* A compressed payload: three bytes for the length that it claims, then the stream. zlib's own
 * inflate is the second opinion; and what is deflated here comes back. */
#include "fuzz.h"

#include <zlib.h>

#include "zrecord/format/codec.h"

#define SIZE_MAX_OF_VALUE ((size_t)1 << 18)

/** Whether zlib finds one whole stream of exactly that many bytes; they are at @p value. */
static bool inflate_plainly(const uint8_t *stored, size_t size, uint8_t *value, size_t value_size)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)stored,
                       .avail_in = (uInt)size,
                       .next_out = value,
                       .avail_out = (uInt)value_size};
    if (inflateInit2(&stream, -15) != Z_OK)
        abort();
    bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0 &&
                 stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}

static void try_inflate(const uint8_t *stored, size_t size, size_t value_size)
{
    /* Each exactly as large as it may be. */
    uint8_t *ours = need(malloc(value_size + 1)), *theirs = need(malloc(value_size + 1));
    lx__inflater *inflater = need(lx__inflater_new());
    bool whole = lx__inflate(inflater, stored, size, ours, value_size);
    bool expected = inflate_plainly(stored, size, theirs, value_size);
    if (whole != expected)
        fuzz_fail("%s finds %s stream, zlib %s", lx__codec_name(), whole ? "a" : "no",
                  expected ? "one" : "none");
    if (whole && memcmp(ours, theirs, value_size) != 0)
        fuzz_fail("%s gives other bytes than zlib", lx__codec_name());
    lx__inflater_free(inflater);
    free(theirs);
    free(ours);
}

static void try_deflate(const uint8_t *value, size_t size, int level)
{
    uint8_t *stored = need(malloc(size)), *back = need(malloc(size));
    lx__deflater *deflater = need(lx__deflater_new(level));
    lx__inflater *inflater = need(lx__inflater_new());
    size_t length = lx__deflate(deflater, value, size, stored, size - 1);
    if (length >= size)
        fuzz_fail("%zu bytes became %zu", size, length);
    if (length != 0 &&
        (!lx__inflate(inflater, stored, length, back, size) || memcmp(back, value, size) != 0))
        fuzz_fail("what was deflated does not come back");
    lx__inflater_free(inflater);
    lx__deflater_free(deflater);
    free(back);
    free(stored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    size_t value_size = (input_u16(&input) | (size_t)input_byte(&input) << 16) % SIZE_MAX_OF_VALUE;
    if (input.size != 0 && value_size != 0)
        try_inflate(input.data, input.size, value_size);
    if (input.size > 1)
        try_deflate(input.data, input.size, 1 + (int)(value_size % 9));
    return 0;
}
