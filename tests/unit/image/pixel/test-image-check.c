/* SPDX-License-Identifier: MIT */
/* Checks of images that callers pass. */
#include "image/pixel/image-check.h"

#include "../../unit.h"

START_TEST(accepts_valid_images)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t pixel[3];
    const lx_image valid[] = {{pixel, 1, 1, 1, 1}, {pixel, 3, 1, 1, 3}, {pixel, 100, 33, 9, 3}};
    for (size_t i = 0; i < 3; i++)
        unit_ok(lx__image_check(&valid[i], "in", &error));
}
END_TEST

START_TEST(refuses_invalid_images)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t pixel[3];
    const lx_image invalid[] = {
        {pixel, 3, 0, 1, 3}, {pixel, 3, 1, 0, 3},          {pixel, 3, 1, 1, 0},
        {pixel, 3, 1, 1, 2}, {pixel, 4, 1, 1, 4},          {pixel, 2, 1, 1, 3},
        {pixel, 3, 2, 1, 3}, {pixel, 5, UINT32_MAX, 1, 3}, {pixel, SIZE_MAX / 2, 1, 3, 1},
    };
    const lx_image none = {NULL, 1, 1, 1, 1};
    unit_refuses_null(lx__image_check(NULL, "in", &error), "in");
    unit_refuses_null(lx__image_check(&none, "in", &error), "in");
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        unit_fails(lx__image_check(&invalid[i], "in", &error), LX_ERR_ARGUMENT);
}
END_TEST

UNIT_MAIN("image/pixel/image-check", accepts_valid_images, refuses_invalid_images)
