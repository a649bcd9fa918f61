/* SPDX-License-Identifier: MIT */
/* A compressed payload: three bytes for its declared length, then the stream. The result must agree
 * with inflate of zlib; and bytes that are deflated here must inflate to the same. The same bytes
 * are a zstd frame, and are compressed into one, which is then damaged. */
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

#ifdef HAVE_ZSTD
static lx__inflater *the_zstd_inflater(void)
{
    static lx__inflater *inflater;
    if (inflater == NULL)
        inflater = need(lx__inflater_new(&lx__zstd));
    return inflater;
}

/** Whatever the bytes are, they must not make the codec read or write too far. */
static bool inflate_frame(const uint8_t *stored, size_t size, size_t value_size)
{
    uint8_t *value = guarded_take(&values, VALUE_MAX, value_size);
    return lx__inflate(the_zstd_inflater(), stored, size, value, value_size);
}

static void try_frame(const uint8_t *value, size_t size, size_t number)
{
    static lx__deflater *deflater;
    if (deflater == NULL)
        deflater = need(lx__deflater_new(&lx__zstd, 3));
    uint8_t *room = guarded_take(&other_values, VALUE_MAX, size - 1);
    size_t length = lx__deflate(deflater, value, size, room, size - 1);
    if (length == 0)
        return;
    if (length >= size || !inflate_frame(room, length, size) ||
        memcmp(guarded_take(&values, VALUE_MAX, size), value, size) != 0)
        fuzz_fail("what was compressed does not come back");
    if (inflate_frame(room, length, size + 1 < VALUE_MAX ? size + 1 : size - 1))
        fuzz_fail("a frame has two lengths");
    room[number % length] ^= (uint8_t)(1 + number / length % 255);
    (void)inflate_frame(room, length, size);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size < INPUT_MAX ? size : INPUT_MAX};
    size_t value_size = (input_u16(&input) | (size_t)input_byte(&input) << 16) % VALUE_MAX;
    const uint8_t *bytes = guarded_copy(&streams, INPUT_MAX, input.data, input.size);
    if (input.size != 0 && value_size != 0)
        try_inflate(bytes, input.size, value_size);
    if (input.size > 1 && input.size <= VALUE_MAX)
        try_deflate(bytes, input.size, 1 + (int)(value_size % LEVELS));
#ifdef HAVE_ZSTD
    if (input.size != 0 && value_size != 0)
        (void)inflate_frame(bytes, input.size, value_size);
    if (input.size > 1 && input.size <= VALUE_MAX)
        try_frame(bytes, input.size, value_size);
#endif
    return 0;
}
