/* SPDX-License-Identifier: MIT */
/* Resizing images. */
#include <loaderx/image/resize.h>

#include <math.h>

#include "pixels.h"

#define FILTERS 6

static lx_image resize(lx_image_resizer *resizer, const lx_image *in, const double *box,
                       lx_image_filter filter, bool antialias, uint32_t width, uint32_t height)
{
    lx_error error = LX_ERROR_INIT;
    lx_image out = pixels_new(width, height, in->channels, 0);
    unit_ok(lx_image_resizer_resize(resizer, in, box, filter, antialias, &out, &error));
    return out;
}

static uint32_t hash_of(const lx_image *image)
{
    uint32_t hash = 0x811c9dc5;
    for (size_t i = 0; i < image->stride * image->height; i++)
        hash = (hash ^ image->pixels[i]) * 0x01000193;
    return hash;
}

START_TEST(pixels_are_those_of_pillow)
{
    static const struct {
        uint32_t width, height, channels, new_width, new_height;
        double box[4];
        uint32_t hashes[FILTERS];
    } cases[] = {
#include "pillow.h"
    };
    lx_image_resizer *resizer = lx_image_resizer_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_image in = pixels_noise(cases[i].width, cases[i].height, cases[i].channels);
        for (int filter = 0; filter < FILTERS; filter++) {
            lx_image out = resize(resizer, &in, cases[i].box, filter, true, cases[i].new_width,
                                  cases[i].new_height);
            ck_assert_msg(hash_of(&out) == cases[i].hashes[filter], "case %zu, filter %d", i,
                          filter);
            free(out.pixels);
        }
        free(in.pixels);
    }
    lx_image_resizer_free(resizer);
}
END_TEST

/* What torch 2 gives for interpolate(antialias=False). */
START_TEST(without_antialiasing_pixels_are_those_of_torch)
{
    static const uint8_t row[] = {0, 10, 200, 30, 255, 7, 90, 120};
    static const struct {
        lx_image_filter filter;
        uint32_t width;
        uint8_t pixels[13];
    } cases[] = {
        {LX_IMAGE_BILINEAR, 3, {8, 143, 95}},
        {LX_IMAGE_BICUBIC, 3, {0, 150, 102}},
        {LX_IMAGE_BILINEAR, 5, {3, 181, 143, 15, 111}},
        {LX_IMAGE_BICUBIC, 5, {0, 195, 150, 0, 116}},
        {LX_IMAGE_BILINEAR, 13, {0, 4, 17, 134, 154, 50, 143, 226, 74, 36, 87, 107, 120}},
        {LX_IMAGE_BICUBIC, 13, {0, 0, 16, 157, 170, 33, 150, 246, 68, 5, 86, 114, 123}},
    };
    lx_image_resizer *resizer = lx_image_resizer_new();
    lx_image across = pixels_new(8, 1, 1, 0), down = pixels_new(1, 8, 1, 0);
    memcpy(across.pixels, row, 8);
    memcpy(down.pixels, row, 8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t size = cases[i].width;
        lx_image wide = resize(resizer, &across, NULL, cases[i].filter, false, size, 1);
        lx_image high = resize(resizer, &down, NULL, cases[i].filter, false, 1, size);
        ck_assert_mem_eq(wide.pixels, cases[i].pixels, size);
        ck_assert_mem_eq(high.pixels, cases[i].pixels, size);
        free(wide.pixels);
        free(high.pixels);
    }
    free(across.pixels);
    free(down.pixels);
    lx_image_resizer_free(resizer);
}
END_TEST

START_TEST(constant_images_stay_constant)
{
    lx_image_resizer *resizer = lx_image_resizer_new();
    uint32_t state = 1;
    for (int n = 0; n < 240; n++) {
        uint32_t most = n % 3 == 0 ? 4 : 90;
        lx_image in = pixels_new(pixels_between(&state, 1, most), pixels_between(&state, 1, most),
                                 n % 2 != 0 ? 3 : 1, n % 5);
        uint8_t level = (uint8_t)(n % 4 == 0 ? 255 : pixels_random(&state));
        memset(in.pixels, level, in.stride * (in.height - 1) + in.width * in.channels);
        lx_image out = resize(resizer, &in, NULL, (lx_image_filter)(n % FILTERS), true,
                              pixels_between(&state, 1, most), pixels_between(&state, 1, most));
        for (size_t i = 0; i < out.stride * out.height; i++)
            ck_assert_uint_eq(out.pixels[i], level);
        free(in.pixels);
        free(out.pixels);
    }
    lx_image_resizer_free(resizer);
}
END_TEST

