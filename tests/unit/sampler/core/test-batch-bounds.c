/* SPDX-License-Identifier: MIT */
#include "sampler/core/batch-bounds.h"

#include <loaderx/batching.h>

#include "../orders.h"
#include "../statistics.h"

enum { LENGTH_MAX = 5000 };

/* Whether a batch begins there; the same in each epoch, but at 1 in odd ones. */
static bool begins[LENGTH_MAX];
static const lx__order_class some_class = {.kind = "cut"};
static lx_order some_order = {.class = &some_class, .batch_rows = LENGTH_MAX};

static bool is_begin(uint64_t epoch, uint64_t offset)
{
    return begins[offset] || (offset == 1 && epoch % 2 == 1);
}

static lx_status fill(const lx_order *order, uint64_t epoch, uint32_t *table, size_t size,
                      lx_error *error)
{
    (void)error;
    ck_assert_uint_eq(size, lx__batch_bounds_size(order->length));
    for (uint64_t i = 0; i < order->length; i++)
        if (is_begin(epoch, i))
            lx__batch_bounds_mark(table, i);
    lx__batch_bounds_finish(table, order->length);
    return LX_OK;
}

static void begin_order(uint64_t length, uint64_t mean, uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < length; i++)
        begins[i] = i == 0 || next_choice(state) % mean == 0;
    some_order.length = length;
    unit_ok(lx__epoch_tables_new(fill, lx__batch_bounds_size(length), NULL,
                                 &some_order.batch_bounds, &error));
}

/** Reads an epoch offset by offset. */
static void check_epoch(uint64_t epoch)
{
    lx_error error = LX_ERROR_INIT;
    lx__epoch_table *held = NULL;
    lx__batch_bounds cut, other = {.epoch = epoch};
    uint64_t length = some_order.length, start = epoch * length, number = 0, begin = start, count;
    unit_ok(lx_order_get_batch_count(&some_order, epoch, &count, &error));
    for (uint64_t i = 0; i < length; i++) {
        if (i > 0 && is_begin(epoch, i)) {
            ck_assert_uint_eq(cut.end, start + i);
            begin = start + i;
            number++;
        }
        unit_ok(lx__batch_bounds_find(&some_order, &held, start + i, &cut, &error));
        ck_assert_uint_eq(cut.epoch, epoch);
        ck_assert_uint_eq(cut.number, number);
        ck_assert_uint_eq(cut.begin, begin);
        ck_assert_uint_eq(cut.count, count);
        lx__batch_bounds_go_to(&some_order, held, number, &other);
        ck_assert(other.begin == cut.begin && other.end == cut.end && other.number == number);
    }
    ck_assert_uint_eq(cut.end, start + length);
    ck_assert_uint_eq(number + 1, count);
    lx__epoch_table_clear_scratch(&held);
}

START_TEST(finds_the_batch_of_each_position)
{
    static const uint64_t lengths[] = {1, 2, 31, 32, 33, 511, 512, 513, 1024, LENGTH_MAX};
    static const uint64_t means[] = {1, 3, 40, 600, 10000};
    uint64_t state = 3;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
            begin_order(lengths[i], means[k], &state);
            for (uint64_t epoch = 0; epoch < (lengths[i] > 1 ? 2 : 1); epoch++)
                check_epoch(epoch);
            lx__epoch_tables_free(some_order.batch_bounds);
        }
}
END_TEST

START_TEST(the_last_batch_ends_with_the_positions)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t state = 3, number, begin, end, count, last = UINT64_MAX / 1000;
    begin_order(1000, 10000, &state); /* one batch, in odd epochs two */
    unit_ok(lx_order_find_batch(&some_order, UINT64_MAX - 1, &number, &begin, &end, &error));
    ck_assert_uint_eq(number, last % 2);
    ck_assert_uint_eq(begin, last * 1000 + last % 2);
    ck_assert_uint_eq(end, UINT64_MAX);
    unit_ok(lx_order_get_batch_count(&some_order, last, &count, &error));
    ck_assert_uint_eq(count, last % 2 + 1);
    unit_ok(lx_order_get_batch_count(&some_order, last + 1, &count, &error));
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(lx_order_find_batch(&some_order, UINT64_MAX, NULL, NULL, NULL, &error),
                     LX_END);
    unit_ok(lx_order_find_batch(&some_order, 0, NULL, NULL, NULL, &error));
    lx__epoch_tables_free(some_order.batch_bounds);
}
END_TEST

START_TEST(orders_without_batches_report_it)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t count = 7, end;
    lx_order *order = make_order("shuffle", 10, 1, 0);
    ck_assert_uint_eq(lx_order_get_max_batch_size(order), 0);
    unit_fails(lx_order_get_batch_count(order, 0, &count, &error), LX_ERR_ARGUMENT);
    ck_assert_uint_eq(count, 0);
    unit_fails(lx_order_find_batch(order, 3, NULL, NULL, &end, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_get_batch_count(order, 0, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_get_batch_count(NULL, 0, &count, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_find_batch(NULL, 3, NULL, NULL, &end, &error), LX_ERR_ARGUMENT);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("sampler/batch-bounds", finds_the_batch_of_each_position,
          the_last_batch_ends_with_the_positions, orders_without_batches_report_it)
