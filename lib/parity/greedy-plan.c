/* SPDX-License-Identifier: MIT */
#include "parity/greedy-plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "sampler/core/index-table-cache.h"
#include "sampler/core/order.h"
#include "sampler/core/saved-state.h"

#define BLOCK LX__GREEDY_BLOCK

/* ---- assigning positions */

/** Maximum number of positions of a set in an epoch. */
static uint64_t limit_of(const lx__greedy_plan *plan, size_t set)
{
    return plan->exhausted == LX_EXHAUSTED_REPEAT ? UINT64_MAX : plan->lengths[set];
}

/** Assigns up to @p count positions. With redistribution, removes exhausted sets; with stop, ends
 * before the first position that would go to an exhausted set. */
static size_t assign_blocks(const lx__greedy_plan *plan, lx__greedy *greedy, uint16_t *of,
                            size_t count)
{
    size_t done = 0;
    if (plan->exhausted == LX_EXHAUSTED_REPEAT) {
        lx__greedy_assign(greedy, of, count);
        return count;
    }
    for (; done < count && lx__greedy_has_any(greedy); done++) {
        lx__greedy_assign(greedy, &of[done], 1);
        size_t set = of[done];
        uint64_t given = (uint64_t)greedy->given[set];
        if (plan->exhausted == LX_EXHAUSTED_REDISTRIBUTE && given == limit_of(plan, set))
            lx__greedy_remove(greedy, set);
        else if (given > limit_of(plan, set))
            break;
    }
    return done;
}

/** Whether a row is valid for the start of a block. */
static bool is_row(const lx__greedy_plan *plan, uint64_t block, const uint64_t *given)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < plan->count; i++) {
        bool dropped = given[i] == LX__GREEDY_REMOVED;
        if (dropped ? plan->exhausted != LX_EXHAUSTED_REDISTRIBUTE : given[i] > plan->totals[i])
            return false;
        sum += dropped ? plan->totals[i] : given[i]; /* the sum is below 2^53 */
    }
    return sum == block * BLOCK;
}

static lx_status read_row(const lx__greedy_plan *plan, uint64_t row, uint64_t *given,
                          lx_error *error)
{
    uint64_t first = row * plan->count;
    lx_status status = lx__index_table_check_range(&plan->rows, first, plan->count, error);
    if (status == LX_OK)
        memcpy(given, plan->rows.wide + first, plan->count * sizeof *given);
    return status;
}

lx_status lx__greedy_plan_enter(const lx__greedy_plan *plan, uint64_t block, lx__greedy *greedy,
                                uint64_t *given, lx_error *error)
{
    lx_status status = LX_OK;
    if (greedy->given == NULL)
        status = lx__greedy_new(plan->weights, plan->count, greedy, error);
    if (status == LX_OK)
        status = read_row(plan, block, given, error);
    if (status == LX_OK && !is_row(plan, block, given))
        status = lx__index_table_fail(&plan->rows, error);
    if (status == LX_OK)
        lx__greedy_restore(greedy, block * BLOCK, plan->weights, given, plan->count);
    return status;
}

lx_status lx__greedy_plan_assign(const lx__greedy_plan *plan, uint64_t block, lx__greedy *greedy,
                                 uint16_t *sets, size_t *count, lx_error *error)
{
    uint64_t left = plan->length - block * BLOCK;
    if (*count > left)
        *count = (size_t)left;
    return assign_blocks(plan, greedy, sets, *count) == *count
               ? LX_OK
               : lx__index_table_fail(&plan->rows, error);
}

/* ---- table */

static int describe(const void *user, json_t *what)
{
    const lx__greedy_plan *plan = user;
    uint32_t lengths = 0, weights = 0;
    for (size_t i = 0; i < plan->count; i++) {
        double weight = plan->weights[i] + 0.0; /* converts -0 to 0 */
        uint64_t bits;
        memcpy(&bits, &weight, sizeof bits);
        weights = lx__state_add(weights, bits);
        lengths = lx__state_add(lengths, plan->lengths[i]);
    }
    int failed = lx__index_table_describe(what, "greedy", plan->count, "weights", weights);
    failed |= json_object_set_new(what, "lengths", lx__state_crc(lengths));
    failed |= json_object_set_new(what, "length", lx__state_number(plan->most));
    failed |= lx__exhausted_describe(plan->exhausted, what);
    return failed;
}

/** Appends an uninitialized row. */
static lx_status add_row(const lx__greedy_plan *plan, lx__index_table *rows, size_t *capacity,
                         uint64_t **row, lx_error *error)
{
    size_t number = (size_t)rows->count / plan->count;
    uint64_t *given = lx__grow_array((void *)rows->wide, number, capacity,
                                     plan->count * sizeof *given);
    if (given == NULL)
        return lx__fail_memory(error, "a mixture");
    rows->wide = given;
    rows->count += plan->count;
    *row = given + number * plan->count;
    return LX_OK;
}

