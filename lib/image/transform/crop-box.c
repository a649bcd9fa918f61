/* SPDX-License-Identifier: MIT */
#include "image/transform/crop-box.h"

#include <math.h>

#include "image/pixel/exact-math.h"

/* Numbers drawn for each attempt: area, ratio, top and left. */
#define DRAWS 4

lx__crop_ranges lx__crop_ranges_of(const double area[2], const double ratio[2])
{
    return (lx__crop_ranges){.area = {area[0], area[1]},
                             .ratio = {ratio[0], ratio[1]},
                             .log_ratio = {lx__exact_log(ratio[0]), lx__exact_log(ratio[1])}};
}

static uint32_t at_most(double side, uint32_t limit)
{
    return side >= limit ? limit : side < 1 ? 1 : (uint32_t)side;
}

/** Returns the middle part with the proportions nearest to those of the image. */
static lx_image_region middle(const lx__crop_ranges *ranges, uint32_t width, uint32_t height)
{
    lx_image_region part = {.width = width, .height = height};
    double ratio = (double)width / height;
    if (ratio < ranges->ratio[0])
        part.height = at_most(nearbyint(width / ranges->ratio[0]), height);
    else if (ratio > ranges->ratio[1])
        part.width = at_most(nearbyint(height * ranges->ratio[1]), width);
    part.left = (width - part.width) / 2;
    part.top = (height - part.height) / 2;
    return part;
}

lx_image_region lx__crop_box_choose(const lx__crop_ranges *ranges, uint32_t width, uint32_t height,
                                    const uint64_t draws[LX__CROP_DRAWS])
{
    for (int i = 0; i < LX__CROP_DRAWS / DRAWS; i++, draws += DRAWS) {
        double area = (double)width * height * lx__draw_between(draws[0], ranges->area);
        double ratio = lx__exact_exp(lx__draw_between(draws[1], ranges->log_ratio));
        double w = nearbyint(sqrt(area * ratio)), h = nearbyint(sqrt(area / ratio));
        if (w < 1 || w > width || h < 1 || h > height)
            continue;
        lx_image_region part = {.width = (uint32_t)w, .height = (uint32_t)h};
        part.top = lx__draw_below(draws[2], height - part.height + 1);
        part.left = lx__draw_below(draws[3], width - part.width + 1);
        return part;
    }
    return middle(ranges, width, height);
}

bool lx__erase_box_choose(const lx__crop_ranges *ranges, uint32_t width, uint32_t height,
                          const uint64_t draws[LX__CROP_DRAWS], lx_image_region *part)
{
    for (int i = 0; i < LX__CROP_DRAWS / DRAWS; i++, draws += DRAWS) {
        double area = (double)width * height * lx__draw_between(draws[0], ranges->area);
        double ratio = lx__exact_exp(lx__draw_between(draws[1], ranges->log_ratio));
        double h = nearbyint(sqrt(area * ratio)), w = nearbyint(sqrt(area / ratio));
        if (h >= height || w >= width)
            continue;
        *part = (lx_image_region){.width = (uint32_t)w, .height = (uint32_t)h};
        part->top = lx__draw_below(draws[2], height - part->height + 1);
        part->left = lx__draw_below(draws[3], width - part->width + 1);
        return part->width != 0 && part->height != 0;
    }
    return false;
}
