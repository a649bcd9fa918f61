/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Statistical tests of orders. All return z, a number of standard deviations.
 *
 * Seeds are fixed, so a test that passes once always passes: values of #Z_LIMIT and more were
 * searched for when the formulas were designed.
 */
#ifndef LX_TESTS_STATISTICS_H
#define LX_TESTS_STATISTICS_H

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define Z_LIMIT 4.0

#define expect_chance(z)                                                                           \
    do {                                                                                           \
        double chance_z = (z);                                                                     \
        ck_assert_msg(fabs(chance_z) < Z_LIMIT, "%s: z = %.2f", #z, chance_z);                     \
    } while (0)

/** z of a chi-square with that many degrees of freedom (Wilson and Hilferty, 1931). */
static inline double z_of_chi_square(double chi_square, double freedom)
{
    double part = 2 / (9 * freedom);
    return (cbrt(chi_square / freedom) - (1 - part)) / sqrt(part);
}

/** z of a count whose mean equals its variance. */
static inline double z_of_count(double count, double mean)
{
    return (count - mean) / sqrt(mean);
}

/** z of equally likely cells. */
static inline double z_of_cells(const uint32_t *cells, size_t count, double freedom)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        total += cells[i];
    double mean = total / (double)count;
    for (size_t i = 0; i < count; i++)
        sum += (cells[i] - mean) * (cells[i] - mean) / mean;
    return z_of_chi_square(sum, freedom);
}

/** Bins of one axis of a table of pairs. */
#define BINS 64

/** Pairs of numbers below a length, a multiple of #BINS, counted by bins. */
typedef struct pair_table {
    uint64_t length;
    uint32_t cells[BINS * BINS];
} pair_table;

static inline size_t bin_of(const pair_table *table, uint64_t value)
{
    return (size_t)(value / (table->length / BINS));
}

static inline void count_pair(pair_table *table, uint64_t a, uint64_t b)
{
    table->cells[bin_of(table, a) * BINS + bin_of(table, b)]++;
}

/** z of pairs in which each number occurs once on either side, as in two permutations. */
static inline double z_of_matched_pairs(const pair_table *table)
{
    return z_of_cells(table->cells, BINS * BINS, (BINS - 1) * (BINS - 1));
}

/** z of pairs in which each number occurs once on one side, as for neighbors in a permutation. */
static inline double z_of_neighbour_pairs(const pair_table *table)
{
    return z_of_cells(table->cells, BINS * BINS, BINS * (BINS - 1));
}

/** z of the correlation of two permutations of 0..length-1. */
static inline double z_of_correlation(const uint64_t *a, const uint64_t *b, uint64_t length)
{
    double mean = ((double)length - 1) / 2, sum = 0;
    for (uint64_t i = 0; i < length; i++)
        sum += ((double)a[i] - mean) * ((double)b[i] - mean);
    double square = (double)length * ((double)length * (double)length - 1) / 12;
    return sum / square * sqrt((double)length - 1);
}

/** Whether @p values has each number below @p length once. */
static inline int is_permutation(const uint64_t *values, uint64_t length)
{
    uint8_t *seen = calloc(length + 1, 1);
    uint64_t good = 0;
    for (uint64_t i = 0; i < length; i++)
        good += values[i] < length && seen[values[i]]++ == 0;
    free(seen);
    return good == length;
}

/** Random numbers for a test, of another generator than the library's. */
static inline uint64_t next_choice(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
