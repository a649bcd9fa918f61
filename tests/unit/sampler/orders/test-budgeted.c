/* SPDX-License-Identifier: MIT */
#include <loaderx/batching.h>
#include <loaderx/mixture.h>

#include <pthread.h>

#include "../../scarce.h"
#include "../cut-orders.h"
#include "../../../new-orders.h"

static cut_order cut;

START_TEST(behaves_as_an_order)
{
    uint64_t state = 5;
    for (int i = 0; i < 20; i++) {
        make_any_cut(&cut, &state);
        expect_order(cut.order, state);
        lx_order_unref(cut.order);
    }
}
END_TEST

START_TEST(reads_the_indices_of_the_inner_order)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t costs[50], ours[50], theirs[50];
    lx_order *order, *part = make_order("shuffle", 50, 3, 0);
    for (int i = 0; i < 50; i++)
        costs[i] = 1;
    unit_ok(new_budgeted(part, costs, 50, 7, 0, false, &order, &error));
    ck_assert_uint_eq(lx_order_get_length(order), 50);
    static const uint64_t firsts[] = {0, 33, UINT64_MAX - 51};
    for (int i = 0; i < 3; i++) {
        read_order(order, firsts[i], 1, 50, ours);
        read_order(part, firsts[i], 1, 50, theirs);
        ck_assert_mem_eq(ours, theirs, sizeof ours);
    }
    lx_order_unref(part);
    lx_order_unref(order);
}
END_TEST

/** Compares the batches of an epoch with the simple search; in any thread. */
static void check_epoch(uint64_t epoch)
{
    static _Thread_local uint64_t indices[CUT_LENGTH_MAX], ends[CUT_LENGTH_MAX];
    lx_error error = LX_ERROR_INIT;
    uint64_t start = epoch * cut.length, number, begin, end, count, batches;
    read_order(cut.order, start, 1, cut.length, indices);
    batches = find_batches(&cut, indices, ends);
    unit_ok(lx_order_get_batch_count(cut.order, epoch, &count, &error));
    ck_assert_uint_eq(count, batches);
    for (uint64_t i = 0; i < batches; i++) {
        uint64_t first = i > 0 ? ends[i - 1] : 0;
        unit_ok(lx_order_find_batch(cut.order, start + ends[i] - 1, &number, &begin, &end, &error));
        ck_assert_uint_eq(number, i);
        ck_assert_uint_eq(begin, start + first);
        ck_assert_uint_eq(end, start + ends[i]);
        ck_assert(cut_fits(&cut, indices + first, ends[i] - first));
        ck_assert_uint_le(end - begin, lx_order_get_max_batch_size(cut.order));
    }
}

START_TEST(batches_take_as_many_samples_as_fit)
{
    uint64_t state = 11;
    for (int i = 0; i < 300; i++) {
        make_any_cut(&cut, &state);
        for (uint64_t epoch = 0; epoch < 3; epoch++)
            check_epoch(epoch);
        check_epoch(next_choice(&state) % (UINT64_MAX / cut.length));
        lx_order_unref(cut.order);
    }
}
END_TEST

START_TEST(cuts_batches_of_all_sizes)
{
    static const uint64_t budgets[] = {100, 5000, 200000, UINT64_MAX};
    uint64_t state = 12;
    for (int i = 0; i < 8; i++) {
        cut.budget = budgets[i / 2];
        cut.rows = 0;
        cut.padded = i % 2 == 1;
        make_cut(&cut, "shuffle", CUT_LENGTH_MAX, 100, &state);
        if (budgets[i / 2] < UINT64_MAX)
            check_epoch(1);
        else
            ck_assert_uint_eq(lx_order_get_max_batch_size(cut.order), CUT_LENGTH_MAX);
        lx_order_unref(cut.order);
    }
}
END_TEST

START_TEST(accepts_costs_of_64_bits)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t costs[] = {UINT64_MAX, 1, UINT64_MAX - 1, UINT64_C(1) << 63, 1};
    uint64_t begin, end, count;
    for (int padded = 0; padded < 2; padded++) { /* 1 1+2 3+4, or each alone */
        lx_order *order, *part = make_order("sequential", 5, 0, 0);
        unit_ok(new_budgeted(part, costs, 5, UINT64_MAX, 0, padded, &order, &error));
        unit_ok(lx_order_get_batch_count(order, 7, &count, &error));
        ck_assert_uint_eq(count, padded ? 5 : 3);
        unit_ok(lx_order_find_batch(order, 2, NULL, &begin, &end, &error));
        ck_assert_uint_eq(begin, padded ? 2 : 1);
        ck_assert_uint_eq(end, 3);
        lx_order_unref(part);
        lx_order_unref(order);
    }
}
END_TEST

static void *check_epochs(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < 40; i++)
        check_epoch(i % 5);
    return NULL;
}

START_TEST(threads_share_one_order)
{
    pthread_t threads[4];
    uint64_t state = 13;
    cut.budget = 300;
    make_cut(&cut, "shuffle", 500, 100, &state);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, check_epochs, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    lx_order_unref(cut.order);
}
END_TEST

static lx_order *make_budgeted(const uint64_t *costs, uint64_t count, uint64_t budget,
                               uint64_t rows, bool padded)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order, *part = make_order("shuffle", 3, 4, 0);
    unit_ok(new_budgeted(part, costs, count, budget, rows, padded, &order, &error));
    lx_order_unref(part);
    return order;
}

