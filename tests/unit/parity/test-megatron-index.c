/* SPDX-License-Identifier: MIT */
/* The numbers of epochs and samples; test-source-megatron.c compares the tables with a list of all
 * tokens. */
#include "parity/megatron-index.h"

#include "../unit.h"

static lx__gpt_plan plan_of(uint64_t tokens, uint64_t length, uint64_t samples)
{
    lx_error error = LX_ERROR_INIT;
    lx__gpt_plan plan = {.count = 1, .tokens = tokens, .sequence_length = length, .extra = true};
    unit_ok(lx__gpt_plan_make(&plan, samples, &error));
    return plan;
}

static void expect(lx__gpt_plan plan, uint64_t epochs, uint64_t samples, bool separate)
{
    ck_assert_uint_eq(plan.epochs, epochs);
    ck_assert_uint_eq(plan.samples, samples);
    ck_assert_int_eq(plan.separate, separate);
}

START_TEST(plans_as_many_epochs_as_needed)
{
    expect(plan_of(101, 10, LX_NONE), 1, 10, false);
    expect(plan_of(101, 10, 0), 1, 10, false);
    expect(plan_of(101, 10, 1), 1, 10, false);
    expect(plan_of(101, 10, 10), 1, 10, false);
    expect(plan_of(100, 10, 10), 2, 19, true); /* the token after the last one is missing */
    expect(plan_of(3, 10, 2), 7, 2, false);
}
END_TEST

/* If an epoch has 100 samples, the last epoch must give 80 to be shuffled with the others. */
START_TEST(separates_a_short_last_epoch)
{
    expect(plan_of(1001, 10, 179), 2, 200, true);
    ck_assert_uint_eq(plan_of(1001, 10, 179).before_last, 100);
    expect(plan_of(1001, 10, 180), 2, 200, false);
    ck_assert_uint_eq(plan_of(1001, 10, 180).before_last, 200);
    expect(plan_of(1001, 10, 1079), 11, 1101, true);
}
END_TEST

/** An index over @p tokens, with a remainder at the end. */
static uint64_t count_partial(uint64_t tokens, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx__gpt_plan plan = {
        .count = 1, .tokens = tokens, .sequence_length = length, .extra = true, .partial = true};
    unit_ok(lx__gpt_plan_make(&plan, LX_NONE, &error));
    return plan.samples;
}

/* The quotient of 2^24 + 1 and 2^12 is 2^12 in 32 bits: Megatron loses a sample there. */
START_TEST(counts_partial_samples_in_32_bits)
{
    ck_assert_uint_eq(count_partial(2, 10), 1);
    ck_assert_uint_eq(count_partial(11, 10), 1);
    ck_assert_uint_eq(count_partial(12, 10), 2);
    ck_assert_uint_eq(count_partial((UINT64_C(1) << 24) + 2, 1 << 12), 1 << 12);
    ck_assert_uint_eq(count_partial((UINT64_C(1) << 24) + 4, 1 << 12), (1 << 12) + 1);
    ck_assert_uint_eq(count_partial((UINT64_C(1) << 40) + 2, 1 << 10), 1 << 30);
    ck_assert_uint_eq(count_partial((UINT64_C(1) << 40) + 2, 1000), 1099511628); /* not .. 680 */
}
END_TEST

static void refuse(lx__gpt_plan plan, uint64_t samples, lx_status expected, const char *what)
{
    lx_error error = LX_ERROR_INIT;
    ck_assert_int_eq(lx__gpt_plan_make(&plan, samples, &error), expected);
    ck_assert_msg(strstr(error.message, what) != NULL, "%s", error.message);
    lx_error_clear(&error);
}

START_TEST(rejects_invalid_plans)
{
    const lx__gpt_plan plan = {.count = 2, .tokens = 1000, .sequence_length = 4, .extra = true};
    lx__gpt_plan other = plan;
    refuse(plan, UINT64_MAX - 1, LX_ERR_LIMIT, "num_samples");
    refuse(plan, INT64_MAX / 4, LX_ERR_LIMIT, "num_samples");
    refuse(plan, UINT64_C(1) << 40, LX_ERR_LIMIT, "num_samples");
    other.tokens = UINT64_C(1) << 40;
    other.count = 1000;
    refuse(other, UINT64_C(1) << 47, LX_ERR_LIMIT, "num_samples");
    other.tokens = 0;
    refuse(other, 5, LX_ERR_ARGUMENT, "have no token");
    refuse(other, LX_NONE, LX_ERR_ARGUMENT, "have no token");
    other.tokens = 4;
    refuse(other, LX_NONE, LX_ERR_ARGUMENT, "sequence_length");
    refuse(other, 0, LX_ERR_ARGUMENT, "sequence_length");
}
END_TEST

UNIT_MAIN("parity/megatron-index", plans_as_many_epochs_as_needed, separates_a_short_last_epoch,
          counts_partial_samples_in_32_bits, rejects_invalid_plans)