/** Assigns the positions of an epoch. */
static lx_status fill(const lx__greedy_plan *plan, lx__greedy *greedy, uint16_t *of,
                      uint64_t *totals, lx__index_table *rows, lx_error *error)
{
    uint64_t done = 0, *row;
    size_t count = BLOCK, capacity = 0;
    lx_status status = LX_OK;
    while (status == LX_OK && count == BLOCK && done < plan->most) {
        status = add_row(plan, rows, &capacity, &row, error);
        if (status != LX_OK)
            break;
        lx__greedy_get_counts(greedy, row, plan->count);
        count = plan->most - done < BLOCK ? (size_t)(plan->most - done) : BLOCK;
        size_t given = assign_blocks(plan, greedy, of, count);
        for (size_t i = 0; i < given; i++)
            totals[of[i]]++;
        done += given;
        count = given;
    }
    if (status == LX_OK)
        status = add_row(plan, rows, &capacity, &row, error);
    if (status == LX_OK)
        memcpy(row, totals, plan->count * sizeof *row);
    return status;
}

static lx_status make(void *user, lx__index_table *rows, lx_error *error)
{
    const lx__greedy_plan *plan = user;
    lx__greedy greedy = {0};
    uint16_t *of = lx__alloc_array(BLOCK, sizeof *of);
    uint64_t *totals = lx__alloc_array(plan->count, sizeof *totals);
    rows->count = 0;
    lx_status status = of != NULL && totals != NULL
                           ? lx__greedy_new(plan->weights, plan->count, &greedy, error)
                           : lx__fail_memory(error, "a mixture");
    if (status == LX_OK)
        status = fill(plan, &greedy, of, totals, rows, error);
    lx__greedy_free(&greedy);
    lx__free(of);
    lx__free(totals);
    return status;
}

/* ---- construction */

/** Computes the maximum length: the length of the mixture or, if that is 0, the sum of the lengths
 * of its sets. */
static lx_status find_most(const lx_mixture *mixture, uint64_t *most, lx_error *error)
{
    *most = mixture->length;
    for (size_t i = 0; mixture->length == 0 && i < mixture->count; i++)
        if (__builtin_add_overflow(*most, mixture->sets[i].order->length, most))
            *most = UINT64_MAX;
    if (*most > LX__GREEDY_POSITIONS_MAX)
        return lx_fail(error, LX_ERR_LIMIT,
                       "an epoch would exceed the limit of 2^53 positions: set a length");
    return LX_OK;
}

/** Sets totals and length from the last row. */
static lx_status finish(lx__greedy_plan *plan, lx_error *error)
{
    uint64_t rows = plan->rows.count / plan->count;
    if (rows < 2 || plan->rows.count % plan->count != 0)
        return lx__index_table_fail(&plan->rows, error);
    lx_status status = read_row(plan, rows - 1, plan->totals, error);
    for (size_t i = 0; status == LX_OK && i < plan->count; i++)
        if (!lx__add_fits(plan->length, plan->totals[i], &plan->length))
            status = lx__index_table_fail(&plan->rows, error);
    if (status == LX_OK &&
        (plan->length > plan->most || plan->length == 0 || (plan->length - 1) / BLOCK != rows - 2))
        status = lx__index_table_fail(&plan->rows, error);
    return status;
}

lx_status lx__greedy_plan_new(const lx_mixture *mixture, const char *tables, lx__greedy_plan *plan,
                              lx_error *error)
{
    static const lx__index_table_maker maker = {"greedy", describe, make};
    *plan = (lx__greedy_plan){.count = mixture->count, .exhausted = mixture->exhausted};
    lx_status status = find_most(mixture, &plan->most, error);
    if (status != LX_OK)
        return status;
    plan->weights = lx__alloc_array(plan->count, sizeof *plan->weights);
    plan->lengths = lx__alloc_array(plan->count, sizeof *plan->lengths);
    plan->totals = lx__alloc_array(plan->count, sizeof *plan->totals);
    if (plan->weights == NULL || plan->lengths == NULL || plan->totals == NULL)
        return lx__fail_memory(error, "a mixture");
    for (size_t i = 0; i < plan->count; i++) {
        plan->weights[i] = mixture->weightings[0].weights[i];
        plan->lengths[i] = mixture->sets[i].order->length;
    }
    plan->rows = (lx__index_table){.count = LX__INDEX_TABLE_ANY, .bound = UINT64_MAX};
    status = lx__index_table_cache_get(tables, &maker, plan, &plan->rows, error);
    return status == LX_OK ? finish(plan, error) : status;
}

void lx__greedy_plan_free(lx__greedy_plan *plan)
{
    lx__free(plan->weights);
    lx__free(plan->lengths);
    lx__free(plan->totals);
    lx__index_table_free(&plan->rows);
    *plan = (lx__greedy_plan){0};
}
