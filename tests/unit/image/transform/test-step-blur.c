/* SPDX-License-Identifier: MIT */
/* The step that blurs pictures. */
#include "steps.h"

START_TEST(a_narrow_curve_changes_nothing)
{
    static const double narrow[] = {0.05, 0.1};
    lx_image_transform *transform = lx_image_transform_new();
    lx_image whole = steps_picture();
    unit_ok(lx_image_transform_add_blur(transform, 1, 1, NULL, &error));
    unit_ok(lx_image_transform_add_blur(transform, 9, 9, narrow, &error));
    ck_assert(steps_same(steps_run(transform, 1), &whole));
    lx_image_transform_free(transform);
    free(whole.pixels);
}
END_TEST

START_TEST(deviations_are_random)
{
    lx_image_transform *transform = lx_image_transform_new();
    lx_image_transform *mirrored = lx_image_transform_new();
    unit_ok(lx_image_transform_add_blur(transform, 9, 5, NULL, &error));
    unit_ok(lx_image_transform_add_blur(mirrored, 9, 5, NULL, &error));
    unit_ok(lx_image_transform_add_mirror(mirrored, 1, &error));
    lx_image one = steps_run(transform, 1), other = steps_run(mirrored, 1);
    ck_assert(steps_same(pixels_mirror(&other), &one));
    for (uint64_t sample = 2; sample < 10; sample++)
        ck_assert(!steps_same(steps_run(transform, sample), &one));
    lx_image_transform_free(transform);
    lx_image_transform_free(mirrored);
    free(one.pixels);
    free(other.pixels);
}
END_TEST

START_TEST(small_pictures_are_refused)
{
    lx__picture picture;
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_blur(transform, 1, 61, NULL, &error));
    lx_image made = steps_run(transform, 1);
    unit_ok(lx_image_transform_add_blur(transform, 1, 63, NULL, &error));
    unit_fails(steps_try(transform, 1, &picture), LX_ERR_ARGUMENT);
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
    free(made.pixels);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const double nothing[] = {0, 1}, backwards[] = {2, 1}, range[] = {1, 1};
    lx_image_transform *t = lx_image_transform_new();
    unit_fails(lx_image_transform_add_blur(t, 2, 3, range, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_blur(t, 3, 0, range, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_blur(t, 257, 3, range, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_blur(t, 3, 3, nothing, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_blur(t, 3, 3, backwards, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_transform_add_blur(NULL, 3, 3, range, &error), "transform");
    ck_assert_uint_eq(t->step_count, 0);
    lx_image_transform_free(t);
}
END_TEST

UNIT_MAIN("image/transform/step-blur", a_narrow_curve_changes_nothing, deviations_are_random,
          small_pictures_are_refused, rejects_invalid_arguments)
