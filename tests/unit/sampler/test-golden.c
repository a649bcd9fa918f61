/* SPDX-License-Identifier: MIT */
/* What a second implementation, written from doc/orders.md, gives, and the library must. */
#include <loaderx/grouped.h>
#include <loaderx/mixture.h>
#include <loaderx/nanoset.h>
#include <loaderx/torch.h>
#include <loaderx/weighted.h>

#include "../data.h"
#include "orders.h"
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

/** Entry i is i * i * times, modulo so much. */
static uint64_t *squares(const json_t *rule, size_t *count)
{
    *count = number(rule, "count");
    uint64_t *values = calloc(*count, sizeof *values);
    for (size_t i = 0; i < *count; i++)
        values[i] = i * i * number(rule, "times") % number(rule, "modulo");
    return values;
}

/** A table, which stands there whole or as a rule, for free(). */
static uint64_t *golden_table(const json_t *description, size_t *count)
{
    const json_t *table = json_object_get(description, "table");
    return json_is_object(table) ? squares(table, count) : numbers(table, count);
}

/** Weights that are texts, for free(). */
static double *weights_of(const json_t *array, size_t *count)
{
    *count = json_array_size(array);
    double *weights = calloc(*count + 1, sizeof *weights);
    for (size_t i = 0; i < *count; i++)
        weights[i] = strtod(json_string_value(json_array_get(array, i)), NULL);
    return weights;
}

/** Those that were given for each index. */
static double *given_weights(const json_t *description, size_t *count)
{
    const json_t *given = json_object_get(description, "given");
    if (!json_is_object(given))
        return weights_of(given, count);
    uint64_t *values = squares(given, count);
    double *weights = calloc(*count, sizeof *weights);
    for (size_t i = 0; i < *count; i++)
        weights[i] = (double)values[i];
    free(values);
    return weights;
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
    size_t n;
    const json_t *array = json_object_get(json_array_get(weightings, which), "weights");
    double *weights = weights_of(array, &n);
    ck_assert_uint_eq(n, count);
    return weights;
}

static lx_exhausted exhausted_of(const json_t *description)
{
    const char *word = json_string_value(json_object_get(description, "exhausted"));
    return strcmp(word, "repeat") == 0 ? LX_EXHAUSTED_REPEAT
           : strcmp(word, "stop") == 0 ? LX_EXHAUSTED_STOP
                                       : LX_EXHAUSTED_REDISTRIBUTE;
}

/** A blend, or a greedy one. */
static lx_order *golden_mixture(const char *kind, const json_t *description,
                                lx_order *const *parts, const uint64_t *offsets, size_t count)
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
    if (strcmp(kind, "blend") == 0)
        unit_ok(lx_order_new_blend(mixture, &order, &error));
    else
        unit_ok(lx_order_new_greedy(mixture, &order, &error));
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
    if (strcmp(kind, "concat") == 0)
        unit_ok(lx_order_new_concat(parts, offsets, count, &order, &error));
    else
        order = golden_mixture(kind, description, parts, offsets, count);
    for (size_t i = 0; i < count; i++)
        lx_order_unref(parts[i]);
    free(offsets);
    return order;
}

static bool is_of_torch(const json_t *part)
{
    return strcmp(json_string_value(json_object_get(part, "kind")), "torch") == 0;
}

static lx_order *golden_subset(const json_t *description, lx_order *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    uint64_t *table = golden_table(description, &count);
    const json_t *of = json_object_get(description, "part");
    if (is_of_torch(of))
        unit_ok(lx_order_new_torch_subset(table, count, number(of, "seed"), &order, &error));
    else
        unit_ok(lx_order_new_subset(part, table, count, &order, &error));
    free(table);
    return order;
}

/** A slice or a padded order that stands for a DistributedSampler; @p world are its ranks. */
static lx_order *golden_distributed(const json_t *description, uint64_t world, bool drop_last)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    const json_t *part = json_object_get(description, "part");
    bool shuffle = is_of_torch(part);
    unit_ok(lx_order_new_torch_distributed(number(part, "length"), world, shuffle, drop_last,
                                           shuffle ? number(part, "seed") : 0, &order, &error));
    return order;
}

/** Of the kinds that have one part, which is not made where that cannot be done alone. */
static lx_order *golden_of_part(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    const json_t *of = json_object_get(description, "part");
    if (json_object_get(description, "world") != NULL)
        return golden_distributed(description, number(description, "world"), true);
    if (strcmp(kind, "padded") == 0 && is_of_torch(of))
        return golden_distributed(description, number(description, "multiple"), false);
    lx_order *part = is_of_torch(of) ? NULL : golden_order(of), *order;
    if (strcmp(kind, "slice") == 0) {
        unit_ok(lx_order_new_slice(part, number(description, "first"),
                                   number(description, "length"), &order, &error));
    } else if (strcmp(kind, "repeat") == 0) {
        unit_ok(lx_order_new_repeat(part, number(description, "times"), &order, &error));
    } else if (strcmp(kind, "padded") == 0) {
        unit_ok(lx_order_new_padded(part, number(description, "multiple"), &order, &error));
    } else {
        ck_assert_str_eq(kind, "subset");
        order = golden_subset(description, part);
    }
    lx_order_unref(part);
    return order;
}

