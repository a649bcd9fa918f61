/* SPDX-License-Identifier: MIT */
#include "sampler/order/order.h"

#include <pthread.h>

#include <loaderx/mixture.h>

#include "../../data.h"
#include "../../scarce.h"
#include "base/alloc.h"
#include "../orders.h"
#include "sampler/order/state.h"

#define PARTS_MAX 128

/** A number of the goldens, wherever it stands. */
static uint64_t number(const json_t *object, const char *key)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t value;
    unit_ok(lx__state_get_number(object, key, &value, &error));
    return value;
}

/** An array of numbers, for free(). */
static uint64_t *numbers(const json_t *array, size_t *count)
{
    *count = json_array_size(array);
    uint64_t *values = calloc(*count + 1, sizeof *values);
    for (size_t i = 0; i < *count; i++) {
        json_t *object = json_pack("{s:O}", "n", json_array_get(array, i));
        values[i] = number(object, "n");
        json_decref(object);
    }
    return values;
}

static lx_order *golden_order(const json_t *description);

/** The parts, as many as there are offsets. */
static size_t golden_parts(const json_t *description, lx_order **parts, uint64_t **offsets)
{
    size_t count;
    const json_t *array = json_object_get(description, "parts");
    *offsets = numbers(json_object_get(description, "offsets"), &count);
    ck_assert_uint_eq(json_array_size(array), count);
    ck_assert_uint_le(count, PARTS_MAX);
    for (size_t i = 0; i < count; i++)
        parts[i] = golden_order(json_array_get(array, i));
    return count;
}

/** The weights that hold from an offset on, for free(). */
static double *golden_weights(const json_t *weightings, size_t which, size_t count)
{
    double *weights = calloc(count, sizeof *weights);
    const json_t *array = json_object_get(json_array_get(weightings, which), "weights");
    ck_assert_uint_eq(json_array_size(array), count);
    for (size_t i = 0; i < count; i++)
        weights[i] = strtod(json_string_value(json_array_get(array, i)), NULL);
    return weights;
}

static lx_exhausted exhausted_of(const json_t *description)
{
    const char *word = json_string_value(json_object_get(description, "exhausted"));
    return strcmp(word, "repeat") == 0 ? LX_EXHAUSTED_REPEAT
           : strcmp(word, "stop") == 0 ? LX_EXHAUSTED_STOP
                                       : LX_EXHAUSTED_REDISTRIBUTE;
}

static lx_order *golden_blend(const json_t *description, lx_order *const *parts,
                              const uint64_t *offsets, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_mixture *mixture = lx_mixture_new();
    json_t *weightings = json_object_get(description, "weightings");
    double *weights = golden_weights(weightings, 0, count);
    for (size_t i = 0; i < count; i++)
        unit_ok(lx_mixture_add(mixture, parts[i], offsets[i], weights[i], &error));
    free(weights);
    for (size_t i = 1; i < json_array_size(weightings); i++) {
        weights = golden_weights(weightings, i, count);
        unit_ok(lx_mixture_set_weights(mixture, number(json_array_get(weightings, i), "begin"),
                                       weights, count, &error));
        free(weights);
    }
    unit_ok(lx_mixture_set_exhausted(mixture, exhausted_of(description), &error));
    unit_ok(lx_mixture_set_length(mixture, number(description, "length"), &error));
    unit_ok(lx_order_new_blend(mixture, &order, &error));
    lx_mixture_free(mixture);
    return order;
}

/** Of the kinds that have several parts. */
static lx_order *golden_of_parts(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *parts[PARTS_MAX], *order;
    uint64_t *offsets;
    size_t count = golden_parts(description, parts, &offsets);
    if (strcmp(kind, "blend") == 0)
        order = golden_blend(description, parts, offsets, count);
    else
        unit_ok(lx_order_new_concat(parts, offsets, count, &order, &error));
    for (size_t i = 0; i < count; i++)
        lx_order_unref(parts[i]);
    free(offsets);
    return order;
}

