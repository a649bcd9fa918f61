/* SPDX-License-Identifier: MIT */
/* The step that surrounds pictures with a colour: torchvision's Pad. */
#include <string.h>

#include "base/error.h"
#include "image/transform/transform.h"

static lx_status pad(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                     lx_error *error)
{
    (void)draws;
    const lx__place_step *place = &step->place;
    return lx__picture_pad(picture, place->sides, place->fill, error);
}

static void extend(const lx__step *step, lx__extent *extent)
{
    const uint32_t *sides = step->place.sides;
    extent->width += sides[0] + sides[2];
    extent->height += sides[1] + sides[3];
}

static int save(const lx__step *step, json_t *object)
{
    const uint32_t *sides = step->place.sides;
    int failed = json_object_set_new(
        object, "sides",
        json_pack("[i, i, i, i]", (int)sides[0], (int)sides[1], (int)sides[2], (int)sides[3]));
    return failed | lx__step_save_fill(step->place.fill, object);
}

static const lx__step_class pad_class = {
    .name = "pad", .geometric = true, .run = pad, .extend = extend, .save = save};

lx_status lx_image_transform_add_pad(lx_image_transform *transform, const uint32_t sides[4],
                                     const uint8_t fill[3], lx_error *error)
{
    lx__step step = {.class = &pad_class};
    if (sides == NULL)
        return lx__fail_null(error, "sides");
    for (int i = 0; i < 4; i++)
        if (sides[i] > LX_IMAGE_SIDE_MAX)
            return lx_fail(error, LX_ERR_ARGUMENT, "%u pixels to add are more than %u", sides[i],
                           LX_IMAGE_SIDE_MAX);
    memcpy(step.place.sides, sides, sizeof step.place.sides);
    if (fill != NULL)
        memcpy(step.place.fill, fill, sizeof step.place.fill);
    return lx__transform_add(transform, &step, error);
}
