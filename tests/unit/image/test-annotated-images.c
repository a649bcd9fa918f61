/* SPDX-License-Identifier: MIT */
/* Masks, boxes and points that change with their images: lib/image/image-source.c. */
#include <math.h>

#include <loaderx/image.h>
#include <loaderx/loaderx.h>

#include "../loader/loaders.h"
#include "pictures.h"

#define OUT 48
#define POINTS 40
#define FILL 255

/** An image whose pixels are their own coordinates, red across and green down, two masks whose
 * classes are the same coordinates, and points. */
struct scene {
    uint32_t width, height;
    struct picture files[3]; /* image, across, down */
    double points[POINTS][2];
    double boxes[2][4];
    uint64_t box_count;
};

enum { IMAGE, ACROSS, DOWN, PLACES, BOXES, COLUMNS };

static const uint64_t points_shape[] = {POINTS, 2}, boxes_shape[] = {LX_NONE, 4};
static const lx_column_info columns[] = {
    [IMAGE] = {.name = "image", .dtype = LX_BYTES},
    [ACROSS] = {.name = "across", .dtype = LX_IMAGE},
    [DOWN] = {.name = "down", .dtype = LX_BYTES},
    [PLACES] = {.name = "points", .dtype = LX_FLOAT64, .ndim = 2, .shape = points_shape},
    [BOXES] = {.name = "boxes", .dtype = LX_FLOAT64, .ndim = 2, .shape = boxes_shape}};

static lx_error error = LX_ERROR_INIT;

static lx_status get_sizes(size_t column, const uint64_t *indices, size_t count, uint64_t *offsets,
                           void *user, lx_error *failure)
{
    const struct scene *scene = user;
    uint64_t size = column == BOXES ? scene->box_count * sizeof scene->boxes[0]
                                    : scene->files[column].size;
    (void)indices, (void)failure;
    for (size_t i = 0; i <= count; i++)
        offsets[i] = i * size;
    return LX_OK;
}

static lx_status fill_bytes(size_t column, const uint64_t *indices, size_t count,
                            const uint64_t *offsets, void *out, void *user, lx_error *failure)
{
    const struct scene *scene = user;
    const void *from = column == BOXES ? (const void *)scene->boxes : scene->files[column].bytes;
    (void)indices, (void)failure;
    for (size_t i = 0; i < count && offsets[count] != 0; i++)
        memcpy((uint8_t *)out + offsets[i], from, offsets[i + 1] - offsets[i]);
    return LX_OK;
}

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *failure)
{
    const struct scene *scene = user;
    (void)indices, (void)failure;
    for (size_t i = 0; i < count && targets[PLACES].data != NULL; i++)
        memcpy((uint8_t *)targets[PLACES].data + i * targets[PLACES].stride, scene->points,
               sizeof scene->points);
    return LX_OK;
}

static struct picture encode(const lx_image *image)
{
    lx_image_encoder *encoder = lx_image_encoder_new();
    struct picture made;
    const void *bytes;
    unit_ok(lx_image_encoder_encode(encoder, image, LX_IMAGE_PNG, &bytes, &made.size, &error));
    made.bytes = malloc(made.size);
    memcpy(made.bytes, bytes, made.size);
    lx_image_encoder_free(encoder);
    return made;
}

static struct scene make_scene(uint32_t width, uint32_t height, uint64_t *state)
{
    struct scene scene = {.width = width, .height = height};
    static uint8_t pixels[3][256 * 256 * 3];
    for (uint32_t i = 0; i < width * height; i++) {
        uint8_t x = (uint8_t)(i % width), y = (uint8_t)(i / width);
        memcpy(pixels[IMAGE] + 3 * i, (uint8_t[]){x, y, 77}, 3);
        pixels[ACROSS][i] = x;
        pixels[DOWN][i] = y;
    }
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t channels = k == IMAGE ? 3 : 1;
        scene.files[k] =
            encode(&(lx_image){pixels[k], (size_t)width * channels, width, height, channels});
    }
    for (int i = 0; i < POINTS; i++) {
        scene.points[i][0] = (double)(random_next(state) % width) + 0.5;
        scene.points[i][1] = (double)(random_next(state) % height) + 0.5;
    }
    return scene;
}

