/* SPDX-License-Identifier: MIT */
/* Steps that change colours. */
#include <math.h>

#include "image/pixel/color.h"
#include "steps.h"

static lx_image jitter(const double *brightness, const double *contrast, const double *saturation,
                       const double *hue, uint64_t sample)
{
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_color_jitter(transform, brightness, contrast, saturation, hue,
                                                &error));
    lx_image made = steps_run(transform, sample);
    lx_image_transform_free(transform);
    return made;
}

START_TEST(no_range_changes_nothing)
{
    lx_image whole = steps_picture();
    ck_assert(steps_same(jitter(NULL, NULL, NULL, NULL, 1), &whole));
    free(whole.pixels);
}
END_TEST

START_TEST(each_range_is_that_of_its_change)
{
    static const double factors[] = {0.6, 0.6}, turn[] = {0.2, 0.2};
    for (int i = 0; i < 4; i++) {
        lx_image right = steps_picture();
        if (i == 0)
            lx__color_set_brightness(&right, 0.6f);
        else if (i == 1)
            lx__color_set_contrast(&right, 0.6f);
        else if (i == 2)
            lx__color_set_saturation(&right, 0.6f);
        else
            lx__color_shift_hue(&right, 51);
        ck_assert(steps_same(jitter(i == 0 ? factors : NULL, i == 1 ? factors : NULL,
                                    i == 2 ? factors : NULL, i == 3 ? turn : NULL, 1),
                             &right));
        free(right.pixels);
    }
}
END_TEST

START_TEST(all_orders_occur)
{
    static const double b[] = {1.7, 1.7}, c[] = {2.5, 2.5}, s[] = {3, 3}, h[] = {0.3, 0.3};
    lx_image seen[30];
    size_t count = 0;
    for (uint64_t sample = 0; sample < 300; sample++) {
        lx_image made = jitter(b, c, s, h, sample);
        size_t i = 0;
        while (i < count && pixels_compare(&made, &seen[i]) != 0)
            i++;
        if (i == count)
            seen[count++] = made;
        else
            free(made.pixels);
        ck_assert_uint_le(count, 24);
    }
    ck_assert_uint_eq(count, 24);
    while (count != 0)
        free(seen[--count].pixels);
}
END_TEST

START_TEST(factors_are_in_their_range)
{
    static const double range[] = {0.5, 1.5};
    lx_image whole = steps_picture();
    double sums[3] = {0}, most = 0, least = 9;
    for (size_t i = 0; i < whole.stride * whole.height; i++)
        sums[0] += whole.pixels[i] / 2; /* so that no pixel is limited */
    for (uint64_t sample = 0; sample < 200; sample++) {
        lx_image_transform *transform = lx_image_transform_new();
        const double half[] = {0.5, 0.5};
        unit_ok(lx_image_transform_add_color_jitter(transform, half, NULL, NULL, NULL, &error));
        unit_ok(lx_image_transform_add_color_jitter(transform, range, NULL, NULL, NULL, &error));
        lx_image made = steps_run(transform, sample);
        sums[1] = 0;
        for (size_t i = 0; i < made.stride * made.height; i++)
            sums[1] += made.pixels[i];
        double factor = sums[1] / sums[0];
        most = factor > most ? factor : most;
        least = factor < least ? factor : least;
        sums[2] += factor;
        free(made.pixels);
        lx_image_transform_free(transform);
    }
    ck_assert(least > 0.48 && least < 0.55 && most < 1.5 && most > 1.42);
    ck_assert(fabs(sums[2] / 200 - 1) < 0.07);
    free(whole.pixels);
}
END_TEST

START_TEST(colours_are_removed_with_the_probability)
{
    lx_image whole = steps_picture();
    for (int percent = 0; percent <= 100; percent += 50) {
        lx_image_transform *transform = lx_image_transform_new();
        unsigned count = 0;
        unit_ok(lx_image_transform_add_grey(transform, percent / 100.0, &error));
        for (uint64_t sample = 0; sample < 100; sample++) {
            lx_image made = steps_run(transform, sample);
            bool grey = made.pixels[0] == made.pixels[1] && made.pixels[30] == made.pixels[31];
            ck_assert(grey != (pixels_compare(&made, &whole) == 0));
            count += grey;
            free(made.pixels);
        }
        ck_assert(percent == 50 ? count > 30 && count < 70 : count == (unsigned)percent);
        lx_image_transform_free(transform);
    }
    free(whole.pixels);
}
END_TEST

