/* SPDX-License-Identifier: MIT */
#include "sampler/core/inner-order.h"
#include "sampler/core/order-json.h"

#include <loaderx/batching.h>

#include "../orders.h"
#include "base/alloc.h"

static lx_order *slice(lx_order *part, uint64_t first, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_slice(part, first, length, &order, &error));
    lx_order_unref(part);
    return order;
}

START_TEST(epochs_restart_after_the_last)
{
    static const struct {
        uint64_t length, epochs;
    } cases[] = {{1, UINT64_MAX}, {10, UINT64_MAX / 10}, {1ull << 63, 1}, {UINT64_MAX, 1}};
    lx_order *in = make_order("sequential", 1, 0, 0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lx__inner_order part;
        lx_order *order = make_order("sequential", cases[c].length, 0, 0);
        lx__inner_order_init(&part, order, in);
        ck_assert_uint_eq(part.epochs, cases[c].epochs);
        uint64_t last = part.epochs - 1;
        ck_assert_uint_eq(lx__inner_order_place(&part, last, 0), last * cases[c].length);
        ck_assert_uint_lt(lx__inner_order_place(&part, last, cases[c].length - 1),
                          LX__POSITION_END);
        ck_assert_uint_eq(lx__inner_order_place(&part, UINT64_MAX, 0),
                          UINT64_MAX % part.epochs * cases[c].length);
        lx__inner_order_clear(&part);
        lx__inner_order_clear(&part);
        lx_order_unref(order);
    }
    lx_order_unref(in);
}
END_TEST

/** The orders made of one order whose indices stay at their positions have its blocks. */
START_TEST(some_orders_keep_the_blocks_of_their_part)
{
    lx_error error = LX_ERROR_INIT;
    static uint64_t costs[1000];
    for (size_t i = 0; i < 1000; i++)
        costs[i] = i % 9 + 1;
    for (int kind = 0; kind < 8; kind++) {
        lx_order *part, *order;
        if (kind % 2 == 0)
            unit_ok(lx_order_new_lanes(1000, 12, 9, 3, &part, &error));
        else
            unit_ok(lx_order_new_blocks(1000, 30, 3, &part, &error));
        if (kind / 2 == 0)
            unit_ok(lx_order_new_repeat(part, 3, &order, &error));
        else if (kind / 2 == 1)
            unit_ok(lx_order_new_padded(part, 77, &order, &error));
        else if (kind / 2 == 2)
            unit_ok(lx_order_new_budgeted(part, costs, 1000, 20, NULL, &order, &error));
        else
            order = slice(lx_order_ref(part), 10, 900);
        bool keeps = kind / 2 != 3;
        ck_assert_uint_eq(lx__order_get_lanes(order), keeps ? lx__order_get_lanes(part) : 0);
        ck_assert_uint_eq(lx__order_get_window(order), keeps ? lx__order_get_window(part) : 0);
        expect_order(order, 17);
        lx_order_unref(order);
        lx_order_unref(part);
    }
}
END_TEST

START_TEST(states_contain_short_parts)
{
    lx_order *order = slice(make_order("shuffle", 10, 42, 0), 2, 5);
    json_t *json = lx__order_to_json(order);
    char *text = lx__json_text(json, JSON_COMPACT);
    ck_assert_str_eq(text, "{\"kind\":\"slice\",\"formula\":1,\"length\":5,\"first\":2,\"part\":"
                           "{\"kind\":\"shuffle\",\"formula\":1,\"length\":10,\"seed\":42}}");
    lx__free(text);
    json_decref(json);
    lx_order_unref(order);
}
END_TEST