static void free_scene(struct scene *scene)
{
    for (int k = 0; k < 3; k++)
        free(scene->files[k].bytes);
}

static lx_source *scene_source(struct scene *scene, const lx_image_transform *transform)
{
    static const source_functions functions = {
        .fill = fill, .sizes = get_sizes, .fill_bytes = fill_bytes};
    lx_source *part, *source;
    unit_ok(new_source(&functions, scene, 100, columns, COLUMNS, NULL, &part, &error));
    unit_ok(lx_source_new_images(part, "image", transform, &source, &error));
    lx_source_unref(part);
    return source;
}

static lx_image_transform *new_transform(uint64_t seed)
{
    lx_image_transform *made = lx_image_transform_new();
    lx_image_transform_set_seed(made, seed);
    unit_ok(lx_image_transform_set_tensor(made, LX_UINT8, LX_IMAGE_HWC, 1, NULL, NULL, &error));
    unit_ok(lx_image_transform_add_mask(made, "across", FILL, &error));
    unit_ok(lx_image_transform_add_mask(made, "down", FILL, &error));
    unit_ok(lx_image_transform_add_points(made, "points", &error));
    unit_ok(lx_image_transform_add_boxes(made, "boxes", LX_IMAGE_XYXY, &error));
    return made;
}

/** Adds a step that is chosen at random, and returns how many pixels it may move what an image
 * shows beside what its mask shows: half a pixel for each choice of the nearest pixel. */
static double add_step(lx_image_transform *made, uint64_t *state)
{
    static const double degrees[] = {-40, 60}, area[] = {0.3, 1};
    static const uint8_t black[3] = {0};
    const uint32_t sides[] = {(uint32_t)(random_next(state) % 9), 3, 7,
                              (uint32_t)(random_next(state) % 5)};
    const lx_image_filter filter = random_next(state) % 2 ? LX_IMAGE_BILINEAR : LX_IMAGE_NEAREST;
    switch (random_next(state) % 7) {
    case 0:
        unit_ok(lx_image_transform_add_mirror(made, 0.5, &error));
        return 0;
    case 1:
        unit_ok(lx_image_transform_add_pad(made, sides, black, &error));
        return 0;
    case 2:
        unit_ok(lx_image_transform_add_rotation(made, degrees, filter, black, &error));
        return 0.75;
    case 3:
        unit_ok(
            lx_image_transform_add_random_resized_crop(made, 90, 110, area, NULL, filter, &error));
        return 1;
    case 4:
        unit_ok(lx_image_transform_add_resize_shorter(made, 70, filter, &error));
        unit_ok(lx_image_transform_add_random_crop(made, 66, 61, &error));
        return 1;
    case 5: /* in the convention of MXNet, such crops enlarge images */
        unit_ok(lx_image_transform_add_resize(made, 120, 130, filter, &error));
        unit_ok(lx_image_transform_add_center_crop(made, 101, 88, &error));
        return 1;
    default: /* changes no places */
        unit_ok(lx_image_transform_add_lighting(made, 0, &error));
        return 0;
    }
}

/** Whether all pixels around one are of the image, so that no other colour is mixed with them. */
static bool is_inside(uint8_t masks[2][OUT][OUT], int64_t x, int64_t y, int64_t around)
{
    for (int64_t j = y - around; j <= y + around; j++)
        for (int64_t i = x - around; i <= x + around; i++)
            if (i < 0 || j < 0 || i >= OUT || j >= OUT || masks[0][j][i] == FILL)
                return false;
    return true;
}

/* For random pipelines, a mask has at each pixel what the image shows there, and points are where
 * the image shows them, within the error of the filters. */
