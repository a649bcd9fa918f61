/* SPDX-License-Identifier: MIT */
/* The step that replaces parts of tensors. */
#include "steps.h"

START_TEST(parts_have_the_area_and_are_within_the_picture)
{
    static const double area[] = {0.1, 0.2};
    static const float values[] = {1, 2, 3};
    lx_image_transform *transform = lx_image_transform_new();
    unsigned count = 0;
    unit_ok(lx_image_transform_add_erasing(transform, 0.5, area, NULL, values, &error));
    for (uint64_t sample = 0; sample < 200; sample++) {
        lx__picture picture;
        unit_ok(steps_try(transform, sample, &picture));
        ck_assert_uint_le(picture.erasure_count, 1);
        for (size_t i = 0; i < picture.erasure_count; i++, count++) {
            const lx_image_region *part = &picture.erasures[i].part;
            uint32_t pixels = part->width * part->height;
            ck_assert_uint_le(part->left + part->width, STEPS_WIDTH);
            ck_assert_uint_le(part->top + part->height, STEPS_HEIGHT);
            ck_assert(pixels > 110 && pixels < 310); /* 1395 times the area, rounded */
            ck_assert_mem_eq(picture.erasures[i].values, values, sizeof values);
        }
        lx__picture_clear(&picture);
    }
    ck_assert(count > 70 && count < 130);
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(only_erasings_can_follow)
{
    lx__picture picture;
    lx_image_transform *transform = lx_image_transform_new();
    for (int i = 0; i < LX_MAX_IMAGE_STEPS; i++) {
        unit_ok(lx_image_transform_add_erasing(transform, 1, NULL, NULL, NULL, &error));
        ck_assert_int_eq(lx_image_transform_add_mirror(transform, 1, &error),
                         i + 1 < LX_MAX_IMAGE_STEPS ? LX_ERR_ARGUMENT : LX_ERR_LIMIT);
        lx_error_clear(&error);
    }
    unit_ok(steps_try(transform, 1, &picture));
    ck_assert_uint_eq(picture.erasure_count, LX_MAX_IMAGE_STEPS);
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const double below[] = {-0.1, 0.5}, above[] = {0, 1.5}, nothing[] = {0, 1};
    static const float large[] = {0, 0, 70000}, none[] = {0, 0.f / 0.f, 0};
    lx_image_transform *t = lx_image_transform_new();
    unit_fails(lx_image_transform_add_erasing(t, 2, NULL, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_erasing(t, 1, below, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_erasing(t, 1, above, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_erasing(t, 1, NULL, nothing, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_erasing(t, 1, NULL, NULL, large, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_erasing(t, 1, NULL, NULL, none, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_transform_add_erasing(NULL, 1, NULL, NULL, NULL, &error),
                      "transform");
    ck_assert_uint_eq(t->step_count, 0);
    lx_image_transform_free(t);
}
END_TEST

UNIT_MAIN("image/transform/step-erase", parts_have_the_area_and_are_within_the_picture,
          only_erasings_can_follow, rejects_invalid_arguments)
