/* SPDX-License-Identifier: MIT */
#include "any-order.h"

#include <loaderx/mixture.h>
#include <loaderx/parity.h>
#include <loaderx/weighted.h>

#include "../executor/workload.h"
#include "../../new-orders.h"
#include "orders.h"
#include "sampler/core/order-json.h"

/* Longest epoch of an order without parts, and of a part. */
#define SIMPLE_MAX 200
#define PART_MAX 400
#define PARTS_MAX 5
/* Maximum depth of nested orders. */
#define DEPTH_MAX 3

static uint64_t below(uint64_t *state, uint64_t end)
{
    return random_next(state) % end;
}

static struct any_order any_of_numbers(uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    struct any_order any = {.once = true};
    uint64_t length = 1 + below(state, SIMPLE_MAX), seed = random_next(state);
    uint64_t window = 1 + below(state, 9), stride = 1 + below(state, 9);
    switch (below(state, 6)) {
    case 0:
        any.order = make_order("sequential", length, window, stride);
        any.once = window == stride;
        return any;
    case 1:
        any.order = make_order("random", length, seed, 0);
        any.once = false;
        return any;
    case 2:
        unit_ok(
            lx_order_new_blocks(length, 1 + below(state, length + 3), seed, &any.order, &error));
        return any;
    case 3:
        length = length == 1 ? 2 : length;
        stride = 1 + below(state, length / 2);
        unit_ok(lx_order_new_lanes(length, stride, 1 + below(state, length / stride), seed,
                                   &any.order, &error));
        return any;
    default:
        any.order = make_order("shuffle", length, seed, 0);
        return any;
    }
}

static struct any_order any_by_weights(uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    double weights[SIMPLE_MAX];
    uint64_t count = 1 + below(state, SIMPLE_MAX), some = 1, seed = random_next(state);
    weights[0] = 1;
    for (uint64_t i = 1; i < count; i++) {
        weights[i] = (double)below(state, 5) / 4;
        some += weights[i] > 0;
    }
    struct any_order any = {.once = below(state, 2) == 0};
    uint64_t length = 1 + below(state, any.once ? some : SIMPLE_MAX);
    if (any.once)
        unit_ok(new_weighted_shuffle(weights, count, length, seed, NULL, &any.order, &error));
    else
        unit_ok(new_weighted(weights, count, length, seed, NULL, &any.order, &error));
    return any;
}

static struct any_order any_by_groups(uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t numbers[SIMPLE_MAX];
    uint64_t count = 1 + below(state, SIMPLE_MAX), kinds = 1 + below(state, 20);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = below(state, kinds);
    struct any_order any = {.once = below(state, 2) == 0};
    uint64_t batch = 1 + below(state, 9), seed = random_next(state);
    if (any.once)
        unit_ok(new_bucketed(numbers, count, batch, batch * (1 + below(state, 5)), seed, NULL,
                             &any.order, &error));
    else
        unit_ok(new_balanced(numbers, count, 1 + below(state, SIMPLE_MAX), seed, NULL, &any.order,
                             &error));
    return any;
}

static struct any_order any_of_torch(uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    struct any_order any = {.once = true};
    uint64_t length = 1 + below(state, SIMPLE_MAX), seed = below(state, 1u << 31);
    uint64_t indices[SIMPLE_MAX], samples = 1 + below(state, SIMPLE_MAX);
    bool first = below(state, 2) == 0, second = below(state, 2) == 0;
    switch (below(state, 3)) {
    case 0:
        unit_ok(new_torch_random(length, samples, first, seed, NULL, &any.order, &error));
        any.once = !first && samples <= length;
        return any;
    case 1:
        for (uint64_t i = 0; i < length; i++)
            indices[i] = 2 * i;
        unit_ok(new_torch_subset(indices, length, seed, NULL, &any.order, &error));
        return any;
    default:
        unit_ok(new_torch_distributed(length, 1 + below(state, length), first, second, seed, NULL,
                                      &any.order, &error));
        any.once = second;
        return any;
    }
}

static struct any_order any_nanoset(uint64_t *state)
{
    lx_error error = LX_ERROR_INIT;
    struct any_order any = {.once = false};
    uint64_t lengths[PARTS_MAX];
    double weights[PARTS_MAX];
    size_t count = 1 + below(state, PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        lengths[i] = 1 + below(state, SIMPLE_MAX / PARTS_MAX);
        weights[i] = 0.5 + (double)below(state, 10);
    }
    bool given = below(state, 2) == 0;
    unit_ok(new_nanoset(lengths, given ? weights : NULL, count, given, below(state, 1u << 31), NULL,
                        &any.order, &error));
    return any;
}

static struct any_order any_simple(uint64_t *state)
{
    switch (below(state, 8)) {
    case 0:
        return any_by_weights(state);
    case 1:
        return any_by_groups(state);
    case 2:
        return any_of_torch(state);
    case 3:
        return any_nanoset(state);
    default:
        return any_of_numbers(state);
    }
}

/* ---- combined orders */

static struct any_order any_within(uint64_t *state, int depth);

static struct any_order any_subset(uint64_t *state, struct any_order part)
{
    lx_error error = LX_ERROR_INIT;
    struct any_order any = {.once = part.once};
    uint64_t count = lx__order_get_bound(part.order), turn = below(state, count);
    uint64_t *table = calloc(count, sizeof *table);
    for (uint64_t i = 0; i < count; i++)
        table[i] = (i + turn) % count;
    unit_ok(lx_order_new_subset(part.order, table, count, NULL, &any.order, &error));
    free(table);
    return any;
}

