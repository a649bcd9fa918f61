/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "../../scarce.h"
#include "../orders.h"
#include "../statistics.h"

static lx_order *lanes_of(uint64_t length, uint64_t lanes, uint64_t block, uint64_t seed)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx_order_new_lanes(length, lanes, block, seed, &order, &error));
    return order;
}

/** The range of the indices at every @p step -th place from @p from to below @p end, of which there
 * are at most @p limit. No index occurs twice. */
static uint64_t check_range(const uint64_t *epoch, uint64_t from, uint64_t end, uint64_t step,
                            uint64_t limit)
{
    uint64_t least = UINT64_MAX, most = 0, count = 0;
    for (uint64_t at = from; at < end && count < limit; at += step, count++) {
        least = epoch[at] < least ? epoch[at] : least;
        most = epoch[at] > most ? epoch[at] : most;
    }
    ck_assert_uint_eq(most - least, count - 1);
    return least;
}

/** In an epoch, a lane reads one segment, in blocks of adjacent indices. Returns the first index of
 * the segment. */
static uint64_t check_lane(const uint64_t *epoch, uint64_t length, uint64_t lanes, uint64_t block,
                           uint64_t lane)
{
    for (uint64_t begin = lane; begin < length; begin += block * lanes)
        check_range(epoch, begin, length, lanes, block);
    return check_range(epoch, lane, length, lanes, UINT64_MAX);
}

static void check_epochs(uint64_t length, uint64_t lanes, uint64_t block)
{
    lx_order *order = lanes_of(length, lanes, block, length + block);
    uint64_t *indices = malloc(3 * length * sizeof *indices);
    read_order(order, 4 * length, 1, 3 * length, indices);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        const uint64_t *here = indices + epoch * length;
        for (uint64_t lane = 0; lane < lanes && lane < length; lane++) {
            /* It is the same segment in every epoch. */
            ck_assert_uint_eq(check_lane(here, length, lanes, block, lane),
                              check_lane(indices, length, lanes, block, lane));
        }
        ck_assert(length < 60 || epoch == 0 || memcmp(here, indices, length * sizeof *here) != 0);
        ck_assert_msg(is_permutation(indices + epoch * length, length),
                      "length %llu, %llu lanes, block %llu", (unsigned long long)length,
                      (unsigned long long)lanes, (unsigned long long)block);
    }
    expect_order(order, block);
    free(indices);
    lx_order_unref(order);
}

START_TEST(each_epoch_is_a_permutation_lane_by_lane)
{
    static const uint64_t lanes[] = {1, 2, 3, 8, 60, 101}, blocks[] = {1, 2, 7, 64, 256, 257, 500};
    for (size_t l = 0; l < sizeof lanes / sizeof *lanes; l++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
            for (uint64_t length = lanes[l] * (blocks[b] + (blocks[b] == 1)); length < 9000;
                 length = length * 3 / 2 + 1)
                check_epochs(length, lanes[l], blocks[b]);
    check_epochs(210001, 70000, 3); /* more lanes than a table has */
    check_epochs(210000, 70000, 2);
    check_epochs(140001, 2, 1); /* more blocks in a segment */
    check_epochs(200003, 4, 40000);
}
END_TEST

START_TEST(each_rank_reads_its_own_blocks)
{
    enum { LENGTH = 10007, LANES = 60, BLOCK = 9, WORLD = 12 };
    static uint64_t indices[2 * LENGTH];
    static int owner[LENGTH];
    lx_order *order = lanes_of(LENGTH, LANES, BLOCK, 5);
    read_order(order, 0, 1, 2 * LENGTH, indices);
    for (uint64_t at = 0; at < 2 * LENGTH; at++) {
        int rank = (int)(at % LENGTH % WORLD) + 1;
        ck_assert(owner[indices[at]] == 0 || owner[indices[at]] == rank);
        owner[indices[at]] = rank;
    }
    lx_order_unref(order);
}
END_TEST

/** Within a block, all places are equally likely, and so are the blocks at the start of a lane, and
 * the lanes of a segment. */
START_TEST(places_are_uniform)
{
    enum { LANES = 64, SEGMENT = 1024, LENGTH = LANES * SEGMENT, SEEDS = 200 };
    static const uint64_t sizes[] = {64, 512};
    static uint64_t indices[LENGTH];
    for (int s = 0; s < 2; s++) {
        uint64_t block = sizes[s];
        pair_table within = {.length = block}, segments = {.length = LANES};
        uint32_t rows[SEGMENT / 64] = {0};
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            lx_order *order = lanes_of(LENGTH, LANES, block, seed);
            read_order(order, seed * LENGTH, 1, LENGTH, indices);
            for (uint64_t i = 0; i < LENGTH; i++)
                count_pair(&within, i / LANES % block, indices[i] % block);
            for (uint64_t lane = 0; lane < LANES; lane++) {
                count_pair(&segments, lane, indices[lane] / SEGMENT);
                rows[indices[lane] % SEGMENT / block]++;
            }
            lx_order_unref(order);
        }
        expect_chance(z_of_matched_pairs(&within));
        expect_chance(z_of_matched_pairs(&segments));
        expect_chance(z_of_cells(rows, SEGMENT / block, (double)(SEGMENT / block - 1)));
    }
}
END_TEST

