/* SPDX-License-Identifier: MIT */
#include "image/transform/transform.h"

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
