/* SPDX-License-Identifier: MIT */
#include "sampler/core/order.h"

#include <pthread.h>

#include "../../scarce.h"
#include "base/alloc.h"
#include "../orders.h"

START_TEST(references_keep_an_order_alive)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", 100, 42, 0);
    ck_assert_ptr_eq(lx_order_ref(order), order);
    lx__scratch *scratch;
    uint64_t index;
    unit_ok(lx__scratch_new(order, &scratch, &error));
    lx_order_unref(order);
    lx_order_unref(order);
    unit_ok(lx__order_read(order, scratch, 7, 1, 1, &index, &error)); /* kept by the scratch */
    lx__scratch_free(scratch);
    lx_order_unref(NULL);
    lx__scratch_free(NULL);
    ck_assert_ptr_null(lx_order_ref(NULL));
}
END_TEST

START_TEST(reports_lengths_and_bounds)
{
    static const char *const kinds[] = {"sequential", "random", "shuffle"};
    static const uint64_t lengths[] = {0, 1, 65536, 65537, UINT64_MAX};
    for (int kind = 0; kind < 3; kind++) {
        for (int l = 0; l < 5; l++) {
            lx_order *order = make_order(kinds[kind], lengths[l], 3, 3);
            ck_assert_uint_eq(lx_order_get_length(order), lengths[l]);
            ck_assert_uint_eq(lx__order_get_bound(order), lengths[l]);
            read_order(order, 0, 1, 0, NULL);
            lx_order_unref(order);
        }
    }
}
END_TEST

START_TEST(rejects_null_result_pointers)
{
    lx_error error = LX_ERROR_INIT;
    unit_fails(lx_order_new_sequential(1, 1, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_random(1, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_shuffle(1, 1, NULL, &error), LX_ERR_ARGUMENT);
}
END_TEST

START_TEST(reads_again_after_a_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", 1000, 42, 0);
    uint64_t index, expected = index_at(order, 4321);
    lx__scratch *scratch;
    lx_order_unref(order);
    scarce_begin(0);
    unit_fails(lx_order_new_shuffle(1000, 42, &order, &error), LX_ERR_NOMEM);
    ck_assert_ptr_null(order);
    scarce_left = 1;
    unit_ok(lx_order_new_shuffle(1000, 42, &order, &error));
    unit_fails(lx__scratch_new(order, &scratch, &error), LX_ERR_NOMEM);
    scarce_left = 1;
    unit_ok(lx__scratch_new(order, &scratch, &error));
    unit_fails(lx__order_read(order, scratch, 4321, 1, 1, &index, &error), LX_ERR_NOMEM);
    scarce_left = 1;
    unit_ok(lx__order_read(order, scratch, 4321, 1, 1, &index, &error));
    ck_assert_uint_eq(index, expected);
    lx__scratch_free(scratch);
    lx_order_unref(order);
}
END_TEST

#define THREADS 4
#define SHARED_LENGTH 20000

static void *read_an_epoch(void *argument)
{
    lx_order *order = argument;
    uint64_t *indices = malloc(SHARED_LENGTH * sizeof *indices), sum = 0;
    for (uint64_t epoch = 0; epoch < 5; epoch++) {
        lx_order_ref(order);
        read_order(order, epoch * SHARED_LENGTH, 1, SHARED_LENGTH, indices);
        for (uint64_t i = 0; i < SHARED_LENGTH; i++)
            sum = sum * 31 + indices[i];
        lx_order_unref(order);
    }
    free(indices);
    lx_order_unref(order);
    return (void *)(uintptr_t)sum;
}

START_TEST(threads_share_one_order)
{
    lx_order *order = make_order("shuffle", SHARED_LENGTH, 42, 0);
    pthread_t threads[THREADS];
    void *sums[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_an_epoch, lx_order_ref(order)), 0);
    lx_order_unref(order);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &sums[i]);
    for (int i = 1; i < THREADS; i++)
        ck_assert_ptr_eq(sums[i], sums[0]);
}
END_TEST

UNIT_MAIN("sampler/order", references_keep_an_order_alive, reports_lengths_and_bounds,
          rejects_null_result_pointers, reads_again_after_a_failed_allocation,
          threads_share_one_order)
