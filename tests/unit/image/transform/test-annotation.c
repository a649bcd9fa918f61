/* SPDX-License-Identifier: MIT */
/* Columns that change with their images: lib/image/transform/annotation.c. */
#include "image/transform/annotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../../scarce.h"
#include "../../unit.h"
#include "image/transform/transform.h"

static lx_error error = LX_ERROR_INIT;

/** Moves an image of 100 x 80 pixels to the left by 20 and up by 10, and makes it twice as
 * large. */
static lx__moves double_moves(void)
{
    static const double crop[] = {1, 0, -20, 0, 1, -10}, twice[] = {2, 0, 0, 0, 2, 0};
    lx__moves moves;
    lx__moves_begin(&moves, 100, 80);
    lx__moves_add(&moves, crop, 60, 50);
    lx__moves_add(&moves, twice, 120, 100);
    return moves;
}

START_TEST(boxes_keep_their_format_and_dtype)
{
    /* One box in the image, and one that leaves it. */
    static const double boxes[3][8] = {{30, 20, 50, 35, 0, 0, 40, 40},
                                       {30, 20, 20, 15, 0, 0, 40, 40},
                                       {40, 27.5, 20, 15, 20, 20, 40, 40}};
    static const double moved[3][8] = {{20, 20, 60, 50, 0, 0, 40, 60},
                                       {20, 20, 40, 30, 0, 0, 40, 60},
                                       {40, 35, 40, 30, 20, 30, 40, 60}};
    const lx__moves moves = double_moves();
    for (int format = 0; format < 3; format++) {
        const lx__annotation a = {.kind = LX__ANNOTATION_BOXES,
                                  .format = (lx_image_box_format)format};
        double wide[8];
        float narrow[8], out[8];
        for (int i = 0; i < 8; i++)
            narrow[i] = (float)boxes[format][i];
        unit_ok(lx__annotation_move(&a, &moves, LX_FLOAT64, (const uint8_t *)boxes[format],
                                    sizeof wide, (uint8_t *)wide, &error));
        unit_ok(lx__annotation_move(&a, &moves, LX_FLOAT32, (const uint8_t *)narrow, sizeof narrow,
                                    (uint8_t *)out, &error));
        for (int i = 0; i < 8; i++) {
            ck_assert_double_eq(wide[i], moved[format][i]);
            ck_assert_double_eq((double)out[i], moved[format][i]);
        }
    }
}
END_TEST

START_TEST(points_may_leave_the_image)
{
    static const double points[] = {30, 20, 0, 0}, moved[] = {20, 20, -40, -20};
    const lx__annotation a = {.kind = LX__ANNOTATION_POINTS};
    const lx__moves moves = double_moves();
    uint8_t memory[sizeof points + 1];
    double out[4];
    memcpy(memory + 1, points, sizeof points); /* of any alignment */
    unit_ok(
        lx__annotation_move(&a, &moves, LX_FLOAT64, memory + 1, sizeof points, memory + 1, &error));
    memcpy(out, memory + 1, sizeof out);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(out[i], moved[i]);
    unit_ok(lx__annotation_move(&a, &moves, LX_FLOAT64, NULL, 0, NULL, &error));
}
END_TEST

START_TEST(numbers_that_are_no_coordinates_are_damage)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0x1.1p30f, -3e38f};
    const lx__annotation a = {.kind = LX__ANNOTATION_POINTS};
    const lx__moves moves = double_moves();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float points[] = {1, 2, 3, bad[i]}, out[4];
        ck_assert_int_eq(lx__annotation_move(&a, &moves, LX_FLOAT32, (const uint8_t *)points,
                                             sizeof points, (uint8_t *)out, &error),
                         LX_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "number 1 of row 1"));
        lx_error_clear(&error);
    }
    float most[] = {0x1p30f, -0x1p30f};
    unit_ok(lx__annotation_move(&a, &moves, LX_FLOAT32, (const uint8_t *)most, sizeof most,
                                (uint8_t *)most, &error));
}
END_TEST

