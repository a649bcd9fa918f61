/* SPDX-License-Identifier: MIT */
/* Damaged and hostile images. */
#include "../../unit.h"
#include "../pictures.h"

#include <loaderx/image/decoder.h>

#define SIZE 24
#define PIXELS (SIZE * SIZE * 3)

static lx_error error = LX_ERROR_INIT;

/** Decodes an image, whose pixels fit if it has not more than @p pixels. */
static lx_status decode(lx_image_decoder *decoder, const struct picture *picture,
                        uint8_t pixels[PIXELS])
{
    lx_image_info info;
    lx_error_clear(&error);
    memset(pixels, 0, PIXELS);
    lx_image_decoder_set_max_pixels(decoder, SIZE * SIZE);
    lx_status status = lx_image_decoder_open(decoder, picture->bytes, picture->size, &info, &error);
    if (status == LX_OK)
        status = lx_image_decoder_read(decoder, NULL, pixels, (size_t)info.width * 3, &error);
    ck_assert_int_eq(error.status, status);
    return status;
}

/** The image must fail with this status and a message that contains @p text. */
static void fails(lx_image_decoder *decoder, const struct picture *picture, lx_status status,
                  const char *text)
{
    uint8_t pixels[PIXELS];
    lx_status got = decode(decoder, picture, pixels);
    ck_assert_msg(got == status && strstr(error.message, text) != NULL, "%s: %s",
                  lx_status_get_name(got), error.message);
}

/** Returns a copy of the first @p size bytes. */
static struct picture cut(const struct picture *picture, size_t size)
{
    struct picture copy = {malloc(size + (size == 0)), size};
    memcpy(copy.bytes, picture->bytes, size);
    return copy;
}

/** Finds the segment of a JPEG that begins with this marker. */
static uint8_t *find_segment(const struct picture *picture, uint8_t marker)
{
    for (uint8_t *at = picture->bytes + 2;; at += 2 + (at[2] << 8 | at[3])) {
        ck_assert_uint_eq(at[0], 0xff);
        if (at[1] == marker)
            return at;
    }
}

static void remove_segments(struct picture *picture, uint8_t marker, int count)
{
    while (count-- > 0) {
        uint8_t *at = find_segment(picture, marker);
        size_t length = 2 + (size_t)(at[2] << 8 | at[3]);
        memmove(at, at + length, (size_t)(picture->bytes + picture->size - at) - length);
        picture->size -= length;
    }
}

