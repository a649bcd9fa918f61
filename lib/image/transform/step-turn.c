/* SPDX-License-Identifier: MIT */
/* Steps that mirror pictures. */
#include "image/transform/transform.h"

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
    .name = "mirror", .run = mirror, .save = lx__step_save_probability};

lx_status lx_image_transform_add_mirror(lx_image_transform *transform, double probability,
                                        lx_error *error)
{
    lx_status status = lx__step_check_probability(probability, error);
    if (status != LX_OK)
        return status;
    const lx__step step = {.class = &mirror_class, .probability = probability};
    return lx__transform_add(transform, &step, error);
}
