/* SPDX-License-Identifier: MIT */
#include "image/transform/step.h"

#include "base/error.h"

lx_status lx__step_check_probability(double probability, lx_error *error)
{
    if (probability >= 0 && probability <= 1)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "a probability of %g is not in [0, 1]", probability);
}

int lx__step_save_probability(const lx__step *step, json_t *object)
{
    return json_object_set_new(object, "probability", json_real(step->probability));
}

int lx__step_save_ranges(const lx__crop_ranges *ranges, json_t *object)
{
    const double *area = ranges->area, *ratio = ranges->ratio;
    int failed = json_object_set_new(object, "area", json_pack("[f, f]", area[0], area[1]));
    return failed | json_object_set_new(object, "ratio", json_pack("[f, f]", ratio[0], ratio[1]));
}

int lx__step_save_fill(const uint8_t fill[3], json_t *object)
{
    return json_object_set_new(object, "fill", json_pack("[i, i, i]", fill[0], fill[1], fill[2]));
}

lx_status lx__step_check_range(const char *name, const double range[2], double least, double most,
                               lx_error *error)
{
    if (range[0] >= least && range[0] <= range[1] && range[1] <= most)
        return LX_OK;
    return lx_fail(error, LX_ERR_ARGUMENT, "%s: [%g, %g] is not a range in [%g, %g]", name,
                   range[0], range[1], least, most);
}