static lx_order *golden_by_weights(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    double *weights = given_weights(description, &count);
    uint64_t length = number(description, "length"), seed = number(description, "seed");
    if (strcmp(kind, "weighted") == 0)
        unit_ok(lx_order_new_weighted(weights, count, length, seed, &order, &error));
    else
        unit_ok(lx_order_new_weighted_shuffle(weights, count, length, seed, &order, &error));
    free(weights);
    return order;
}

static lx_order *golden_nanoset(const json_t *description, const uint64_t *lengths, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t given;
    double *weights = given_weights(description, &given);
    bool divide = json_is_true(json_object_get(description, "divide"));
    ck_assert(given == 0 || given == count);
    unit_ok(lx_order_new_nanoset(lengths, given == 0 ? NULL : weights, count, divide,
                                 number(description, "seed"), &order, &error));
    free(weights);
    return order;
}

/** Of the kinds that have a table of numbers. */
static lx_order *golden_of_table(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    uint64_t *table = golden_table(description, &count);
    uint64_t length = number(description, "length"), seed = number(description, "seed");
    if (strcmp(kind, "balanced") == 0)
        unit_ok(lx_order_new_balanced(table, count, length, seed, &order, &error));
    else if (strcmp(kind, "bucketed") == 0)
        unit_ok(lx_order_new_bucketed(table, count, number(description, "batch"),
                                      number(description, "bucket"), seed, &order, &error));
    else
        order = golden_nanoset(description, table, count);
    free(table);
    return order;
}

/** Of the kinds that are numbers alone. */
static lx_order *golden_of_numbers(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t length = number(description, "length");
    if (strcmp(kind, "sequential") == 0)
        return make_order(kind, length, number(description, "window"),
                          number(description, "stride"));
    uint64_t seed = number(description, "seed");
    if (strcmp(kind, "blocks") == 0)
        unit_ok(lx_order_new_blocks(length, number(description, "block"), seed, &order, &error));
    else if (strcmp(kind, "torch") == 0)
        unit_ok(lx_order_new_torch_random(number(description, "indices"), length,
                                          json_is_true(json_object_get(description,
                                                                       "replacement")),
                                          seed, &order, &error));
    else
        return make_order(kind, length, seed, 0);
    return order;
}

/** What a golden describes, whole and with its tables. */
static lx_order *golden_order(const json_t *description)
{
    const char *kind = json_string_value(json_object_get(description, "kind"));
    if (json_object_get(description, "part") != NULL)
        return golden_of_part(kind, description);
    if (json_object_get(description, "parts") != NULL)
        return golden_of_parts(kind, description);
    if (json_object_get(description, "table") != NULL)
        return golden_of_table(kind, description);
    if (json_object_get(description, "given") != NULL)
        return golden_by_weights(kind, description);
    return golden_of_numbers(kind, description);
}

/** Holds the state of an order against what is kept. */
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
    read_order(order, number(golden, "first"), number(golden, "step"), count, indices);
    json_array_foreach(expected, k, value) {
        json_t *ours = lx__state_number(indices[k]);
        ck_assert_msg(json_equal(ours, value), "golden %zu, index %zu", i, k);
        json_decref(ours);
    }
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

START_TEST(orders_are_as_their_page_defines_them)
{
    json_t *file = read_goldens(), *golden, *goldens = json_object_get(file, "goldens");
    lx_order *order = NULL;
    size_t i;
    ck_assert_uint_gt(json_array_size(goldens), 500);
    json_array_foreach(goldens, i, golden) {
        json_t *description = json_object_get(golden, "order");
        if (description != NULL) { /* else it is that of the one before */
            lx_order_unref(order);
            order = golden_order(description);
            check_state(order, golden, i);
        }
        check_indices(order, golden, i);
    }
    lx_order_unref(order);
    json_decref(file);
}
END_TEST

static double share(const json_t *golden, const char *key)
{
    return strtod(json_string_value(json_object_get(golden, key)), NULL);
}

START_TEST(splits_are_as_their_page_defines_them)
{
    lx_error error = LX_ERROR_INIT;
    json_t *file = read_goldens(), *golden, *splits = json_object_get(file, "splits");
    size_t i, kept, keys_count;
    ck_assert_uint_gt(json_array_size(splits), 5);
    json_array_foreach(splits, i, golden) {
        uint64_t count = number(golden, "count"), found;
        uint64_t *indices = calloc(count + 1, sizeof *indices);
        uint64_t *expected = numbers(json_object_get(golden, "indices"), &kept);
        uint64_t *keys = numbers(json_object_get(golden, "keys"), &keys_count);
        unit_ok(lx_split_indices(keys_count > 0 ? keys : NULL, count, number(golden, "seed"),
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

UNIT_MAIN("sampler/golden", orders_are_as_their_page_defines_them,
          splits_are_as_their_page_defines_them)
