/* SPDX-License-Identifier: MIT */
/* Coordinates that move with an image: lib/image/transform/moves.c. */
#include "image/transform/moves.h"

#include "../../unit.h"

static void expect(const double *got, const double *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(got[i], wanted[i], 1e-12);
}

START_TEST(an_image_that_does_not_move_only_clamps_boxes)
{
    lx__moves moves;
    double point[] = {-3, 200}, box[] = {-5, 10, 50, 200}, inverted[] = {40, 30, 10, 20};
    lx__moves_begin(&moves, 100, 80);
    lx__moves_map_point(&moves, point);
    expect(point, (double[]){-3, 200}, 2);
    lx__moves_map_box(&moves, box);
    expect(box, (double[]){0, 10, 50, 80}, 4);
    lx__moves_map_box(&moves, inverted);
    expect(inverted, (double[]){10, 20, 40, 30}, 4);
}
END_TEST

/* A crop and then a pad: what the crop removed does not come back. */
START_TEST(boxes_are_clamped_after_each_move)
{
    static const double crop[] = {1, 0, -20, 0, 1, -10}, pad[] = {1, 0, 30, 0, 1, 40};
    lx__moves moves;
    double point[] = {10, 5}, box[] = {10, 5, 60, 45}, gone[] = {0, 0, 20, 80};
    lx__moves_begin(&moves, 100, 80);
    lx__moves_add(&moves, crop, 30, 20);
    lx__moves_add(&moves, pad, 90, 100);
    lx__moves_map_point(&moves, point);
    expect(point, (double[]){20, 35}, 2);
    lx__moves_map_box(&moves, box);
    expect(box, (double[]){30, 40, 60, 60}, 4);
    lx__moves_map_box(&moves, gone);
    expect(gone, (double[]){30, 40, 30, 60}, 4); /* without a width */
}
END_TEST

START_TEST(a_turned_box_is_enclosed)
{
    static const double turn[] = {0.8, 0.6, 0, -0.6, 0.8, 60};
    lx__moves moves;
    double box[] = {10, 20, 30, 40};
    lx__moves_begin(&moves, 200, 200);
    lx__moves_add(&moves, turn, 200, 200);
    lx__moves_map_box(&moves, box);
    expect(box, (double[]){20, 58, 48, 86}, 4);
}
END_TEST

/* The box around a line that is turned would have an area, though the image shows nothing of it. */
START_TEST(a_box_without_an_area_gets_none)
{
    static const double crop[] = {1, 0, -20, 0, 1, -10}, turn[] = {0.8, 0.6, 0, -0.6, 0.8, 60};
    static const double boxes[][4] = {{0, 20, 20, 60}, {30, 0, 60, 10}, {0, 0, 5, 5}};
    lx__moves moves;
    lx__moves_begin(&moves, 200, 200);
    lx__moves_add(&moves, crop, 100, 100);
    lx__moves_add(&moves, turn, 100, 100);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        double box[4];
        memcpy(box, boxes[i], sizeof box);
        lx__moves_map_box(&moves, box);
        ck_assert_double_eq((box[2] - box[0]) * (box[3] - box[1]), 0);
    }
}
END_TEST

UNIT_MAIN("image/transform/moves", an_image_that_does_not_move_only_clamps_boxes,
          boxes_are_clamped_after_each_move, a_turned_box_is_enclosed,
          a_box_without_an_area_gets_none)
