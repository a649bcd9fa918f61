/* SPDX-License-Identifier: MIT */
#include "image/transform/transform.h"

#include <loaderx/random.h>

#include "base/alloc.h"
#include "base/error.h"

/* Numbers of a sample's stream that belong to each step. */
#define DRAWS_PER_STEP 64

/* ---- running */

/** Resizes a picture, with sides that were computed. */
static lx_status enlarge(lx__picture *picture, float width, float height, lx_error *error)
{
    if (width > LX_IMAGE_SIDE_MAX || height > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an image of %u x %u pixels would be enlarged to a side of %.0f pixels",
                       picture->width, picture->height, (double)(width > height ? width : height));
    return lx__picture_resize(picture, (uint32_t)width, (uint32_t)height, LX_IMAGE_BILINEAR, error);
}

/** Enlarges a picture that is smaller than its crop: first its height, then its width. */
static lx_status enlarge_as_mxnet(const lx__step *step, lx__picture *picture, lx_error *error)
{
    lx_status status = LX_OK;
    if (picture->height < step->height)
        status = enlarge(picture,
                         (float)step->height / (float)picture->height * (float)picture->width,
                         (float)step->height, error);
    if (status == LX_OK && picture->width < step->width)
        status = enlarge(picture, (float)step->width,
                         (float)step->width / (float)picture->width * (float)picture->height,
                         error);
    return status;
}

/** Ensures that a picture is not smaller than its crop. */
static lx_status fit_crop(const lx__step *step, lx__picture *picture, lx_error *error)
{
    lx_status status = LX_OK;
    if (picture->convention == LX_IMAGE_MXNET)
        status = enlarge_as_mxnet(step, picture, error);
    if (status != LX_OK || (step->width <= picture->width && step->height <= picture->height))
        return status;
    return lx_fail(error, LX_ERR_ARGUMENT,
                   "the image has %u x %u pixels, less than the crop of %u x %u: resize it first",
                   picture->width, picture->height, step->width, step->height);
}

/** Half of the rest, rounded to even, as torchvision's center_crop() has it, or down. */
static uint32_t margin(uint32_t side, uint32_t cropped, lx_image_convention convention)
{
    uint32_t half = (side - cropped) / 2;
    return convention == LX_IMAGE_MXNET ? half : half + ((side - cropped) % 2 & half % 2);
}

static lx_status crop_center(const lx__step *step, const uint64_t key[2], uint64_t first,
                             lx__picture *picture, lx_error *error)
{
    (void)key, (void)first;
    lx_status status = fit_crop(step, picture, error);
    if (status == LX_OK)
        lx__picture_crop(
            picture,
            &(lx_image_region){.left = margin(picture->width, step->width, picture->convention),
                               .top = margin(picture->height, step->height, picture->convention),
                               .width = step->width,
                               .height = step->height});
    return status;
}

static lx_status crop_random(const lx__step *step, const uint64_t key[2], uint64_t first,
                             lx__picture *picture, lx_error *error)
{
    uint64_t draws[2];
    lx_status status = fit_crop(step, picture, error);
    if (status != LX_OK)
        return status;
    lx_random_get_draws(key, first, 2, draws);
    lx__picture_crop(
        picture,
        &(lx_image_region){.left = lx__draw_below(draws[0], picture->width - step->width + 1),
                           .top = lx__draw_below(draws[1], picture->height - step->height + 1),
                           .width = step->width,
                           .height = step->height});
    return LX_OK;
}

static lx_status resize(const lx__step *step, const uint64_t key[2], uint64_t first,
                        lx__picture *picture, lx_error *error)
{
    (void)key, (void)first;
    return lx__picture_resize(picture, step->width, step->height, step->filter, error);
}

static lx_status resize_shorter(const lx__step *step, const uint64_t key[2], uint64_t first,
                                lx__picture *picture, lx_error *error)
{
    (void)key, (void)first;
    bool upright = picture->width <= picture->height;
    uint64_t shorter = upright ? picture->width : picture->height;
    uint64_t longer = (upright ? picture->height : picture->width) * (uint64_t)step->width /
                      shorter;
    if (longer > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an image of %u x %u pixels would be resized to a side of %llu pixels",
                       picture->width, picture->height, (unsigned long long)longer);
    uint32_t width = upright ? step->width : (uint32_t)longer;
    uint32_t height = upright ? (uint32_t)longer : step->width;
    return lx__picture_resize(picture, width, height, step->filter, error);
}

static lx_status crop_and_resize(const lx__step *step, const uint64_t key[2], uint64_t first,
                                 lx__picture *picture, lx_error *error)
{
    uint64_t draws[LX__CROP_DRAWS];
    lx_random_get_draws(key, first, LX__CROP_DRAWS, draws);
    lx_image_region part = lx__crop_box_choose(&step->ranges, picture->width, picture->height,
                                               draws);
    lx__picture_crop(picture, &part);
    return lx__picture_resize(picture, step->width, step->height, step->filter, error);
}

