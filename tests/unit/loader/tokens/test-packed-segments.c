/* SPDX-License-Identifier: MIT */
/* The pieces of batches: lib/loader/tokens/packed-segments.c. */
#include <loaderx/packing.h>

#include "../../../new-sources.h"
#include "../../unit.h"

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

START_TEST(matches_a_worked_example)
{
    static const int32_t segments[2][6] = {{1, 1, 2, 2, 2, 0}, {1, 1, 1, 1, 0, 0}};
    static const int32_t covered[] = {0, 2, 5, 6, 10, 12}, kept[] = {0, 2, 5, 9};
    lx_error error = LX_ERROR_INIT;
    int32_t places[13];
    lx_segment_sizes sizes;
    unit_ok(get_segment_sizes(segments[0], 2, 6, true, places, 13, &sizes, &error));
    ck_assert_uint_eq(sizes.count, 6);
    ck_assert_int_eq(sizes.longest, 4);
    ck_assert_mem_eq(places, covered, sizeof covered);
    unit_ok(get_segment_sizes(segments[0], 2, 6, false, places, 13, &sizes, &error));
    ck_assert_uint_eq(sizes.count, 4);
    ck_assert_int_eq(sizes.longest, 4);
    ck_assert_mem_eq(places, kept, sizeof kept);
}
END_TEST

/** Token by token. */
static size_t measure_plainly(const int32_t *segments, size_t rows, size_t length, bool padding,
                              int32_t *places, int32_t *longest)
{
    size_t count = 1;
    int32_t place = 0, begun = 0;
    *longest = places[0] = 0;
    for (size_t i = 0; i < rows * length; i++) {
        bool last = i % length == length - 1 || segments[i + 1] != segments[i];
        place += padding || segments[i] != 0;
        if (!last || (!padding && segments[i] == 0))
            continue;
        *longest = place - begun > *longest ? place - begun : *longest;
        places[count++] = begun = place;
    }
    return count;
}

START_TEST(packs_random_batches)
{
    enum { MOST = 4000 };
    static int32_t segments[MOST + 1], places[MOST + 1], expected[MOST + 1];
    lx_error error = LX_ERROR_INIT;
    for (int step = 0; step < 2000; step++) {
        size_t length = 1 + draw(step % 2 != 0 ? 20 : 500), rows = draw((uint32_t)(MOST / length));
        uint32_t mean = 1 + draw(60);
        int32_t piece = 1, longest;
        lx_segment_sizes sizes;
        for (size_t i = 0; i < rows * length; i++) {
            piece = i % length == 0 ? 1 : piece == 0 ? 0 : draw(mean) != 0 ? piece : piece + 1;
            piece = draw(4 * mean) == 0 ? 0 : piece;
            segments[i] = piece;
        }
        for (int padding = 0; padding < 2; padding++) {
            size_t numbers = measure_plainly(segments, rows, length, padding != 0, expected,
                                             &longest);
            unit_ok(get_segment_sizes(segments, rows, length, padding != 0, places, MOST + 1,
                                      &sizes, &error));
            ck_assert_uint_eq(sizes.count, numbers);
            ck_assert_int_eq(sizes.longest, longest);
            ck_assert_mem_eq(places, expected, numbers * sizeof *places);
        }
    }
}
END_TEST

START_TEST(reports_insufficient_space)
{
    static const int32_t segments[] = {1, 2, 3, 3, 4};
    lx_error error = LX_ERROR_INIT;
    int32_t places[6] = {7, 7, 7, 7, 7, 7};
    lx_segment_sizes sizes;
    unit_ok(get_segment_sizes(segments, 1, 5, true, NULL, 0, &sizes, &error));
    ck_assert_uint_eq(sizes.count, 5);
    ck_assert_int_eq(sizes.longest, 2);
    unit_fails(get_segment_sizes(segments, 1, 5, true, places, 4, &sizes, &error), LX_ERR_LIMIT);
    ck_assert_uint_eq(sizes.count, 5);
    ck_assert_int_eq(places[3], 4);
    ck_assert_int_eq(places[4], 7);
    unit_ok(get_segment_sizes(segments, 1, 5, true, places, 5, &sizes, &error));
    ck_assert_int_eq(places[4], 5);
    unit_fails(get_segment_sizes(segments, 1 << 16, 1 << 15, true, NULL, 0, &sizes, &error),
               LX_ERR_LIMIT);
    unit_fails(get_segment_sizes(segments, SIZE_MAX, 2, true, NULL, 0, &sizes, &error),
               LX_ERR_LIMIT);
    unit_ok(get_segment_sizes(NULL, 0, 5, true, places, 1, &sizes, &error));
    ck_assert_uint_eq(sizes.count, 1);
    ck_assert_int_eq(sizes.longest, 0);
    unit_ok(get_segment_sizes(NULL, SIZE_MAX, 0, true, places, 1, &sizes, &error));
    ck_assert_uint_eq(sizes.count, 1);
    unit_refuses_null(get_segment_sizes(NULL, 1, 5, true, places, 6, &sizes, &error),
                      "segments->data");
    unit_refuses_null(get_segment_sizes(segments, 1, 5, true, NULL, 6, &sizes, &error), "offsets");
    unit_refuses_null(get_segment_sizes(segments, 1, 5, true, places, 6, NULL, &error), "sizes");
    unit_refuses_null(lx_segments_get_sizes(NULL, true, places, 6, &sizes, &error), "segments");
    const lx_column floats = {.dtype = LX_FLOAT32, .ndim = 1}, flat = {.dtype = LX_INT32};
    unit_fails(lx_segments_get_sizes(&floats, true, places, 6, &sizes, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_segments_get_sizes(&flat, true, places, 6, &sizes, &error), LX_ERR_ARGUMENT);
}
END_TEST

UNIT_MAIN("loader/packed-segments", matches_a_worked_example, packs_random_batches,
          reports_insufficient_space)