/** Of the kinds that have one part. */
static lx_order *golden_of_part(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *part = golden_order(json_object_get(description, "part")), *order;
    if (strcmp(kind, "slice") == 0) {
        unit_ok(lx_order_new_slice(part, number(description, "first"),
                                   number(description, "length"), &order, &error));
    } else if (strcmp(kind, "repeat") == 0) {
        unit_ok(lx_order_new_repeat(part, number(description, "times"), &order, &error));
    } else {
        size_t count;
        uint64_t *table = numbers(json_object_get(description, "table"), &count);
        ck_assert_str_eq(kind, "subset");
        unit_ok(lx_order_new_subset(part, table, count, &order, &error));
        free(table);
    }
    lx_order_unref(part);
    return order;
}

/** What a golden describes, whole and with its tables. */
static lx_order *golden_order(const json_t *description)
{
    const char *kind = json_string_value(json_object_get(description, "kind"));
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    if (json_object_get(description, "part") != NULL)
        return golden_of_part(kind, description);
    if (json_object_get(description, "parts") != NULL)
        return golden_of_parts(kind, description);
    uint64_t length = number(description, "length");
    if (strcmp(kind, "sequential") == 0)
        return make_order(kind, length, number(description, "window"),
                          number(description, "stride"));
    uint64_t seed = number(description, "seed");
    if (strcmp(kind, "blocks") != 0)
        return make_order(kind, length, seed, 0);
    unit_ok(lx_order_new_blocks(length, number(description, "block"), seed, &order, &error));
    return order;
}

/** Reads one golden and holds it against what is kept. */
static void check_golden(const json_t *golden, size_t i)
{
    lx_error error = LX_ERROR_INIT;
    json_t *description = json_object_get(golden, "order"), *value;
    json_t *state = json_object_get(golden, "state");
    json_t *expected = json_object_get(golden, "indices");
    lx_order *order = golden_order(description);
    ck_assert_msg(lx__order_match_json(order, state != NULL ? state : description, &error) == LX_OK,
                  "golden %zu: %s", i, error.message);
    uint64_t indices[64];
    size_t k, count = json_array_size(expected);
    ck_assert_uint_le(count, 64);
    read_order(order, number(golden, "first"), number(golden, "step"), count, indices);
    json_array_foreach(expected, k, value) {
        json_t *ours = lx__state_number(indices[k]);
        ck_assert_msg(json_equal(ours, value), "golden %zu, index %zu", i, k);
        json_decref(ours);
    }
    lx_order_unref(order);
}

START_TEST(orders_are_as_their_page_defines_them)
{
    lx_error error = LX_ERROR_INIT;
    char *text = data_read("orders/orders-1.json");
    json_t *file, *golden;
    size_t i;
    unit_ok(lx__json_parse(text, strlen(text), &file, &error));
    json_t *goldens = json_object_get(file, "goldens");
    ck_assert_uint_gt(json_array_size(goldens), 500);
    json_array_foreach(goldens, i, golden)
        check_golden(golden, i);
    json_decref(file);
    free(text);
}
END_TEST

START_TEST(references_keep_an_order)
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

START_TEST(lengths_and_bounds_are_told)
{
    static const char *const kinds[] = {"sequential", "random", "shuffle"};
    static const uint64_t lengths[] = {0, 1, 65536, 65537, UINT64_MAX};
    for (int kind = 0; kind < 3; kind++) {
        for (int l = 0; l < 5; l++) {
            lx_order *order = make_order(kinds[kind], lengths[l], 3, 2);
            ck_assert_uint_eq(lx_order_get_length(order), lengths[l]);
            ck_assert_uint_eq(lx__order_get_bound(order), lengths[l]);
            read_order(order, 0, 1, 0, NULL);
            lx_order_unref(order);
        }
    }
}
END_TEST

START_TEST(a_place_for_the_order_is_needed)
{
    lx_error error = LX_ERROR_INIT;
    unit_fails(lx_order_new_sequential(1, 1, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_random(1, 1, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_shuffle(1, 1, NULL, &error), LX_ERR_ARGUMENT);
}
END_TEST

START_TEST(without_memory_reading_fails_and_goes_on_after)
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

START_TEST(threads_share_an_order)
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

UNIT_MAIN("sampler/order", orders_are_as_their_page_defines_them, references_keep_an_order,
          lengths_and_bounds_are_told, a_place_for_the_order_is_needed,
          without_memory_reading_fails_and_goes_on_after, threads_share_an_order)