START_TEST(annotations_stay_where_the_image_shows_them)
{
    enum { ROUNDS = 400 };
    uint64_t state = 11, checked = 0, found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        static uint8_t image[OUT][OUT][3], masks[2][OUT][OUT];
        double points[POINTS][2], pixels = 0.5, scale = 5; /* pixels of the file in one, at most */
        struct scene scene = make_scene(120 + (uint32_t)random_next(&state) % 120,
                                        120 + (uint32_t)random_next(&state) % 120, &state);
        lx_image_transform *transform = new_transform((uint64_t)round);
        if (round % 2)
            unit_ok(lx_image_transform_set_convention(transform, LX_IMAGE_MXNET, &error));
        for (uint64_t i = 0; i < 1 + random_next(&state) % 4; i++)
            pixels += add_step(transform, &state);
        unit_ok(lx_image_transform_add_resize(transform, OUT, OUT, LX_IMAGE_BILINEAR, &error));
        lx_source *source = scene_source(&scene, transform);
        const uint64_t index = (uint64_t)round % 100;
        const lx_target targets[COLUMNS] = {{image, sizeof image},
                                            {masks[0], sizeof masks[0]},
                                            {masks[1], sizeof masks[1]},
                                            {points, sizeof points}};
        unit_ok(lx_source_fill(source, &index, 1, targets, &error));
        double bound = 1 + pixels * scale; /* the nearest of two pixels may be either */
        for (int y = 0; y < OUT; y++)
            for (int x = 0; x < OUT; x++)
                if (is_inside(masks, x, y, 3)) {
                    for (int k = 0; k < 2; k++)
                        ck_assert_msg(abs(image[y][x][k] - masks[k][y][x]) <= bound,
                                      "round %d: pixel %d, %d shows %d, and the mask %d", round, x,
                                      y, image[y][x][k], masks[k][y][x]);
                    checked++;
                }
        for (int i = 0; i < POINTS; i++) {
            int64_t x = (int64_t)floor(points[i][0]), y = (int64_t)floor(points[i][1]);
            if (!is_inside(masks, x, y, 0))
                continue;
            for (int k = 0; k < 2; k++)
                ck_assert_msg(fabs(scene.points[i][k] - 0.5 - masks[k][y][x]) <= bound,
                              "round %d: point %d at %g is not near %d", round, i,
                              scene.points[i][k], masks[k][y][x]);
            found++;
        }
        lx_source_unref(source);
        lx_image_transform_free(transform);
        free_scene(&scene);
    }
    ck_assert_uint_gt(checked, ROUNDS * 300);
    ck_assert_uint_gt(found, ROUNDS * 5);
}
END_TEST

/* Without filters, a mask and its image are the same, and points are exact. */
START_TEST(annotations_of_steps_without_filters_are_exact)
{
    enum { ROUNDS = 100 };
    uint64_t state = 3, found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        static const uint32_t sides[] = {3, 8, 5, 2};
        static const uint8_t fill_color[] = {FILL, FILL, 0};
        static uint8_t image[OUT][OUT][3], masks[2][OUT][OUT];
        double points[POINTS][2];
        struct scene scene = make_scene(60, 70, &state);
        lx_image_transform *transform = new_transform((uint64_t)round);
        if (round % 2)
            unit_ok(lx_image_transform_add_mirror(transform, 0.5, &error));
        unit_ok(lx_image_transform_add_random_crop(transform, 54, 52, &error));
        unit_ok(lx_image_transform_add_mirror(transform, 0.5, &error));
        unit_ok(lx_image_transform_add_pad(transform, sides, fill_color, &error));
        if (round % 3 == 0)
            unit_ok(lx_image_transform_add_rotation(transform, (double[]){90, 90}, LX_IMAGE_NEAREST,
                                                    fill_color, &error));
        unit_ok(lx_image_transform_add_random_crop(transform, OUT, OUT, &error));
        lx_source *source = scene_source(&scene, transform);
        const uint64_t index = (uint64_t)round;
        const lx_target targets[COLUMNS] = {{image, sizeof image},
                                            {masks[0], sizeof masks[0]},
                                            {masks[1], sizeof masks[1]},
                                            {points, sizeof points}};
        unit_ok(lx_source_fill(source, &index, 1, targets, &error));
        for (int y = 0; y < OUT; y++)
            for (int x = 0; x < OUT; x++)
                for (int k = 0; k < 2; k++)
                    ck_assert_uint_eq(image[y][x][k], masks[k][y][x]);
        for (int i = 0; i < POINTS; i++) {
            double x = points[i][0], y = points[i][1];
            if (!(x >= 0 && y >= 0 && x < OUT && y < OUT))
                continue;
            ck_assert(x - floor(x) == 0.5 && y - floor(y) == 0.5); /* the centre of a pixel */
            const uint8_t *pixel = image[(int)y][(int)x];
            if (pixel[0] != FILL) {
                ck_assert_double_eq(pixel[0] + 0.5, scene.points[i][0]);
                ck_assert_double_eq(pixel[1] + 0.5, scene.points[i][1]);
                found++;
            }
        }
        lx_source_unref(source);
        lx_image_transform_free(transform);
        free_scene(&scene);
    }
    ck_assert_uint_gt(found, ROUNDS * 10);
}
END_TEST

