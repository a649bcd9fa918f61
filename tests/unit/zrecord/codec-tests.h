/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The tests of the codec for Deflate, with either library: CODEC_NAME is the library's name.
 */
#ifndef LX_TESTS_CODEC_H
#define LX_TESTS_CODEC_H

#include <string.h>

#include "../unit.h"
#include "records.h"
#include "zrecord/format/codec.h"

/** The caption of the document's example, and its 15 bytes by the fixed codes of Deflate. */
static const char go[] = "go, go, go, go!";
static const uint8_t go_packed[] = {0x4b, 0xcf, 0xd7, 0x51, 0x40, 0x60, 0x45, 0x00};

/** Fills bytes; they are less compressible with more @p noise (0 to 100). */
static void fill(uint8_t *bytes, size_t size, unsigned noise, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t random = mix(seed * 1000003 + i);
        bytes[i] = random % 100 < noise ? (uint8_t)(random >> 32) : (uint8_t)(i / 37);
    }
}

START_TEST(inflates_the_example_of_the_document)
{
    uint8_t value[sizeof go];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    ck_assert(lx__inflate(inflater, go_packed, sizeof go_packed, value, strlen(go)));
    ck_assert_mem_eq(value, go, strlen(go));
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(round_trips_any_bytes)
{
    static uint8_t value[100000], packed[100000], back[100000];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    for (int level = 1; level <= 9; level++) {
        lx__deflater *deflater = lx__deflater_new(&lx__flate, level);
        for (size_t size = 9; size < sizeof value; size = size * 3 + 1) {
            fill(value, size, (unsigned)size % 60, size);
            size_t stored = lx__deflate(deflater, value, size, packed, size - 1);
            if (stored == 0)
                continue; /* it did not shrink */
            ck_assert_uint_lt(stored, size);
            ck_assert(lx__inflate(inflater, packed, stored, back, size));
            ck_assert_mem_eq(back, value, size);
        }
        lx__deflater_free(deflater);
    }
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(reports_values_that_do_not_shrink)
{
    static uint8_t value[5000], packed[5000];
    lx__deflater *deflater = lx__deflater_new(&lx__flate, 9);
    fill(value, sizeof value, 100, 1);
    ck_assert_uint_eq(lx__deflate(deflater, value, sizeof value, packed, sizeof value - 1), 0);
    ck_assert_uint_eq(lx__deflate(deflater, value, 9, packed, 8), 0);
    fill(value, sizeof value, 0, 1);
    size_t size = lx__deflate(deflater, value, sizeof value, packed, sizeof value - 1);
    ck_assert_uint_gt(size, 0);
    /* Exactly the bytes it needs are enough; one less is not. */
    ck_assert_uint_eq(lx__deflate(deflater, value, sizeof value, packed, size - 1), 0);
    lx__deflater_free(deflater);
}
END_TEST

START_TEST(rejects_streams_of_another_length)
{
    uint8_t value[64];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    for (size_t size = 0; size < sizeof value; size++) {
        memset(value, 0xee, sizeof value);
        bool right = lx__inflate(inflater, go_packed, sizeof go_packed, value, size);
        ck_assert(right == (size == strlen(go)));
        for (size_t i = size; i < sizeof value; i++)
            ck_assert_uint_eq(value[i], 0xee); /* nothing is written past the end */
    }
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(rejects_streams_that_end_early)
{
    uint8_t value[64];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    for (size_t size = 0; size < sizeof go_packed; size++) {
        uint8_t *exact = malloc(size + 1); /* so that the sanitizers detect a read past the end */
        memcpy(exact, go_packed, size);
        exact = realloc(exact, size != 0 ? size : 1);
        ck_assert(!lx__inflate(inflater, exact, size, value, strlen(go)));
        free(exact);
    }
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(rejects_bytes_after_the_end)
{
    uint8_t value[64], longer[sizeof go_packed + 3] = {0};
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    memcpy(longer, go_packed, sizeof go_packed);
    for (size_t more = 1; more <= 3; more++)
        ck_assert(!lx__inflate(inflater, longer, sizeof go_packed + more, value, strlen(go)));
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(rejects_a_stream_without_a_final_block)
{
    uint8_t value[64], open_end[sizeof go_packed];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    memcpy(open_end, go_packed, sizeof open_end);
    open_end[0] &= (uint8_t)~1u;
    ck_assert(!lx__inflate(inflater, open_end, sizeof open_end, value, strlen(go)));
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(rejects_headers_of_zlib_and_gzip)
{
    static const uint8_t zlib[] = {0x78, 0x9c, 0x4b, 0xcf, 0xd7, 0x51, 0x40, 0x60, 0x45, 0x00};
    static const uint8_t gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0xcf, 0xd7, 0x51};
    uint8_t value[64];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    ck_assert(!lx__inflate(inflater, zlib, sizeof zlib, value, strlen(go)));
    ck_assert(!lx__inflate(inflater, gzip, sizeof gzip, value, strlen(go)));
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(ignores_the_bits_after_the_last_block)
{
    /* The stream of the example leaves two bits of its last byte. */
    uint8_t value[64], other[sizeof go_packed];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    memcpy(other, go_packed, sizeof other);
    other[sizeof other - 1] |= 0xc0;
    ck_assert(lx__inflate(inflater, other, sizeof other, value, strlen(go)));
    ck_assert_mem_eq(value, go, strlen(go));
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(survives_any_byte_without_writing_too_far)
{
    static uint8_t packed[400], value[300];
    lx__inflater *inflater = lx__inflater_new(&lx__flate);
    for (uint64_t seed = 0; seed < 20000; seed++) {
        size_t size = 1 + mix(seed) % sizeof packed, room = mix(seed + 1) % 256;
        fill(packed, size, 100, seed);
        if (seed % 2 == 0)
            memcpy(packed, go_packed, size < 6 ? size : 6);
        value[room] = 0xaa;
        (void)lx__inflate(inflater, packed, size, value, room);
        ck_assert_uint_eq(value[room], 0xaa);
    }
    /* It stays usable. */
    ck_assert(lx__inflate(inflater, go_packed, sizeof go_packed, value, strlen(go)));
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(accepts_a_null_object)
{
    lx__inflater_free(NULL);
    lx__deflater_free(NULL);
}
END_TEST

UNIT_MAIN("zrecord/codec-" CODEC_NAME, inflates_the_example_of_the_document, round_trips_any_bytes,
          reports_values_that_do_not_shrink, rejects_streams_of_another_length,
          rejects_streams_that_end_early, rejects_bytes_after_the_end,
          rejects_a_stream_without_a_final_block, rejects_headers_of_zlib_and_gzip,
          ignores_the_bits_after_the_last_block, survives_any_byte_without_writing_too_far,
          accepts_a_null_object)

#endif
