/* SPDX-License-Identifier: MIT */
#include "sampler/random/permutation.h"

#include <limits.h>

#include "../../scarce.h"
#include "../../unit.h"
#include "../statistics.h"
#include "sampler/random/fisher-yates.h"

#define TABLE LX__FISHER_YATES_LENGTH

static const uint64_t lengths[] = {1, 2, 3, 1000, 65536, 65537, 100000};

START_TEST(permutes_and_inverts_all_lengths)
{
    static uint64_t images[100000];
    lx_error error = LX_ERROR_INIT;
    lx__permutation permutation = {0};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint64_t length = lengths[i];
        unit_ok(lx__permutation_set(&permutation, length, 42, i, TABLE, &error));
        for (uint64_t j = 0; j < length; j++)
            images[j] = j;
        lx__permutation_map(&permutation, images, length);
        for (uint64_t j = 0; j < length; j += 1 + length / 50)
            ck_assert_uint_eq(lx__permutation_find(&permutation, images[j]), j);
        ck_assert(is_permutation(images, length));
    }
    lx__permutation_clear(&permutation);
}
END_TEST

/** Images of 0 and 1, as at the first use of the permutation. */
static void expect_fresh(lx__permutation *permutation, uint64_t length, uint64_t seed,
                         uint64_t epoch)
{
    lx_error error = LX_ERROR_INIT;
    lx__permutation fresh = {0};
    uint64_t images[] = {0, 1}, expected[] = {0, 1};
    unit_ok(lx__permutation_set(&fresh, length, seed, epoch, TABLE, &error));
    lx__permutation_map(&fresh, expected, 2);
    unit_ok(lx__permutation_set(permutation, length, seed, epoch, TABLE, &error));
    lx__permutation_map(permutation, images, 2);
    ck_assert_mem_eq(images, expected, sizeof images);
    lx__permutation_clear(&fresh);
}

START_TEST(a_reused_permutation_equals_a_new_one)
{
    lx__permutation permutation = {0};
    for (int again = 0; again < 2; again++) {
        for (size_t i = 1; i < sizeof lengths / sizeof *lengths; i++) {
            expect_fresh(&permutation, lengths[i], 42, 7);
            expect_fresh(&permutation, lengths[i], 43, 7);
            expect_fresh(&permutation, lengths[i], 43, 8);
        }
    }
    lx__permutation_clear(&permutation);
    lx__permutation_clear(&permutation);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    lx__permutation permutation = {0};
    unit_ok(lx__permutation_set(&permutation, 100, 1, 0, TABLE, &error));
    scarce_begin(0);
    unit_fails(lx__permutation_set(&permutation, 1000, 1, 0, TABLE, &error), LX_ERR_NOMEM);
    unit_fails(lx__permutation_set(&permutation, 1000, 1, 0, TABLE, &error), LX_ERR_NOMEM);
    scarce_left = INT_MAX;
    expect_fresh(&permutation, 1000, 1, 0);
    lx__permutation_clear(&permutation);
}
END_TEST

UNIT_MAIN("sampler/permutation", permutes_and_inverts_all_lengths,
          a_reused_permutation_equals_a_new_one, reports_failed_allocations)