static lx_status mirror(const lx__step *step, const uint64_t key[2], uint64_t first,
                        lx__picture *picture, lx_error *error)
{
    uint64_t draw;
    (void)error;
    lx_random_get_draws(key, first, 1, &draw);
    if (lx__draw_uniform(draw) < step->probability)
        lx__picture_mirror(picture);
    return LX_OK;
}

static const struct {
    const char *name; /* in saved states */
    lx_status (*run)(const lx__step *step, const uint64_t key[2], uint64_t first,
                     lx__picture *picture, lx_error *error);
} kinds[LX__STEP_KINDS] = {
    [LX__STEP_RESIZE] = {"resize", resize},
    [LX__STEP_RESIZE_SHORTER] = {"resize_shorter", resize_shorter},
    [LX__STEP_CENTER_CROP] = {"center_crop", crop_center},
    [LX__STEP_RANDOM_CROP] = {"random_crop", crop_random},
    [LX__STEP_RANDOM_RESIZED_CROP] = {"random_resized_crop", crop_and_resize},
    [LX__STEP_MIRROR] = {"mirror", mirror},
};

lx_status lx__transform_run(const lx_image_transform *transform, const uint64_t key[2],
                            lx__picture *picture, lx_error *error)
{
    lx_status status = LX_OK;
    picture->convention = transform->convention;
    for (size_t i = 0; status == LX_OK && i < transform->step_count; i++)
        status = kinds[transform->steps[i].kind].run(&transform->steps[i], key, i * DRAWS_PER_STEP,
                                                     picture, error);
    return status == LX_OK ? lx__picture_decode(picture, error) : status;
}

/* ---- what is known before running */

bool lx__transform_get_size(const lx_image_transform *transform, uint32_t *width, uint32_t *height)
{
    size_t i = transform->step_count;
    while (i != 0 && transform->steps[i - 1].kind == LX__STEP_MIRROR)
        i--;
    if (i == 0 || transform->steps[i - 1].kind == LX__STEP_RESIZE_SHORTER)
        return false;
    *width = transform->steps[i - 1].width;
    *height = transform->steps[i - 1].height;
    return true;
}

static json_t *step_to_json(const lx__step *step)
{
    json_t *object = json_pack("{s:s}", "kind", kinds[step->kind].name);
    int failed = 0;
    if (step->kind == LX__STEP_MIRROR) {
        failed |= json_object_set_new(object, "probability", json_real(step->probability));
    } else {
        failed |= json_object_set_new(object, "width", json_integer(step->width));
        failed |= json_object_set_new(object, "height", json_integer(step->height));
        failed |= json_object_set_new(object, "filter", json_integer(step->filter));
    }
    if (step->kind == LX__STEP_RANDOM_RESIZED_CROP) {
        const lx__crop_ranges *ranges = &step->ranges;
        failed |= json_object_set_new(object, "area",
                                      json_pack("[f, f]", ranges->area[0], ranges->area[1]));
        failed |= json_object_set_new(object, "ratio",
                                      json_pack("[f, f]", ranges->ratio[0], ranges->ratio[1]));
    }
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *lx__transform_to_json(const lx_image_transform *transform)
{
    const float *m = transform->mean, *s = transform->std;
    json_t *steps = json_array();
    int failed = 0;
    for (size_t i = 0; i < transform->step_count; i++)
        failed |= json_array_append_new(steps, step_to_json(&transform->steps[i]));
    json_t *object = json_pack(
        "{s:i, s:o, s:i, s:s, s:i, s:f, s:[f, f, f], s:[f, f, f]}", "formula", 1, "steps", steps,
        "channels", (int)transform->channels, "dtype", lx_dtype_get_name(transform->dtype),
        "layout", (int)transform->layout, "divisor", (double)transform->divisor, "mean",
        (double)m[0], (double)m[1], (double)m[2], "std", (double)s[0], (double)s[1], (double)s[2]);
    char seed[24]; /* JSON has no unsigned numbers of 64 bits */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)transform->seed);
    failed |= json_object_set_new(object, "seed", json_string(seed));
    if (transform->convention == LX_IMAGE_MXNET)
        failed |= json_object_set_new(object, "convention", json_string("mxnet"));
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- building */

lx_image_transform *lx_image_transform_new(void)
{
    lx_image_transform *transform = lx__alloc_array(1, sizeof *transform);
    if (transform == NULL)
        return NULL;
    transform->channels = 3;
    transform->dtype = LX_UINT8;
    transform->layout = LX_IMAGE_CHW;
    transform->divisor = 1;
    for (int i = 0; i < 3; i++)
        transform->std[i] = 1;
    return transform;
}

void lx_image_transform_free(lx_image_transform *transform)
{
    lx__free(transform);
}

void lx_image_transform_set_seed(lx_image_transform *transform, uint64_t seed)
{
    transform->seed = seed;
}

void lx_image_transform_set_grey(lx_image_transform *transform, bool grey)
{
    transform->channels = grey ? 1 : 3;
}

