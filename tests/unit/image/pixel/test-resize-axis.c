/* SPDX-License-Identifier: MIT */
/* The weights of an axis. */
#include "image/pixel/resize-axis.h"

#include "pixels.h"

#define ONE (1 << LX__WEIGHT_BITS)

static lx__axis_key key_of(uint32_t in, uint32_t out, lx_image_filter filter)
{
    return (lx__axis_key){in, out, 0, (float)in, filter, true, false};
}

START_TEST(weights_add_up_to_one_within_the_image)
{
    lx__axis axis = {0};
    uint32_t state = 1;
    for (int n = 0; n < 500; n++) {
        uint32_t most = n % 2 != 0 ? 9 : 300;
        lx__axis_key key = key_of(pixels_between(&state, 1, most), pixels_between(&state, 1, most),
                                  (lx_image_filter)(n % 6));
        key.antialias = n % 6 == LX_IMAGE_BILINEAR || n % 6 == LX_IMAGE_BICUBIC ? n % 4 < 2 : true;
        key.whole_groups = n % 5 < 2;
        ck_assert(lx__axis_prepare(&axis, &key));
        for (uint32_t i = 0; i < key.out_size; i++) {
            int64_t sum = 0;
            uint32_t count = axis.counts[i];
            for (uint32_t k = 0; k < axis.groups * LX__WEIGHT_GROUP; k++) {
                int32_t weight = lx__weight(lx__axis_weights(&axis, i), k);
                ck_assert(k < count || weight == 0);
                sum += weight;
            }
            ck_assert_int_le(llabs(sum - ONE), count / 2 + 1);
            ck_assert_uint_ge(count, 1);
            ck_assert_uint_le(axis.starts[i] + count, key.in_size);
            ck_assert_uint_le(count, axis.groups * LX__WEIGHT_GROUP);
            if (key.whole_groups && !axis.shifts && key.in_size >= axis.groups * LX__WEIGHT_GROUP)
                ck_assert_uint_le(axis.starts[i] + axis.groups * LX__WEIGHT_GROUP, key.in_size);
        }
    }
    lx__axis_release(&axis);
}
END_TEST

START_TEST(keeps_the_weights_of_the_same_key)
{
    lx__axis axis = {0};
    lx__axis_key key = key_of(30, 20, LX_IMAGE_BILINEAR);
    ck_assert(lx__axis_prepare(&axis, &key));
    axis.weights[0] = 77;
    ck_assert(lx__axis_prepare(&axis, &key));
    ck_assert_int_eq(axis.weights[0], 77);
    key.high = 29;
    ck_assert(lx__axis_prepare(&axis, &key));
    ck_assert_int_ne(axis.weights[0], 77);
    lx__axis_release(&axis);
}
END_TEST

START_TEST(recognises_shifts)
{
    static const struct {
        float low;
        uint32_t out;
        bool shifts;
    } cases[] = {{0, 30, true}, {4, 20, true}, {4, 26, true}, {4.5, 20, false}, {0, 29, false}};
    lx__axis axis = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx__axis_key key = key_of(30, cases[i].out, LX_IMAGE_BICUBIC);
        key.low = cases[i].low;
        key.high = cases[i].shifts ? cases[i].low + (float)cases[i].out : 30;
        key.whole_groups = true;
        ck_assert(lx__axis_prepare(&axis, &key));
        ck_assert_int_eq(axis.shifts, cases[i].shifts);
        ck_assert(!axis.shifts || axis.starts[0] == (uint32_t)cases[i].low);
    }
    lx__axis_release(&axis);
}
END_TEST

/* Edges next to each other and next to the end of the image. */
START_TEST(accepts_the_smallest_boxes)
{
    static const float edges[][2] = {{0, 1e-40F}, {6.9999995F, 7}, {0, 1e-9F}, {3.4999998F, 3.5F}};
    lx__axis axis = {0};
    for (int filter = 0; filter < 6; filter++) {
        for (size_t i = 0; i < 4; i++) {
            lx__axis_key key = {7, 1000, edges[i][0], edges[i][1], filter, true, false};
            ck_assert(lx__axis_prepare(&axis, &key));
            for (uint32_t x = 0; x < 1000; x++)
                ck_assert_uint_le(axis.starts[x] + axis.counts[x], 7);
        }
    }
    lx__axis_release(&axis);
}
END_TEST

UNIT_MAIN("image/pixel/resize-axis", weights_add_up_to_one_within_the_image,
          keeps_the_weights_of_the_same_key, recognises_shifts, accepts_the_smallest_boxes)
