/* SPDX-License-Identifier: MIT */
/* Options of orders: each applies to its orders, and the others reject it. */
#include "sampler/core/order-options.h"

#include <loaderx/batching.h>
#include <loaderx/weighted.h>

#include "../../unit.h"

static const double weights[] = {1, 0, 3, 5};
static const uint64_t numbers[] = {4, 4, 2, 7};

START_TEST(setters_set_their_option)
{
    lx_error error = LX_ERROR_INIT;
    lx_order_options taken, *options = lx_order_options_new();
    ck_assert_ptr_nonnull(options);
    unit_ok(lx_order_options_set_length(options, 1, &error));
    unit_ok(lx_order_options_set_seed(options, 2, &error));
    unit_ok(lx_order_options_set_tables(options, "a", &error));
    unit_ok(lx_order_options_set_tables(options, "b", &error));
    unit_ok(lx_order_options_set_bucket_size(options, 3, &error));
    unit_ok(lx_order_options_set_max_batch_size(options, 4, &error));
    unit_ok(lx_order_options_set_padded(options, true, &error));
    unit_ok(lx__order_options_take(options, ~0U, &taken, &error));
    ck_assert_uint_eq(taken.length, 1);
    ck_assert_uint_eq(taken.seed, 2);
    ck_assert_str_eq(taken.tables, "b");
    ck_assert_uint_eq(taken.bucket_size, 3);
    ck_assert_uint_eq(taken.max_batch_size, 4);
    ck_assert(taken.padded);
    unit_ok(lx_order_options_set_tables(options, NULL, &error));
    unit_ok(lx__order_options_take(options, ~(unsigned)LX__ORDER_TABLES, &taken, &error));
    ck_assert_ptr_null(taken.tables);
    lx_order_options_free(options);
    lx_order_options_free(NULL);
}
END_TEST

START_TEST(rejects_null_by_name)
{
    lx_error error = LX_ERROR_INIT;
    unit_refuses_null(lx_order_options_set_length(NULL, 1, &error), "options");
    unit_refuses_null(lx_order_options_set_seed(NULL, 1, &error), "options");
    unit_refuses_null(lx_order_options_set_tables(NULL, "a", &error), "options");
    unit_refuses_null(lx_order_options_set_bucket_size(NULL, 1, &error), "options");
    unit_refuses_null(lx_order_options_set_max_batch_size(NULL, 1, &error), "options");
    unit_refuses_null(lx_order_options_set_padded(NULL, true, &error), "options");
}
END_TEST

static void expect_length(lx_order *order, uint64_t length)
{
    ck_assert_uint_eq(lx_order_get_length(order), length);
    lx_order_unref(order);
}

START_TEST(orders_have_defaults)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_weighted(weights, 4, NULL, &order, &error));
    expect_length(order, 4);
    unit_ok(lx_order_new_weighted_shuffle(weights, 4, NULL, &order, &error));
    expect_length(order, 3); /* the weights above 0 */
    unit_ok(lx_order_new_balanced(numbers, 4, NULL, &order, &error));
    expect_length(order, 4);
    unit_ok(lx_order_new_bucketed(numbers, 4, 2, NULL, &order, &error));
    expect_length(order, 4);
    unit_ok(lx_order_new_bucketed(numbers, 4, UINT64_MAX, NULL, &order, &error));
    expect_length(order, 4);
}
END_TEST

START_TEST(orders_refuse_options_without_effect)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *part, *order;
    unit_ok(lx_order_new_sequential(4, 0, 0, &part, &error));
    const lx_order_options padded = {.given = LX__ORDER_PADDED},
                           length = {.given = LX__ORDER_LENGTH}, seed = {.given = LX__ORDER_SEED};
    unit_fails(lx_order_new_weighted(weights, 4, &padded, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_null(order);
    unit_fails(lx_order_new_weighted_shuffle(weights, 4, &padded, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_balanced(numbers, 4, &padded, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_bucketed(numbers, 4, 2, &length, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_budgeted(part, numbers, 4, 9, &seed, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_int_eq(lx_order_new_subset(part, numbers, 4, &seed, &order, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "seed"));
    lx_order_unref(part);
}
END_TEST

UNIT_MAIN("sampler/order-options", setters_set_their_option, rejects_null_by_name,
          orders_have_defaults, orders_refuse_options_without_effect)
