/* SPDX-License-Identifier: MIT */
/* Bins by their remaining space: lib/loader/tokens/bin-lists.c. */
#include "loader/tokens/bin-lists.h"

#include "../../unit.h"

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

START_TEST(finds_the_smallest_sufficient_space)
{
    static const uint32_t lists[] = {1,    2,    63,     64,     65,
                                     4096, 4097, 262144, 300000, LX__BIN_LISTS_SPACES_MAX};
    lx__bin_lists self;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const uint32_t first = lists[i] / 3, last = lists[i] - 1;
        ck_assert(lx__bin_lists_init(&self, lists[i], 2));
        ck_assert_uint_eq(lx__bin_lists_find(&self, 0), LX__BIN_LISTS_NONE);
        lx__bin_lists_add(&self, 0, last);
        ck_assert_uint_eq(lx__bin_lists_find(&self, 0), last);
        lx__bin_lists_add(&self, 1, first);
        ck_assert_uint_eq(lx__bin_lists_find(&self, 0), first);
        ck_assert_uint_eq(lx__bin_lists_find(&self, first), first);
        if (first < last) {
            ck_assert_uint_eq(lx__bin_lists_find(&self, first + 1), last);
            ck_assert_uint_eq(lx__bin_lists_find(&self, last), last);
            ck_assert_uint_eq(lx__bin_lists_take(&self, first), 1);
            ck_assert_uint_eq(lx__bin_lists_find(&self, 0), last);
            ck_assert_uint_eq(lx__bin_lists_take(&self, last), 0);
            ck_assert_uint_eq(lx__bin_lists_find(&self, 0), LX__BIN_LISTS_NONE);
        }
        ck_assert_uint_eq(lx__bin_lists_find(&self, lists[i]), LX__BIN_LISTS_NONE);
        lx__bin_lists_free(&self);
    }
}
END_TEST

START_TEST(matches_a_plain_list)
{
    enum { BINS = 200, ROOMS = 5000 };
    uint32_t left[BINS] = {0}; /* no bin here has a space of 0 */
    lx__bin_lists self;
    ck_assert(lx__bin_lists_init(&self, ROOMS, BINS));
    for (int step = 0; step < 20000; step++) {
        uint32_t bin = draw(BINS), least = draw(ROOMS), expected = LX__BIN_LISTS_NONE;
        if (left[bin] == 0) {
            left[bin] = 1 + draw(ROOMS - 1);
            lx__bin_lists_add(&self, bin, left[bin]);
        }
        for (int i = 0; i < BINS; i++)
            if (left[i] != 0 && left[i] >= least && left[i] < expected)
                expected = left[i];
        ck_assert_uint_eq(lx__bin_lists_find(&self, least), expected);
        if (expected != LX__BIN_LISTS_NONE && step % 3 != 0) {
            bin = lx__bin_lists_take(&self, expected);
            ck_assert_uint_eq(left[bin], expected);
            left[bin] = 0;
        }
    }
    lx__bin_lists_free(&self);
}
END_TEST

UNIT_MAIN("loader/bin-lists", finds_the_smallest_sufficient_space, matches_a_plain_list)
