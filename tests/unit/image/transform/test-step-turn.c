/* SPDX-License-Identifier: MIT */
/* Steps that mirror and rotate. */
#include "image/pixel/rotate.h"
#include "steps.h"

/** Rotates the picture, which is mirrored before and afterwards on demand. */
static lx_image turn(double degrees, lx_image_filter filter, bool before, bool afterwards)
{
    static const uint8_t fill[] = {5, 6, 7};
    const double range[] = {degrees, degrees};
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_mirror(transform, before, &error));
    unit_ok(lx_image_transform_add_rotation(transform, range, filter, fill, &error));
    unit_ok(lx_image_transform_add_mirror(transform, afterwards, &error));
    lx_image made = steps_run(transform, 1);
    lx_image_transform_free(transform);
    return made;
}

START_TEST(no_angle_changes_nothing)
{
    lx_image whole = steps_picture(), mirrored = pixels_mirror(&whole);
    ck_assert(steps_same(turn(0, LX_IMAGE_NEAREST, false, false), &whole));
    ck_assert(steps_same(turn(0, LX_IMAGE_BILINEAR, true, false), &mirrored));
    ck_assert(steps_same(turn(360, LX_IMAGE_BILINEAR, false, true), &mirrored));
    ck_assert(steps_same(turn(360, LX_IMAGE_BILINEAR, true, true), &whole));
    free(whole.pixels);
    free(mirrored.pixels);
}
END_TEST

/* A mirror that is left to the conversion is one before the rotation. */
START_TEST(rotations_see_the_mirrored_picture)
{
    static const uint8_t fill[] = {5, 6, 7};
    lx_image whole = steps_picture(), mirrored = pixels_mirror(&whole);
    for (int i = 0; i < 20; i++) {
        lx_image_filter filter = i % 2 ? LX_IMAGE_NEAREST : LX_IMAGE_BILINEAR;
        lx_image right = pixels_new(whole.width, whole.height, 3, 0);
        lx__image_rotate(i % 3 ? &mirrored : &whole, false, i * 31 - 300, filter, fill, &right);
        ck_assert(steps_same(turn(i * 31 - 300, filter, i % 3, false), &right));
        free(right.pixels);
    }
    free(whole.pixels);
    free(mirrored.pixels);
}
END_TEST

START_TEST(angles_are_random)
{
    static const double range[] = {-30, 30};
    lx_image_transform *transform = lx_image_transform_new();
    uint32_t width, height;
    unit_ok(lx_image_transform_add_resize(transform, 20, 10, LX_IMAGE_BOX, &error));
    unit_ok(lx_image_transform_add_rotation(transform, range, LX_IMAGE_NEAREST, NULL, &error));
    ck_assert(lx__transform_get_size(transform, &width, &height));
    ck_assert(width == 20 && height == 10);
    lx_image one = steps_run(transform, 1), again = steps_run(transform, 1);
    ck_assert_int_eq(pixels_compare(&one, &again), 0);
    for (uint64_t sample = 2; sample < 10; sample++)
        ck_assert(!steps_same(steps_run(transform, sample), &one));
    lx_image_transform_free(transform);
    free(one.pixels);
    free(again.pixels);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const double wide[] = {-361, 0}, backwards[] = {1, 0}, range[] = {0, 1};
    lx_image_transform *t = lx_image_transform_new();
    unit_fails(lx_image_transform_add_rotation(t, wide, LX_IMAGE_NEAREST, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_rotation(t, backwards, LX_IMAGE_NEAREST, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_rotation(t, range, LX_IMAGE_BICUBIC, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_transform_add_rotation(t, NULL, LX_IMAGE_NEAREST, NULL, &error),
                      "degrees");
    unit_refuses_null(lx_image_transform_add_rotation(NULL, range, LX_IMAGE_NEAREST, NULL, &error),
                      "transform");
    ck_assert_uint_eq(t->step_count, 0);
    lx_image_transform_free(t);
}
END_TEST

UNIT_MAIN("image/transform/step-turn", no_angle_changes_nothing, rotations_see_the_mirrored_picture,
          angles_are_random, rejects_invalid_arguments)
