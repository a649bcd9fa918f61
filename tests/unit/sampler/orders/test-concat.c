/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "../../scarce.h"
#include "../orders.h"
#include "base/alloc.h"
#include "sampler/core/order-json.h"

#define PARTS 6

/** Parts of several kinds, some of them empty. */
static void make_parts(lx_order *parts[PARTS])
{
    static const uint64_t lengths[PARTS] = {0, 5, 70, 0, 1, 300};
    static const char *const kinds[PARTS] = {"shuffle", "sequential", "shuffle",
                                             "random",  "shuffle",    "random"};
    for (uint64_t i = 0; i < PARTS; i++)
        parts[i] = make_order(kinds[i], lengths[i], i, 0);
}

static void free_parts(lx_order *parts[PARTS])
{
    for (int i = 0; i < PARTS; i++)
        lx_order_unref(parts[i]);
}

START_TEST(one_epoch_of_each_part_follows_the_previous)
{
    static const uint64_t offsets[PARTS] = {0, 1000, 0, 7, 1ull << 40, 2000};
    lx_order *parts[PARTS], *order;
    lx_error error = LX_ERROR_INIT;
    make_parts(parts);
    for (int with = 0; with < 2; with++) {
        uint64_t position = 0;
        unit_ok(lx_order_new_concat(parts, with ? offsets : NULL, PARTS, &order, &error));
        ck_assert_uint_eq(lx_order_get_length(order), 376);
        for (uint64_t epoch = 0; epoch < 3; epoch++)
            for (int i = 0; i < PARTS; i++) {
                uint64_t length = lx_order_get_length(parts[i]);
                for (uint64_t o = 0; o < length; o++, position++)
                    ck_assert_uint_eq(index_at(order, position),
                                      index_at(parts[i], epoch * length + o) +
                                          (with ? offsets[i] : 0));
            }
        expect_order(order, (uint64_t)with);
        lx_order_unref(order);
    }
    free_parts(parts);
}
END_TEST

START_TEST(finds_each_of_many_parts)
{
    enum { MANY = 300 };
    lx_order *parts[MANY], *order;
    uint64_t offsets[MANY], sum = 0, index;
    lx_error error = LX_ERROR_INIT;
    for (uint64_t i = 0; i < MANY; i++) {
        parts[i] = make_order("sequential", i % 7 * i, 0, 0);
        offsets[i] = sum; /* as in a concatenation of sources: everything is one row */
        sum += i % 7 * i;
    }
    unit_ok(lx_order_new_concat(parts, offsets, MANY, &order, &error));
    for (uint64_t position = 0; position < sum; position += 41)
        ck_assert_uint_eq(index_at(order, position), position);
    read_order(order, sum - 1, 1, 1, &index);
    ck_assert_uint_eq(index, sum - 1);
    expect_order(order, 3);
    /* The state of so many parts is short. */
    json_t *json = lx__order_to_json(order);
    char *text = lx__json_text(json, JSON_COMPACT);
    ck_assert_uint_lt(strlen(text), 200);
    lx__free(text);
    json_decref(json);
    lx_order_unref(order);
    for (int i = 0; i < MANY; i++)
        lx_order_unref(parts[i]);
}
END_TEST

START_TEST(rejects_invalid_parts)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *half = make_order("random", 1ull << 63, 1, 0), *order;
    lx_order *parts[] = {half, half};
    const uint64_t offsets[] = {0, 1ull << 63};
    unit_fails(lx_order_new_concat(parts, NULL, 2, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_concat(parts, offsets + 1, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_concat(parts, NULL, 0, &order, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_order_new_concat(NULL, NULL, 1, &order, &error), "parts");
    unit_refuses_null(lx_order_new_concat(parts, NULL, 1, NULL, &error), "order");
    parts[1] = NULL;
    unit_fails(lx_order_new_concat(parts, NULL, 2, &order, &error), LX_ERR_ARGUMENT);
    unit_ok(lx_order_new_concat(parts, NULL, 1, &order, &error));
    expect_order(order, 4);
    lx_order_unref(order);
    lx_order_unref(half);
}
END_TEST

START_TEST(reads_again_after_a_failed_allocation)
{
    lx_order *parts[PARTS], *order;
    lx_error error = LX_ERROR_INIT;
    lx__scratch *scratch;
    make_parts(parts);
    unit_ok(lx_order_new_concat(parts, NULL, PARTS, &order, &error));
    uint64_t right = index_at(order, 70), place;
    lx_order_unref(order);
    for (int left = 0; left < 2; left++) {
        scarce_begin(left);
        unit_fails(lx_order_new_concat(parts, NULL, PARTS, &order, &error), LX_ERR_NOMEM);
    }
    scarce_left = INT_MAX;
    unit_ok(lx_order_new_concat(parts, NULL, PARTS, &order, &error));
    unit_ok(lx__scratch_new(order, &scratch, &error));
    for (int left = 0; left < 3; left++) { /* a list, a scratch, a table */
        scarce_left = left;
        unit_fails(lx__order_read(order, scratch, 70, 1, 1, &place, &error), LX_ERR_NOMEM);
        lx__scratch_free(scratch);
        scarce_left = INT_MAX;
        unit_ok(lx__scratch_new(order, &scratch, &error));
    }
    unit_ok(lx__order_read(order, scratch, 70, 1, 1, &place, &error));
    ck_assert_uint_eq(place, right);
    lx__scratch_free(scratch);
    lx_order_unref(order);
    free_parts(parts);
}
END_TEST

UNIT_MAIN("sampler/concat", one_epoch_of_each_part_follows_the_previous, finds_each_of_many_parts,
          rejects_invalid_parts, reads_again_after_a_failed_allocation)
