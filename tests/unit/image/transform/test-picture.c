/* SPDX-License-Identifier: MIT */
/* Pictures that are decoded and mirrored late look like those that are not. */
#include "image/transform/picture.h"

#include "../../unit.h"
#include "../pictures.h"

#define WIDTH 67
#define HEIGHT 45

static lx_error error = LX_ERROR_INIT;

static void open_picture(lx__picture *picture, const struct picture *file)
{
    unit_ok(lx__picture_open(picture, file->bytes, file->size, &error));
}

/** Returns the channel of a pixel, as the tensor will show it. */
static uint8_t at(const lx__picture *picture, uint32_t x, uint32_t y, uint32_t c)
{
    const lx_image *pixels = &picture->pixels;
    x = picture->mirrored ? pixels->width - 1 - x : x;
    return pixels->pixels[y * pixels->stride + x * pixels->channels + c];
}

static uint32_t draw(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % limit;
}

/* Crops and mirrors in any order, before and after decoding, are those of the whole image. */
START_TEST(crops_and_mirrors_commute_with_decoding)
{
    uint32_t state = 1;
    for (int round = 0; round < 300; round++) {
        uint32_t channels = round % 2 ? 3 : 1;
        struct picture file = picture_encode(&picture_kinds[round % 6], WIDTH, HEIGHT, 0);
        lx__picture late = {0}, early = {0};
        unit_ok(lx__picture_init(&late, channels, &error));
        unit_ok(lx__picture_init(&early, channels, &error));
        open_picture(&late, &file);
        open_picture(&early, &file);
        unit_ok(lx__picture_decode(&early, &error));
        for (int step = 0; step < 5; step++) {
            if (draw(&state, 2)) {
                lx__picture_mirror(&late);
                lx__picture_mirror(&early);
            }
            lx_image_region part = {.left = draw(&state, (late.width + 3) / 4),
                                    .top = draw(&state, (late.height + 3) / 4)};
            part.width = late.width - part.left - draw(&state, (late.width - part.left + 3) / 4);
            part.height = late.height - part.top - draw(&state, (late.height - part.top + 3) / 4);
            lx__picture_crop(&late, &part);
            lx__picture_crop(&early, &part);
            if (draw(&state, 6) == 0)
                unit_ok(lx__picture_decode(&late, &error));
        }
        unit_ok(lx__picture_decode(&late, &error));
        ck_assert(late.width == early.width && late.height == early.height);
        for (uint32_t y = 0; y < late.height; y++)
            for (uint32_t x = 0; x < late.width; x++)
                for (uint32_t c = 0; c < channels; c++)
                    ck_assert_uint_eq(at(&late, x, y, c), at(&early, x, y, c));
        lx__picture_clear(&late);
        lx__picture_clear(&early);
        free(file.bytes);
    }
}
END_TEST

START_TEST(resizes_what_is_left)
{
    struct picture file = picture_encode(&picture_kinds[0], WIDTH, HEIGHT, 0);
    lx__picture picture = {0}, whole = {0};
    lx_image_resizer *resizer = lx_image_resizer_new();
    const lx_image_region part = {.left = 5, .top = 7, .width = 40, .height = 30};
    unit_ok(lx__picture_init(&picture, 3, &error));
    unit_ok(lx__picture_init(&whole, 3, &error));
    open_picture(&picture, &file);
    lx__picture_crop(&picture, &part);
    lx__picture_mirror(&picture);
    unit_ok(lx__picture_resize(&picture, 20, 11, LX_IMAGE_BILINEAR, &error));
    ck_assert(picture.width == 20 && picture.height == 11);

    open_picture(&whole, &file);
    unit_ok(lx__picture_decode(&whole, &error));
    static uint8_t right[20 * 11 * 3];
    lx_image in = whole.pixels;
    in.pixels += part.top * in.stride + (size_t)part.left * 3;
    in.width = part.width;
    in.height = part.height;
    const lx_image out = {.pixels = right, .stride = 60, .width = 20, .height = 11, .channels = 3};
    unit_ok(lx_image_resizer_resize(resizer, &in, NULL, LX_IMAGE_BILINEAR, true, &out, &error));
    for (uint32_t y = 0; y < 11; y++)
        for (uint32_t x = 0; x < 20; x++)
            for (uint32_t c = 0; c < 3; c++)
                ck_assert_uint_eq(at(&picture, x, y, c), right[y * 60 + (19 - x) * 3 + c]);
    lx_image_resizer_free(resizer);
    lx__picture_clear(&picture);
    lx__picture_clear(&whole);
    free(file.bytes);
}
END_TEST

START_TEST(can_be_used_after_a_failure)
{
    struct picture file = picture_encode(&picture_kinds[0], WIDTH, HEIGHT, 0);
    lx__picture picture = {0};
    unit_ok(lx__picture_init(&picture, 3, &error));
    unit_fails(lx__picture_open(&picture, "no image", 8, &error), LX_ERR_UNSUPPORTED);
    unit_ok(lx__picture_open(&picture, file.bytes, file.size / 2, &error));
    unit_fails(lx__picture_decode(&picture, &error), LX_ERR_CORRUPT);
    open_picture(&picture, &file);
    unit_ok(lx__picture_decode(&picture, &error));
    lx__picture_clear(&picture);
    free(file.bytes);
}
END_TEST

UNIT_MAIN("image/transform/picture", crops_and_mirrors_commute_with_decoding, resizes_what_is_left,
          can_be_used_after_a_failure)
