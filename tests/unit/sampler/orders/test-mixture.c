/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture.h"

#include <limits.h>
#include <math.h>

#include <loaderx/sampler.h>

#include "../../scarce.h"
#include "mixtures.h"
#include "sampler/orders/mixture-split.h"

static lx_mixture *mixture_of(lx_order *part, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_mixture *mixture = lx_mixture_new();
    for (size_t i = 0; i < count; i++)
        unit_ok(lx_mixture_add_part(mixture, part, i, 1, &error));
    return mixture;
}

START_TEST(errors_name_the_part)
{
    static const double wrong[] = {-1, -5e-324, NAN, INFINITY, -INFINITY};
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("shuffle", 10, 1, 0), *empty = make_order("shuffle", 0, 1, 0);
    lx_mixture *mixture = mixture_of(part, 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(lx_mixture_add_part(mixture, part, 0, wrong[i], &error), LX_ERR_ARGUMENT);
        ck_assert_msg(strstr(error.message, "weight 2 is") != NULL, "%s", error.message);
        lx_error_clear(&error);
    }
    ck_assert_int_eq(lx_mixture_add_part(mixture, empty, 0, 1, &error), LX_ERR_ARGUMENT);
    ck_assert_msg(strstr(error.message, "part 2 is empty") != NULL, "%s", error.message);
    unit_fails(lx_mixture_add_part(mixture, part, UINT64_MAX - 9, 1, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_mixture_add_part(mixture, part, UINT64_MAX - 10, 1, &error));
    unit_refuses_null(lx_mixture_add_part(NULL, part, 0, 1, &error), "mixture");
    unit_refuses_null(lx_mixture_add_part(mixture, NULL, 0, 1, &error), "order");
    ck_assert_uint_eq(mixture->count, 3); /* a rejected part was not added */
    lx_mixture_free(mixture);
    lx_mixture_free(NULL);
    lx_order_unref(part);
    lx_order_unref(empty);
}
END_TEST

START_TEST(later_weights_need_all_sets_and_ascending_positions)
{
    static const double wrong[][2] = {{1, -1}, {NAN, 1}, {INFINITY, 1}, {0, 0}}, right[] = {0, 1};
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("shuffle", 10, 1, 0);
    lx_mixture *none = lx_mixture_new(), *mixture = mixture_of(part, 2);
    unit_fails(lx_mixture_add_phase(none, 1, right, 0, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_mixture_add_phase(none, 1, right, 2, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_mixture_add_phase(NULL, 1, right, 2, &error), "mixture");
    unit_refuses_null(lx_mixture_add_phase(mixture, 1, NULL, 2, &error), "weights");
    for (int i = 0; i < 4; i++)
        unit_fails(lx_mixture_add_phase(mixture, 1, wrong[i], 2, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_mixture_add_phase(mixture, 0, right, 2, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_mixture_add_phase(mixture, 1, right, 1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_mixture_add_phase(mixture, 1, right, 3, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_mixture_add_phase(mixture, 5, right, 2, &error));
    unit_fails(lx_mixture_add_phase(mixture, 5, right, 2, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_mixture_add_phase(mixture, 4, right, 2, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_mixture_add_phase(mixture, UINT64_MAX, right, 2, &error));
    unit_fails(lx_mixture_add_part(mixture, part, 0, 1, &error), LX_ERR_STATE);
    lx_mixture_free(none);
    lx_mixture_free(mixture);
    lx_order_unref(part);
}
END_TEST

START_TEST(rejects_other_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order, *part = make_order("shuffle", 10, 1, 0);
    lx_mixture *mixture = lx_mixture_new();
    unit_refuses_null(lx_mixture_set_length(NULL, 1, &error), "mixture");
    unit_refuses_null(lx_mixture_set_exhausted_policy(NULL, LX_EXHAUSTED_STOP, &error), "mixture");
    unit_fails(lx_mixture_set_exhausted_policy(mixture, (lx_exhausted_policy)3, &error),
               LX_ERR_ARGUMENT);
    unit_refuses_null(lx_order_new_blend(NULL, &order, &error), "mixture");
    unit_refuses_null(lx_order_new_blend(mixture, NULL, &error), "order");
    unit_fails(lx_order_new_blend(mixture, &order, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_mixture_add_part(mixture, part, 0, -0.0, &error));
    ck_assert_int_eq(lx_order_new_blend(mixture, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_msg(strstr(error.message, "all weights are 0") != NULL, "%s", error.message);
    lx_error_clear(&error);
    lx_mixture_free(mixture);
    lx_order_unref(part);
}
END_TEST

START_TEST(an_order_keeps_the_mixture_it_was_made_of)
{
    static const double later[] = {1, 0};
    lx_error error = LX_ERROR_INIT;
    uint64_t before[50], after[50];
    lx_order *order, *part = make_order("shuffle", 10, 1, 0);
    lx_mixture *mixture = mixture_of(part, 2);
    lx_order_unref(part); /* the mixture has its own references */
    unit_ok(lx_order_new_blend(mixture, &order, &error));
    read_order(order, 0, 1, 50, before);
    unit_ok(lx_mixture_add_phase(mixture, 3, later, 2, &error));
    unit_ok(lx_mixture_set_exhausted_policy(mixture, LX_EXHAUSTED_STOP, &error));
    unit_ok(lx_mixture_set_length(mixture, 7, &error));
    lx_mixture_free(mixture);
    read_order(order, 0, 1, 50, after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_uint_eq(lx_order_get_length(order), 20);
    lx_order_unref(order);
}
END_TEST

START_TEST(mixtures_nest_as_deep_as_orders)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", 3, 1, 0), *inner = NULL;
    for (int depth = 1; depth < 64; depth++) {
        inner = order;
        lx_mixture *mixture = mixture_of(inner, 1);
        unit_ok(lx_order_new_blend(mixture, &order, &error));
        lx_mixture_free(mixture);
        lx_order_unref(inner);
    }
    expect_order(order, 1);
    lx_mixture *mixture = lx_mixture_new();
    unit_fails(lx_mixture_add_part(mixture, order, 0, 1, &error), LX_ERR_LIMIT);
    lx_mixture_free(mixture);
    lx_order_unref(order);
}
END_TEST

START_TEST(the_largest_mixture_has_a_short_state)
{
    enum { SETS = LX__MIXTURE_SETS_MAX };
    lx_error error = LX_ERROR_INIT;
    double *weights = malloc(SETS * sizeof *weights);
    char text[LX_MAX_SAMPLER_STATE];
    lx_order *order, *part = make_order("sequential", 10, 0, 0);
    lx_mixture *mixture = mixture_of(part, SETS);
    unit_fails(lx_mixture_add_part(mixture, part, 0, 1, &error), LX_ERR_LIMIT);
    for (uint64_t begin = 1; begin < 8; begin++) {
        for (size_t i = 0; i < SETS; i++)
            weights[i] = 1.0 / (double)(i + begin);
        unit_ok(lx_mixture_add_phase(mixture, begin * 1000, weights, SETS, &error));
    }
    unit_ok(lx_order_new_blend(mixture, &order, &error));
    lx_sampler *sampler;
    uint64_t index, taken, again;
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_seek(sampler, 6500, &error));
    unit_ok(lx_sampler_save(sampler, text, sizeof text, NULL, &error));
    unit_ok(lx_sampler_take(sampler, 1, &index, &taken, &error));
    unit_ok(lx_sampler_restore(sampler, text, &error));
    unit_ok(lx_sampler_take(sampler, 1, &again, &taken, &error));
    ck_assert_uint_eq(index, again);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    lx_order_unref(part);
    lx_mixture_free(mixture);
    free(weights);
}
END_TEST

START_TEST(a_failed_allocation_leaves_the_mixture_unchanged)
{
    static const double later[20] = {1};
    lx_error error = LX_ERROR_INIT;
    lx_order *part = make_order("shuffle", 10, 1, 0);
    scarce_begin(0);
    ck_assert_ptr_null(lx_mixture_new());
    scarce_left = INT_MAX;
    lx_mixture *mixture = lx_mixture_new();
    for (size_t set = 0; set < 20; set++) { /* they grow at the 1st and the 17th */
        lx_status status = LX_ERR_NOMEM;
        for (int left = 0; status != LX_OK; left++) {
            ck_assert_uint_eq(mixture->count, set);
            scarce_left = left;
            status = lx_mixture_add_part(mixture, part, 0, 1, &error);
            scarce_left = INT_MAX;
            ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
            ck_assert(left < 4);
            lx_error_clear(&error);
        }
    }
    for (uint64_t begin = 1; begin < 20; begin++) {
        lx_status status = LX_ERR_NOMEM;
        for (int left = 0; status != LX_OK; left++) {
            scarce_left = left;
            status = lx_mixture_add_phase(mixture, begin, later, 20, &error);
            scarce_left = INT_MAX;
            ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
            ck_assert(left < 4);
            lx_error_clear(&error);
        }
    }
    ck_assert_uint_eq(mixture->weighting_count, 20);
    lx_mixture_free(mixture);
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("sampler/mixture", errors_name_the_part,
          later_weights_need_all_sets_and_ascending_positions, rejects_other_invalid_arguments,
          an_order_keeps_the_mixture_it_was_made_of, mixtures_nest_as_deep_as_orders,
          the_largest_mixture_has_a_short_state, a_failed_allocation_leaves_the_mixture_unchanged)
