/* SPDX-License-Identifier: MIT */
/* Compares the library with a second implementation, written from doc/orders.md. */
#include <loaderx/batching.h>
#include <loaderx/split.h>

#include "../../new-orders.h"
#include "../data.h"
#include "described.h"
#include "orders.h"
#include "sampler/core/order-json.h"
#include "sampler/core/saved-state.h"

/** Compares the state of an order with the stored one. */
static void check_state(lx_order *order, const json_t *golden, size_t i)
{
    lx_error error = LX_ERROR_INIT;
    json_t *state = json_object_get(golden, "state");
    if (state == NULL)
        state = json_object_get(golden, "order");
    ck_assert_msg(lx__order_match_json(order, state, &error) == LX_OK, "golden %zu: %s", i,
                  error.message);
}

static void check_indices(lx_order *order, const json_t *golden, size_t i)
{
    uint64_t indices[64];
    json_t *expected = json_object_get(golden, "indices"), *value;
    size_t k, count = json_array_size(expected);
    ck_assert_uint_le(count, 64);
    read_order(order, number_of(golden, "first"), number_of(golden, "step"), count, indices);
    json_array_foreach(expected, k, value)
    {
        json_t *ours = lx__state_number(indices[k]);
        ck_assert_msg(json_equal(ours, value), "golden %zu, index %zu", i, k);
        json_decref(ours);
    }
}

/** Of an order that is cut. */
static void check_batches(const lx_order *order, const json_t *golden, size_t i)
{
    lx_error error = LX_ERROR_INIT;
    const json_t *batches = json_object_get(golden, "batches");
    uint64_t length = lx_order_get_length(order), at, end, found, count;
    if (batches == NULL)
        return;
    uint64_t epoch = number_of(golden, "first") / length;
    size_t ends_count;
    uint64_t *ends = numbers_of(json_object_get(batches, "ends"), &ends_count);
    unit_ok(lx_order_get_batch_count(order, epoch, &count, &error));
    ck_assert_msg(count == number_of(batches, "count"), "golden %zu: %d batches", i, (int)count);
    at = epoch * length;
    for (size_t k = 0; k < ends_count; k++, at = end) {
        unit_ok(lx_order_find_batch(order, at, &found, NULL, &end, &error));
        ck_assert_msg(found == k && end - epoch * length == ends[k], "golden %zu, batch %zu", i, k);
    }
    free(ends);
}

static json_t *read_goldens(void)
{
    lx_error error = LX_ERROR_INIT;
    char *text = data_read("orders/orders-1.json");
    json_t *file;
    unit_ok(lx__json_parse(text, strlen(text), &file, &error));
    free(text);
    return file;
}

START_TEST(orders_match_their_definition)
{
    json_t *file = read_goldens(), *golden, *goldens = json_object_get(file, "goldens");
    lx_order *order = NULL;
    size_t i;
    ck_assert_uint_gt(json_array_size(goldens), 500);
    json_array_foreach(goldens, i, golden)
    {
        json_t *description = json_object_get(golden, "order");
        if (description != NULL) { /* otherwise it is that of the one before */
            lx_order_unref(order);
            order = described_order(description);
            check_state(order, golden, i);
        }
        check_indices(order, golden, i);
        check_batches(order, golden, i);
    }
    lx_order_unref(order);
    json_decref(file);
}
END_TEST

static double share(const json_t *golden, const char *key)
{
    return strtod(json_string_value(json_object_get(golden, key)), NULL);
}

START_TEST(splits_match_their_definition)
{
    lx_error error = LX_ERROR_INIT;
    json_t *file = read_goldens(), *golden, *splits = json_object_get(file, "splits");
    size_t i, kept, keys_count;
    ck_assert_uint_gt(json_array_size(splits), 5);
    json_array_foreach(splits, i, golden)
    {
        uint64_t count = number_of(golden, "count"), found;
        uint64_t *indices = calloc(count + 1, sizeof *indices);
        uint64_t *expected = numbers_of(json_object_get(golden, "indices"), &kept);
        uint64_t *keys = numbers_of(json_object_get(golden, "keys"), &keys_count);
        unit_ok(split_indices(keys_count > 0 ? keys : NULL, count, number_of(golden, "seed"),
                              share(golden, "from"), share(golden, "until"), indices, &found,
                              &error));
        ck_assert_uint_eq(found, kept);
        ck_assert(found == 0 || memcmp(indices, expected, found * sizeof *indices) == 0);
        free(keys);
        free(expected);
        free(indices);
    }
    json_decref(file);
}
END_TEST

UNIT_MAIN("sampler/golden", orders_match_their_definition, splits_match_their_definition)
