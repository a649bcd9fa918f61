/* SPDX-License-Identifier: MIT */
/* The decoder: pixels, regions, orientations and scales. */
#include "../../unit.h"
#include "../pictures.h"

#include <loaderx/image/decoder.h>

#define WIDTH 83
#define HEIGHT 61

static lx_error error = LX_ERROR_INIT;

/** Decodes a region, or all of the image if it is NULL; release the pixels with free(). */
static uint8_t *decode(lx_image_decoder *decoder, const struct picture *picture,
                       const lx_image_region *region, uint32_t channels, lx_image_info *info)
{
    unit_ok(lx_image_decoder_open(decoder, picture->bytes, picture->size, info, &error));
    size_t width = region != NULL ? region->width : info->width;
    size_t height = region != NULL ? region->height : info->height;
    uint8_t *pixels = malloc(width * height * channels);
    unit_ok(lx_image_decoder_read(decoder, region, pixels, width * channels, &error));
    return pixels;
}

static void check_region(const uint8_t *whole, uint32_t width, const uint8_t *part,
                         const lx_image_region *region, uint32_t channels, const char *name)
{
    for (uint32_t y = 0; y < region->height; y++) {
        const uint8_t *row = whole + ((size_t)(region->top + y) * width + region->left) * channels;
        ck_assert_msg(memcmp(row, part + (size_t)y * region->width * channels,
                             (size_t)region->width * channels) == 0,
                      "%s: row %u of the region of %u x %u at %u, %u differs", name, y,
                      region->width, region->height, region->left, region->top);
    }
}

/** Decodes a region and compares it with the same one of the whole image. */
static void try_region(lx_image_decoder *decoder, const struct picture *picture,
                       const uint8_t *whole, uint32_t channels, lx_image_region region,
                       const char *name)
{
    lx_image_info info;
    uint8_t *part = decode(decoder, picture, &region, channels, &info);
    check_region(whole, info.width, part, &region, channels, name);
    free(part);
}

static uint32_t draw(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % limit;
}

/** Tries regions with all left edges, all top edges, and random ones. */
static void try_regions(lx_image_decoder *decoder, const struct picture *picture, uint32_t channels,
                        uint32_t random, const char *name)
{
    lx_image_info info;
    uint8_t *whole = decode(decoder, picture, NULL, channels, &info);
    uint32_t state = 7;
    for (uint32_t left = 0; left < info.width; left++) {
        uint32_t width = 1 + draw(&state, info.width - left), top = draw(&state, info.height);
        try_region(decoder, picture, whole, channels, (lx_image_region){left, top, width, 1}, name);
    }
    for (uint32_t top = 0; top < info.height; top++) {
        lx_image_region region = {0, top, info.width, 1 + draw(&state, info.height - top)};
        try_region(decoder, picture, whole, channels, region, name);
    }
    for (uint32_t i = 0; i < random; i++) {
        lx_image_region region = {draw(&state, info.width), draw(&state, info.height), 0, 0};
        region.width = 1 + draw(&state, info.width - region.left);
        region.height = 1 + draw(&state, info.height - region.top);
        try_region(decoder, picture, whole, channels, region, name);
    }
    free(whole);
}

START_TEST(regions_are_parts_of_the_whole)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, WIDTH, HEIGHT, 0);
        for (uint32_t channels = 1; channels <= 3; channels += 2) {
            unit_ok(lx_image_decoder_set_channels(decoder, channels, &error));
            try_regions(decoder, &picture, channels, 60, kind->name);
        }
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(regions_of_images_of_every_size)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        for (uint32_t size = 1; size <= 36; size += size < 18 ? 1 : 3) {
            struct picture picture = picture_encode(kind, size, 37 - size, 0);
            try_regions(decoder, &picture, 3, 10, kind->name);
            free(picture.bytes);
        }
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(regions_of_scaled_images)
{
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, WIDTH, HEIGHT, 6);
        for (uint32_t scale = 2; scale <= 8; scale *= 2) {
            unit_ok(lx_image_decoder_set_scale(decoder, scale, &error));
            if (kind->format == LX_IMAGE_JPEG) {
                unit_ok(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error));
                ck_assert_uint_eq(info.width, (HEIGHT + scale - 1) / scale);
                ck_assert_uint_eq(info.height, (WIDTH + scale - 1) / scale);
                try_regions(decoder, &picture, 3, 60, kind->name);
            } else {
                unit_fails(
                    lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error),
                    LX_ERR_UNSUPPORTED);
            }
        }
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

