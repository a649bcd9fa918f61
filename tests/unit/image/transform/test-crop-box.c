/* SPDX-License-Identifier: MIT */
/* Random parts of images, compared with torchvision's algorithm and the math library. */
#include "image/transform/crop-box.h"

#include <math.h>

#include <loaderx/random.h>

#include "../../unit.h"

static const double usual_area[] = {0.08, 1}, usual_ratio[] = {3. / 4, 4. / 3};

static void draw(uint64_t sample, uint64_t draws[LX__CROP_DRAWS])
{
    uint64_t key[2];
    lx_random_get_key(1, 0, sample, key);
    lx_random_get_draws(key, 0, LX__CROP_DRAWS, draws);
}

/** torchvision 0.15's RandomResizedCrop.get_params(), with these draws. */
static lx_image_region torchvision(const double area[2], const double ratio[2], uint32_t width,
                                   uint32_t height, const uint64_t *draws)
{
    lx_image_region part = {.width = width, .height = height};
    for (int i = 0; i < 10; i++, draws += 4) {
        double wanted = (double)height * width *
                        (area[0] + lx__draw_uniform(draws[0]) * (area[1] - area[0]));
        double low = log(ratio[0]), high = log(ratio[1]);
        double aspect = exp(low + lx__draw_uniform(draws[1]) * (high - low));
        long w = lrint(sqrt(wanted * aspect)), h = lrint(sqrt(wanted / aspect));
        if (w <= 0 || w > (long)width || h <= 0 || h > (long)height)
            continue;
        return (lx_image_region){.width = (uint32_t)w,
                                 .height = (uint32_t)h,
                                 .top = lx__draw_below(draws[2], height - (uint32_t)h + 1),
                                 .left = lx__draw_below(draws[3], width - (uint32_t)w + 1)};
    }
    double now = (double)width / height;
    if (now < ratio[0])
        part.height = (uint32_t)lrint(width / ratio[0]);
    else if (now > ratio[1])
        part.width = (uint32_t)lrint(height * ratio[1]);
    part.top = (height - part.height) / 2;
    part.left = (width - part.width) / 2;
    return part;
}

START_TEST(chooses_parts_as_torchvision_does)
{
    static const uint32_t sizes[][2] = {{500, 400}, {1, 1}, {3, 7}, {1920, 1080}, {30, 1000}};
    static const double ranges[][4] = {
        {0.08, 1, 3. / 4, 4. / 3}, {0.5, 0.5, 1, 1}, {1, 1, 2, 3}, {1e-9, 1e-9, 0.001, 1000}};
    for (size_t r = 0; r < 4; r++) {
        lx__crop_ranges mine = lx__crop_ranges_of(ranges[r], ranges[r] + 2);
        for (uint64_t sample = 0; sample < 20000; sample++) {
            uint64_t draws[LX__CROP_DRAWS];
            const uint32_t *size = sizes[sample % 5];
            draw(sample, draws);
            lx_image_region got = lx__crop_box_choose(&mine, size[0], size[1], draws);
            lx_image_region right = torchvision(ranges[r], ranges[r] + 2, size[0], size[1], draws);
            ck_assert_uint_ge(got.width, 1);
            ck_assert_uint_ge(got.height, 1);
            ck_assert_uint_le(got.left + got.width, size[0]);
            ck_assert_uint_le(got.top + got.height, size[1]);
            if (right.width != 0 && right.height != 0 && right.width <= size[0] &&
                right.height <= size[1]) /* torchvision's last resort may be empty or too large */
                ck_assert_mem_eq(&got, &right, sizeof got);
        }
    }
}
END_TEST

/** torchvision's RandomErasing.get_params(), with these draws. */
static bool erasing(const double area[2], const double ratio[2], long width, long height,
                    const uint64_t *draws, lx_image_region *part)
{
    for (int i = 0; i < 10; i++, draws += 4) {
        double wanted = (double)(height * width) *
                        (area[0] + lx__draw_uniform(draws[0]) * (area[1] - area[0]));
        double low = log(ratio[0]), high = log(ratio[1]);
        double aspect = exp(low + lx__draw_uniform(draws[1]) * (high - low));
        long h = lrint(sqrt(wanted * aspect)), w = lrint(sqrt(wanted / aspect));
        if (h >= height || w >= width)
            continue;
        *part = (lx_image_region){.width = (uint32_t)w,
                                  .height = (uint32_t)h,
                                  .top = lx__draw_below(draws[2], (uint32_t)(height - h + 1)),
                                  .left = lx__draw_below(draws[3], (uint32_t)(width - w + 1))};
        return w != 0 && h != 0;
    }
    return false;
}

START_TEST(chooses_parts_to_erase_as_torchvision_does)
{
    static const uint32_t sizes[][2] = {{500, 400}, {1, 1}, {3, 7}, {1920, 1080}, {30, 1000}};
    static const double ranges[][4] = {
        {0.02, 0.33, 0.3, 3.3}, {0, 0.001, 1, 1}, {1, 1, 0.5, 2}, {0, 1, 0.001, 1000}};
    unsigned found = 0;
    for (size_t r = 0; r < 4; r++) {
        lx__crop_ranges mine = lx__crop_ranges_of(ranges[r], ranges[r] + 2);
        for (uint64_t sample = 0; sample < 20000; sample++) {
            uint64_t draws[LX__CROP_DRAWS];
            const uint32_t *size = sizes[sample % 5];
            lx_image_region got, right;
            draw(sample, draws);
            bool is = lx__erase_box_choose(&mine, size[0], size[1], draws, &got);
            ck_assert(is == erasing(ranges[r], ranges[r] + 2, size[0], size[1], draws, &right));
            if (is)
                ck_assert_mem_eq(&got, &right, sizeof got);
            found += is;
        }
    }
    ck_assert_uint_gt(found, 30000);
}
END_TEST

/* Numbers that every machine and every release must reproduce. */
START_TEST(every_machine_chooses_the_same_parts)
{
    static const lx_image_region right[] = {
        {46, 18, 454, 377}, {146, 20, 323, 305}, {4, 98, 362, 289}, {90, 32, 119, 139}};
    lx__crop_ranges ranges = lx__crop_ranges_of(usual_area, usual_ratio);
    for (uint64_t sample = 0; sample < 4; sample++) {
        uint64_t draws[LX__CROP_DRAWS];
        draw(sample, draws);
        lx_image_region got = lx__crop_box_choose(&ranges, 500, 400, draws);
        ck_assert_msg(memcmp(&got, &right[sample], sizeof got) == 0, "{%u, %u, %u, %u}", got.left,
                      got.top, got.width, got.height);
    }
}
END_TEST

START_TEST(numbers_are_in_their_ranges)
{
    ck_assert(lx__draw_uniform(0) == 0 && lx__draw_uniform(UINT64_MAX) < 1);
    ck_assert_uint_eq(lx__draw_below(0, 7), 0);
    ck_assert_uint_eq(lx__draw_below(UINT64_MAX, 7), 6);
    ck_assert_uint_eq(lx__draw_below(UINT64_MAX, UINT32_MAX), UINT32_MAX - 1);
    ck_assert_uint_eq(lx__draw_below(12345, 1), 0);
}
END_TEST

UNIT_MAIN("image/transform/crop-box", chooses_parts_as_torchvision_does,
          chooses_parts_to_erase_as_torchvision_does, every_machine_chooses_the_same_parts,
          numbers_are_in_their_ranges)
