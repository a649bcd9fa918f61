/* SPDX-License-Identifier: MIT */
/* The step that blurs pictures: torchvision's GaussianBlur. */
#include <string.h>

#include "base/error.h"
#include "image/transform/transform.h"

static lx_status blur(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                      lx_error *error)
{
    uint64_t number;
    lx__blur_curve across, down;
    const lx__blur_step *self = &step->blur;
    if (self->width / 2 >= picture->width || self->height / 2 >= picture->height)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the image has %u x %u pixels, too few to blur it with %u x %u: resize it "
                       "first",
                       picture->width, picture->height, self->width, self->height);
    lx__draw(draws, 1, &number);
    double deviation = lx__draw_between(number, self->deviations);
    lx__blur_curve_fill(&across, self->width, deviation);
    lx__blur_curve_fill(&down, self->height, deviation);
    return lx__picture_blur(picture, &across, &down, error);
}

static int save(const lx__step *step, json_t *object)
{
    const lx__blur_step *self = &step->blur;
    const double *range = self->deviations;
    int failed = json_object_set_new(object, "width", json_integer(self->width));
    failed |= json_object_set_new(object, "height", json_integer(self->height));
    return failed |
           json_object_set_new(object, "deviations", json_pack("[f, f]", range[0], range[1]));
}

static const lx__step_class blur_class = {.name = "blur", .run = blur, .save = save};

lx_status lx_image_transform_add_blur(lx_image_transform *transform, uint32_t width,
                                      uint32_t height, const double deviations[2], lx_error *error)
{
    static const double usual[] = {0.1, 2};
    const uint32_t most = 2 * LX__BLUR_REACH_MAX + 1;
    lx__step step = {.class = &blur_class, .blur = {.width = width, .height = height}};
    const double *range = deviations != NULL ? deviations : usual;
    if (width % 2 == 0 || height % 2 == 0 || width > most || height > most)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a kernel of %u x %u pixels: both must be odd, and at most %u", width,
                       height, most);
    lx_status status = lx__step_check_range("sigma", range, 0.001, 1000, error);
    if (status != LX_OK)
        return status;
    memcpy(step.blur.deviations, range, sizeof step.blur.deviations);
    return lx__transform_add(transform, &step, error);
}
