/* SPDX-License-Identifier: MIT */
/* Indices of torch 1.13.1; the Python tests compare many more with the installed torch. */
#include <loaderx/parity/torch.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <loaderx/sampler.h>

#include "../scarce.h"
#include "../sampler/orders.h"
#include "../sampler/statistics.h"
#include "parity/mt19937-jump.h"
#include "../../new-orders.h"
#include "parity/torch-randperm.h"

static lx_order *make_random(uint64_t length, uint64_t samples, bool replacement, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_torch_random(length, samples, replacement, seed, NULL, &order, &error));
    return order;
}

static lx_order *make_distributed(uint64_t length, uint64_t world, bool shuffle, bool drop_last)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_torch_distributed(length, world, shuffle, drop_last, 0, NULL, &order, &error));
    return order;
}

START_TEST(behave_as_orders)
{
    static const uint64_t indices[] = {7, 1000000007, 5, 5, 0};
    lx_error error = LX_ERROR_INIT;
    lx_order *orders[] = {
        make_random(100, 100, false, 42),     make_random(100, 250, false, 1),
        make_random(100, 7, false, 2),        make_random(100, 55, true, 3),
        make_random(1, 1, false, 4),          make_distributed(100, 7, true, false),
        make_distributed(100, 7, true, true), NULL};
    unit_ok(new_torch_subset(indices, 5, 9, NULL, &orders[7], &error));
    for (int i = 0; i < 8; i++) {
        expect_order(orders[i], 5);
        lx_order_unref(orders[i]);
    }
}
END_TEST

START_TEST(one_generator_continues_across_epochs)
{
    enum { LENGTH = 50, SAMPLES = 120 };
    uint64_t indices[SAMPLES];
    uint32_t right[LENGTH];
    lx__mt19937 generator;
    lx_order *order = make_random(LENGTH, SAMPLES, false, 7);
    lx__mt19937_seed(&generator, 7);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        read_order(order, epoch * SAMPLES, 1, SAMPLES, indices);
        for (int i = 0; i < SAMPLES; i++) {
            if (i % LENGTH == 0)
                lx__randperm(&generator, right, LENGTH);
            ck_assert_uint_eq(indices[i], right[i % LENGTH]);
        }
    }
    lx_order_unref(order);
    /* An epoch that ends with a whole permutation draws another one, as in torch. */
    order = make_random(LENGTH, LENGTH, false, 7);
    lx__mt19937_seed(&generator, 7);
    lx__mt19937_skip(&generator, LENGTH - 1, 2);
    lx__randperm(&generator, right, LENGTH);
    read_order(order, LENGTH, 1, LENGTH, indices);
    for (int i = 0; i < LENGTH; i++)
        ck_assert_uint_eq(indices[i], right[i]);
    lx_order_unref(order);
}
END_TEST

START_TEST(draws_with_replacement)
{
    uint64_t indices[300];
    lx__mt19937 generator;
    lx_order *order = make_random(1000, 100, true, 5);
    read_order(order, 0, 1, 300, indices);
    lx__mt19937_seed(&generator, 5);
    for (int i = 0; i < 300; i++)
        ck_assert_uint_eq(indices[i], lx__mt19937_next(&generator) % 1000);
    lx_order_unref(order);
}
END_TEST

/* Padded by the beginning, or truncated. */
START_TEST(matches_ranks_of_a_distributed_sampler)
{
    static const uint64_t padded[4][3] = {{0, 4, 8}, {1, 5, 9}, {2, 6, 0}, {3, 7, 1}};
    lx_error error = LX_ERROR_INIT;
    lx_order *pads = make_distributed(10, 4, false, false);
    lx_order *drops = make_distributed(10, 4, false, true);
    for (uint64_t rank = 0; rank < 4; rank++) {
        lx_sampler *sampler;
        uint64_t indices[3], taken;
        unit_ok(lx_sampler_new(pads, rank, 4, &sampler, &error));
        unit_ok(lx_sampler_take(sampler, 3, indices, &taken, &error));
        ck_assert_mem_eq(indices, padded[rank], sizeof indices);
        lx_sampler_free(sampler);
        unit_ok(lx_sampler_new(drops, rank, 4, &sampler, &error));
        unit_ok(lx_sampler_take(sampler, 2, indices, &taken, &error));
        ck_assert_mem_eq(indices, padded[rank], 2 * sizeof *indices);
        lx_sampler_free(sampler);
    }
    ck_assert_uint_eq(lx_order_get_length(drops), 8);
    lx_order_unref(pads);
    lx_order_unref(drops);
}
END_TEST

START_TEST(seeds_each_epoch)
{
    uint32_t right[100];
    uint64_t indices[100];
    lx_order *order = make_distributed(100, 4, true, false);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        lx__mt19937 generator;
        lx__mt19937_seed(&generator, (uint32_t)epoch);
        lx__randperm(&generator, right, 100);
        read_order(order, epoch * 100, 1, 100, indices);
        for (int i = 0; i < 100; i++)
            ck_assert_uint_eq(indices[i], right[i]);
    }
    lx_order_unref(order);
}
END_TEST

