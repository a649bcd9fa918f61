/* SPDX-License-Identifier: MIT */
#include "sampler/orders/alias-table.h"

#include <stdlib.h>

#include "../../scarce.h"
#include "../../unit.h"
#include "../statistics.h"
#include "sampler/random/weights.h"
#include "sampler/core/order.h"

#define COLUMN (UINT64_C(1) << 32)

/** The units of each index in all columns. */
static uint64_t *count_units(const lx__alias *alias)
{
    uint64_t *units = calloc(alias->count, sizeof *units);
    for (uint64_t i = 0; i < alias->count; i++) {
        lx__alias_column column = alias->columns[i];
        ck_assert_uint_lt(column.other, alias->count);
        units[i] += column.own;
        units[column.other] += COLUMN - column.own;
    }
    return units;
}

/** Every index has its share of all units, with an error of less than three. */
static void expect_shares(const double *weights, uint64_t count)
{
    lx_error error = LX_ERROR_INIT;
    lx__alias alias;
    double largest;
    long double sum = 0;
    unit_ok(lx__weights_check(weights, count, &largest, &error));
    unit_ok(lx__alias_new(weights, count, largest, 0, NULL, &alias, &error));
    uint64_t *units = count_units(&alias);
    for (uint64_t i = 0; i < count; i++)
        sum += weights[i];
    for (uint64_t i = 0; i < count; i++) {
        long double right = weights[i] / sum * (long double)count * COLUMN;
        ck_assert_msg(weights[i] != 0 || units[i] == 0, "%d has units", (int)i);
        if (weights[i] == 0)
            continue;
        /* Rounding a weight to a whole number changes it by one part in itself. */
        long double whole = (long double)(UINT64_C(1) << 60) / count * weights[i] / largest;
        long double off = 3 + right / whole;
        ck_assert_msg(fabsl((long double)units[i] - right) < off + right * 1e-15L,
                      "%d of %d: %llu units, and not %Lf", (int)i, (int)count,
                      (unsigned long long)units[i], right);
    }
    free(units);
    lx__alias_free(&alias);
}

START_TEST(probabilities_are_exact)
{
    static double weights[2000];
    uint64_t state = 11;
    expect_shares((double[]){7}, 1);
    expect_shares((double[]){1, 1}, 2);
    expect_shares((double[]){0, 1}, 2);
    expect_shares((double[]){1, 0}, 2);
    expect_shares((double[]){1, 0, 0, 0, 3}, 5);
    expect_shares((double[]){0, 0, 1e-310, 0, 0}, 5);
    expect_shares((double[]){1e300, 1, 1e300}, 3);
    for (int round = 0; round < 200; round++) {
        uint64_t count = next_choice(&state) % 2000 + 1;
        for (uint64_t i = 0; i < count; i++) {
            weights[i] = (double)(next_choice(&state) % 1000000);
            if (round % 4 == 1 && next_choice(&state) % 3 == 0)
                weights[i] = 0;
            if (round % 4 == 2)
                weights[i] = exp(weights[i] / 30000 - 15); /* over fourteen powers of ten */
            if (round % 4 == 3)
                weights[i] = 1;
        }
        weights[next_choice(&state) % count] += 1;
        expect_shares(weights, count);
    }
}
END_TEST

START_TEST(draws_follow_the_probabilities)
{
    static const double weights[] = {1, 0, 2, 3, 0, 10, 4};
    static double counts[7];
    lx_error error = LX_ERROR_INIT;
    lx__alias alias;
    uint64_t numbers[LX__ORDER_BLOCK];
    double chi_square = 0;
    unit_ok(lx__alias_new(weights, 7, 10, 0, NULL, &alias, &error));
    for (uint64_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < LX__ORDER_BLOCK; i++)
            numbers[i] = round * LX__ORDER_BLOCK + i;
        unit_ok(lx__alias_draw(&alias, 42, numbers, LX__ORDER_BLOCK, &error));
        for (size_t i = 0; i < LX__ORDER_BLOCK; i++)
            counts[numbers[i]]++;
    }
    for (size_t i = 0; i < 7; i++) {
        double mean = weights[i] / 20 * 200 * LX__ORDER_BLOCK;
        ck_assert(mean != 0 || counts[i] == 0);
        chi_square += mean != 0 ? (counts[i] - mean) * (counts[i] - mean) / mean : 0;
    }
    expect_chance(z_of_chi_square(chi_square, 4));
    lx__alias_free(&alias);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    lx_error error = LX_ERROR_INIT;
    lx__alias alias;
    scarce_begin(0);
    unit_fails(lx__alias_new((double[]){1, 2}, 2, 2, 0, NULL, &alias, &error), LX_ERR_NOMEM);
    lx__alias_free(&alias);
}
END_TEST

UNIT_MAIN("sampler/alias-table", probabilities_are_exact, draws_follow_the_probabilities,
          reports_failed_allocations)
