/* SPDX-License-Identifier: MIT */
/* Steps that mirror and rotate pictures. */
#include <string.h>

#include "base/error.h"
#include "image/transform/transform.h"

/* ---- mirror */

static lx_status mirror(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                        lx_error *error)
{
    uint64_t number;
    (void)error;
    lx__draw(draws, 1, &number);
    if (lx__draw_uniform(number) < step->probability)
        lx__picture_mirror(picture);
    return LX_OK;
}

static const lx__step_class mirror_class = {
    .name = "mirror", .geometric = true, .run = mirror, .save = lx__step_save_probability};

lx_status lx_image_transform_add_mirror(lx_image_transform *transform, double probability,
                                        lx_error *error)
{
    lx_status status = lx__step_check_probability(probability, error);
    if (status != LX_OK)
        return status;
    const lx__step step = {.class = &mirror_class, .probability = probability};
    return lx__transform_add(transform, &step, error);
}

/* ---- rotation: torchvision's RandomRotation */

static lx_status rotate(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                        lx_error *error)
{
    uint64_t number;
    lx__draw(draws, 1, &number);
    double degrees = lx__draw_between(number, step->place.degrees);
    return lx__picture_rotate(picture, degrees, step->place.filter, step->place.fill, error);
}

static int save_rotation(const lx__step *step, json_t *object)
{
    const lx__place_step *place = &step->place;
    int failed = json_object_set_new(object, "degrees",
                                     json_pack("[f, f]", place->degrees[0], place->degrees[1]));
    failed |= json_object_set_new(object, "filter", json_integer(place->filter));
    return failed | lx__step_save_fill(place->fill, object);
}

static const lx__step_class rotation_class = {
    .name = "rotation", .geometric = true, .run = rotate, .save = save_rotation};

lx_status lx_image_transform_add_rotation(lx_image_transform *transform, const double degrees[2],
                                          lx_image_filter filter, const uint8_t fill[3],
                                          lx_error *error)
{
    lx__step step = {.class = &rotation_class, .place = {.filter = filter}};
    if (degrees == NULL)
        return lx__fail_null(error, "degrees");
    lx_status status = lx__step_check_range("degrees", degrees, -360, 360, error);
    if (status != LX_OK)
        return status;
    if (filter != LX_IMAGE_NEAREST && filter != LX_IMAGE_BILINEAR)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "images cannot be rotated with the filter %d: use the nearest pixel or "
                       "bilinear interpolation",
                       (int)filter);
    memcpy(step.place.degrees, degrees, sizeof step.place.degrees);
    if (fill != NULL)
        memcpy(step.place.fill, fill, sizeof step.place.fill);
    return lx__transform_add(transform, &step, error);
}
