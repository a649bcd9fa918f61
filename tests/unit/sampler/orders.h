/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers that make orders, and read them one position at a time.
 */
#ifndef LX_TESTS_ORDERS_H
#define LX_TESTS_ORDERS_H

#include <string.h>

#include "../unit.h"
#include "sampler/core/order-json.h"
#include "sampler/core/order.h"

/** An order of a kind; the two parameters are window and stride, or seed and nothing. */
static inline lx_order *make_order(const char *kind, uint64_t length, uint64_t a, uint64_t b)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    if (strcmp(kind, "sequential") == 0)
        unit_ok(lx_order_new_sequential(length, a, b, &order, &error));
    else if (strcmp(kind, "random") == 0)
        unit_ok(lx_order_new_random(length, a, &order, &error));
    else
        unit_ok(lx_order_new_shuffle(length, a, &order, &error));
    return order;
}

/** Reads with a new scratch. */
static inline void read_order(lx_order *order, uint64_t first, uint64_t step, uint64_t count,
                              uint64_t *indices)
{
    lx_error error = LX_ERROR_INIT;
    lx__scratch *scratch;
    unit_ok(lx__scratch_new(order, &scratch, &error));
    unit_ok(lx__order_read(order, scratch, first, step, count, indices, &error));
    lx__scratch_free(scratch);
}

/** The index at one position. */
static inline uint64_t index_at(lx_order *order, uint64_t position)
{
    uint64_t index;
    read_order(order, position, 1, 1, &index);
    return index;
}

/** Checks the block at a position: the positions of its stripe that belong to it are as many as its
 * indices, and those in the same epoch have indices in the block. */
static inline void expect_index_block(lx_order *order, lx__scratch *scratch, uint64_t position)
{
    lx_error error = LX_ERROR_INIT;
    lx__index_block block, same;
    uint64_t lanes = lx__order_get_lanes(order), length = lx_order_get_length(order);
    unit_ok(lx__order_find_block(order, scratch, position, &block, &error));
    ck_assert_uint_le(block.begin, position);
    ck_assert_uint_lt(position - block.begin, block.length);
    ck_assert_uint_le(block.length, lx__order_get_window(order));
    uint64_t lane = (position - block.begin) % lanes;
    ck_assert_uint_eq(block.count, (block.length - lane + lanes - 1) / lanes);
    ck_assert_uint_le(block.first + block.count, lx__order_get_bound(order));
    for (uint64_t i = 0, step = block.count / 20 + 1; i < block.count; i += step) {
        uint64_t at = block.begin + lane + i * lanes;
        if (at < block.begin || at == LX__POSITION_END || at / length != position / length)
            continue; /* after the last position, or in the next epoch of a padded order */
        ck_assert_uint_lt(index_at(order, at) - block.first, block.count);
        unit_ok(lx__order_find_block(order, scratch, at, &same, &error));
        ck_assert_uint_eq(same.first, block.first);
        ck_assert_uint_eq(same.begin, block.begin);
    }
}

/** Checks the properties of every order: the index of a position does not depend on the order, the
 * steps or the scratch of earlier reads, and the order's attributes are right. */
static inline void expect_order(lx_order *order, uint64_t state)
{
    lx_error error = LX_ERROR_INIT;
    lx__scratch *scratch;
    uint64_t length = lx_order_get_length(order), places[40], right[40];
    unit_ok(lx__scratch_new(order, &scratch, &error));
    for (int round = 0; round < 30; round++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t reach = length < UINT64_MAX / 8 ? 4 * length : UINT64_MAX - 4000;
        uint64_t first = (state >> 8) % reach, step = round % 3 == 0 ? 1 : (state >> 40) % 97 + 1;
        for (uint64_t i = 0; i < 40; i++) {
            right[i] = index_at(order, first + i * step);
            ck_assert_uint_lt(right[i], lx__order_get_bound(order));
        }
        unit_ok(lx__order_read(order, scratch, first, step, 40, places, &error));
        ck_assert_mem_eq(places, right, sizeof right);
        if (lx__order_get_lanes(order) != 0)
            expect_index_block(order, scratch, first);
        for (uint64_t i = 0; i < 40; i++) /* there and back */
            places[i] = first + (i * 7 + 3) % 40 * step;
        unit_ok(lx__order_map(order, scratch, places, 40, &error));
        for (uint64_t i = 0; i < 40; i++)
            ck_assert_uint_eq(places[i], right[(i * 7 + 3) % 40]);
    }
    lx__scratch_free(scratch);
    json_t *json = lx__order_to_json(order);
    unit_ok(lx__order_match_json(order, json, &error));
    json_decref(json);
}

/** Two orders that differ in @p where: each rejects the state of the other. Drops both. */
static inline void expect_other_order(lx_order *one, lx_order *other, const char *where)
{
    lx_error error = LX_ERROR_INIT;
    json_t *json = lx__order_to_json(one);
    ck_assert_int_eq(lx__order_match_json(other, json, &error), LX_ERR_MISMATCH);
    ck_assert_ptr_nonnull(strstr(error.message, where));
    lx_error_clear(&error);
    json_decref(json);
    lx_order_unref(one);
    lx_order_unref(other);
}

#endif