/** Also if some segments are longer than others, which the first lanes read. */
START_TEST(lanes_have_any_segment)
{
    enum { LANES = 64, LENGTH = LANES * 5 + 3, SEEDS = 6400 };
    static const uint64_t of[] = {0, 2, 3, 63};
    uint32_t segments[4][LANES] = {{0}};
    uint64_t indices[LENGTH];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        lx_order *order = lanes_of(LENGTH, LANES, 5, seed);
        read_order(order, 0, 1, LENGTH, indices);
        for (size_t i = 0; i < 4; i++) {
            uint64_t first = check_lane(indices, LENGTH, LANES, 5, of[i]);
            segments[i][(first + 2) * LANES / LENGTH]++;
        }
        lx_order_unref(order);
    }
    for (size_t i = 0; i < 4; i++)
        expect_chance(z_of_cells(segments[i], LANES, LANES - 1));
}
END_TEST

START_TEST(enters_long_orders_anywhere)
{
    static const uint64_t cases[][3] = {{1000000000000, 7680, 9},
                                        {1000000000007, 10000, 1024},
                                        {UINT64_MAX, 3, 5},
                                        {UINT64_MAX, LX_MAX_LANES, UINT32_MAX},
                                        {1ull << 40, 15 << 8, 300}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lx_order *order = lanes_of(cases[c][0], cases[c][1], cases[c][2], c);
        uint64_t lanes = cases[c][1];
        uint64_t indices[40];
        lx_error error = LX_ERROR_INIT;
        lx__scratch *scratch;
        unit_ok(lx__scratch_new(order, &scratch, &error));
        for (uint64_t at = 0; at < 1000; at += 40) {
            uint64_t first = at * (UINT64_MAX / 1000);
            unit_ok(lx__order_read(order, scratch, first, 1, 40, indices, &error));
            for (int i = 0; i < 40; i++)
                ck_assert_uint_lt(indices[i], cases[c][0]);
            ck_assert(lanes < 40 || indices[0] != indices[39]);
        }
        lx__scratch_free(scratch);
        lx_order_unref(order);
    }
    lx_order *order = lanes_of(UINT64_MAX, 1001, 70, 6);
    expect_order(order, 3);
    lx_order_unref(order);
}
END_TEST

START_TEST(rejects_invalid_sizes)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx__scratch *scratch;
    uint64_t index;
    unit_fails(lx_order_new_lanes(10, 0, 1, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, 1, 0, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, LX_MAX_LANES + 1, 1, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, 1, 1ull << 32, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, 4, 3, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, 11, 1, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, 10, 1, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_lanes(10, 1, 11, 1, &order, &error), LX_ERR_ARGUMENT);
    unit_refuses_null(lx_order_new_lanes(10, 2, 1, 1, NULL, &error), "order");
    order = lanes_of(0, 5, 1, 1);
    ck_assert_uint_eq(lx_order_get_length(order), 0);
    lx_order_unref(order);
    expect_other_order(lanes_of(90, 5, 4, 1), lanes_of(90, 6, 4, 1), "lanes");
    expect_other_order(lanes_of(90, 5, 4, 1), lanes_of(90, 5, 3, 1), "block");
    expect_other_order(lanes_of(90, 5, 4, 1), lanes_of(90, 5, 4, 2), "seed");
    order = lanes_of(1003, 10, 7, 1);
    uint64_t right = index_at(order, 5);
    scarce_begin(1);
    unit_ok(lx__scratch_new(order, &scratch, &error));
    enum { ALLOCATIONS = 6 }; /* each attempt gets one further */
    for (int attempt = 0; attempt < ALLOCATIONS; attempt++) {
        scarce_left = attempt == 0 ? 0 : 1;
        unit_fails(lx__order_read(order, scratch, 5, 1, 1, &index, &error), LX_ERR_NOMEM);
    }
    scarce_left = INT_MAX;
    unit_ok(lx__order_read(order, scratch, 5, 1, 1, &index, &error));
    ck_assert_uint_eq(index, right);
    lx__scratch_free(scratch);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("sampler/lanes", each_epoch_is_a_permutation_lane_by_lane, each_rank_reads_its_own_blocks,
          places_are_uniform, lanes_have_any_segment, enters_long_orders_anywhere,
          rejects_invalid_sizes)