/* The colours that are added have the covariance of the components. */
START_TEST(lighting_follows_the_components)
{
    enum { SAMPLES = 4000 };
    const double right[3][3] = {{1002, 1010, 1017}, {1010, 1038, 1042}, {1017, 1042, 1059}};
    double sums[3] = {0}, products[3][3] = {{0}};
    lx_image whole = steps_picture();
    const uint8_t *middle = whole.pixels; /* of a pixel that is not limited */
    while (middle[0] < 40 || middle[0] > 215 || middle[1] < 40 || middle[1] > 215 ||
           middle[2] < 40 || middle[2] > 215)
        middle += 3;
    ck_assert(middle < whole.pixels + whole.stride * whole.height);
    lx_image_transform *transform = lx_image_transform_new();
    unit_ok(lx_image_transform_add_lighting(transform, 0.2, &error));
    for (uint64_t sample = 0; sample < SAMPLES; sample++) {
        lx_image made = steps_run(transform, sample);
        const uint8_t *pixel = made.pixels + (middle - whole.pixels);
        for (int c = 0; c < 3; c++) {
            sums[c] += pixel[c] - middle[c];
            for (int d = 0; d < 3; d++)
                products[c][d] += (pixel[c] - middle[c]) * (pixel[d] - middle[d]);
        }
        free(made.pixels);
    }
    for (int c = 0; c < 3; c++) {
        ck_assert(fabs(sums[c] / SAMPLES) < 0.5);
        for (int d = 0; d < 3; d++)
            ck_assert_msg(fabs(products[c][d] / SAMPLES / 0.04 / right[c][d] - 1) < 0.1, "%g",
                          products[c][d] / SAMPLES / 0.04);
    }
    lx_image_transform_free(transform);
    free(whole.pixels);
}
END_TEST

START_TEST(grey_pictures_can_be_changed)
{
    static const double half[] = {0.5, 0.5};
    lx_image_transform *transform = lx_image_transform_new();
    lx_image_transform_set_grey(transform, true);
    lx_image whole = steps_run(transform, 1);
    unit_ok(lx_image_transform_add_color_jitter(transform, half, NULL, half, NULL, &error));
    unit_ok(lx_image_transform_add_grey(transform, 1, &error));
    unit_ok(lx_image_transform_add_lighting(transform, 1, &error));
    lx__color_set_brightness(&whole, 0.5f);
    ck_assert(steps_same(steps_run(transform, 1), &whole));
    lx_image_transform_free(transform);
    free(whole.pixels);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    static const double below[] = {-0.1, 1}, backwards[] = {1, 0.5}, wide[] = {-0.6, 0},
                        huge[] = {1, 1. / 0.}, nothing[] = {0. / 0., 1};
    lx_image_transform *t = lx_image_transform_new();
    unit_fails(lx_image_transform_add_color_jitter(t, below, NULL, NULL, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_color_jitter(t, NULL, backwards, NULL, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_color_jitter(t, NULL, NULL, huge, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_color_jitter(t, NULL, NULL, nothing, NULL, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_color_jitter(t, NULL, NULL, NULL, wide, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_grey(t, -1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_lighting(t, -1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_lighting(t, 0. / 0., &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_image_transform_add_color_jitter(NULL, NULL, NULL, NULL, NULL, &error),
                      "transform");
    unit_refuses_null(lx_image_transform_add_grey(NULL, 1, &error), "transform");
    unit_refuses_null(lx_image_transform_add_lighting(NULL, 1, &error), "transform");
    ck_assert_uint_eq(t->step_count, 0);
    lx_image_transform_free(t);
}
END_TEST

UNIT_MAIN("image/transform/step-color", no_range_changes_nothing, each_range_is_that_of_its_change,
          all_orders_occur, factors_are_in_their_range, colours_are_removed_with_the_probability,
          lighting_follows_the_components, grey_pictures_can_be_changed, rejects_invalid_arguments)
