/* SPDX-License-Identifier: MIT */
#include "image/transform/step-size.h"

#include "base/error.h"

lx_status lx__size_step_add(lx_image_transform *transform, const lx__step_class *class,
                            const lx__size_step *size, lx_error *error)
{
    if (size->width == 0 || size->height == 0 || size->width > LX_IMAGE_SIDE_MAX ||
        size->height > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT, "a size of %u x %u is not from 1 x 1 to %u x %u",
                       size->width, size->height, LX_IMAGE_SIDE_MAX, LX_IMAGE_SIDE_MAX);
    if (size->filter < LX_IMAGE_NEAREST || size->filter > LX_IMAGE_LANCZOS)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no filter %d", (int)size->filter);
    return lx__transform_add(transform, &(lx__step){.class = class, .size = *size}, error);
}

void lx__size_step_extend(const lx__step *step, lx__extent *extent)
{
    *extent = (lx__extent){.known = true, .width = step->size.width, .height = step->size.height};
}

int lx__size_step_save(const lx__step *step, json_t *object)
{
    int failed = json_object_set_new(object, "width", json_integer(step->size.width));
    failed |= json_object_set_new(object, "height", json_integer(step->size.height));
    return failed | json_object_set_new(object, "filter", json_integer(step->size.filter));
}