START_TEST(state_errors_name_the_difference)
{
    const uint64_t costs[] = {5, 6, 7, 8}, others[] = {5, 6, 7, 9};
    expect_other_order(make_budgeted(costs, 4, 20, 0, false),
                       make_budgeted(others, 4, 20, 0, false), "costs");
    expect_other_order(make_budgeted(costs, 4, 20, 0, false), make_budgeted(costs, 3, 20, 0, false),
                       "co"); /* count, or costs */
    expect_other_order(make_budgeted(costs, 4, 20, 0, false), make_budgeted(costs, 4, 21, 0, false),
                       "budget");
    expect_other_order(make_budgeted(costs, 4, 20, 0, false), make_budgeted(costs, 4, 20, 2, false),
                       "rows");
    expect_other_order(make_budgeted(costs, 4, 20, 0, false), make_budgeted(costs, 4, 20, 0, true),
                       "padded");
}
END_TEST

START_TEST(rejects_nesting_in_other_orders)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t costs[] = {5, 6, 7};
    lx_order *order = make_budgeted(costs, 3, 20, 0, false), *made;
    lx_mixture *mixture = lx_mixture_new();
    ck_assert_int_eq(lx_order_new_slice(order, 0, 2, &made, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, "cut into batches"));
    lx_error_clear(&error);
    unit_fails(lx_order_new_repeat(order, 2, &made, &error), LX_ERR_MISMATCH);
    unit_fails(lx_order_new_padded(order, 2, &made, &error), LX_ERR_MISMATCH);
    unit_fails(lx_order_new_concat(&order, NULL, 1, &made, &error), LX_ERR_MISMATCH);
    unit_fails(lx_order_new_subset(order, costs, 3, NULL, &made, &error), LX_ERR_MISMATCH);
    unit_fails(new_budgeted(order, costs, 3, 20, 0, false, &made, &error), LX_ERR_MISMATCH);
    unit_fails(lx_mixture_add_part(mixture, order, 0, 1, &error), LX_ERR_MISMATCH);
    lx_mixture_free(mixture);
    lx_order_unref(order);
}
END_TEST

/** An order that fails, with an error. */
static void expect_refused(const uint64_t *costs, uint64_t count, uint64_t budget, lx_status status,
                           const char *message)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order, *part = make_order("shuffle", 3, 4, 0);
    ck_assert_int_eq(new_budgeted(part, costs, count, budget, 0, false, &order, &error), status);
    ck_assert_ptr_null(order);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    lx_order_unref(part);
}

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t costs[] = {5, 9, 7}, gratis[] = {5, 0, 7};
    expect_refused(costs, 3, 8, LX_ERR_ARGUMENT,
                   "the cost of index 1 is 9, which exceeds the budget of 8");
    expect_refused(costs, 3, 0, LX_ERR_ARGUMENT, "budget must be at least 1");
    expect_refused(gratis, 3, 8, LX_ERR_ARGUMENT, "the cost of index 1 is 0");
    expect_refused(costs, 2, 9, LX_ERR_MISMATCH,
                   "at least 3 costs, one for each index, but only 2");
    expect_refused(NULL, 3, 9, LX_ERR_ARGUMENT, "costs");
    lx_order *order, *part = make_order("shuffle", UINT64_C(1) << 32, 4, 0);
    unit_fails(new_budgeted(part, costs, 3, 9, 0, false, &order, &error), LX_ERR_LIMIT);
    unit_fails(new_budgeted(part, costs, 3, 9, 0, false, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_budgeted(NULL, costs, 3, 9, 0, false, &order, &error), LX_ERR_ARGUMENT);
    lx_order_unref(part);
}
END_TEST

START_TEST(an_empty_order_has_no_batches)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t count, number;
    lx_order *order, *part = make_order("shuffle", 0, 4, 0);
    unit_ok(new_budgeted(part, NULL, 0, 9, 0, true, &order, &error));
    ck_assert_uint_eq(lx_order_get_max_batch_size(order), 1); /* it is cut */
    unit_ok(lx_order_get_batch_count(order, 0, &count, &error));
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(lx_order_find_batch(order, 0, &number, NULL, NULL, &error), LX_END);
    lx_order_unref(part);
    lx_order_unref(order);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    const uint64_t costs[] = {5, 9, 7};
    uint64_t count;
    lx_order *order = NULL, *part = make_order("shuffle", 3, 4, 0);
    for (int left = 0; order == NULL; left++) {
        ck_assert_int_lt(left, 20);
        scarce_begin(left);
        if (new_budgeted(part, costs, 3, 9, 0, false, &order, &error) != LX_OK)
            ck_assert_int_eq(error.status, LX_ERR_NOMEM);
        lx_error_clear(&error);
    }
    for (int left = 0;; left++) {
        ck_assert_int_lt(left, 20);
        scarce_begin(left);
        lx_status status = lx_order_get_batch_count(order, 2, &count, &error);
        if (status == LX_OK)
            break;
        ck_assert_int_eq(status, LX_ERR_NOMEM);
        lx_error_clear(&error);
    }
    ck_assert_uint_eq(count, 3);
    scarce_begin(1000);
    lx_order_unref(part);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("sampler/budgeted", behaves_as_an_order, reads_the_indices_of_the_inner_order,
          batches_take_as_many_samples_as_fit, cuts_batches_of_all_sizes, accepts_costs_of_64_bits,
          threads_share_one_order, state_errors_name_the_difference,
          rejects_nesting_in_other_orders, rejects_invalid_arguments, an_empty_order_has_no_batches,
          reports_failed_allocations)
