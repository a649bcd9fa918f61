/* SPDX-License-Identifier: MIT */

#include <stdlib.h>

#include "../../scarce.h"
#include "../orders.h"
#include "../statistics.h"
#include "../../../new-orders.h"

enum { COUNT = 3000 };

static uint64_t lengths[COUNT];

static lx_order *make_bucketed(uint64_t count, uint64_t batch, uint64_t bucket, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t state = 17;
    for (uint64_t i = 0; i < count; i++)
        lengths[i] = next_choice(&state) % 1000;
    unit_ok(new_bucketed(lengths, count, batch, bucket, seed, NULL, &order, &error));
    return order;
}

START_TEST(behaves_as_an_order)
{
    static const uint64_t sizes[][3] = {
        {1, 1, 1},       {7, 10, 20},        {100, 7, 7},
        {100, 7, 21},    {3000, 32, 320},    {3000, 1, 1},
        {3000, 1, 4000}, {3000, 3000, 6000}, {2999, 10, UINT64_MAX / 10 * 10}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lx_order *order = make_bucketed(sizes[i][0], sizes[i][1], sizes[i][2], 42);
        expect_order(order, 5);
        lx_order_unref(order);
    }
}
END_TEST

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* For each length, the first and last place of its indices when all are sorted by length. */
static void expect_one_bucket(const uint64_t *sorted, const uint64_t *batch, uint64_t count,
                              uint64_t bucket)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t length = lengths[batch[i]];
        least = length < least ? length : least;
        most = length > most ? length : most;
    }
    for (uint64_t first = 0; first < COUNT; first += bucket) {
        uint64_t last = first + bucket < COUNT ? first + bucket - 1 : COUNT - 1;
        if (sorted[first] <= least && most <= sorted[last])
            return;
    }
    ck_abort_msg("lengths from %d to %d are of no bucket", (int)least, (int)most);
}

START_TEST(batches_have_similar_lengths)
{
    enum { BATCH = 32, BUCKET = 320 };
    static uint64_t indices[COUNT], sorted[COUNT];
    lx_order *order = make_bucketed(COUNT, BATCH, BUCKET, 5);
    memcpy(sorted, lengths, sizeof sorted);
    qsort(sorted, COUNT, sizeof *sorted, compare);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        read_order(order, epoch * COUNT, 1, COUNT, indices);
        ck_assert(is_permutation(indices, COUNT));
        for (uint64_t at = 0; at < COUNT; at += BATCH) {
            uint64_t count = COUNT - at < BATCH ? COUNT - at : BATCH;
            expect_one_bucket(sorted, indices + at, count, BUCKET);
        }
        for (uint64_t at = COUNT - COUNT % BATCH; at < COUNT; at++) /* the remainder */
            ck_assert_uint_ge(lengths[indices[at]], sorted[COUNT - COUNT % BUCKET]);
    }
    lx_order_unref(order);
}
END_TEST

START_TEST(batches_and_buckets_are_shuffled)
{
    enum { LENGTH = 2048 };
    static uint64_t a[LENGTH], b[LENGTH], firsts[LENGTH], before[LENGTH / 16], after[LENGTH / 16];
    static pair_table epochs = {.length = LENGTH};
    lx_order *order = make_bucketed(LENGTH, 1, LENGTH, 5);
    for (uint64_t epoch = 0; epoch < 40; epoch += 2) {
        read_order(order, epoch * LENGTH, 1, LENGTH, a);
        read_order(order, (epoch + 1) * LENGTH, 1, LENGTH, b);
        for (int i = 0; i < LENGTH; i++)
            count_pair(&epochs, a[i], b[i]);
    }
    expect_chance(z_of_matched_pairs(&epochs));
    lx_order_unref(order);
    order = make_bucketed(LENGTH, 16, 32, 6);
    read_order(order, 0, 1, LENGTH, a);
    read_order(order, LENGTH, 1, LENGTH, b);
    for (int i = 0; i < LENGTH; i++) { /* the batch of each index, before and after */
        ck_assert_uint_lt(a[i], LENGTH);
        firsts[a[i]] = (uint64_t)i / 16;
    }
    for (int i = 0; i < LENGTH; i += 16) {
        before[i / 16] = (uint64_t)i / 16;
        after[i / 16] = firsts[b[i]];
    }
    expect_chance(z_of_correlation(before, after, LENGTH / 16));
    lx_order_unref(order);
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    const uint64_t some[] = {5, 6, 7};
    unit_fails(new_bucketed(some, 3, 1, 1, 3, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(new_bucketed(NULL, 3, 1, 1, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_bucketed(some, 3, 0, 1, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_bucketed(some, 3, 2, 0, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(new_bucketed(some, 3, 2, 3, 3, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_ok(new_bucketed(NULL, 0, 2, 4, 3, NULL, &order, &error));
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    for (int left = 0; left < 5; left++) {
        scarce_begin(left);
        unit_fails(new_bucketed(some, 3, 1, 2, 3, NULL, &order, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(order);
    }
}
END_TEST

UNIT_MAIN("sampler/bucketed", behaves_as_an_order, batches_have_similar_lengths,
          batches_and_buckets_are_shuffled, rejects_invalid_arguments)
