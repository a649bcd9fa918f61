/* SPDX-License-Identifier: MIT */
/* The steps of a transform. */
#include "image/transform/transform.h"

#include <math.h>

#include "../../unit.h"
#include "../pictures.h"

#define WIDTH 90
#define HEIGHT 61

static lx_error error = LX_ERROR_INIT;
static const uint64_t key[] = {1, 2};

/** Runs a transform on the generated picture; release the result with lx__picture_clear(). */
static lx_status run(const lx_image_transform *transform, const uint64_t sample[2],
                     lx__picture *picture)
{
    struct picture file = picture_encode(picture_kind("png-rgb-8"), WIDTH, HEIGHT, 0);
    *picture = (lx__picture){0};
    unit_ok(lx__picture_init(picture, transform->tensor.channels, &error));
    unit_ok(lx__picture_open(picture, file.bytes, file.size, &error));
    lx_status status = lx__transform_run(transform, sample, picture, &error);
    free(file.bytes);
    return status;
}

/** Finds where a picture that was only cropped is in the generated one; returns false if it is not
 * that at all. */
static bool find(const lx__picture *picture, uint32_t *left, uint32_t *top)
{
    for (*top = 0; *top + picture->height <= HEIGHT; ++*top)
        for (*left = 0; *left + picture->width <= WIDTH; ++*left) {
            bool same = true;
            for (uint32_t y = 0; same && y < picture->height; y++)
                for (uint32_t x = 0; same && x < picture->width * 3; x++)
                    same = picture->pixels.pixels[y * picture->pixels.stride + x] ==
                           picture_sample(*left + x / 3, *top + y, x % 3);
            if (same)
                return true;
        }
    return false;
}

START_TEST(crops_the_middle)
{
    /* torchvision: int(round((90 - w) / 2)), where round() prefers even numbers */
    static const uint32_t lefts[][2] = {{10, 40}, {11, 40}, {13, 38}, {90, 0}, {89, 0}, {87, 2}};
    for (size_t i = 0; i < 6; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        lx__picture picture;
        uint32_t left, top;
        unit_ok(lx_image_transform_add_center_crop(transform, lefts[i][0], 20, &error));
        unit_ok(run(transform, key, &picture));
        ck_assert(picture.width == lefts[i][0] && picture.height == 20);
        ck_assert(find(&picture, &left, &top));
        ck_assert_uint_eq(left, lefts[i][1]);
        ck_assert_uint_eq(top, 20);
        lx__picture_clear(&picture);
        lx_image_transform_free(transform);
    }
}
END_TEST

START_TEST(follows_the_convention_of_mxnet)
{
    /* OpenCV: the margins are divided as integers, and shrinking skips pixels */
    static const uint32_t lefts[][2] = {{10, 40}, {11, 39}, {90, 0}, {89, 0}, {87, 1}};
    for (size_t i = 0; i < 5; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        lx__picture picture;
        uint32_t left, top;
        unit_ok(lx_image_transform_add_center_crop(transform, lefts[i][0], 20, &error));
        unit_ok(lx_image_transform_set_convention(transform, LX_IMAGE_MXNET, &error));
        unit_ok(run(transform, key, &picture));
        ck_assert(find(&picture, &left, &top));
        ck_assert_uint_eq(left, lefts[i][1]);
        ck_assert_uint_eq(top, 20);
        lx__picture_clear(&picture);
        lx_image_transform_free(transform);
    }
}
END_TEST

/* 90 x 61 pixels become 118 x 80, and then 130 x 88. */
START_TEST(enlarges_images_smaller_than_a_crop_as_mxnet)
{
    static const uint32_t sizes[][2] = {{100, 80}, {95, 10}, {130, 80}};
    for (size_t i = 0; i < 6; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        const uint32_t *size = sizes[i / 2];
        lx__picture picture;
        unit_ok(i % 2 == 0
                    ? lx_image_transform_add_center_crop(transform, size[0], size[1], &error)
                    : lx_image_transform_add_random_crop(transform, size[0], size[1], &error));
        unit_ok(lx_image_transform_set_convention(transform, LX_IMAGE_MXNET, &error));
        unit_ok(run(transform, key, &picture));
        ck_assert(picture.width == size[0] && picture.height == size[1]);
        lx__picture_clear(&picture);
        lx_image_transform_free(transform);
    }
    lx_image_transform *transform = lx_image_transform_new();
    lx__picture picture;
    unit_ok(lx_image_transform_add_center_crop(transform, 5, LX_IMAGE_SIDE_MAX, &error));
    unit_ok(lx_image_transform_set_convention(transform, LX_IMAGE_MXNET, &error));
    ck_assert_int_eq(run(transform, key, &picture), LX_ERR_LIMIT);
    lx_error_clear(&error);
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
}
END_TEST