/* Epochs that are too far for single steps. */
START_TEST(enters_far_epochs_at_once)
{
    uint64_t one[2], again[2], positions[] = {UINT64_C(1) << 40, UINT64_MAX - 2};
    for (int i = 0; i < 2; i++) {
        lx_order *order = make_random(UINT32_MAX / 1000, 1, false, 5);
        read_order(order, positions[i], 1, 1, one);
        (void)index_at(order, 3);
        read_order(order, positions[i] - 1, 1, 2, again);
        ck_assert_uint_eq(one[0], again[1]);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t index = UINT64_MAX;
    unit_fails(new_torch_random(0, 1, false, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_torch_random(1, 0, false, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_torch_random(1, 1, false, 0, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_torch_random(UINT64_C(1) << 32, 1, false, 0, NULL, &order, &error),
               LX_ERR_LIMIT);
    unit_fails(new_torch_random(1, UINT64_C(1) << 32, true, 0, NULL, &order, &error), LX_ERR_LIMIT);
    unit_fails(new_torch_random(1 << 28, 1, true, 0, NULL, &order, &error), LX_ERR_LIMIT);
    ck_assert_ptr_null(order);
    unit_ok(new_torch_random((1 << 28) - 1, 1, true, 0, NULL, &order, &error));
    lx_order_unref(order);
    unit_fails(new_torch_subset(NULL, 1, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_torch_subset(&index, 1, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_torch_distributed(1, 0, true, true, 0, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_torch_distributed(1, 2, true, true, 0, NULL, NULL, &error), LX_ERR_ARGUMENT);
    index = 0;
    for (int left = 0; left < 6; left++) {
        scarce_begin(left);
        unit_fails(new_torch_subset(&index, 1, 0, NULL, &order, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(order);
    }
}
END_TEST

#define THREADS 4
#define SHARED_LENGTH 2000
#define SHARED_EPOCHS 6

/** The sums of epochs, which each thread reads in another order. */
static void *read_epochs(void *argument)
{
    static atomic_uint number;
    uint64_t first = atomic_fetch_add(&number, 1), sum = 0, indices[SHARED_LENGTH];
    for (uint64_t i = 0; i < SHARED_EPOCHS; i++) {
        uint64_t epoch = (first + i * 5) % SHARED_EPOCHS, of_epoch = 0;
        read_order(argument, epoch * SHARED_LENGTH, 1, SHARED_LENGTH, indices);
        for (uint64_t k = 0; k < SHARED_LENGTH; k++)
            of_epoch = of_epoch * 31 + indices[k];
        sum += of_epoch * (epoch + 1);
    }
    return (void *)(uintptr_t)sum;
}

/* They share a generator, too, which moves back and forth. */
START_TEST(threads_share_one_order)
{
    lx_order *order = make_random(SHARED_LENGTH, SHARED_LENGTH, false, 7);
    pthread_t threads[THREADS];
    void *sums[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_epochs, order), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &sums[i]);
    for (int i = 1; i < THREADS; i++)
        ck_assert_ptr_eq(sums[i], sums[0]);
    lx_order_unref(order);
}
END_TEST

START_TEST(accepts_empty_orders)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(new_torch_subset(NULL, 0, 7, NULL, &order, &error));
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    for (int i = 0; i < 4; i++) {
        order = make_distributed(i == 3 ? 2 : 0, 3, i % 2 == 1, i / 2 == 1);
        ck_assert_uint_eq(lx_order_get_length(order), 0);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(reports_failed_allocations_of_an_epoch)
{
    lx_error error = LX_ERROR_INIT;
    lx__scratch *scratch;
    uint64_t right[15], indices[15];
    lx_order *order = make_random(10, 15, false, 5);
    read_order(order, 15, 1, 15, right);
    unit_ok(lx__scratch_new(order, &scratch, &error));
    for (int left = 0; left < 2; left++) {
        scarce_begin(left);
        unit_fails(lx__order_read(order, scratch, 150, 1, 15, indices, &error), LX_ERR_NOMEM);
        scarce_begin(1000);
        unit_ok(lx__order_read(order, scratch, 15, 1, 15, indices, &error));
        ck_assert_mem_eq(indices, right, sizeof right);
    }
    lx__scratch_free(scratch);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("parity/torch-orders", behave_as_orders, one_generator_continues_across_epochs,
          draws_with_replacement, matches_ranks_of_a_distributed_sampler, seeds_each_epoch,
          enters_far_epochs_at_once, threads_share_one_order, accepts_empty_orders,
          rejects_invalid_arguments, reports_failed_allocations_of_an_epoch)
