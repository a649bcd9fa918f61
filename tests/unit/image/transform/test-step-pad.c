/* SPDX-License-Identifier: MIT */
/* The step that surrounds pictures with a colour. */
#include "image/pixel/pad.h"
#include "steps.h"

static const uint8_t fill[] = {5, 6, 7};

START_TEST(sides_are_those_that_the_user_sees)
{
    static const uint32_t sides[] = {1, 2, 3, 4};
    lx_image whole = steps_picture(), mirrored = pixels_mirror(&whole);
    for (int i = 0; i < 4; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        lx_image right = pixels_new(whole.width + 4, whole.height + 6, 3, 0);
        lx__image_pad(i % 2 ? &mirrored : &whole, 1, 2, fill, &right);
        lx_image turned = i / 2 ? pixels_mirror(&right) : right;
        unit_ok(lx_image_transform_add_mirror(transform, i % 2, &error));
        unit_ok(lx_image_transform_add_pad(transform, sides, fill, &error));
        unit_ok(lx_image_transform_add_mirror(transform, i / 2, &error));
        ck_assert(steps_same(steps_run(transform, 1), &turned));
        if (i / 2)
            free(turned.pixels);
        free(right.pixels);
        lx_image_transform_free(transform);
    }
    free(whole.pixels);
    free(mirrored.pixels);
}
END_TEST

/* A crop of the middle after a pad shows the picture; a pad of nothing changes nothing. */
START_TEST(crops_undo_pads)
{
    static const uint32_t even[] = {4, 6, 4, 6}, none[4] = {0};
    lx_image_transform *transform = lx_image_transform_new();
    lx_image whole = steps_picture();
    unit_ok(lx_image_transform_add_pad(transform, none, NULL, &error));
    unit_ok(lx_image_transform_add_pad(transform, even, NULL, &error));
    unit_ok(lx_image_transform_add_center_crop(transform, STEPS_WIDTH, STEPS_HEIGHT, &error));
    ck_assert(steps_same(steps_run(transform, 1), &whole));
    lx_image_transform_free(transform);
    free(whole.pixels);
}
END_TEST

START_TEST(the_size_is_known)
{
    static const uint32_t sides[] = {1, 2, 3, 4};
    uint32_t width, height;
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_pad(transform, sides, NULL, &error));
    ck_assert(!lx__transform_get_size(transform, &width, &height));
    unit_ok(lx_image_transform_add_random_crop(transform, 9, 8, &error));
    for (int i = 0; i < 2; i++)
        unit_ok(lx_image_transform_add_pad(transform, sides, NULL, &error));
    ck_assert(lx__transform_get_size(transform, &width, &height));
    ck_assert(width == 17 && height == 20);
    lx_image made = steps_run(transform, 1);
    ck_assert(made.width == 17 && made.height == 20);
    free(made.pixels);
    lx_image_transform_free(transform);
}
END_TEST

START_TEST(rejects_what_is_too_large)
{
    static const uint32_t more[] = {0, 0, LX_IMAGE_SIDE_MAX + 1, 0}, most[] = {0, 0, 0, 1048576};
    lx_image_transform *transform = lx_image_transform_new();
    lx__picture picture;
    unit_fails(lx_image_transform_add_pad(transform, more, NULL, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_transform_add_pad(transform, NULL, NULL, &error), "sides");
    unit_refuses_null(lx_image_transform_add_pad(NULL, most, NULL, &error), "transform");
    unit_ok(lx_image_transform_add_pad(transform, most, NULL, &error));
    unit_fails(steps_try(transform, 1, &picture), LX_ERR_LIMIT);
    lx__picture_clear(&picture);
    lx_image_transform_free(transform);
}
END_TEST

UNIT_MAIN("image/transform/step-pad", sides_are_those_that_the_user_sees, crops_undo_pads,
          the_size_is_known, rejects_what_is_too_large)
