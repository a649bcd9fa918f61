/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <zdict.h>
#include <zstd.h>

#include "../texts.h"
#include "zrecord/format/codec.h"

enum { ROOM = 4096, SAMPLES = 400, DICTIONARY = 4096 };

static const char go[] = "go, go, go, go! go, go, go, go! go, go, go, go!";

/** A frame of go[], made by libzstd with these settings. */
static size_t pack(uint8_t *frame, ZSTD_cParameter parameter, int value)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ck_assert(!ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)));
    size_t size = ZSTD_compress2(context, frame, ROOM, go, sizeof go);
    ZSTD_freeCCtx(context);
    ck_assert(!ZSTD_isError(size));
    return size;
}

static bool inflates(const void *stored, size_t size, size_t value_size,
                     const lx__dictionary *dictionary)
{
    uint8_t *exact = malloc(size != 0 ? size : 1), *value = malloc(value_size + 1);
    lx__inflater *inflater = lx__inflater_new(&lx__zstd);
    inflater->dictionary = dictionary;
    memcpy(exact, stored, size);
    value[value_size] = 0xaa;
    bool done = lx__inflate(inflater, exact, size, value, value_size);
    ck_assert_uint_eq(value[value_size], 0xaa); /* nothing is written past the end */
    ck_assert(!done || value_size != sizeof go || memcmp(value, go, sizeof go) == 0);
    lx__inflater_free(inflater);
    free(exact);
    free(value);
    return done;
}

START_TEST(round_trips_any_bytes_at_any_level)
{
    static uint8_t value[300000], packed[sizeof value], back[sizeof value];
    lx__inflater *inflater = lx__inflater_new(&lx__zstd);
    for (int level = 1; level <= lx__zstd.level_max; level += 3) {
        lx__deflater *deflater = lx__deflater_new(&lx__zstd, level);
        for (size_t size = 9; size < sizeof value; size = size * 5 + 1) {
            for (size_t i = 0; i < size; i++)
                value[i] = mix(i * 7 + size) % 100 < size % 60 ? (uint8_t)mix(i) : (uint8_t)(i / 9);
            size_t stored = lx__deflate(deflater, value, size, packed, size - 1);
            ck_assert_uint_lt(stored, size);
            if (stored == 0)
                continue; /* it did not shrink */
            ck_assert(lx__inflate(inflater, packed, stored, back, size));
            ck_assert_mem_eq(back, value, size);
        }
        lx__deflater_free(deflater);
    }
    lx__inflater_free(inflater);
}
END_TEST

START_TEST(rejects_what_is_not_one_frame_of_the_length)
{
    uint8_t frame[ROOM], skippable[] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
    size_t size = pack(frame, ZSTD_c_compressionLevel, 3);
    ck_assert(inflates(frame, size, sizeof go, NULL));
    for (size_t other = 0; other < 2 * sizeof go; other++)
        ck_assert(inflates(frame, size, other, NULL) == (other == sizeof go));
    for (size_t cut = 0; cut < size; cut++)
        ck_assert(!inflates(frame, cut, sizeof go, NULL));
    frame[size] = 0;
    ck_assert(!inflates(frame, size + 1, sizeof go, NULL));
    memcpy(frame + size, skippable, sizeof skippable);
    ck_assert(!inflates(frame, size + sizeof skippable, sizeof go, NULL));
    memmove(frame + sizeof skippable, frame, size);
    memcpy(frame, skippable, sizeof skippable);
    ck_assert(!inflates(frame, size + sizeof skippable, sizeof go, NULL));
    size = pack(frame, ZSTD_c_checksumFlag, 1);
    ck_assert(!inflates(frame, size, sizeof go, NULL));
    size = pack(frame, ZSTD_c_contentSizeFlag, 0);
    ck_assert(!inflates(frame, size, sizeof go, NULL));
    size = pack(frame, ZSTD_c_compressionLevel, 3);
    frame[4] |= 8; /* the reserved bit */
    ck_assert(!inflates(frame, size, sizeof go, NULL));
}
END_TEST

START_TEST(the_best_block_has_the_ratio_of_the_format)
{
    /* One block of 128 KiB of the same byte. The block has 4 bytes. */
    const uint8_t bomb[] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 2, 0, 3, 0, 0x10, 7};
    const uint32_t size = 128 << 10;
    ck_assert(inflates(bomb, sizeof bomb, size, NULL));
    ck_assert_uint_eq(4 * (uint64_t)LX__ZSTD_RATIO_MAX, size);
}
END_TEST