/* A third of the size: the centre of each pixel is that of the middle one of three. */
START_TEST(resizes_without_antialiasing_as_mxnet)
{
    lx_image_transform *transform = lx_image_transform_new();
    lx__picture picture;
    unit_ok(lx_image_transform_add_center_crop(transform, 90, 60, &error));
    unit_ok(lx_image_transform_add_resize(transform, 30, 20, LX_IMAGE_BILINEAR, &error));
    unit_ok(lx_image_transform_set_convention(transform, LX_IMAGE_MXNET, &error));
    unit_ok(run(transform, key, &picture));
    for (uint32_t y = 0; y < 20; y++)
        for (uint32_t x = 0; x < 90; x++)
            ck_assert_uint_eq(picture.pixels.pixels[y * picture.pixels.stride + x],
                              picture_sample(x / 3 * 3 + 1, y * 3 + 1, x % 3));
    lx__picture_clear(&picture);
    unit_ok(lx_image_transform_add_resize(transform, 10, 10, LX_IMAGE_LANCZOS, &error));
    ck_assert_int_eq(run(transform, key, &picture), LX_ERR_ARGUMENT);
    lx_error_clear(&error);
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(crops_random_places)
{
    lx_image_transform *transform = lx_image_transform_new();
    uint32_t seen[3][3] = {{0}};
    unit_ok(lx_image_transform_add_random_crop(transform, WIDTH - 2, HEIGHT - 2, &error));
    for (uint64_t sample = 0; sample < 300; sample++) {
        lx__picture picture;
        uint32_t left, top;
        unit_ok(run(transform, (uint64_t[]){sample, 7}, &picture));
        ck_assert(find(&picture, &left, &top));
        seen[left][top]++;
        lx__picture_clear(&picture);
    }
    for (int i = 0; i < 9; i++)
        ck_assert_uint_ge(seen[i / 3][i % 3], 12); /* 33 are expected */
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(refuses_images_smaller_than_a_crop)
{
    for (int i = 0; i < 2; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        lx__picture picture;
        unit_ok(i == 0 ? lx_image_transform_add_center_crop(transform, WIDTH + 1, 10, &error)
                       : lx_image_transform_add_random_crop(transform, 10, HEIGHT + 1, &error));
        ck_assert_int_eq(run(transform, key, &picture), LX_ERR_ARGUMENT);
        ck_assert_ptr_nonnull(strstr(error.message, "90 x 61"));
        lx_error_clear(&error);
        lx__picture_clear(&picture);
        lx_image_transform_free(transform);
    }
}
END_TEST

START_TEST(resizes_to_sizes_and_by_the_shorter_side)
{
    lx_image_transform *transform = lx_image_transform_new();
    lx__picture picture;
    uint32_t width, height;
    unit_ok(lx_image_transform_add_resize_shorter(transform, 20, LX_IMAGE_BICUBIC, &error));
    unit_ok(run(transform, key, &picture));
    ck_assert(picture.width == 29 && picture.height == 20); /* 20 * 90 / 61 = 29.5 */
    lx__picture_clear(&picture);
    ck_assert(!lx__transform_get_size(transform, &width, &height));
    unit_ok(lx_image_transform_add_resize(transform, 12, 34, LX_IMAGE_BOX, &error));
    unit_ok(lx_image_transform_add_mirror(transform, 0.5, &error));
    ck_assert(lx__transform_get_size(transform, &width, &height));
    ck_assert(width == 12 && height == 34);
    unit_ok(run(transform, key, &picture));
    ck_assert(picture.width == 12 && picture.height == 34);
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(mirrors_with_a_probability)
{
    static const double probabilities[] = {0, 0.25, 1};
    for (size_t i = 0; i < 3; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        unsigned count = 0;
        unit_ok(lx_image_transform_add_mirror(transform, probabilities[i], &error));
        for (uint64_t sample = 0; sample < 200; sample++) {
            lx__picture picture;
            unit_ok(run(transform, (uint64_t[]){sample, 3}, &picture));
            count += picture.mirrored;
            lx__picture_clear(&picture);
        }
        ck_assert(i == 1 ? count > 25 && count < 80 : count == (i == 0 ? 0 : 200));
        lx_image_transform_free(transform);
    }
}
END_TEST

/* Each step has its own numbers: a step changes nothing of the choices of earlier ones. */
START_TEST(choices_of_steps_are_independent)
{
    lx_image_transform *one = lx_image_transform_new(), *two = lx_image_transform_new();
    lx__picture a, b;
    unsigned differ = 0;
    unit_ok(lx_image_transform_add_random_resized_crop(one, 30, 30, NULL, NULL, LX_IMAGE_BILINEAR,
                                                       &error));
    unit_ok(lx_image_transform_add_random_resized_crop(two, 30, 30, NULL, NULL, LX_IMAGE_BILINEAR,
                                                       &error));
    unit_ok(lx_image_transform_add_mirror(two, 0.5, &error));
    for (uint64_t sample = 0; sample < 20; sample++) {
        unit_ok(run(one, (uint64_t[]){sample, 3}, &a));
        unit_ok(run(two, (uint64_t[]){sample, 3}, &b));
        ck_assert_mem_eq(a.pixels.pixels, b.pixels.pixels, a.pixels.stride * 30);
        differ += b.mirrored;
        lx__picture_clear(&a);
        lx__picture_clear(&b);
    }
    ck_assert_uint_gt(differ, 2);
    lx_image_transform_free(one);
    lx_image_transform_free(two);
}
END_TEST

/* Pixels that every machine and every release must reproduce. */
START_TEST(every_machine_makes_the_same_pixels)
{
    static const double factors[] = {0.6, 1.4}, turn[] = {-0.1, 0.1}, degrees[] = {-20, 20};
    static const uint32_t sides[] = {1, 2, 3, 4};
    lx_image_transform *transform = lx_image_transform_new();
    uint32_t hash = 0;
    unit_ok(lx_image_transform_add_random_resized_crop(transform, 40, 30, NULL, NULL,
                                                       LX_IMAGE_BICUBIC, &error));
    unit_ok(lx_image_transform_add_mirror(transform, 0.5, &error));
    unit_ok(
        lx_image_transform_add_color_jitter(transform, factors, factors, factors, turn, &error));
    unit_ok(lx_image_transform_add_grey(transform, 0.2, &error));
    unit_ok(lx_image_transform_add_lighting(transform, 0.1, &error));
    unit_ok(lx_image_transform_add_blur(transform, 5, 3, NULL, &error));
    unit_ok(lx_image_transform_add_pad(transform, sides, NULL, &error));
    unit_ok(lx_image_transform_add_rotation(transform, degrees, LX_IMAGE_NEAREST, NULL, &error));
    unit_ok(lx_image_transform_add_rotation(transform, degrees, LX_IMAGE_BILINEAR, NULL, &error));
    unit_ok(lx_image_transform_add_erasing(transform, 0.5, NULL, NULL, NULL, &error));
    for (uint64_t sample = 0; sample < 50; sample++) {
        lx__picture picture;
        unit_ok(run(transform, (uint64_t[]){sample, 3}, &picture));
        for (size_t i = 0; i < picture.pixels.stride * picture.pixels.height; i++)
            hash = (hash ^ picture.pixels.pixels[i]) * 16777619;
        for (size_t i = 0; i < picture.erasure_count; i++)
            hash = (hash ^ picture.erasures[i].part.left ^ picture.erasures[i].part.top << 8) *
                   16777619;
        lx__picture_clear(&picture);
    }
    ck_assert_msg(hash == 0xd2150dd8, "%#x", hash);
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(only_scaled_tensors_have_a_mean_image_and_an_exposure)
{
    static const float mean_image[12] = {0}, huge[] = {1, 1, 1e36F};
    lx_image_transform *t = lx_image_transform_new();
#define SET(transform, channels, width, mean)                                                      \
    lx_image_transform_set_mean_image(transform, channels, width, 2, mean, &error)
    unit_fails(SET(t, 3, 2, mean_image), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_exposure(t, 0.1, 0, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_image_transform_set_scaled_tensor(t, LX_FLOAT32, LX_IMAGE_CHW, NULL, huge, &error));
    unit_refuses_null(SET(NULL, 3, 2, mean_image), "transform");
    unit_refuses_null(SET(t, 3, 2, NULL), "mean");
    unit_refuses_null(lx_image_transform_set_exposure(NULL, 0, 0, &error), "transform");
    unit_fails(SET(t, 2, 3, mean_image), LX_ERR_ARGUMENT);
    unit_fails(SET(t, 3, 0, mean_image), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_exposure(t, -0.1, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_exposure(t, 0, 2e6, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_exposure(t, 0. / 0., 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_exposure(t, 1000, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_exposure(t, 0, 1000, &error), LX_ERR_ARGUMENT);
    unit_ok(SET(t, 3, 2, mean_image));
    unit_ok(SET(t, 1, 6, mean_image));
#undef SET
    unit_ok(lx_image_transform_set_exposure(t, 0.1, 5, &error));
    ck_assert_ptr_nonnull(t->mean_image);
    unit_ok(lx_image_transform_set_tensor(t, LX_UINT8, LX_IMAGE_CHW, 1, NULL, NULL, &error));
    ck_assert(t->mean_image == NULL && t->contrast == 0 && t->light == 0);
    lx_image_transform_free(t);
}
END_TEST

/* Both are uniform, and independent of each other. */
START_TEST(exposures_are_within_their_ranges)
{
    enum { COUNT = 2000 };
    lx_image_transform *t = lx_image_transform_new();
    lx__exposure exposure;
    double sums[3] = {0}, least[2] = {9, 9}, most[2] = {0, -9};
    ck_assert(!lx__transform_expose(t, (uint64_t[]){1, 3}, &exposure));
    unit_ok(lx_image_transform_set_scaled_tensor(t, LX_FLOAT32, LX_IMAGE_CHW, NULL, NULL, &error));
    unit_ok(lx_image_transform_set_exposure(t, 0.25, 8, &error));
    for (uint64_t sample = 0; sample < COUNT; sample++) {
        ck_assert(lx__transform_expose(t, (uint64_t[]){sample, 3}, &exposure));
        const double values[] = {((double)exposure.gain - 1) / 0.25, (double)exposure.light / 8};
        for (int i = 0; i < 2; i++) {
            sums[i] += values[i];
            least[i] = fmin(least[i], values[i]);
            most[i] = fmax(most[i], values[i]);
        }
        sums[2] += values[0] * values[1];
    }
    for (int i = 0; i < 2; i++)
        ck_assert(least[i] >= -1 && least[i] < -0.99 && most[i] <= 1 && most[i] > 0.99);
    for (int i = 0; i < 3; i++)
        ck_assert(fabs(sums[i] / COUNT) < 0.06);
    lx_image_transform_free(t);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_image_transform *t = lx_image_transform_new();
    static const double backwards[] = {0.5, 0.4}, nothing[] = {0, 1}, wide[] = {1, 2000};
    const float zero[] = {1, 0, 1};
    unit_fails(lx_image_transform_add_resize(t, 0, 5, LX_IMAGE_BOX, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_resize(t, 5, 5, (lx_image_filter)9, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_center_crop(t, LX_IMAGE_SIDE_MAX + 1, 5, &error),
               LX_ERR_ARGUMENT);
    unit_fails(
        lx_image_transform_add_random_resized_crop(t, 5, 5, backwards, NULL, LX_IMAGE_BOX, &error),
        LX_ERR_ARGUMENT);
    unit_fails(
        lx_image_transform_add_random_resized_crop(t, 5, 5, nothing, NULL, LX_IMAGE_BOX, &error),
        LX_ERR_ARGUMENT);
    unit_fails(
        lx_image_transform_add_random_resized_crop(t, 5, 5, NULL, wide, LX_IMAGE_BOX, &error),
        LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_mirror(t, 1.5, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_mirror(t, 0. / 0., &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_tensor(t, LX_FLOAT32, LX_IMAGE_CHW, 255, NULL, zero, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_set_tensor(t, LX_INT64, LX_IMAGE_CHW, 255, NULL, NULL, &error),
               LX_ERR_UNSUPPORTED);
    unit_refuses_null(lx_image_transform_add_resize(NULL, 5, 5, LX_IMAGE_BOX, &error), "transform");
    unit_refuses_null(
        lx_image_transform_set_tensor(NULL, LX_UINT8, LX_IMAGE_CHW, 1, NULL, NULL, &error),
        "transform");
    unit_refuses_null(
        lx_image_transform_set_scaled_tensor(NULL, LX_UINT8, LX_IMAGE_CHW, NULL, NULL, &error),
        "transform");
    unit_fails(lx_image_transform_set_convention(t, (lx_image_convention)2, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_transform_set_convention(NULL, LX_IMAGE_MXNET, &error), "transform");
    ck_assert_uint_eq(t->step_count, 0);
    for (int i = 0; i < LX_MAX_IMAGE_STEPS; i++)
        unit_ok(lx_image_transform_add_mirror(t, 0, &error));
    unit_fails(lx_image_transform_add_mirror(t, 0, &error), LX_ERR_LIMIT);
    lx_image_transform_free(t);
    lx_image_transform_free(NULL);
}
END_TEST

UNIT_MAIN("image/transform/transform", crops_the_middle, follows_the_convention_of_mxnet,
          resizes_without_antialiasing_as_mxnet, enlarges_images_smaller_than_a_crop_as_mxnet,
          crops_random_places, refuses_images_smaller_than_a_crop,
          resizes_to_sizes_and_by_the_shorter_side, mirrors_with_a_probability,
          choices_of_steps_are_independent, every_machine_makes_the_same_pixels,
          only_scaled_tensors_have_a_mean_image_and_an_exposure, exposures_are_within_their_ranges,
          rejects_invalid_arguments)
