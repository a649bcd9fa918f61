/* SPDX-License-Identifier: MIT */
/* Rotated images. bindings/python/tests/test_images_steps.py compares many with Pillow's. */
#include "image/pixel/rotate.h"

#include "pixels.h"

static const uint8_t fill[] = {11, 22, 33};
static const lx_image_filter filters[] = {LX_IMAGE_NEAREST, LX_IMAGE_BILINEAR};

static lx_image rotate(const lx_image *in, bool mirrored, double degrees, lx_image_filter filter)
{
    lx_image out = pixels_new(in->width, in->height, in->channels, 0);
    lx__image_rotate(in, mirrored, degrees, filter, fill, &out);
    return out;
}

START_TEST(half_a_turn_and_a_whole_one_are_exact)
{
    for (int i = 0; i < 16; i++) {
        lx_image in = pixels_noise(20 + (uint32_t)i % 3, 13 + (uint32_t)i % 2, i % 4 < 2 ? 1 : 3);
        lx_image half = rotate(&in, false, i % 2 ? 180 : -180, filters[i / 8]);
        lx_image whole = rotate(&in, false, i % 2 ? 360 : -360, filters[i / 8]);
        ck_assert_int_eq(pixels_compare(&in, &whole), 0);
        for (size_t p = 0, count = (size_t)in.width * in.height; p < count; p++)
            ck_assert_mem_eq(in.pixels + p * in.channels,
                             half.pixels + (count - 1 - p) * in.channels, in.channels);
        free(in.pixels);
        free(half.pixels);
        free(whole.pixels);
    }
}
END_TEST

START_TEST(a_quarter_is_counter_clockwise)
{
    for (int i = 0; i < 4; i++) {
        uint32_t side = 10 + (uint32_t)i % 2;
        lx_image in = pixels_noise(side, side, 3);
        lx_image out = rotate(&in, false, 90, filters[i / 2]);
        for (size_t y = 0; y < side; y++)
            for (size_t x = 0; x < side; x++)
                ck_assert_mem_eq(out.pixels + (y * side + x) * 3,
                                 in.pixels + (x * side + side - 1 - y) * 3, 3);
        free(in.pixels);
        free(out.pixels);
    }
}
END_TEST

START_TEST(mirrored_images_are_mirrored_first)
{
    for (int i = 0; i < 40; i++) {
        lx_image in = pixels_noise(15, 22, i % 2 ? 1 : 3), mirrored = pixels_mirror(&in);
        lx_image one = rotate(&in, true, i * 17.3 - 300, filters[i % 4 / 2]);
        lx_image other = rotate(&mirrored, false, i * 17.3 - 300, filters[i % 4 / 2]);
        ck_assert_int_eq(pixels_compare(&one, &other), 0);
        free(in.pixels);
        free(mirrored.pixels);
        free(one.pixels);
        free(other.pixels);
    }
}
END_TEST

START_TEST(corners_have_the_colour)
{
    for (int i = 0; i < 4; i++) {
        lx_image in = pixels_new(20, 20, i % 2 ? 1 : 3, 0);
        lx_image out = rotate(&in, false, 45, filters[i / 2]);
        size_t last = 20 * out.stride - in.channels, middle = 10 * out.stride + 10 * in.channels;
        ck_assert_mem_eq(out.pixels, fill, in.channels);
        ck_assert_mem_eq(out.pixels + last, fill, in.channels);
        ck_assert_uint_eq(out.pixels[middle], 0);
        free(in.pixels);
        free(out.pixels);
    }
}
END_TEST

/* Every size at every angle stays within the memory, as a sanitizer checks. */
START_TEST(small_and_narrow_images_can_be_rotated)
{
    for (uint32_t width = 1; width <= 4; width++)
        for (uint32_t height = 1; height <= 40; height += 13)
            for (double degrees = -360; degrees <= 360; degrees += 7.5) {
                lx_image in = pixels_noise(width, height, 3);
                lx_image out = rotate(&in, width % 2, degrees, filters[height % 2]);
                free(in.pixels);
                free(out.pixels);
            }
}
END_TEST

UNIT_MAIN("image/pixel/rotate", half_a_turn_and_a_whole_one_are_exact,
          a_quarter_is_counter_clockwise, mirrored_images_are_mirrored_first,
          corners_have_the_colour, small_and_narrow_images_can_be_rotated)