/** Returns where the pixel at column x and row y of a stored image is seen, by the definition of
 * the orientation in Exif. */
static size_t find_place(uint32_t orientation, uint32_t x, uint32_t y)
{
    uint32_t right = WIDTH - 1 - x, below = HEIGHT - 1 - y;
    switch (orientation) {
    case 2: /* the first column is right */
        return (size_t)y * WIDTH + right;
    case 3:
        return (size_t)below * WIDTH + right;
    case 4: /* the first row is at the bottom */
        return (size_t)below * WIDTH + x;
    case 5: /* the first row is left, and the first column is at the top */
        return (size_t)x * HEIGHT + y;
    case 6: /* the first row is right */
        return (size_t)x * HEIGHT + below;
    case 7: /* the first row is right, and the first column is at the bottom */
        return (size_t)right * HEIGHT + below;
    case 8:
        return (size_t)right * HEIGHT + y;
    default:
        return (size_t)y * WIDTH + x;
    }
}

START_TEST(images_come_out_upright)
{
    const char *const names[] = {"jpeg-420", "png-rgb-8", "png-rgb-8-interlaced", "webp-lossy",
                                 "webp-lossless-alpha"};
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (uint32_t orientation = 1; orientation <= 8; orientation++) {
            struct picture picture = picture_encode(picture_kind(names[i]), WIDTH, HEIGHT,
                                                    orientation);
            lx_image_decoder_set_upright(decoder, false);
            uint8_t *stored = decode(decoder, &picture, NULL, 3, &info);
            ck_assert_uint_eq(info.orientation, orientation);
            ck_assert_uint_eq(info.width, WIDTH);
            lx_image_decoder_set_upright(decoder, true);
            uint8_t *upright = decode(decoder, &picture, NULL, 3, &info);
            ck_assert_uint_eq(info.orientation, orientation);
            ck_assert_uint_eq(info.width, orientation < 5 ? WIDTH : HEIGHT);
            for (uint32_t place = 0; place < WIDTH * HEIGHT; place++)
                ck_assert_mem_eq(
                    stored + 3 * (size_t)place,
                    upright + 3 * find_place(orientation, place % WIDTH, place / WIDTH), 3);
            try_regions(decoder, &picture, 3, 30, names[i]);
            free(stored);
            free(upright);
            free(picture.bytes);
        }
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(lossless_pixels_are_those_that_were_encoded)
{
    const char *const names[] = {
        "png-rgb-8",    "png-rgba-8", "png-rgb-16", "png-rgb-8-interlaced", "png-rgb-8-transparent",
        "webp-lossless"};
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct picture picture = picture_encode(picture_kind(names[i]), WIDTH, HEIGHT, 0);
        uint8_t *pixels = decode(decoder, &picture, NULL, 3, &info);
        for (uint32_t place = 0; place < WIDTH * HEIGHT * 3; place++)
            ck_assert_uint_eq(pixels[place],
                              picture_sample(place / 3 % WIDTH, place / 3 / WIDTH, place % 3));
        free(pixels);
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

/** Returns the class of a pixel of the generated picture: its sample in the file, of which a byte
 * has several; grey of 2 and 4 bits becomes grey of 8 bits. */
static uint8_t class_of(const struct picture_kind *kind, uint32_t x, uint32_t y)
{
    uint32_t samples = 8 / (uint32_t)kind->bits,
             shift = 8 - (x % samples + 1) * (uint32_t)kind->bits;
    uint32_t most = (1U << kind->bits) - 1;
    uint32_t sample = picture_sample(x / samples, y, 0) >> shift & most;
    bool scaled = kind->type == 0 && kind->bits > 1;
    return (uint8_t)(scaled ? sample * 255 / most : sample);
}

START_TEST(masks_have_the_classes_of_the_file)
{
    const lx_image_region region = {.left = 7, .top = 11, .width = 40, .height = 30};
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    int masks = 0;
    lx_image_decoder_set_indices(decoder, true);
    unit_ok(lx_image_decoder_set_channels(decoder, 3, &error)); /* makes no difference */
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, WIDTH, HEIGHT, 0);
        bool palette = kind->type == 3, grey = kind->type == 0 && kind->bits <= 8;
        if (kind->format != LX_IMAGE_PNG || !(palette || grey)) {
            unit_fails(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error),
                       LX_ERR_UNSUPPORTED);
        } else {
            uint8_t *whole = decode(decoder, &picture, NULL, 1, &info);
            for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
                ck_assert_msg(whole[i] == class_of(kind, i % WIDTH, i / WIDTH),
                              "%s: pixel %u is %d", kind->name, i, whole[i]);
            try_region(decoder, &picture, whole, 1, region, kind->name);
            free(whole);
            masks++;
        }
        free(picture.bytes);
    }
    ck_assert_int_ge(masks, 8);
    struct picture picture = picture_encode(picture_kind("png-rgb-8"), 5, 5, 0);
    lx_image_decoder_set_indices(decoder, false);
    free(decode(decoder, &picture, NULL, 3, &info)); /* colours again */
    free(picture.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(masks_come_out_upright)
{
    const struct picture_kind *kind = picture_kind("png-palette-4");
    struct picture picture = picture_encode(kind, WIDTH, HEIGHT, 6); /* turned clockwise */
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    lx_image_decoder_set_indices(decoder, true);
    uint8_t *pixels = decode(decoder, &picture, NULL, 1, &info);
    ck_assert(info.width == HEIGHT && info.height == WIDTH);
    for (uint32_t y = 0; y < WIDTH; y++)
        for (uint32_t x = 0; x < HEIGHT; x++)
            ck_assert_uint_eq(pixels[y * HEIGHT + x], class_of(kind, y, HEIGHT - 1 - x));
    free(pixels);
    free(picture.bytes);
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(says_what_the_header_says)
{
    static const struct {
        const char *name;
        uint32_t channels, bits;
    } cases[] = {{"jpeg-grey", 1, 8},       {"jpeg-420", 3, 8},           {"jpeg-cmyk", 4, 8},
                 {"png-grey-2", 1, 2},      {"png-grey-alpha-16", 2, 16}, {"png-palette-4", 3, 8},
                 {"png-rgb-16", 3, 16},     {"png-rgba-8", 4, 8},         {"webp-lossy", 3, 8},
                 {"webp-lossy-alpha", 4, 8}};
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct picture_kind *kind = picture_kind(cases[i].name);
        struct picture picture = picture_encode(kind, WIDTH, HEIGHT, 0);
        unit_ok(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error));
        ck_assert_int_eq(info.format, kind->format);
        ck_assert_uint_eq(info.width, WIDTH);
        ck_assert_uint_eq(info.height, HEIGHT);
        ck_assert_uint_eq(info.channels, cases[i].channels);
        ck_assert_uint_eq(info.bits, cases[i].bits);
        ck_assert_uint_eq(info.orientation, 1);
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(writes_only_the_pixels_of_rows)
{
    enum { STRIDE = 40 * 3 + 5 };
    static uint8_t pixels[30 * STRIDE];
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    lx_image_region region = {3, 4, 40, 30};
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, HEIGHT, WIDTH, 8);
        unit_ok(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error));
        memset(pixels, 0xa5, sizeof pixels);
        unit_ok(lx_image_decoder_read(decoder, &region, pixels, STRIDE, &error));
        for (size_t y = 0; y < 30; y++)
            for (size_t i = 40 * 3; i < STRIDE; i++)
                ck_assert_uint_eq(pixels[y * STRIDE + i], 0xa5);
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(an_open_image_can_be_read_again)
{
    static uint8_t first[WIDTH * HEIGHT * 3], second[WIDTH * HEIGHT * 3];
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        struct picture picture = picture_encode(kind, WIDTH, HEIGHT, 5);
        unit_ok(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error));
        unit_ok(lx_image_decoder_read(decoder, NULL, first, HEIGHT * 3, &error));
        unit_ok(lx_image_decoder_read(decoder, NULL, second, HEIGHT * 3, &error));
        ck_assert_mem_eq(first, second, sizeof first);
        free(picture.bytes);
    }
    lx_image_decoder_free(decoder);
}
END_TEST

