/* SPDX-License-Identifier: MIT */
#include "described.h"

#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/weighted.h>

#include "orders.h"
#include "sampler/core/saved-state.h"
#include "../../new-orders.h"

#define PARTS_MAX 128

uint64_t number_of(const json_t *object, const char *key)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t value;
    unit_ok(lx__state_get_number(object, key, &value, &error));
    return value;
}

uint64_t *numbers_of(const json_t *array, size_t *count)
{
    *count = json_array_size(array);
    uint64_t *values = calloc(*count + 1, sizeof *values);
    for (size_t i = 0; i < *count; i++) {
        json_t *object = json_pack("{s:O}", "n", json_array_get(array, i));
        values[i] = number_of(object, "n");
        json_decref(object);
    }
    return values;
}

/** Entry i is i * i * times, modulo so much. */
static uint64_t *squares(const json_t *rule, size_t *count)
{
    *count = number_of(rule, "count");
    uint64_t *values = calloc(*count, sizeof *values);
    for (size_t i = 0; i < *count; i++)
        values[i] = (uint64_t)i * i * number_of(rule, "times") % number_of(rule, "modulo");
    return values;
}

/** A table, given in full or by a rule, for free(). */
static uint64_t *table_of(const json_t *description, size_t *count)
{
    const json_t *table = json_object_get(description, "table");
    return json_is_object(table) ? squares(table, count) : numbers_of(table, count);
}

/** Weights in the form of texts, for free(). */
static double *weights_of(const json_t *array, size_t *count)
{
    *count = json_array_size(array);
    double *weights = calloc(*count + 1, sizeof *weights);
    for (size_t i = 0; i < *count; i++)
        weights[i] = strtod(json_string_value(json_array_get(array, i)), NULL);
    return weights;
}

/** The numbers that are given for each index. */
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

/** The parts, as many as there are offsets. */
static size_t parts_of(const json_t *description, lx_order **parts, uint64_t **offsets)
{
    size_t count;
    const json_t *array = json_object_get(description, "parts");
    *offsets = numbers_of(json_object_get(description, "offsets"), &count);
    ck_assert_uint_eq(json_array_size(array), count);
    ck_assert_uint_le(count, PARTS_MAX);
    for (size_t i = 0; i < count; i++)
        parts[i] = described_order(json_array_get(array, i));
    return count;
}

/** The weights from an offset on, for free(). */
static double *weighting_of(const json_t *weightings, size_t which, size_t count)
{
    size_t n;
    const json_t *array = json_object_get(json_array_get(weightings, which), "weights");
    double *weights = weights_of(array, &n);
    ck_assert_uint_eq(n, count);
    return weights;
}

static lx_exhausted_policy exhausted_of(const json_t *description)
{
    const char *word = json_string_value(json_object_get(description, "exhausted"));
    return strcmp(word, "repeat") == 0 ? LX_EXHAUSTED_REPEAT
           : strcmp(word, "stop") == 0 ? LX_EXHAUSTED_STOP
                                       : LX_EXHAUSTED_REDISTRIBUTE;
}

/** A blend, or a greedy one. */
static lx_order *mixture_of(const char *kind, const json_t *description, lx_order *const *parts,
                            const uint64_t *offsets, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_mixture *mixture = lx_mixture_new();
    json_t *weightings = json_object_get(description, "weightings");
    double *weights = weighting_of(weightings, 0, count);
    for (size_t i = 0; i < count; i++)
        unit_ok(lx_mixture_add_part(mixture, parts[i], offsets[i], weights[i], &error));
    free(weights);
    for (size_t i = 1; i < json_array_size(weightings); i++) {
        weights = weighting_of(weightings, i, count);
        unit_ok(lx_mixture_add_phase(mixture, number_of(json_array_get(weightings, i), "begin"),
                                     weights, count, &error));
        free(weights);
    }
    unit_ok(lx_mixture_set_exhausted_policy(mixture, exhausted_of(description), &error));
    unit_ok(lx_mixture_set_length(mixture, number_of(description, "length"), &error));
    if (strcmp(kind, "blend") == 0)
        unit_ok(lx_order_new_blend(mixture, &order, &error));
    else
        unit_ok(lx_order_new_greedy(mixture, NULL, &order, &error));
    lx_mixture_free(mixture);
    return order;
}

/** Orders with several parts. */
static lx_order *of_parts(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *parts[PARTS_MAX], *order;
    uint64_t *offsets;
    size_t count = parts_of(description, parts, &offsets);
    if (strcmp(kind, "concat") == 0)
        unit_ok(lx_order_new_concat(parts, offsets, count, &order, &error));
    else
        order = mixture_of(kind, description, parts, offsets, count);
    for (size_t i = 0; i < count; i++)
        lx_order_unref(parts[i]);
    free(offsets);
    return order;
}

static bool is_of_torch(const json_t *part)
{
    return strcmp(json_string_value(json_object_get(part, "kind")), "torch") == 0;
}

static lx_order *subset_of(const json_t *description, lx_order *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    uint64_t *table = table_of(description, &count);
    const json_t *of = json_object_get(description, "part");
    if (is_of_torch(of))
        unit_ok(new_torch_subset(table, count, number_of(of, "seed"), NULL, &order, &error));
    else
        unit_ok(lx_order_new_subset(part, table, count, NULL, &order, &error));
    free(table);
    return order;
}

