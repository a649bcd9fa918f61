/* SPDX-License-Identifier: MIT */
#include "image/transform/transform.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

lx_status lx__transform_run(const lx_image_transform *transform, const uint64_t key[2],
                            lx__picture *picture, lx_error *error)
{
    lx_status status = LX_OK;
    picture->convention = transform->convention;
    for (size_t i = 0; status == LX_OK && i < transform->step_count; i++) {
        const lx__step *step = &transform->steps[i];
        const lx__draws draws = {.key = key, .first = i * LX__STEP_DRAWS};
        if (step->class->geometric || picture->content == LX__PICTURE_COLORS)
            status = step->class->run(step, &draws, picture, error);
    }
    if (status != LX_OK || picture->content == LX__PICTURE_OUTLINE)
        return status;
    return lx__picture_decode(picture, error);
}

bool lx__transform_get_size(const lx_image_transform *transform, uint32_t *width, uint32_t *height)
{
    lx__extent extent = {.known = false};
    for (size_t i = 0; i < transform->step_count; i++) {
        const lx__step *step = &transform->steps[i];
        if (step->class->extend != NULL)
            step->class->extend(step, &extent);
    }
    *width = extent.width;
    *height = extent.height;
    return extent.known;
}

static json_t *step_to_json(const lx__step *step)
{
    json_t *object = json_pack("{s:s}", "kind", step->class->name);
    if (object == NULL || step->class->save(step, object) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/** Describes what the tensor of a transform has that lx_image_transform_set_tensor() does not set.
 * Returns 0, or -1 when out of memory. */
static int save_scaled(const lx_image_transform *transform, json_t *object)
{
    const lx__tensor_spec *tensor = &transform->tensor;
    const float *f = tensor->scale;
    int failed = 0;
    if (f[0] != 1 || f[1] != 1 || f[2] != 1)
        failed |= json_object_set_new(
            object, "factor", json_pack("[f, f, f]", (double)f[0], (double)f[1], (double)f[2]));
    if (tensor->mean_image != NULL)
        failed |= json_object_set_new(object, "mean_image",
                                      json_pack("{s:I, s:I, s:I}", "width",
                                                (json_int_t)tensor->width, "height",
                                                (json_int_t)tensor->height, "checksum",
                                                (json_int_t)lx__tensor_spec_get_checksum(tensor)));
    if (transform->contrast != 0 || transform->light != 0)
        failed |= json_object_set_new(object, "exposure",
                                      json_pack("[f, f]", transform->contrast, transform->light));
    return failed;
}

/** Adds the columns that change with the images, if there are any. */
static int save_annotations(const lx_image_transform *transform, json_t *object)
{
    json_t *list = json_array();
    int failed = 0;
    for (size_t i = 0; i < transform->annotation_count; i++)
        failed |= json_array_append_new(list, lx__annotation_to_json(&transform->annotations[i]));
    if (transform->annotation_count != 0)
        return failed | json_object_set_new(object, "annotations", list);
    json_decref(list);
    return 0;
}

json_t *lx__transform_to_json(const lx_image_transform *transform)
{
    static const float ones[] = {1, 1, 1};
    const lx__tensor_spec *tensor = &transform->tensor;
    const float *m = tensor->mean, *s = tensor->multiplies ? ones : tensor->scale;
    json_t *steps = json_array();
    int failed = 0;
    for (size_t i = 0; i < transform->step_count; i++)
        failed |= json_array_append_new(steps, step_to_json(&transform->steps[i]));
    json_t *object = json_pack(
        "{s:i, s:o, s:i, s:s, s:i, s:f, s:[f, f, f], s:[f, f, f]}", "formula", 1, "steps", steps,
        "channels", (int)tensor->channels, "dtype", lx_dtype_get_name(tensor->dtype), "layout",
        (int)tensor->layout, "divisor", (double)tensor->divisor, "mean", (double)m[0], (double)m[1],
        (double)m[2], "std", (double)s[0], (double)s[1], (double)s[2]);
    char seed[24]; /* JSON has no unsigned numbers of 64 bits */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)transform->seed);
    failed |= json_object_set_new(object, "seed", json_string(seed));
    if (transform->convention == LX_IMAGE_MXNET)
        failed |= json_object_set_new(object, "convention", json_string("mxnet"));
    if (tensor->multiplies)
        failed |= save_scaled(transform, object);
    failed |= save_annotations(transform, object);
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

lx_image_transform *lx_image_transform_new(void)
{
    lx_image_transform *transform = lx__alloc_array(1, sizeof *transform);
    if (transform == NULL)
        return NULL;
    transform->tensor = (lx__tensor_spec){
        .dtype = LX_UINT8, .layout = LX_IMAGE_CHW, .channels = 3, .divisor = 1, .scale = {1, 1, 1}};
    transform->max_pixels = LX_DEFAULT_IMAGE_PIXELS;
    return transform;
}

void lx_image_transform_free(lx_image_transform *transform)
{
    if (transform != NULL)
        lx__free(transform->mean_image);
    lx__free(transform);
}

void lx_image_transform_set_seed(lx_image_transform *transform, uint64_t seed)
{
    transform->seed = seed;
}

void lx_image_transform_set_max_pixels(lx_image_transform *transform, uint64_t pixels)
{
    transform->max_pixels = pixels;
}

void lx_image_transform_set_grey(lx_image_transform *transform, bool grey)
{
    transform->tensor.channels = grey ? 1 : 3;
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

lx_status lx__transform_add(lx_image_transform *transform, const lx__step *step, lx_error *error)
{
    if (transform == NULL)
        return lx__fail_null(error, "transform");
    if (transform->step_count == LX_MAX_IMAGE_STEPS)
        return lx_fail(error, LX_ERR_LIMIT, "a transform has at most %d steps", LX_MAX_IMAGE_STEPS);
    const lx__step *last = transform->steps + transform->step_count - 1;
    if (transform->step_count != 0 && last->class->last && last->class != step->class)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the step %s cannot follow %s, which changes the tensor: add it before",
                       step->class->name, last->class->name);
    transform->steps[transform->step_count++] = *step;
    return LX_OK;
}

/* ---- tensors */

/** Makes a tensorizer to see whether there can be one. */
static lx_status try_tensor(const lx__tensor_spec *tensor, lx_error *error)
{
    lx_image_tensorizer *tried = NULL;
    lx_status status = lx__tensorizer_new(tensor, &tried, error);
    lx_image_tensorizer_free(tried);
    return status;
}

/** Sets the tensor. It is tried with three channels, because grey may be set later. */
static lx_status set_tensor(lx_image_transform *transform, lx__tensor_spec *tensor,
                            const float *mean, const float *scale, lx_error *error)
{
    if (transform == NULL)
        return lx__fail_null(error, "transform");
    for (int i = 0; i < 3; i++) {
        tensor->mean[i] = mean != NULL ? mean[i] : 0;
        tensor->scale[i] = scale != NULL ? scale[i] : 1;
    }
    tensor->channels = 3;
    lx_status status = try_tensor(tensor, error);
    if (status != LX_OK)
        return status;
    tensor->channels = transform->tensor.channels;
    transform->tensor = *tensor;
    lx__free(transform->mean_image);
    transform->mean_image = NULL;
    transform->contrast = transform->light = 0;
    return LX_OK;
}

lx_status lx_image_transform_set_tensor(lx_image_transform *transform, lx_dtype dtype,
                                        lx_image_layout layout, float divisor, const float mean[3],
                                        const float std[3], lx_error *error)
{
    lx__tensor_spec tensor = {.dtype = dtype, .layout = layout, .divisor = divisor};
    return set_tensor(transform, &tensor, mean, std, error);
}

lx_status lx_image_transform_set_scaled_tensor(lx_image_transform *transform, lx_dtype dtype,
                                               lx_image_layout layout, const float mean[3],
                                               const float factor[3], lx_error *error)
{
    lx__tensor_spec tensor = {.dtype = dtype, .layout = layout, .multiplies = true, .divisor = 1};
    return set_tensor(transform, &tensor, mean, factor, error);
}

static lx_status check_scaled(const lx_image_transform *transform, lx_error *error)
{
    if (transform == NULL)
        return lx__fail_null(error, "transform");
    if (!transform->tensor.multiplies)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the transform does not multiply: call "
                       "lx_image_transform_set_scaled_tensor() before");
    return LX_OK;
}