START_TEST(refuses_wrong_arguments)
{
    uint8_t pixels[3 * 8 * 8];
    lx_image_decoder *decoder = lx_image_decoder_new();
    lx_image_info info;
    struct picture picture = picture_encode(picture_kind("png-rgb-8"), 8, 8, 0);
    unit_fails(lx_image_decoder_read(decoder, NULL, pixels, 24, &error), LX_ERR_STATE);
    unit_refuses_null(lx_image_decoder_open(NULL, picture.bytes, 1, &info, &error), "decoder");
    unit_refuses_null(lx_image_decoder_open(decoder, NULL, 1, &info, &error), "bytes");
    unit_refuses_null(lx_image_decoder_open(decoder, picture.bytes, 1, NULL, &error), "info");
    unit_ok(lx_image_decoder_open(decoder, picture.bytes, picture.size, &info, &error));
    unit_refuses_null(lx_image_decoder_read(NULL, NULL, pixels, 24, &error), "decoder");
    unit_refuses_null(lx_image_decoder_read(decoder, NULL, NULL, 24, &error), "pixels");
    unit_fails(lx_image_decoder_read(decoder, NULL, pixels, 23, &error), LX_ERR_ARGUMENT);
    const lx_image_region wrong[] = {{0, 0, 0, 1},          {0, 0, 1, 0}, {0, 0, 9, 1},
                                     {0, 0, 1, 9},          {8, 0, 1, 1}, {0, 8, 1, 1},
                                     {1, 0, UINT32_MAX, 1}, {5, 5, 4, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        unit_fails(lx_image_decoder_read(decoder, &wrong[i], pixels, 64, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_image_decoder_read(decoder, NULL, pixels, 24, &error));
    unit_fails(lx_image_decoder_set_channels(decoder, 2, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_decoder_set_scale(decoder, 3, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_decoder_set_channels(NULL, 1, &error), "decoder");
    unit_refuses_null(lx_image_decoder_set_scale(NULL, 1, &error), "decoder");
    unit_ok(lx_image_decoder_set_channels(decoder, 1, &error));
    unit_fails(lx_image_decoder_read(decoder, NULL, pixels, 24, &error), LX_ERR_STATE);
    free(picture.bytes);
    lx_image_decoder_free(decoder);
    lx_image_decoder_free(NULL);
}
END_TEST

UNIT_MAIN("image/codec/decoder", regions_are_parts_of_the_whole, regions_of_images_of_every_size,
          regions_of_scaled_images, images_come_out_upright,
          lossless_pixels_are_those_that_were_encoded, masks_have_the_classes_of_the_file,
          masks_come_out_upright, says_what_the_header_says, writes_only_the_pixels_of_rows,
          an_open_image_can_be_read_again, refuses_wrong_arguments)
