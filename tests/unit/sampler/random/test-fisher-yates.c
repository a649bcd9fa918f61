/* SPDX-License-Identifier: MIT */
#include "sampler/random/fisher-yates.h"

#include "../../unit.h"
#include "sampler/random/stream-key.h"
#include "../statistics.h"

static void shuffle(uint16_t *table, uint32_t length, uint64_t seed)
{
    uint64_t key;
    lx__key(seed, 0, LX__STREAM_FISHER_YATES, 1, &key);
    lx__fisher_yates(table, length, key);
}

static void check_length(uint32_t length)
{
    static uint16_t table[LX__FISHER_YATES_LENGTH];
    static uint64_t wide[LX__FISHER_YATES_LENGTH];
    shuffle(table, length, length);
    for (uint32_t i = 0; i < length; i++)
        wide[i] = i;
    lx__fisher_yates_map(table, wide, length);
    ck_assert_msg(is_permutation(wide, length), "length %u", length);
}

START_TEST(every_length_gives_a_permutation)
{
    for (uint32_t length = 1; length <= 1200; length++)
        check_length(length);
    for (uint32_t length = 1201; length < LX__FISHER_YATES_LENGTH; length += 5431)
        check_length(length);
    check_length(LX__FISHER_YATES_LENGTH - 1);
    check_length(LX__FISHER_YATES_LENGTH);
}
END_TEST

START_TEST(maps_any_numbers)
{
    uint16_t table[100];
    uint64_t some[14];
    shuffle(table, 100, 42);
    for (int i = 0; i < 14; i++)
        some[i] = 3 + 7 * (uint64_t)i;
    lx__fisher_yates_map(table, some, 14);
    for (int i = 0; i < 14; i++)
        ck_assert_uint_eq(some[i], table[3 + 7 * i]);
}
END_TEST

/** The number of a permutation of five among all 120, by its inversions. */
static uint32_t number_of(const uint16_t *table)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t later = 0;
        for (uint32_t j = i + 1; j < 5; j++)
            later += table[j] < table[i];
        number = number * (5 - i) + later;
    }
    return number;
}

START_TEST(all_permutations_of_five_are_equally_likely)
{
    uint32_t cells[120] = {0};
    uint16_t table[5];
    for (uint64_t seed = 0; seed < 240000; seed++) {
        shuffle(table, 5, seed);
        cells[number_of(table)]++;
    }
    expect_chance(z_of_cells(cells, 120, 119));
}
END_TEST

START_TEST(positions_values_and_neighbors_are_uniform)
{
    static pair_table places = {.length = 1024}, neighbours = {.length = 1024};
    uint16_t table[1024];
    for (uint64_t seed = 0; seed < 2000; seed++) {
        shuffle(table, 1024, seed);
        for (uint32_t i = 0; i < 1024; i++)
            count_pair(&places, i, table[i]);
        for (uint32_t i = 0; i < 1024; i += 2)
            count_pair(&neighbours, table[i], table[i + 1]);
    }
    expect_chance(z_of_matched_pairs(&places));
    expect_chance(z_of_neighbour_pairs(&neighbours));
}
END_TEST

UNIT_MAIN("sampler/fisher-yates", every_length_gives_a_permutation, maps_any_numbers,
          all_permutations_of_five_are_equally_likely, positions_values_and_neighbors_are_uniform)
