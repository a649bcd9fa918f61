/* SPDX-License-Identifier: MIT */
#include "../orders.h"
#include "sampler/core/order-json.h"
#include "sampler/random/wide-arithmetic.h"
#include "../statistics.h"

static void expect_indices(uint64_t length, uint64_t window, uint64_t stride, size_t count,
                           const uint64_t *expected)
{
    uint64_t indices[32];
    lx_order *order = make_order("sequential", length, window, stride);
    read_order(order, 0, 1, count, indices);
    ck_assert_mem_eq(indices, expected, count * sizeof *expected);
    lx_order_unref(order);
}

START_TEST(windows_wrap_around)
{
    expect_indices(5, 0, 0, 12, (uint64_t[]){0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
    expect_indices(5, 3, 0, 12, (uint64_t[]){0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
    expect_indices(6, 4, 2, 16, (uint64_t[]){0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 0, 1, 0, 1, 2, 3});
    expect_indices(7, 2, 4, 8, (uint64_t[]){0, 1, 4, 5, 0, 1, 4, 5});
    expect_indices(10, 0, 3, 8, (uint64_t[]){0, 3, 6, 9, 0, 3, 6, 9});
    expect_indices(3, 7, 7, 8, (uint64_t[]){0, 1, 2, 0, 1, 2, 0, 1});
    expect_indices(2, 5, 1, 12, (uint64_t[]){0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
    expect_indices(1, 3, 2, 4, (uint64_t[]){0, 0, 0, 0});
}
END_TEST

/** The number of positions in an epoch; 0 if there are too many. */
static uint64_t epoch_of(uint64_t length, uint64_t window, uint64_t stride)
{
    uint64_t windows = (length - 1) / stride + 1;
    return windows <= UINT64_MAX / window ? windows * window : 0;
}

/** The formula of doc/orders.md for one position. */
static uint64_t formula(uint64_t length, uint64_t window, uint64_t stride, uint64_t position)
{
    if (window == stride)
        return position % length;
    uint64_t offset = position % epoch_of(length, window, stride);
    return lx__add_mod(offset / window * stride, offset % window % length, length);
}

/** Any size from a few to 2^64 - 1. */
static uint64_t any_size(uint64_t *state)
{
    uint64_t size = next_choice(state) >> next_choice(state) % 64;
    return size != 0 ? size : UINT64_MAX;
}

static void refuse(uint64_t length, uint64_t window, uint64_t stride)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_fails(lx_order_new_sequential(length, window, stride, &order, &error), LX_ERR_LIMIT);
}

START_TEST(reads_any_sizes_from_any_position_in_any_steps)
{
    uint64_t state = 7, indices[200];
    for (int i = 0; i < 5000; i++) {
        uint64_t length = any_size(&state), window = any_size(&state);
        uint64_t stride = i % 4 == 0 ? window : any_size(&state), count = next_choice(&state) % 200;
        uint64_t first = any_size(&state) / 2;
        uint64_t step = i % 3 == 0 ? 1 : any_size(&state) / 512 + 1;
        if (window != stride && epoch_of(length, window, stride) == 0) {
            refuse(length, window, stride);
            continue;
        }
        lx_order *order = make_order("sequential", length, window, stride);
        read_order(order, first, step, count, indices);
        uint64_t good = 0;
        for (uint64_t k = 0; k < count; k++)
            good += indices[k] == formula(length, window, stride, first + k * step);
        ck_assert_uint_eq(good, count);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(the_last_positions_do_not_overflow)
{
    static const uint64_t sizes[] = {1,         2, 3, 1000, 1ull << 32, 1ull << 63, UINT64_MAX - 1,
                                     UINT64_MAX};
    uint64_t indices[40];
    for (int l = 0; l < 8; l++) {
        for (int w = 0; w < 8; w++) {
            for (int s = 0; s < 8; s++) {
                if (w != s && epoch_of(sizes[l], sizes[w], sizes[s]) == 0)
                    continue;
                lx_order *order = make_order("sequential", sizes[l], sizes[w], sizes[s]);
                read_order(order, UINT64_MAX - 40, 1, 40, indices);
                for (uint64_t k = 0; k < 40; k++)
                    ck_assert_uint_eq(indices[k],
                                      formula(sizes[l], sizes[w], sizes[s], UINT64_MAX - 40 + k));
                lx_order_unref(order);
            }
        }
    }
}
END_TEST

START_TEST(equal_orders_have_equal_descriptions)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *plain = make_order("sequential", 100, 0, 0);
    lx_order *windows = make_order("sequential", 100, 16, 16);
    lx_order *overlapping = make_order("sequential", 100, 16, 8);
    lx_order *others[] = {make_order("sequential", 99, 16, 8),
                          make_order("sequential", 100, 16, 9)};
    json_t *json = lx__order_to_json(windows);
    unit_ok(lx__order_match_json(plain, json, &error));
    unit_fails(lx__order_match_json(overlapping, json, &error), LX_ERR_MISMATCH);
    json_decref(json);
    json = lx__order_to_json(overlapping);
    for (int i = 0; i < 2; i++) {
        lx_error_clear(&error);
        unit_fails(lx__order_match_json(others[i], json, &error), LX_ERR_MISMATCH);
        lx_order_unref(others[i]);
    }
    json_decref(json);
    lx_order_unref(plain);
    lx_order_unref(windows);
    lx_order_unref(overlapping);
}
END_TEST

UNIT_MAIN("sampler/sequential", windows_wrap_around, reads_any_sizes_from_any_position_in_any_steps,
          the_last_positions_do_not_overflow, equal_orders_have_equal_descriptions)