/** Of one part. */
static struct any_order any_of_part(uint64_t *state, int depth)
{
    lx_error error = LX_ERROR_INIT;
    struct any_order part = any_within(state, depth), any = part;
    uint64_t n = lx_order_get_length(part.order), first = below(state, n);
    uint64_t times = 1 + below(state, 3), multiple = 1 + below(state, n < 30 ? 2 * n : 30);
    switch (below(state, 4)) {
    case 0:
        unit_ok(
            lx_order_new_slice(part.order, first, 1 + below(state, n - first), &any.order, &error));
        break;
    case 1:
        unit_ok(lx_order_new_repeat(part.order, times, &any.order, &error));
        any.once = part.once && times == 1;
        break;
    case 2:
        unit_ok(lx_order_new_padded(part.order, multiple, &any.order, &error));
        any.once = part.once && n % multiple == 0;
        break;
    default:
        any = any_subset(state, part);
    }
    lx_order_unref(part.order);
    return any;
}

/** Weights, the first of which is not zero. */
static void any_weights(uint64_t *state, double *weights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = i != 0 && below(state, 7) == 0 ? 0 : (double)(1 + below(state, 20));
}

/** Weights that change, if the order has room for that. */
static void add_curriculum(uint64_t *state, lx_mixture *mixture, size_t count, uint64_t end)
{
    lx_error error = LX_ERROR_INIT;
    double weights[PARTS_MAX];
    for (uint64_t begin = 1 + below(state, end); begin < end; begin += 1 + below(state, end)) {
        any_weights(state, weights, count);
        unit_ok(lx_mixture_add_phase(mixture, begin, weights, count, &error));
    }
}

static struct any_order any_mixture(uint64_t *state, const struct any_order *parts,
                                    const uint64_t *offsets, size_t count)
{
    lx_error error = LX_ERROR_INIT;
    double weights[PARTS_MAX];
    lx_mixture *mixture = lx_mixture_new();
    lx_exhausted_policy exhausted = (lx_exhausted_policy)below(state, 3);
    struct any_order any = {.once = exhausted != LX_EXHAUSTED_REPEAT};
    uint64_t sum = 0;
    any_weights(state, weights, count);
    for (size_t i = 0; i < count; i++) {
        unit_ok(lx_mixture_add_part(mixture, parts[i].order, offsets[i], weights[i], &error));
        sum += lx_order_get_length(parts[i].order);
        any.once = any.once && parts[i].once;
    }
    uint64_t length = below(state, 2) == 0 ? 0 : 1 + below(state, sum);
    unit_ok(lx_mixture_set_exhausted_policy(mixture, exhausted, &error));
    unit_ok(lx_mixture_set_length(mixture, length, &error));
    if (below(state, 3) == 0) {
        unit_ok(lx_order_new_greedy(mixture, NULL, &any.order, &error));
    } else {
        if (below(state, 2) == 0)
            add_curriculum(state, mixture, count, length != 0 ? length : sum);
        unit_ok(lx_order_new_blend(mixture, &any.order, &error));
    }
    lx_mixture_free(mixture);
    return any;
}

static struct any_order any_concat(const struct any_order *parts, const uint64_t *offsets,
                                   size_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *orders[PARTS_MAX];
    struct any_order any = {.once = true};
    for (size_t i = 0; i < count; i++) {
        orders[i] = parts[i].order;
        any.once = any.once && parts[i].once;
    }
    unit_ok(lx_order_new_concat(orders, offsets, count, &any.order, &error));
    return any;
}

/** An order of several parts with distinct indices. */
static struct any_order any_of_parts(uint64_t *state, int depth)
{
    struct any_order parts[PARTS_MAX];
    uint64_t offsets[PARTS_MAX], offset = 0;
    size_t count = 1 + below(state, PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        parts[i] = any_within(state, depth);
        offsets[i] = offset;
        offset += lx__order_get_bound(parts[i].order);
    }
    struct any_order any = below(state, 4) == 0 ? any_concat(parts, offsets, count)
                                                : any_mixture(state, parts, offsets, count);
    for (size_t i = 0; i < count; i++)
        lx_order_unref(parts[i].order);
    return any;
}

/** An order that is no deeper than allowed, and no longer than a part may be. */
static struct any_order any_within(uint64_t *state, int depth)
{
    struct any_order any;
    if (depth == 0)
        return any_simple(state);
    switch (below(state, 4)) {
    case 0:
        any = any_of_part(state, depth - 1);
        break;
    case 1:
        any = any_of_parts(state, depth - 1);
        break;
    default:
        any = any_simple(state);
    }
    if (lx_order_get_length(any.order) <= PART_MAX && lx__order_get_bound(any.order) <= PART_MAX)
        return any;
    lx_order_unref(any.order);
    return any_simple(state);
}

static struct any_order any_at_all(uint64_t *state)
{
    switch (below(state, 4)) {
    case 0:
        return any_of_part(state, DEPTH_MAX);
    case 1:
        return any_simple(state);
    default:
        return any_of_parts(state, DEPTH_MAX);
    }
}

struct any_order any_order(uint64_t *state)
{
    /* An order of many parts nearly always repeats an index: every other one is made without
     * repeats. */
    bool once = below(state, 2) == 0;
    struct any_order any = any_at_all(state);
    while (once && !any.once) {
        lx_order_unref(any.order);
        any = any_at_all(state);
    }
    return any;
}

char *any_order_text(const lx_order *order)
{
    json_t *json = lx__order_to_json(order);
    char *text = json_dumps(json, JSON_COMPACT);
    ck_assert_ptr_nonnull(text);
    json_decref(json);
    return text;
}
