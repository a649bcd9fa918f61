/* SPDX-License-Identifier: MIT */
#include <loaderx/random.h>

#include <stdlib.h>

#include "../../unit.h"
#include "../statistics.h"

/* numpy.random.Philox(key=[123456789, 987654321987654321]).random_raw(5) */
START_TEST(matches_numpy)
{
    static const uint64_t key[] = {123456789, 987654321987654321};
    static const uint64_t right[] = {0x5ac68e5fb45ef48a, 0xb7d560a48ce5d7ee, 0xb33fb050dfd45081,
                                     0x840711f25ba1a506, 0x5212439d39cc689c};
    uint64_t draws[5];
    lx_random_get_draws(key, 0, 5, draws);
    ck_assert_mem_eq(draws, right, sizeof right);
}
END_TEST

START_TEST(any_draw_is_accessible_at_once)
{
    static const uint64_t key[] = {1, 2};
    uint64_t all[40], some[40];
    lx_random_get_draws(key, 0, 40, all);
    for (uint64_t first = 0; first < 40; first++)
        for (size_t count = 0; count <= 40 - first; count += 3) {
            lx_random_get_draws(key, first, count, some);
            ck_assert(memcmp(some, all + first, count * sizeof *some) == 0);
        }
    lx_random_get_draws(key, UINT64_MAX - 2, 3, some); /* up to the largest number */
    ck_assert_uint_ne(some[0], some[1]);
}
END_TEST

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t));
}

START_TEST(keys_are_distinct)
{
    enum { SIDE = 20 };
    static uint64_t keys[SIDE * SIDE * SIDE][2];
    size_t count = 0;
    for (uint64_t seed = 0; seed < SIDE; seed++)
        for (uint64_t epoch = 0; epoch < SIDE; epoch++)
            for (uint64_t sample = 0; sample < SIDE; sample++)
                lx_random_get_key(seed * 1000003, epoch, sample << (seed % 40), keys[count++]);
    qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 1; i < count; i++)
        ck_assert(memcmp(keys[i - 1], keys[i], sizeof *keys) != 0);
}
END_TEST

/* The first draws of neighboring samples, in one epoch and in two. */
START_TEST(streams_are_independent)
{
    enum { SAMPLES = 1 << 16 };
    static pair_table neighbours = {.length = 64}, epochs = {.length = 64};
    uint64_t key[2], draws[3];
    for (uint64_t i = 0; i < SAMPLES; i++) {
        lx_random_get_key(42, 0, 2 * i, key);
        lx_random_get_draws(key, 0, 1, &draws[0]);
        lx_random_get_key(42, 0, 2 * i + 1, key);
        lx_random_get_draws(key, 0, 1, &draws[1]);
        lx_random_get_key(42, 1, 2 * i, key);
        lx_random_get_draws(key, 0, 1, &draws[2]);
        count_pair(&neighbours, draws[0] >> 58, draws[1] >> 58);
        count_pair(&epochs, draws[0] >> 58, draws[2] >> 58);
    }
    expect_chance(z_of_cells(neighbours.cells, BINS * BINS, BINS * BINS - 1));
    expect_chance(z_of_cells(epochs.cells, BINS * BINS, BINS * BINS - 1));
}
END_TEST

UNIT_MAIN("sampler/sample-key", matches_numpy, any_draw_is_accessible_at_once, keys_are_distinct,
          streams_are_independent)