START_TEST(points_remain_finite)
{
    static const double enlarge[] = {0x1p20, 0, 0, 0, 0x1p20, 0}; /* the most that a step does */
    const lx__annotation a = {.kind = LX__ANNOTATION_POINTS};
    lx__moves moves;
    float point[] = {0x1p30f, -0x1p30f};
    lx__moves_begin(&moves, 1, 1);
    for (int i = 0; i < LX_MAX_IMAGE_STEPS; i++)
        lx__moves_add(&moves, enlarge, 1, 1);
    unit_ok(lx__annotation_move(&a, &moves, LX_FLOAT32, (const uint8_t *)point, sizeof point,
                                (uint8_t *)point, &error));
    ck_assert(point[0] == FLT_MAX && point[1] == -FLT_MAX);
}
END_TEST

START_TEST(the_identity_tells_annotations_apart)
{
    char *texts[6];
    for (int i = 0; i < 6; i++) {
        lx_image_transform *transform = lx_image_transform_new();
        if (i == 1 || i == 2)
            unit_ok(lx_image_transform_add_mask(transform, "a", (uint8_t)i, &error));
        if (i == 3 || i == 4)
            unit_ok(
                lx_image_transform_add_boxes(transform, "a", (lx_image_box_format)(i - 3), &error));
        if (i == 5)
            unit_ok(lx_image_transform_add_points(transform, "a", &error));
        json_t *json = lx__transform_to_json(transform);
        texts[i] = json_dumps(json, JSON_SORT_KEYS);
        /* states of earlier releases have no annotations */
        ck_assert_int_eq(json_object_get(json, "annotations") != NULL, i != 0);
        json_decref(json);
        lx_image_transform_free(transform);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(texts[i], texts[k]);
    }
    for (int i = 0; i < 6; i++)
        free(texts[i]);
}
END_TEST

START_TEST(refuses_wrong_arguments)
{
    static const uint64_t any[] = {LX_NONE, 4}, five[] = {5, 4}, points[] = {LX_NONE, 2};
    const lx__annotation boxes = {.kind = LX__ANNOTATION_BOXES},
                         mask = {.kind = LX__ANNOTATION_MASK};
    lx_column_info info = {.name = "a", .dtype = LX_FLOAT32, .ndim = 2, .shape = any};
    lx_image_transform *made = lx_image_transform_new();
    char name[66] = "";
    unit_ok(lx__annotation_check(&boxes, &info, &error));
    info.shape = five;
    unit_ok(lx__annotation_check(&boxes, &info, &error));
    unit_fails(lx__annotation_check(&mask, &info, &error), LX_ERR_ARGUMENT);
    info.dtype = LX_INT64;
    unit_fails(lx__annotation_check(&boxes, &info, &error), LX_ERR_ARGUMENT);
    info = (lx_column_info){.name = "a", .dtype = LX_FLOAT64, .ndim = 2, .shape = points};
    unit_fails(lx__annotation_check(&boxes, &info, &error), LX_ERR_ARGUMENT);
    info.ndim = 1;
    unit_fails(lx__annotation_check(&boxes, &info, &error), LX_ERR_ARGUMENT);

    unit_refuses_null(lx_image_transform_add_mask(NULL, "a", 0, &error), "transform");
    unit_refuses_null(lx_image_transform_add_points(made, NULL, &error), "column");
    unit_fails(lx_image_transform_add_boxes(made, "a", (lx_image_box_format)3, &error),
               LX_ERR_ARGUMENT);
    unit_fails(lx_image_transform_add_points(made, name, &error), LX_ERR_ARGUMENT);
    memset(name, 'a', 65);
    unit_fails(lx_image_transform_add_points(made, name, &error), LX_ERR_ARGUMENT);
    name[64] = '\0';
    unit_ok(lx_image_transform_add_points(made, name, &error));
    unit_fails(lx_image_transform_add_mask(made, name, 0, &error), LX_ERR_ARGUMENT); /* twice */
    for (int i = 1; i < LX_MAX_IMAGE_ANNOTATIONS; i++) {
        name[0]++;
        unit_ok(lx_image_transform_add_mask(made, name, 0, &error));
    }
    unit_fails(lx_image_transform_add_points(made, "a", &error), LX_ERR_LIMIT);
    lx_image_transform_free(made);
}
END_TEST

UNIT_MAIN("image/transform/annotation", boxes_keep_their_format_and_dtype,
          points_may_leave_the_image, numbers_that_are_no_coordinates_are_damage,
          points_remain_finite, the_identity_tells_annotations_apart, refuses_wrong_arguments)
