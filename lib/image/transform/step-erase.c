/* SPDX-License-Identifier: MIT */
/* The step that replaces a part of tensors: torchvision's RandomErasing. */
#include <string.h>

#include "base/error.h"
#include "image/pixel/tensor.h"
#include "image/transform/transform.h"

static lx_status erase(const lx__step *step, const lx__draws *draws, lx__picture *picture,
                       lx_error *error)
{
    uint64_t numbers[LX__CROP_DRAWS + 1];
    const lx__erasing_step *self = &step->erasing;
    lx_image_region part;
    (void)error;
    lx__draw(draws, LX__CROP_DRAWS + 1, numbers);
    if (lx__draw_uniform(numbers[0]) < self->probability &&
        lx__erase_box_choose(&self->ranges, picture->width, picture->height, numbers + 1, &part))
        lx__picture_erase(picture, &part, self->values);
    return LX_OK;
}

static int save(const lx__step *step, json_t *object)
{
    const lx__erasing_step *self = &step->erasing;
    const float *v = self->values;
    int failed = json_object_set_new(object, "probability", json_real(self->probability));
    failed |= lx__step_save_ranges(&self->ranges, object);
    return failed |
           json_object_set_new(object, "values",
                               json_pack("[f, f, f]", (double)v[0], (double)v[1], (double)v[2]));
}

static const lx__step_class erasing_class = {
    .name = "erasing", .run = erase, .save = save, .last = true};

lx_status lx_image_transform_add_erasing(lx_image_transform *transform, double probability,
                                         const double area[2], const double ratio[2],
                                         const float values[3], lx_error *error)
{
    static const double usual_area[] = {0.02, 0.33}, usual_ratio[] = {0.3, 3.3};
    const double *a = area != NULL ? area : usual_area, *r = ratio != NULL ? ratio : usual_ratio;
    lx__step step = {.class = &erasing_class};
    lx_status status = lx__step_check_probability(probability, error);
    if (status == LX_OK)
        status = lx__step_check_range("area", a, 0, 1, error);
    if (status == LX_OK)
        status = lx__step_check_range("ratio", r, 0.001, 1000, error);
    if (status != LX_OK)
        return status;
    for (int i = 0; i < 3 && values != NULL; i++)
        if (!(values[i] >= -LX__TENSOR_VALUE_MAX && values[i] <= LX__TENSOR_VALUE_MAX))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "a value of %g is not in the range of float16, [-65504, 65504]",
                           (double)values[i]);
    step.erasing.probability = probability;
    step.erasing.ranges = lx__crop_ranges_of(a, r);
    if (values != NULL)
        memcpy(step.erasing.values, values, sizeof step.erasing.values);
    return lx__transform_add(transform, &step, error);
}
