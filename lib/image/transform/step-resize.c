/* SPDX-License-Identifier: MIT */
/* Steps that resize pictures. */
#include "image/transform/step-size.h"

#include "base/error.h"

static lx_status resize(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                        lx_error *error)
{
    (void)draws;
    return lx__picture_resize(picture, step->size.width, step->size.height, step->size.filter,
                              error);
}

static lx_status resize_shorter(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                                lx_error *error)
{
    (void)draws;
    bool upright = picture->width <= picture->height;
    uint64_t shorter = upright ? picture->width : picture->height;
    uint64_t longer = (upright ? picture->height : picture->width) * (uint64_t)step->size.width /
                      shorter;
    if (longer > LX_IMAGE_SIDE_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an image of %u x %u pixels would be resized to a side of %llu pixels",
                       picture->width, picture->height, (unsigned long long)longer);
    uint32_t width = upright ? step->size.width : (uint32_t)longer;
    uint32_t height = upright ? (uint32_t)longer : step->size.width;
    return lx__picture_resize(picture, width, height, step->size.filter, error);
}

static void open_extent(const lx__step *step, lx__extent *extent)
{
    (void)step;
    extent->known = false;
}

static const lx__step_class resize_class = {.name = "resize",
                                            .geometric = true,
                                            .run = resize,
                                            .extend = lx__size_step_extend,
                                            .save = lx__size_step_save};
static const lx__step_class resize_shorter_class = {.name = "resize_shorter",
                                                    .geometric = true,
                                                    .run = resize_shorter,
                                                    .extend = open_extent,
                                                    .save = lx__size_step_save};

lx_status lx_image_transform_add_resize(lx_image_transform *transform, uint32_t width,
                                        uint32_t height, lx_image_filter filter, lx_error *error)
{
    const lx__size_step size = {.width = width, .height = height, .filter = filter};
    return lx__size_step_add(transform, &resize_class, &size, error);
}

lx_status lx_image_transform_add_resize_shorter(lx_image_transform *transform, uint32_t side,
                                                lx_image_filter filter, lx_error *error)
{
    const lx__size_step size = {.width = side, .height = side, .filter = filter};
    return lx__size_step_add(transform, &resize_shorter_class, &size, error);
}