START_TEST(the_same_size_is_a_copy)
{
    lx_image_resizer *resizer = lx_image_resizer_new();
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        lx_image in = pixels_noise(33, 21, channels);
        for (int filter = 0; filter < FILTERS; filter++) {
            lx_image out = resize(resizer, &in, NULL, filter, true, 33, 21);
            ck_assert_int_eq(pixels_compare(&in, &out), 0);
            free(out.pixels);
        }
        free(in.pixels);
    }
    lx_image_resizer_free(resizer);
}
END_TEST

/* Box and image are mirrored. Pixels at the same distance and the order of sums may differ. */
START_TEST(mirrored_images_give_mirrored_results)
{
    lx_image_resizer *resizer = lx_image_resizer_new();
    for (int filter = LX_IMAGE_BILINEAR; filter < FILTERS; filter++) {
        lx_image in = pixels_noise(61, 47, 3), mirrored = pixels_mirror(&in);
        const double box[] = {3, 4, 50, 40}, other[] = {11, 4, 58, 40};
        lx_image a = resize(resizer, &in, box, filter, true, 29, 70);
        lx_image b = resize(resizer, &mirrored, other, filter, true, 29, 70);
        lx_image back = pixels_mirror(&b);
        ck_assert_int_le(pixels_compare(&a, &back), 1);
        free(in.pixels);
        free(mirrored.pixels);
        free(a.pixels);
        free(b.pixels);
        free(back.pixels);
    }
    lx_image_resizer_free(resizer);
}
END_TEST

/* Filters use pixels around a box, unlike those around a cropped image. */
START_TEST(boxes_are_parts_of_images)
{
    lx_image_resizer *resizer = lx_image_resizer_new();
    lx_image in = pixels_noise(40, 30, 3);
    lx_image cropped = {in.pixels + 5 * in.stride + 8 * 3, in.stride, 21, 17, 3};
    const double part[] = {8, 5, 29, 22}, whole[] = {0, 0, 21, 17};
    for (int filter = 0; filter < FILTERS; filter++) {
        lx_image boxed = resize(resizer, &in, part, filter, true, 50, 9);
        lx_image crop = resize(resizer, &cropped, NULL, filter, true, 50, 9);
        lx_image same = resize(resizer, &cropped, whole, filter, true, 50, 9);
        ck_assert_int_eq(pixels_compare(&crop, &same), 0);
        ck_assert(filter == LX_IMAGE_NEAREST || filter == LX_IMAGE_BOX ||
                  pixels_compare(&crop, &boxed) > 1);
        free(boxed.pixels);
        free(crop.pixels);
        free(same.pixels);
    }
    free(in.pixels);
    lx_image_resizer_free(resizer);
}
END_TEST

START_TEST(what_was_resized_earlier_does_not_matter)
{
    lx_image_resizer *used = lx_image_resizer_new();
    uint32_t state = 3;
    for (int n = 0; n < 300; n++) {
        uint32_t most = n % 7 == 0 ? 400 : 30;
        lx_image in = pixels_noise(pixels_between(&state, 1, most), pixels_between(&state, 1, most),
                                   n % 3 == 0 ? 1 : 3);
        uint32_t width = pixels_between(&state, 1, 60), height = pixels_between(&state, 1, 60);
        bool antialias = n % 3 != 2;
        lx_image_filter filter = antialias    ? (lx_image_filter)(n % FILTERS)
                                 : n % 2 != 0 ? LX_IMAGE_BILINEAR
                                              : LX_IMAGE_BICUBIC;
        lx_image_resizer *fresh = lx_image_resizer_new();
        lx_image a = resize(used, &in, NULL, filter, antialias, width, height);
        lx_image b = resize(fresh, &in, NULL, filter, antialias, width, height);
        ck_assert_int_eq(pixels_compare(&a, &b), 0);
        lx_image_resizer_free(fresh);
        free(in.pixels);
        free(a.pixels);
        free(b.pixels);
    }
    lx_image_resizer_free(used);
}
END_TEST

