/* SPDX-License-Identifier: MIT */
/* Pieces in bins: lib/loader/tokens/best-fit.c. */
#include "loader/tokens/best-fit.h"

#include "../../unit.h"

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/** The bin of each piece by definition, with a search over all bins. */
static uint32_t place_plainly(const uint32_t *lengths, uint32_t count, uint32_t capacity,
                              uint32_t *places)
{
    uint32_t bins = 0, turn = 0, *lists = malloc(count * sizeof *lists + 1);
    uint32_t *turns = malloc(count * sizeof *turns + 1); /* at which a bin was filled last */
    for (uint32_t length = capacity - 1; length > 0; length--)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t best = bins;
            if (lengths[i] != length)
                continue;
            for (uint32_t bin = bins; bin-- > 0;)
                if (lists[bin] >= length &&
                    (best == bins || lists[bin] < lists[best] ||
                     (lists[bin] == lists[best] && turns[bin] > turns[best])))
                    best = bin;
            if (best == bins)
                lists[bins++] = capacity;
            lists[best] -= length;
            turns[best] = turn++;
            places[i] = best;
        }
    free(lists);
    free(turns);
    return bins;
}

/** Packs a copy of the lengths. */
static lx__bins pack(const uint32_t *lengths, uint32_t count, uint32_t capacity)
{
    lx_error error = LX_ERROR_INIT;
    lx__bins bins;
    uint32_t *copy = malloc(count * sizeof *copy + 1);
    if (count != 0)
        memcpy(copy, lengths, count * sizeof *copy);
    unit_ok(lx__best_fit(copy, count, capacity, &bins, &error));
    free(copy);
    return bins;
}

/** Checks that each piece is in the right bin, after the longer ones. */
static void expect_law(const uint32_t *lengths, uint32_t count, uint32_t capacity)
{
    uint32_t *places = malloc(count * sizeof *places + 1), seen = 0;
    uint32_t expected = place_plainly(lengths, count, capacity, places);
    lx__bins bins = pack(lengths, count, capacity);
    ck_assert_uint_eq(bins.count, expected);
    ck_assert_uint_eq(bins.starts[0], 0);
    for (uint32_t bin = 0; bin < bins.count; bin++) {
        uint32_t filled = 0;
        ck_assert_uint_lt(bins.starts[bin], bins.starts[bin + 1]);
        for (uint32_t i = bins.starts[bin]; i < bins.starts[bin + 1]; i++) {
            uint32_t piece = bins.pieces[i];
            ck_assert_uint_eq(places[piece], bin);
            filled += lengths[piece];
            if (i > bins.starts[bin]) {
                uint32_t before = bins.pieces[i - 1];
                ck_assert(lengths[before] > lengths[piece] ||
                          (lengths[before] == lengths[piece] && before < piece));
            }
            seen++;
        }
        ck_assert_uint_le(filled, capacity);
    }
    for (uint32_t i = 0; i < count; i++)
        seen += lengths[i] == 0;
    ck_assert_uint_eq(seen, count);
    lx__bins_free(&bins);
    free(places);
}

START_TEST(packs_random_lengths_of_many_kinds)
{
    enum { PIECES = 1500 };
    static const uint32_t capacities[] = {2, 3, 5, 10, 64, 100, 2048};
    uint32_t lengths[PIECES];
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
        for (uint32_t kind = 0; kind < 8; kind++) {
            uint32_t capacity = capacities[c], count = 1 + draw(PIECES);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t any = draw(capacity), short_one = draw(capacity / 8 + 1);
                lengths[i] = kind < 4    ? any
                             : kind == 4 ? short_one
                             : kind == 5 ? (i % 3 == 0 ? capacity - 1 - short_one : short_one)
                             : kind == 6 ? capacity / (1 + draw(7)) % capacity
                                         : (any * any / capacity) % capacity;
            }
            expect_law(lengths, count, capacity);
        }
}
END_TEST

START_TEST(matches_a_worked_example)
{
    static const uint32_t lengths[] = {3, 7, 0, 5, 5, 2, 3, 6, 1};
    /* 7 + 3, 6 + 3 + 1, 5 + 5, 2 of capacity 10 */
    static const uint32_t pieces[] = {1, 0, 7, 6, 8, 3, 4, 5}, starts[] = {0, 2, 5, 7, 8};
    lx__bins bins = pack(lengths, 9, 10);
    ck_assert_uint_eq(bins.count, 4);
    ck_assert_mem_eq(bins.starts, starts, sizeof starts);
    ck_assert_mem_eq(bins.pieces, pieces, sizeof pieces);
    lx__bins_free(&bins);
}
END_TEST

START_TEST(packs_empty_input)
{
    static const uint32_t none[3];
    lx__bins bins = pack(none, 3, 10);
    ck_assert_uint_eq(bins.count, 0);
    lx__bins_free(&bins);
    bins = pack(none, 0, 10);
    ck_assert_uint_eq(bins.count, 0);
    lx__bins_free(&bins);
    bins = pack(none, 2, 1);
    ck_assert_uint_eq(bins.count, 0);
    lx__bins_free(&bins);
}
END_TEST

START_TEST(packs_many_pieces_in_steps)
{
    enum { PIECES = 300000 }; /* a plain search would take 10^10 steps */
    uint32_t *lengths = malloc(PIECES * sizeof *lengths), filled = 0;
    for (uint32_t i = 0; i < PIECES; i++)
        lengths[i] = i < PIECES / 2 ? 6000 + draw(4000) : 1 + draw(4000);
    lx__bins bins = pack(lengths, PIECES, 10000);
    ck_assert_uint_eq(bins.starts[bins.count], PIECES);
    for (uint32_t bin = 0; bin < bins.count; bin++, filled = 0) {
        for (uint32_t i = bins.starts[bin]; i < bins.starts[bin + 1]; i++)
            filled += lengths[bins.pieces[i]];
        ck_assert_uint_le(filled, 10000);
    }
    ck_assert_uint_le(bins.count, PIECES / 2 + 100);
    lx__bins_free(&bins);
    free(lengths);
}
END_TEST

START_TEST(accepts_the_largest_capacity)
{
    static const uint32_t lengths[] = {LX__CAPACITY_MAX - 1, 1, LX__CAPACITY_MAX / 2, 1};
    static const uint32_t pieces[] = {0, 1, 2, 3}, starts[] = {0, 2, 4};
    lx__bins bins = pack(lengths, 4, LX__CAPACITY_MAX);
    ck_assert_uint_eq(bins.count, 2);
    ck_assert_mem_eq(bins.starts, starts, sizeof starts);
    ck_assert_mem_eq(bins.pieces, pieces, sizeof pieces);
    lx__bins_free(&bins);
}
END_TEST

UNIT_MAIN("loader/best-fit", packs_random_lengths_of_many_kinds, matches_a_worked_example,
          packs_empty_input, packs_many_pieces_in_steps, accepts_the_largest_capacity)