START_TEST(survives_any_byte)
{
    uint8_t frame[ROOM], other[ROOM];
    size_t size = pack(frame, ZSTD_c_compressionLevel, 9);
    for (uint64_t seed = 0; seed < 20000; seed++) {
        memcpy(other, frame, size);
        for (uint64_t i = 0; i < 1 + seed % 3; i++)
            other[mix(seed + i) % size] ^= (uint8_t)(mix(seed * 3 + i) | 1);
        (void)inflates(other, size, 1 + mix(seed) % (2 * sizeof go), NULL);
    }
}
END_TEST

/* ---- dictionaries */

static size_t train(uint8_t data[DICTIONARY], uint64_t first)
{
    static char samples[SAMPLES * TEXT_MAX];
    size_t sizes[SAMPLES], used = 0, size;
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < SAMPLES; i++)
        used += sizes[i] = text_of(first + i, samples + used);
    unit_ok(
        lx__dictionary_train(&lx__zstd, samples, sizes, SAMPLES, data, DICTIONARY, &size, &error));
    ck_assert_uint_le(size, DICTIONARY);
    return size;
}

START_TEST(a_dictionary_helps_and_is_needed)
{
    uint8_t data[DICTIONARY], with[TEXT_MAX], without[TEXT_MAX];
    char text[TEXT_MAX];
    lx_error error = LX_ERROR_INIT;
    lx__dictionary *packs, *unpacks, *other;
    size_t size = train(data, 0), length = text_of(5000, text);
    unit_ok(lx__dictionary_new(&lx__zstd, data, size, 9, &packs, &error));
    unit_ok(lx__dictionary_new(&lx__zstd, data, size, 0, &unpacks, &error));
    lx__deflater *deflater = lx__deflater_new(&lx__zstd, 9);
    size_t plain = lx__deflate(deflater, text, length, without, length - 1);
    deflater->dictionary = packs;
    size_t packed = lx__deflate(deflater, text, length, with, length - 1);
    ck_assert(packed != 0 && packed < plain);
    ck_assert(lx__codec_needs_dictionary(&lx__zstd, with, packed));
    ck_assert(!lx__codec_needs_dictionary(&lx__zstd, without, plain));
    ck_assert(inflates(with, packed, length, unpacks));
    ck_assert(!inflates(with, packed, length, NULL));
    /* What was compressed without a dictionary does not use that of the field. */
    ck_assert(inflates(without, plain, length, unpacks));
    size = train(data, 90000);
    unit_ok(lx__dictionary_new(&lx__zstd, data, size, 0, &other, &error));
    ck_assert(!inflates(with, packed, length, other));
    lx__dictionary_free(other);
    lx__dictionary_free(unpacks);
    lx__dictionary_free(packs);
    lx__dictionary_free(NULL);
    lx__deflater_free(deflater);
}
END_TEST

START_TEST(rejects_what_is_not_a_dictionary)
{
    uint8_t data[DICTIONARY];
    lx_error error = LX_ERROR_INIT;
    lx__dictionary *dictionary;
    size_t size = train(data, 0);
    for (int level = 0; level <= 3; level += 3) {
        unit_fails(lx__dictionary_new(&lx__zstd, go, sizeof go, level, &dictionary, &error),
                   LX_ERR_CORRUPT);
        unit_fails(lx__dictionary_new(&lx__zstd, data, 8, level, &dictionary, &error),
                   LX_ERR_CORRUPT);
        unit_fails(lx__dictionary_new(&lx__zstd, data, 3, level, &dictionary, &error),
                   LX_ERR_CORRUPT);
        memset(data + 8, 0xff, 40);
        unit_fails(lx__dictionary_new(&lx__zstd, data, size, level, &dictionary, &error),
                   LX_ERR_CORRUPT);
        ck_assert_ptr_null(dictionary);
        size = train(data, 0);
    }
}
END_TEST

START_TEST(reports_samples_that_are_not_suitable)
{
    uint8_t data[DICTIONARY];
    const size_t sizes[] = {10, 10};
    size_t size;
    lx_error error = LX_ERROR_INIT;
    unit_fails(lx__dictionary_train(&lx__zstd, go, sizes, 2, data, DICTIONARY, &size, &error),
               LX_ERR_STATE);
    unit_fails(lx__dictionary_train(&lx__zstd, go, sizes, 0, data, DICTIONARY, &size, &error),
               LX_ERR_STATE);
}
END_TEST

UNIT_MAIN("zrecord/codec-zstd", round_trips_any_bytes_at_any_level,
          rejects_what_is_not_one_frame_of_the_length, the_best_block_has_the_ratio_of_the_format,
          survives_any_byte, a_dictionary_helps_and_is_needed, rejects_what_is_not_a_dictionary,
          reports_samples_that_are_not_suitable)
