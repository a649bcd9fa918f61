/* SPDX-License-Identifier: MIT */
/* A compressed payload: three bytes for its declared length, then the stream. The result must agree
 * with inflate of zlib; and bytes that are deflated here must inflate to the same. */
#include "fuzz.h"

#include <zlib.h>

#include "memory.h"
#include "zrecord/format/codec.h"

#define VALUE_MAX ((size_t)1 << 18)
#define INPUT_MAX ((size_t)1 << 20)
#define LEVELS 9

/* Each buffer has exactly the allowed size, to detect overruns in code without a sanitizer. */
static struct guarded streams, values, other_values;

/** Whether zlib finds one complete stream of exactly that many bytes, which it stores in @p
 * value. */
static bool inflate_plainly(const uint8_t *stored, size_t size, uint8_t *value, size_t value_size)
{
    static z_stream stream;
    static bool made;
    if (made ? inflateReset(&stream) != Z_OK : inflateInit2(&stream, -15) != Z_OK)
        abort();
    made = true;
    stream.next_in = (Bytef *)(uintptr_t)stored;
    stream.avail_in = (uInt)size;
    stream.next_out = value;
    stream.avail_out = (uInt)value_size;
    return inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0 &&
           stream.avail_out == 0;
}

/** One inflater for all inputs, as a dataset reuses one for many records. */
static lx__inflater *the_inflater(void)
{
    static lx__inflater *inflater;
    if (inflater == NULL)
        inflater = need(lx__inflater_new(&lx__flate));
    return inflater;
}

static lx__deflater *the_deflater(int level)
{
    static lx__deflater *deflaters[LEVELS + 1];
    if (deflaters[level] == NULL)
        deflaters[level] = need(lx__deflater_new(&lx__flate, level));
    return deflaters[level];
}

static void try_inflate(const uint8_t *stored, size_t size, size_t value_size)
{
    uint8_t *ours = guarded_take(&values, VALUE_MAX, value_size);
    uint8_t *theirs = guarded_take(&other_values, VALUE_MAX, value_size);
    bool whole = lx__inflate(the_inflater(), stored, size, ours, value_size);
    bool expected = inflate_plainly(stored, size, theirs, value_size);
    if (whole != expected)
        fuzz_fail("the codec finds %s stream, zlib %s", whole ? "a" : "no",
                  expected ? "one" : "none");
    if (whole && memcmp(ours, theirs, value_size) != 0)
        fuzz_fail("the codec gives other bytes than zlib");
}

static void try_deflate(const uint8_t *value, size_t size, int level)
{
    uint8_t *stored = guarded_take(&values, VALUE_MAX, size - 1);
    size_t length = lx__deflate(the_deflater(level), value, size, stored, size - 1);
    if (length >= size)
        fuzz_fail("%zu bytes became %zu", size, length);
    uint8_t *back = guarded_take(&other_values, VALUE_MAX, size);
    if (length != 0 && (!lx__inflate(the_inflater(), stored, length, back, size) ||
                        memcmp(back, value, size) != 0))
        fuzz_fail("what was deflated does not come back");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size < INPUT_MAX ? size : INPUT_MAX};
    size_t value_size = (input_u16(&input) | (size_t)input_byte(&input) << 16) % VALUE_MAX;
    const uint8_t *bytes = guarded_copy(&streams, INPUT_MAX, input.data, input.size);
    if (input.size != 0 && value_size != 0)
        try_inflate(bytes, input.size, value_size);
    if (input.size > 1 && input.size <= VALUE_MAX)
        try_deflate(bytes, input.size, 1 + (int)(value_size % LEVELS));
    return 0;
}
