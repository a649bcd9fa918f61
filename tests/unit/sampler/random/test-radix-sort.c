/* SPDX-License-Identifier: MIT */
#include "sampler/random/radix-sort.h"

#include <stdlib.h>

#include "../../scarce.h"
#include "../../unit.h"
#include "../statistics.h"

enum { MOST = 5000 };

/** Sorts, and checks that the result is sorted, stable and complete. */
static void expect_sorted(lx__keyed *items, size_t count)
{
    static uint8_t seen[MOST];
    lx_error error = LX_ERROR_INIT;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++)
        items[i].value = i;
    unit_ok(lx__radix_sort(items, count, &error));
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(items[i].value, count);
        ck_assert_uint_eq(seen[items[i].value]++, 0);
        if (i != 0)
            ck_assert(items[i - 1].key < items[i].key ||
                      (items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
    }
}

START_TEST(sorts_any_keys)
{
    static lx__keyed items[MOST];
    static const int shifts[] = {0, 1, 10, 11, 30, 52, 60, 63};
    uint64_t state = 7;
    for (size_t count = 0; count < 12; count++) {
        for (size_t i = 0; i < count; i++)
            items[i].key = next_choice(&state);
        expect_sorted(items, count);
    }
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        for (size_t i = 0; i < MOST; i++) /* few bits above, or below */
            items[i].key = s % 2 == 0 ? next_choice(&state) >> shifts[s]
                                      : next_choice(&state) << shifts[s];
        expect_sorted(items, MOST);
    }
    for (size_t i = 0; i < MOST; i++)
        items[i].key = UINT64_MAX;
    expect_sorted(items, MOST);
}
END_TEST

START_TEST(keeps_values_with_their_keys)
{
    static lx__keyed items[MOST];
    static uint64_t keys[MOST];
    uint64_t state = 3;
    for (size_t i = 0; i < MOST; i++)
        items[i].key = keys[i] = next_choice(&state);
    expect_sorted(items, MOST);
    for (size_t i = 0; i < MOST; i++)
        ck_assert_uint_eq(items[i].key, keys[items[i].value]);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    lx__keyed items[3] = {{3, 0}, {2, 1}, {1, 2}};
    lx_error error = LX_ERROR_INIT;
    for (int left = 0; left < 2; left++) {
        scarce_begin(left);
        unit_fails(lx__radix_sort(items, 3, &error), LX_ERR_NOMEM);
        ck_assert_uint_eq(items[0].key, 3);
    }
}
END_TEST

UNIT_MAIN("sampler/radix-sort", sorts_any_keys, keeps_values_with_their_keys,
          reports_failed_allocations)