/* ---- without pixels */

static lx_image_transform *cropping(void)
{
    lx_image_transform *made = new_transform(9);
    unit_ok(lx_image_transform_add_random_resized_crop(made, OUT, OUT, NULL, NULL,
                                                       LX_IMAGE_BILINEAR, &error));
    unit_ok(lx_image_transform_add_mirror(made, 0.5, &error));
    return made;
}

/* Boxes, whose number varies, are filled by a call of their own: they move as the points do that
 * are filled together with the image. */
START_TEST(boxes_are_moved_without_decoding_the_image)
{
    uint64_t state = 5;
    struct scene scene = make_scene(99, 88, &state);
    for (int i = 0; i < 2; i++) {
        memcpy(scene.boxes[i], scene.points[2 * i], sizeof scene.points[0]);
        memcpy(scene.boxes[i] + 2, scene.points[2 * i + 1], sizeof scene.points[0]);
    }
    scene.box_count = 2;
    lx_image_transform *transform = cropping();
    lx_source *source = scene_source(&scene, transform);
    for (uint64_t index = 0; index < 100; index++) {
        static uint8_t image[OUT * OUT * 3];
        double points[POINTS][2], boxes[2][4];
        uint64_t offsets[2], position = index * 3;
        const lx_samples sample = {1, &index, &position, 7};
        size_t whole = scene.files[IMAGE].size;
        lx_target targets[COLUMNS] = {{image, sizeof image}, [PLACES] = {points, sizeof points}};
        unit_ok(lx_source_fill_samples(source, &sample, targets, &error));
        unit_ok(lx_source_get_sizes(source, BOXES, &index, 1, offsets, &error));
        ck_assert_uint_eq(offsets[1], sizeof boxes);
        scene.files[IMAGE].size = 60; /* the pixels are not there */
        unit_ok(lx_source_fill_sample_bytes(source, BOXES, &sample, offsets, boxes, &error));
        unit_fails(lx_source_fill_samples(source, &sample, targets, &error), LX_ERR_CORRUPT);
        scene.files[IMAGE].size = whole;
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 2; k++) {
                double one = fmin(fmax(points[2 * i][k], 0), OUT);
                double other = fmin(fmax(points[2 * i + 1][k], 0), OUT);
                ck_assert_double_eq_tol(boxes[i][k], fmin(one, other), 1e-9);
                ck_assert_double_eq_tol(boxes[i][2 + k], fmax(one, other), 1e-9);
            }
    }
    lx_source_unref(source);
    lx_image_transform_free(transform);
    free_scene(&scene);
}
END_TEST