/* The bytes between the rows of both images are the caller's. */
START_TEST(strides_do_not_matter)
{
    lx_error error = LX_ERROR_INIT;
    lx_image_resizer *resizer = lx_image_resizer_new();
    lx_image in = pixels_noise(50, 40, 3), wide = pixels_new(50, 40, 3, 7);
    lx_image out = pixels_new(31, 23, 3, 5), expected;
    memset(wide.pixels, 0xee, wide.stride * 39 + 150);
    memset(out.pixels, 0xee, out.stride * 22 + 93);
    for (size_t y = 0; y < 40; y++)
        memcpy(wide.pixels + y * wide.stride, in.pixels + y * in.stride, 150);
    expected = resize(resizer, &in, NULL, LX_IMAGE_LANCZOS, true, 31, 23);
    unit_ok(lx_image_resizer_resize(resizer, &wide, NULL, LX_IMAGE_LANCZOS, true, &out, &error));
    for (size_t y = 0; y < 23; y++) {
        ck_assert_mem_eq(out.pixels + y * out.stride, expected.pixels + y * expected.stride, 93);
        for (size_t i = 0; i < 5 && y < 22; i++)
            ck_assert_uint_eq(out.pixels[y * out.stride + 93 + i], 0xee);
    }
    free(in.pixels);
    free(wide.pixels);
    free(out.pixels);
    free(expected.pixels);
    lx_image_resizer_free(resizer);
}
END_TEST

START_TEST(accepts_extreme_sizes)
{
    static const uint32_t sizes[][4] = {
        {30000, 1, 224, 224}, {1, 30000, 224, 224},         {1, 1, 500, 3},
        {30000, 2, 1, 1},     {LX_IMAGE_SIDE_MAX, 1, 1, 1}, {1, 1, LX_IMAGE_SIDE_MAX, 1}};
    lx_image_resizer *resizer = lx_image_resizer_new();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lx_image in = pixels_noise(sizes[i][0], sizes[i][1], 3);
        for (int filter = 0; filter < FILTERS; filter++) {
            lx_image out = resize(resizer, &in, NULL, filter, true, sizes[i][2], sizes[i][3]);
            free(out.pixels);
        }
        free(in.pixels);
    }
    lx_image_resizer_free(resizer);
}
END_TEST

START_TEST(refuses_invalid_arguments)
{
    static const double boxes[][4] = {
        {0, 0, 5, 5}, {-1, 0, 4, 4},   {0, -0.5, 4, 4}, {2, 0, 2, 4},   {3, 0, 2, 4},
        {0, 1, 4, 1}, {0, 0, 4, 4.01}, {NAN, 0, 4, 4},  {0, 0, NAN, 4}, {0, 0, INFINITY, 4}};
    lx_error error = LX_ERROR_INIT;
    lx_image_resizer *resizer = lx_image_resizer_new();
    lx_image in = pixels_new(4, 4, 3, 0), out = pixels_new(2, 2, 3, 0),
             grey = {out.pixels, 2, 2, 2, 1};
    lx_image large = {out.pixels, 4u << 20, LX_IMAGE_SIDE_MAX + 1, 1, 3};
    unit_refuses_null(lx_image_resizer_resize(NULL, &in, NULL, LX_IMAGE_BOX, true, &out, &error),
                      "resizer");
    unit_refuses_null(
        lx_image_resizer_resize(resizer, NULL, NULL, LX_IMAGE_BOX, true, &out, &error), "in");
    unit_refuses_null(lx_image_resizer_resize(resizer, &in, NULL, LX_IMAGE_BOX, true, NULL, &error),
                      "out");
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        unit_fails(
            lx_image_resizer_resize(resizer, &in, boxes[i], LX_IMAGE_BOX, true, &out, &error),
            LX_ERR_ARGUMENT);
    unit_fails(lx_image_resizer_resize(resizer, &in, NULL, LX_IMAGE_BOX, true, &grey, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_resizer_resize(resizer, &in, NULL, (lx_image_filter)6, true, &out, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_resizer_resize(resizer, &in, NULL, (lx_image_filter)-1, true, &out, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_resizer_resize(resizer, &in, NULL, LX_IMAGE_LANCZOS, false, &out, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_resizer_resize(resizer, &large, NULL, LX_IMAGE_BOX, true, &out, &error),
               LX_ERR_LIMIT);
    unit_fails(lx_image_resizer_resize(resizer, &in, NULL, LX_IMAGE_BOX, true, &large, &error),
               LX_ERR_LIMIT);
    unit_ok(lx_image_resizer_resize(resizer, &in, NULL, LX_IMAGE_NEAREST, false, &out, &error));
    free(in.pixels);
    free(out.pixels);
    lx_image_resizer_free(resizer);
    lx_image_resizer_free(NULL);
}
END_TEST

UNIT_MAIN("image/pixel/resize", pixels_are_those_of_pillow,
          without_antialiasing_pixels_are_those_of_torch, constant_images_stay_constant,
          the_same_size_is_a_copy, mirrored_images_give_mirrored_results, boxes_are_parts_of_images,
          what_was_resized_earlier_does_not_matter, strides_do_not_matter, accepts_extreme_sizes,
          refuses_invalid_arguments)