lx_status lx_image_transform_set_convention(lx_image_transform *transform,
                                            lx_image_convention convention, lx_error *error)
{
    if (transform == NULL)
        return lx__fail_null(error, "transform");
    if (convention != LX_IMAGE_TORCHVISION && convention != LX_IMAGE_MXNET)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no convention %d", (int)convention);
    transform->convention = convention;
    return LX_OK;
}

static lx_status add(lx_image_transform *transform, const lx__step *step, lx_error *error)
{
    if (transform == NULL)
        return lx__fail_null(error, "transform");
    if (step->kind != LX__STEP_MIRROR &&
        (step->width == 0 || step->height == 0 || step->width > LX_IMAGE_SIDE_MAX ||
         step->height > LX_IMAGE_SIDE_MAX))
        return lx_fail(error, LX_ERR_ARGUMENT, "a size of %u x %u is not from 1 x 1 to %u x %u",
                       step->width, step->height, LX_IMAGE_SIDE_MAX, LX_IMAGE_SIDE_MAX);
    if (step->filter < LX_IMAGE_NEAREST || step->filter > LX_IMAGE_LANCZOS)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no filter %d", (int)step->filter);
    if (transform->step_count == LX_MAX_IMAGE_STEPS)
        return lx_fail(error, LX_ERR_LIMIT, "a transform has at most %d steps", LX_MAX_IMAGE_STEPS);
    transform->steps[transform->step_count++] = *step;
    return LX_OK;
}

lx_status lx_image_transform_add_resize(lx_image_transform *transform, uint32_t width,
                                        uint32_t height, lx_image_filter filter, lx_error *error)
{
    const lx__step step = {
        .kind = LX__STEP_RESIZE, .width = width, .height = height, .filter = filter};
    return add(transform, &step, error);
}

lx_status lx_image_transform_add_resize_shorter(lx_image_transform *transform, uint32_t side,
                                                lx_image_filter filter, lx_error *error)
{
    const lx__step step = {
        .kind = LX__STEP_RESIZE_SHORTER, .width = side, .height = side, .filter = filter};
    return add(transform, &step, error);
}

lx_status lx_image_transform_add_center_crop(lx_image_transform *transform, uint32_t width,
                                             uint32_t height, lx_error *error)
{
    const lx__step step = {.kind = LX__STEP_CENTER_CROP, .width = width, .height = height};
    return add(transform, &step, error);
}

lx_status lx_image_transform_add_random_crop(lx_image_transform *transform, uint32_t width,
                                             uint32_t height, lx_error *error)
{
    const lx__step step = {.kind = LX__STEP_RANDOM_CROP, .width = width, .height = height};
    return add(transform, &step, error);
}

lx_status lx_image_transform_add_random_resized_crop(lx_image_transform *transform, uint32_t width,
                                                     uint32_t height, const double area[2],
                                                     const double ratio[2], lx_image_filter filter,
                                                     lx_error *error)
{
    static const double usual_area[] = {0.08, 1}, usual_ratio[] = {3. / 4, 4. / 3};
    const double *a = area != NULL ? area : usual_area, *r = ratio != NULL ? ratio : usual_ratio;
    if (!(a[0] > 0 && a[0] <= a[1] && a[1] <= 1))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "area: [%g, %g] is not a range of fractions in (0, 1]", a[0], a[1]);
    if (!(r[0] >= 0.001 && r[0] <= r[1] && r[1] <= 1000))
        return lx_fail(error, LX_ERR_ARGUMENT, "ratio: [%g, %g] is not a range in [0.001, 1000]",
                       r[0], r[1]);
    const lx__step step = {.kind = LX__STEP_RANDOM_RESIZED_CROP,
                           .width = width,
                           .height = height,
                           .filter = filter,
                           .ranges = lx__crop_ranges_of(a, r)};
    return add(transform, &step, error);
}

lx_status lx_image_transform_add_mirror(lx_image_transform *transform, double probability,
                                        lx_error *error)
{
    if (!(probability >= 0 && probability <= 1))
        return lx_fail(error, LX_ERR_ARGUMENT, "a probability of %g is not in [0, 1]", probability);
    return add(transform, &(lx__step){.kind = LX__STEP_MIRROR, .probability = probability}, error);
}

lx_status lx_image_transform_set_tensor(lx_image_transform *transform, lx_dtype dtype,
                                        lx_image_layout layout, float divisor, const float mean[3],
                                        const float std[3], lx_error *error)
{
    lx_image_tensorizer *tried;
    if (transform == NULL)
        return lx__fail_null(error, "transform");
    lx_status status = lx_image_tensorizer_new(dtype, layout, 3, divisor, mean, std, &tried, error);
    if (status != LX_OK)
        return status;
    lx_image_tensorizer_free(tried);
    transform->dtype = dtype;
    transform->layout = layout;
    transform->divisor = divisor;
    for (int i = 0; i < 3; i++) {
        transform->mean[i] = mean != NULL ? mean[i] : 0;
        transform->std[i] = std != NULL ? std[i] : 1;
    }
    return LX_OK;
}