static lx_order *budgeted_of(const json_t *description, lx_order *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    uint64_t *costs = table_of(description, &count);
    unit_ok(new_budgeted(part, costs, count, number_of(description, "budget"),
                         number_of(description, "rows"),
                         json_is_true(json_object_get(description, "padded")), &order, &error));
    free(costs);
    return order;
}

/** A slice or a padded order in place of a DistributedSampler; @p world is its number of ranks. */
static lx_order *distributed_of(const json_t *description, uint64_t world, bool drop_last)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    const json_t *part = json_object_get(description, "part");
    bool shuffle = is_of_torch(part);
    unit_ok(new_torch_distributed(number_of(part, "length"), world, shuffle, drop_last,
                                  shuffle ? number_of(part, "seed") : 0, NULL, &order, &error));
    return order;
}

/** Orders with one part, which is not made if it cannot exist alone. */
static lx_order *of_part(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    const json_t *of = json_object_get(description, "part");
    if (json_object_get(description, "world") != NULL)
        return distributed_of(description, number_of(description, "world"), true);
    if (strcmp(kind, "padded") == 0 && is_of_torch(of))
        return distributed_of(description, number_of(description, "multiple"), false);
    lx_order *part = is_of_torch(of) ? NULL : described_order(of), *order;
    if (strcmp(kind, "slice") == 0) {
        unit_ok(lx_order_new_slice(part, number_of(description, "first"),
                                   number_of(description, "length"), &order, &error));
    } else if (strcmp(kind, "repeat") == 0) {
        unit_ok(lx_order_new_repeat(part, number_of(description, "times"), &order, &error));
    } else if (strcmp(kind, "padded") == 0) {
        unit_ok(lx_order_new_padded(part, number_of(description, "multiple"), &order, &error));
    } else if (strcmp(kind, "budgeted") == 0) {
        order = budgeted_of(description, part);
    } else {
        ck_assert_str_eq(kind, "subset");
        order = subset_of(description, part);
    }
    lx_order_unref(part);
    return order;
}

static lx_order *by_weights(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    double *weights = given_weights(description, &count);
    uint64_t length = number_of(description, "length"), seed = number_of(description, "seed");
    if (strcmp(kind, "weighted") == 0)
        unit_ok(new_weighted(weights, count, length, seed, NULL, &order, &error));
    else
        unit_ok(new_weighted_shuffle(weights, count, length, seed, NULL, &order, &error));
    free(weights);
    return order;
}

static lx_order *nanoset_of(const json_t *description, const uint64_t *lengths, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t given;
    double *weights = given_weights(description, &given);
    bool divide = json_is_true(json_object_get(description, "divide"));
    ck_assert(given == 0 || given == count);
    unit_ok(new_nanoset(lengths, given == 0 ? NULL : weights, count, divide,
                        number_of(description, "seed"), NULL, &order, &error));
    free(weights);
    return order;
}

/** Orders with a table of numbers. */
static lx_order *of_table(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    size_t count;
    uint64_t *table = table_of(description, &count);
    uint64_t length = number_of(description, "length"), seed = number_of(description, "seed");
    if (strcmp(kind, "balanced") == 0)
        unit_ok(new_balanced(table, count, length, seed, NULL, &order, &error));
    else if (strcmp(kind, "bucketed") == 0)
        unit_ok(new_bucketed(table, count, number_of(description, "batch"),
                             number_of(description, "bucket"), seed, NULL, &order, &error));
    else
        order = nanoset_of(description, table, count);
    free(table);
    return order;
}

/** Orders with only numbers. */
static lx_order *of_numbers(const char *kind, const json_t *description)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    uint64_t length = number_of(description, "length");
    if (strcmp(kind, "sequential") == 0) {
        bool slides = json_object_get(description, "indices") != NULL;
        return make_order(kind, slides ? number_of(description, "indices") : length,
                          number_of(description, "window"), number_of(description, "stride"));
    }
    uint64_t seed = number_of(description, "seed");
    if (strcmp(kind, "blocks") == 0)
        unit_ok(lx_order_new_blocks(length, number_of(description, "block"), seed, &order, &error));
    else if (strcmp(kind, "lanes") == 0)
        unit_ok(lx_order_new_lanes(length, number_of(description, "lanes"),
                                   number_of(description, "block"), seed, &order, &error));
    else if (strcmp(kind, "torch") == 0)
        unit_ok(new_torch_random(number_of(description, "indices"), length,
                                 json_is_true(json_object_get(description, "replacement")), seed,
                                 NULL, &order, &error));
    else
        return make_order(kind, length, seed, 0);
    return order;
}

lx_order *described_order(const json_t *description)
{
    const char *kind = json_string_value(json_object_get(description, "kind"));
    if (json_object_get(description, "part") != NULL)
        return of_part(kind, description);
    if (json_object_get(description, "parts") != NULL)
        return of_parts(kind, description);
    if (json_object_get(description, "table") != NULL)
        return of_table(kind, description);
    if (json_object_get(description, "given") != NULL)
        return by_weights(kind, description);
    return of_numbers(kind, description);
}