START_TEST(files_cut_anywhere)
{
    uint8_t whole[PIXELS], pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, SIZE, SIZE, 3);
        ck_assert_int_eq(decode(decoder, &picture, whole), LX_OK);
        for (size_t size = 0; size < picture.size; size++) {
            struct picture part = cut(&picture, size);
            if (decode(decoder, &part, pixels) == LX_OK) {
                /* Without its Exif data, which is at the end, a WebP image is not turned. */
                if (kind->format != LX_IMAGE_WEBP)
                    ck_assert_mem_eq(pixels, whole, PIXELS);
            } else {
                ck_assert_msg(error.status == LX_ERR_CORRUPT || size < 12, "%s", error.message);
            }
            free(part.bytes);
        }
        ck_assert_int_eq(decode(decoder, &picture, pixels), LX_OK);
        ck_assert_mem_eq(pixels, whole, PIXELS);
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(bytes_changed_anywhere)
{
    uint8_t whole[PIXELS], pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, SIZE, SIZE, 0);
        ck_assert_int_eq(decode(decoder, &picture, whole), LX_OK);
        for (size_t at = 0; at < picture.size; at++) {
            uint8_t byte = picture.bytes[at];
            picture.bytes[at] = (uint8_t)(at % 3 == 0 ? 0xff : byte ^ (1 << at % 8));
            lx_status status = decode(decoder, &picture, pixels);
            ck_assert(status == LX_OK || status == LX_ERR_CORRUPT || status == LX_ERR_UNSUPPORTED ||
                      status == LX_ERR_LIMIT);
            if (kind->format == LX_IMAGE_PNG && status == LX_OK)
                ck_assert_mem_eq(pixels, whole, PIXELS);
            picture.bytes[at] = byte;
        }
        ck_assert_int_eq(decode(decoder, &picture, pixels), LX_OK);
        ck_assert_mem_eq(pixels, whole, PIXELS);
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(files_of_other_formats)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    fails(decoder, &(struct picture){NULL, 0}, LX_ERR_CORRUPT, "0 bytes");
    fails(decoder, &(struct picture){(uint8_t *)"GIF89a..", 8}, LX_ERR_UNSUPPORTED,
          "47 49 46 38 39 61 2e 2e");
    fails(decoder, &(struct picture){(uint8_t *)"RIFF\20\0\0\0WAVEfmt ", 16}, LX_ERR_UNSUPPORTED,
          "not a JPEG, PNG or WebP file");
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(images_that_are_too_large)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture png = picture_encode(picture_kind("png-grey-8"), SIZE, SIZE, 0);
    struct picture jpeg = picture_encode(picture_kind("jpeg-420"), SIZE, SIZE, 0);
    struct picture webp = picture_encode(picture_kind("webp-lossless"), SIZE, SIZE + 1, 0);
    static const uint8_t header[] = {0, 0, 0x75, 0x30, 0, 0,    0x75, 0x30, /* 30,000 x 30,000 */
                                     8, 0, 0,    0,    0, 0x43, 0x4c, 0xa7, 0x66};
    memcpy(png.bytes + 16, header, sizeof header);
    memcpy(find_segment(&jpeg, 0xc0) + 5, (uint8_t[]){0x75, 0x30, 0x75, 0x30}, 4);
    fails(decoder, &png, LX_ERR_LIMIT, "30000 x 30000 pixels, more than max_pixels, 576: raise");
    fails(decoder, &jpeg, LX_ERR_LIMIT, "30000 x 30000 pixels");
    fails(decoder, &webp, LX_ERR_LIMIT, "24 x 25 pixels");
    free(png.bytes);
    free(jpeg.bytes);
    free(webp.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(images_that_are_valid_but_not_supported)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture jpeg = picture_encode(picture_kind("jpeg-444"), SIZE, SIZE, 0);
    uint8_t *frame = find_segment(&jpeg, 0xc0);
    frame[4] = 12; /* bits */
    fails(decoder, &jpeg, LX_ERR_UNSUPPORTED, "12");
    frame[4] = 8;
    memset(frame + 5, 0xff, 2); /* rows */
    fails(decoder, &jpeg, LX_ERR_UNSUPPORTED, "65500");
    frame[5] = 0;
    frame[6] = SIZE;
    frame[1] = 0xc5; /* hierarchical */
    fails(decoder, &jpeg, LX_ERR_UNSUPPORTED, "SOF");
    uint8_t webp[] = "RIFF\26\0\0\0WEBPVP8X\12\0\0\0\2\0\0\0\7\0\0\7\0\0";
    fails(decoder, &(struct picture){webp, 30}, LX_ERR_UNSUPPORTED, "animated");
    free(jpeg.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

/** Encodes a progressive image with a scan for each coefficient. */
static struct picture encode_scans(void)
{
    static jpeg_scan_info scans[64];
    struct jpeg_compress_struct library;
    struct jpeg_error_mgr errors;
    struct picture made = {NULL, 0};
    unsigned long size = 0;
    uint8_t row[SIZE];
    JSAMPROW rows[] = {row};
    for (int i = 0; i < 64; i++)
        scans[i] = (jpeg_scan_info){1, {0}, i, i, 0, 0};
    library.err = jpeg_std_error(&errors);
    jpeg_create_compress(&library);
    jpeg_mem_dest(&library, &made.bytes, &size);
    library.image_width = library.image_height = SIZE;
    library.in_color_space = JCS_GRAYSCALE;
    library.input_components = 1;
    jpeg_set_defaults(&library);
    library.scan_info = scans;
    library.num_scans = 64;
    jpeg_start_compress(&library, TRUE);
    for (uint32_t y = 0; y < SIZE; y++) {
        for (uint32_t x = 0; x < SIZE; x++)
            row[x] = picture_sample(x, y, 0);
        jpeg_write_scanlines(&library, rows, 1);
    }
    jpeg_finish_compress(&library);
    jpeg_destroy_compress(&library);
    made.size = size;
    return made;
}

START_TEST(jpeg_with_many_scans)
{
    uint8_t pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture few = encode_scans(), many = {NULL, 0};
    ck_assert_int_eq(decode(decoder, &few, pixels), LX_OK);
    /* Scans of single coefficients, which may be repeated, with their tables. */
    size_t end = few.size - 2, begin = (size_t)(find_segment(&few, 0xda) - few.bytes);
    size_t repeated = end - begin;
    many.size = few.size + repeated;
    many.bytes = malloc(many.size);
    memcpy(many.bytes, few.bytes, end);
    memcpy(many.bytes + end, few.bytes + begin, repeated + 2);
    fails(decoder, &many, LX_ERR_LIMIT, "more than 100 scans");
    free(few.bytes);
    free(many.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(jpeg_with_harmless_faults)
{
    uint8_t whole[PIXELS], pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture picture = picture_encode(picture_kind("jpeg-420"), SIZE, SIZE, 0);
    ck_assert_int_eq(decode(decoder, &picture, whole), LX_OK);
    /* Bytes between segments. */
    struct picture padded = {malloc(picture.size + 5), picture.size + 5};
    size_t begin = (size_t)(find_segment(&picture, 0xdb) - picture.bytes);
    memcpy(padded.bytes, picture.bytes, begin);
    memcpy(padded.bytes + begin, "stray", 5);
    memcpy(padded.bytes + begin + 5, picture.bytes + begin, picture.size - begin);
    ck_assert_int_eq(decode(decoder, &padded, pixels), LX_OK);
    ck_assert_mem_eq(pixels, whole, PIXELS);
    /* Without the tables that all frames of a video share. */
    remove_segments(&picture, 0xc4, 4);
    ck_assert_int_eq(decode(decoder, &picture, pixels), LX_OK);
    ck_assert_mem_eq(pixels, whole, PIXELS);
    free(padded.bytes);
    free(picture.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(jpeg_does_not_use_tables_of_an_earlier_one)
{
    uint8_t pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture picture = picture_encode(picture_kind("jpeg-420"), SIZE, SIZE, 0);
    ck_assert_int_eq(decode(decoder, &picture, pixels), LX_OK);
    remove_segments(&picture, 0xdb, 2);
    fails(decoder, &picture, LX_ERR_CORRUPT, "uantization table");
    free(picture.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(png_with_wrong_checksums)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture picture = picture_encode(picture_kind("png-rgb-8"), SIZE, SIZE, 0);
    size_t end = picture.size - 12; /* of the pixels */
    picture.bytes[end - 1] ^= 1;
    fails(decoder, &picture, LX_ERR_CORRUPT, "IDAT: CRC error");
    picture.bytes[end - 1] ^= 1;
    picture.bytes[33 + 8] ^= 1; /* gAMA */
    fails(decoder, &picture, LX_ERR_CORRUPT, "gAMA: CRC error");
    free(picture.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(damage_is_named_with_its_place)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture picture = picture_encode(picture_kind("jpeg-420"), SIZE, SIZE, 0);
    char text[100];
    picture.size -= 100;
    snprintf(text, sizeof text, "at byte %zu of %zu: Premature end", picture.size, picture.size);
    fails(decoder, &picture, LX_ERR_CORRUPT, text);
    free(picture.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(damage_below_the_region_is_not_met)
{
    uint8_t pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    lx_image_region top = {0, 0, SIZE, 4};
    const char *const names[] = {"jpeg-444", "png-rgb-8"};
    for (int i = 0; i < 2; i++) {
        struct picture picture = picture_encode(picture_kind(names[i]), SIZE, SIZE, 0);
        picture.size -= 60;
        unit_ok(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error));
        unit_fails(lx_image_decoder_read(decoder, NULL, pixels, SIZE * 3, &error), LX_ERR_CORRUPT);
        if (i == 0)
            unit_ok(lx_image_decoder_read(decoder, &top, pixels, SIZE * 3, &error));
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

/* The image that counts is the first one, also for the limit of pixels. */
START_TEST(webp_followed_by_a_larger_one)
{
    uint8_t whole[PIXELS], pixels[PIXELS];
    lx_image_decoder *decoder = lx_image_decoder_new();
    struct picture first = picture_encode(picture_kind("webp-lossless"), SIZE, SIZE, 0);
    struct picture second = picture_encode(picture_kind("webp-lossy"), 2 * SIZE, 2 * SIZE, 0);
    struct picture both = {malloc(first.size + second.size), first.size + second.size - 12};
    memcpy(both.bytes, first.bytes, first.size);
    memcpy(both.bytes + first.size, second.bytes + 12, second.size - 12); /* without its header */
    ck_assert_int_eq(decode(decoder, &first, whole), LX_OK);
    ck_assert_int_eq(decode(decoder, &both, pixels), LX_OK);
    ck_assert_mem_eq(pixels, whole, PIXELS);
    free(first.bytes);
    free(second.bytes);
    free(both.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

UNIT_MAIN("image/codec/decoder-damage", files_cut_anywhere, bytes_changed_anywhere,
          files_of_other_formats, images_that_are_too_large,
          images_that_are_valid_but_not_supported, jpeg_with_many_scans, jpeg_with_harmless_faults,
          jpeg_does_not_use_tables_of_an_earlier_one, png_with_wrong_checksums,
          damage_is_named_with_its_place, damage_below_the_region_is_not_met,
          webp_followed_by_a_larger_one)