START_TEST(states_of_deep_orders_stay_short)
{
    lx_error error = LX_ERROR_INIT;
    char state[LX_MAX_SAMPLER_STATE], other[LX_MAX_SAMPLER_STATE];
    lx_order *order = make_order("shuffle", 100000, 42, 0);
    lx_order *odd = make_order("shuffle", 100000, 43, 0);
    lx_sampler *sampler;
    for (uint64_t i = 0; i < 60; i++) {
        order = slice(order, 1, 99999 - i);
        odd = slice(odd, 1, 99999 - i);
        unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
        unit_ok(lx_sampler_save(sampler, state, sizeof state, NULL, &error));
        unit_ok(lx_sampler_restore(sampler, state, &error));
        lx_sampler_free(sampler);
        /* A difference deep within is detected, too. */
        unit_ok(lx_sampler_new(odd, 0, 1, &sampler, &error));
        unit_ok(lx_sampler_save(sampler, other, sizeof other, NULL, &error));
        lx_status status = lx_sampler_restore(sampler, state, &error);
        ck_assert_int_eq(status, LX_ERR_MISMATCH);
        ck_assert(strstr(error.message, "order.part.") != NULL);
        lx_error_clear(&error);
        lx_sampler_free(sampler);
    }
    expect_order(order, 1);
    lx_order_unref(order);
    lx_order_unref(odd);
}
END_TEST

START_TEST(rejects_orders_nested_too_deeply)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", 100000, 42, 0), *more;
    for (uint64_t i = 1; i < LX_MAX_ORDER_DEPTH; i++)
        order = slice(order, 0, 100000 - i);
    lx_order *const parts[] = {order};
    static const uint64_t indices[100000];
    unit_fails(lx_order_new_slice(order, 0, 1, &more, &error), LX_ERR_LIMIT);
    ck_assert_ptr_null(more);
    unit_fails(lx_order_new_repeat(order, 2, &more, &error), LX_ERR_LIMIT);
    unit_fails(lx_order_new_concat(parts, NULL, 1, &more, &error), LX_ERR_LIMIT);
    unit_fails(lx_order_new_subset(order, indices, 100000, NULL, &more, &error), LX_ERR_LIMIT);
    ck_assert_ptr_null(more);
    lx_order_unref(order);
}
END_TEST

START_TEST(rejects_orders_of_too_many_parts)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("sequential", 3, 0, 0), *more;
    for (int i = 0; i < 15; i++) { /* each repeats the previous one */
        lx_order *const parts[] = {order, order};
        unit_ok(lx_order_new_concat(parts, NULL, 2, &more, &error));
        lx_order_unref(order);
        order = more;
    }
    json_t *json = lx__order_to_json(order);
    ck_assert_ptr_nonnull(json);
    json_decref(json);
    lx_order *const parts[] = {order, order};
    unit_fails(lx_order_new_concat(parts, NULL, 2, &more, &error), LX_ERR_LIMIT);
    lx_order_unref(order);
}
END_TEST

/** The abbreviation of the JSON of many equal parts. */
static json_t *many(size_t count)
{
    lx__inner_order parts[100] = {0};
    lx_order *in = make_order("sequential", 1, 0, 0);
    lx_order *order = make_order("shuffle", 1000, 42, 0);
    for (size_t i = 0; i < count; i++)
        lx__inner_order_init(&parts[i], order, in);
    json_t *json = lx__inner_orders_to_json(parts, count);
    for (size_t i = 0; i < count; i++)
        lx__inner_order_clear(&parts[i]);
    lx_order_unref(order);
    lx_order_unref(in);
    ck_assert_ptr_nonnull(json);
    return json;
}

START_TEST(states_replace_many_parts_by_checksums)
{
    json_t *json = many(10);
    ck_assert_uint_eq(json_array_size(json), 10);
    ck_assert(json_is_object(json_array_get(json, 9)));
    json_decref(json);
    json = many(64);
    ck_assert_uint_eq(json_array_size(json), 64);
    ck_assert_uint_eq(json_string_length(json_array_get(json, 63)), 8);
    json_decref(json);
    json = many(65);
    ck_assert_uint_eq(json_string_length(json), 8);
    json_decref(json);
}
END_TEST

UNIT_MAIN("sampler/inner-order", epochs_restart_after_the_last,
          some_orders_keep_the_blocks_of_their_part, states_contain_short_parts,
          states_of_deep_orders_stay_short, states_replace_many_parts_by_checksums,
          rejects_orders_nested_too_deeply, rejects_orders_of_too_many_parts)