START_TEST(an_image_may_have_no_boxes)
{
    uint64_t state = 5, offsets[4];
    const uint64_t indices[] = {3, 1, 3};
    struct scene scene = make_scene(99, 88, &state);
    lx_image_transform *transform = cropping();
    lx_source *source = scene_source(&scene, transform);
    unit_ok(lx_source_get_sizes(source, BOXES, indices, 3, offsets, &error));
    ck_assert_uint_eq(offsets[3], 0);
    unit_ok(lx_source_fill_bytes(source, BOXES, indices, 3, offsets, NULL, &error));
    lx_source_unref(source);
    lx_image_transform_free(transform);
    free_scene(&scene);
}
END_TEST

/* ---- failures */

/** Fills all columns of a record; the message of the failure must contain @p text. */
static void expect_failure(struct scene *scene, const char *field, const char *text)
{
    static uint8_t image[OUT * OUT * 3], masks[2][OUT * OUT];
    double points[POINTS][2];
    lx_image_transform *transform = cropping();
    lx_source *source = scene_source(scene, transform);
    const uint64_t index = 42;
    const lx_target targets[COLUMNS] = {{image, sizeof image},
                                        {masks[0], sizeof masks[0]},
                                        {masks[1], sizeof masks[1]},
                                        {points, sizeof points}};
    ck_assert_int_eq(lx_source_fill(source, &index, 1, targets, &error), LX_ERR_CORRUPT);
    ck_assert_str_eq(error.field, field);
    ck_assert_uint_eq(error.record, 42);
    ck_assert_msg(strstr(error.message, text) != NULL, "%s", error.message);
    lx_error_clear(&error);
    lx_source_unref(source);
    lx_image_transform_free(transform);
}

START_TEST(failures_name_the_column_and_the_record)
{
    uint64_t state = 5;
    struct scene scene = make_scene(99, 88, &state), other = make_scene(98, 88, &state);
    struct picture whole = scene.files[DOWN];
    scene.files[DOWN] = other.files[DOWN];
    expect_failure(&scene, "down", "the mask has 98 x 88 pixels, and its image has 99 x 88");
    scene.files[DOWN] = scene.files[IMAGE];
    expect_failure(&scene, "down", "a PNG with a palette or with grey");
    scene.files[DOWN] = whole;
    scene.files[DOWN].size /= 2;
    expect_failure(&scene, "down", "");
    scene.files[DOWN] = whole;
    scene.points[3][1] = NAN;
    expect_failure(&scene, "points", "number 1 of row 3 is nan");
    free_scene(&scene);
    free_scene(&other);
}
END_TEST

START_TEST(refuses_columns_that_do_not_fit)
{
    static const source_functions functions = {
        .fill = fill, .sizes = get_sizes, .fill_bytes = fill_bytes};
    struct scene scene = {.width = 1};
    lx_source *part, *source;
    unit_ok(new_source(&functions, &scene, 100, columns, COLUMNS, NULL, &part, &error));
    for (int i = 0; i < 3; i++) {
        lx_image_transform *made = lx_image_transform_new();
        unit_ok(lx_image_transform_add_resize(made, 8, 8, LX_IMAGE_BILINEAR, &error));
        unit_ok(i == 0   ? lx_image_transform_add_mask(made, "points", 0, &error)
                : i == 1 ? lx_image_transform_add_points(made, "boxes", &error)
                         : lx_image_transform_add_mask(made, "image", 0, &error));
        unit_fails(lx_source_new_images(part, "image", made, &source, &error), LX_ERR_ARGUMENT);
        lx_image_transform_free(made);
    }
    lx_image_transform *made = cropping();
    unit_ok(lx_image_transform_add_mask(made, "none", 0, &error));
    unit_fails(lx_source_new_images(part, "image", made, &source, &error), LX_ERR_NOT_FOUND);
    lx_image_transform_free(made);
    lx_source_unref(part);
}
END_TEST

UNIT_MAIN("image/annotated-images", annotations_stay_where_the_image_shows_them,
          annotations_of_steps_without_filters_are_exact,
          boxes_are_moved_without_decoding_the_image, an_image_may_have_no_boxes,
          failures_name_the_column_and_the_record, refuses_columns_that_do_not_fit)