lx_status lx_image_transform_set_mean_image(lx_image_transform *transform, uint32_t channels,
                                            uint32_t width, uint32_t height, const float *mean,
                                            lx_error *error)
{
    lx_status status = check_scaled(transform, error);
    if (status != LX_OK)
        return status;
    if (mean == NULL)
        return lx__fail_null(error, "mean");
    lx__tensor_spec tensor = transform->tensor;
    tensor.channels = tensor.mean_channels = channels;
    tensor.width = width;
    tensor.height = height;
    tensor.mean_image = mean;
    if ((status = try_tensor(&tensor, error)) != LX_OK)
        return status;
    size_t count = (size_t)channels * width * height;
    float *copy = lx__alloc_array(count, sizeof *copy);
    if (copy == NULL)
        return lx__fail_memory(error, "a mean image");
    memcpy(copy, mean, count * sizeof *copy);
    lx__free(transform->mean_image);
    tensor.channels = transform->tensor.channels;
    tensor.mean_image = transform->mean_image = copy;
    transform->tensor = tensor;
    return LX_OK;
}

lx_status lx_image_transform_set_exposure(lx_image_transform *transform, double contrast,
                                          double light, lx_error *error)
{
    const double contrasts[] = {0, contrast}, lights[] = {0, light};
    lx_status status = check_scaled(transform, error);
    if (status == LX_OK)
        status = lx__step_check_range("contrast", contrasts, 0, 1e6, error);
    if (status == LX_OK)
        status = lx__step_check_range("light", lights, 0, 1e6, error);
    if (status != LX_OK)
        return status;
    for (int i = 0; i < 3; i++)
        if (!isfinite(transform->tensor.scale[i] * (1 + (float)contrast)) ||
            !isfinite(transform->tensor.scale[i] * (float)light))
            return lx_fail(
                error, LX_ERR_ARGUMENT,
                "with a contrast of %g and a light of %g, the factor %g becomes infinite", contrast,
                light, (double)transform->tensor.scale[i]);
    transform->contrast = contrast;
    transform->light = light;
    return LX_OK;
}

bool lx__transform_expose(const lx_image_transform *transform, const uint64_t key[2],
                          lx__exposure *exposure)
{
    /* The numbers after those of the last step that there can be. */
    const lx__draws draws = {.key = key, .first = LX_MAX_IMAGE_STEPS * LX__STEP_DRAWS};
    const double contrast = transform->contrast, light = transform->light;
    const double gains[] = {1 - contrast, 1 + contrast}, lights[] = {-light, light};
    uint64_t numbers[2];
    if (contrast == 0 && light == 0)
        return false;
    lx__draw(&draws, 2, numbers);
    exposure->gain = (float)lx__draw_between(numbers[0], gains);
    exposure->light = (float)lx__draw_between(numbers[1], lights);
    return true;
}
