/* SPDX-License-Identifier: MIT */
/* Changes of colours. bindings/python/tests/test_images_steps.py compares all colours with Pillow. */
#include "image/pixel/color.h"

#include "pixels.h"

/** Returns a copy. */
static lx_image copy_of(const lx_image *image)
{
    lx_image copy = pixels_new(image->width, image->height, image->channels, 0);
    memcpy(copy.pixels, image->pixels, copy.stride * copy.height);
    return copy;
}

START_TEST(neutral_changes_leave_pixels_as_they_are)
{
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        lx_image image = pixels_noise(31, 17, channels), copy = copy_of(&image);
        lx__color_set_brightness(&image, 1);
        lx__color_set_contrast(&image, 1);
        lx__color_set_saturation(&image, 1);
        lx__color_add(&image, (const double[]){0, 0, 0});
        ck_assert_int_eq(pixels_compare(&image, &copy), 0);
        free(image.pixels);
        free(copy.pixels);
    }
}
END_TEST

START_TEST(grey_images_have_no_colours_to_change)
{
    lx_image image = pixels_noise(31, 17, 1), copy = copy_of(&image);
    lx__color_set_saturation(&image, 0.3f);
    lx__color_shift_hue(&image, 77);
    lx__color_remove(&image);
    lx__color_add(&image, (const double[]){10, 20, 30});
    ck_assert_int_eq(pixels_compare(&image, &copy), 0);
    free(image.pixels);
    free(copy.pixels);
}
END_TEST

START_TEST(pixels_with_equal_channels_keep_their_hue)
{
    lx_image image = pixels_noise(31, 17, 3);
    lx__color_remove(&image);
    lx_image copy = copy_of(&image);
    lx__color_shift_hue(&image, 77);
    lx__color_set_saturation(&image, 5);
    ck_assert_int_eq(pixels_compare(&image, &copy), 0);
    free(image.pixels);
    free(copy.pixels);
}
END_TEST

/* What Pillow 13 makes of five pixels. */
START_TEST(pixels_are_those_of_pillow)
{
    static const uint8_t pixels[] = {0, 0, 0, 255, 255, 255, 200, 30, 90, 17, 130, 60, 1, 2, 3};
    static const struct {
        int kind;
        float amount;
        uint8_t right[15];
    } cases[] = {
#include "colors.h"
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_image image = pixels_new(5, 1, 3, 0);
        memcpy(image.pixels, pixels, sizeof pixels);
        if (cases[i].kind == 0)
            lx__color_set_brightness(&image, cases[i].amount);
        else if (cases[i].kind == 1)
            lx__color_set_contrast(&image, cases[i].amount);
        else if (cases[i].kind == 2)
            lx__color_set_saturation(&image, cases[i].amount);
        else if (cases[i].kind == 3)
            lx__color_shift_hue(&image, (uint8_t)cases[i].amount);
        else
            lx__color_remove(&image);
        ck_assert_msg(memcmp(image.pixels, cases[i].right, 15) == 0, "case %zu", i);
        free(image.pixels);
    }
}
END_TEST

START_TEST(added_colours_are_rounded_and_limited)
{
    lx_image image = pixels_new(1, 1, 3, 0);
    memcpy(image.pixels, (const uint8_t[]){100, 250, 5}, 3);
    lx__color_add(&image, (const double[]){0.5, 7, -5.6});
    ck_assert_mem_eq(image.pixels, ((const uint8_t[]){100, 255, 0}), 3);
    lx__color_add(&image, (const double[]){-1.5, -1e300, 1e300});
    ck_assert_mem_eq(image.pixels, ((const uint8_t[]){98, 0, 255}), 3);
    free(image.pixels);
}
END_TEST

START_TEST(bytes_between_rows_stay)
{
    lx_image image = pixels_new(4, 3, 3, 5);
    memset(image.pixels, 99, image.stride * 2 + 12);
    lx__color_set_brightness(&image, 2);
    lx__color_set_contrast(&image, 0.5f);
    lx__color_set_saturation(&image, 0.5f);
    lx__color_shift_hue(&image, 9);
    lx__color_add(&image, (const double[]){1, 2, 3});
    lx__color_remove(&image);
    for (size_t i = 0; i < 5; i++)
        ck_assert(image.pixels[12 + i] == 99 && image.pixels[12 + image.stride + i] == 99);
    free(image.pixels);
}
END_TEST

UNIT_MAIN("image/pixel/color", neutral_changes_leave_pixels_as_they_are,
          grey_images_have_no_colours_to_change, pixels_with_equal_channels_keep_their_hue,
          pixels_are_those_of_pillow, added_colours_are_rounded_and_limited,
          bytes_between_rows_stay)
