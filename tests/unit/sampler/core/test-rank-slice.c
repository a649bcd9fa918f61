/* SPDX-License-Identifier: MIT */
#include "sampler/core/rank-slice.h"

#include "../../unit.h"
#include "sampler/core/order.h"
#include "../statistics.h"

START_TEST(rejects_invalid_ranks_by_name)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__shard_check((lx__shard){0, 1}, &error));
    unit_ok(lx__shard_check((lx__shard){UINT64_MAX - 1, UINT64_MAX}, &error));
    ck_assert_int_eq(lx__shard_check((lx__shard){0, 0}, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "world must be at least 1"));
    lx_error_clear(&error);
    ck_assert_int_eq(lx__shard_check((lx__shard){8, 8}, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "rank is 8, but a world of 8 has ranks 0 to 7"));
}
END_TEST

/** Position by position. */
static lx__rank_slice share_by_walking(lx__shard shard, uint64_t length, uint64_t position,
                                       uint64_t span)
{
    lx__rank_slice share = {0, 0, position};
    for (uint64_t seen = 0; seen < span && share.end < LX__POSITION_END; seen++) {
        if (seen != 0 && share.end % length == 0)
            break;
        if (share.end % length % shard.world == shard.rank && share.count++ == 0)
            share.first = share.end;
        share.end++;
    }
    if (share.count == 0)
        share.first = share.end;
    return share;
}

static void check_share(lx__shard shard, uint64_t length, uint64_t position, uint64_t span)
{
    lx__rank_slice share = lx__shard_slice(shard, length, position, span);
    lx__rank_slice expected = share_by_walking(shard, length, position, span);
    ck_assert_msg(share.first == expected.first && share.count == expected.count &&
                      share.end == expected.end,
                  "rank %d of %d, length %d, position %d, span %d", (int)shard.rank,
                  (int)shard.world, (int)length, (int)position, (int)span);
}

START_TEST(slices_of_all_short_ranges)
{
    for (uint64_t world = 1; world <= 6; world++)
        for (uint64_t rank = 0; rank < world; rank++)
            for (uint64_t length = 1; length <= 12; length++)
                for (uint64_t position = 0; position < 2 * length; position++)
                    for (uint64_t span = 0; span <= 14; span++)
                        check_share((lx__shard){rank, world}, length, position, span);
}
END_TEST

START_TEST(slices_at_the_last_positions)
{
    uint64_t state = 5;
    for (int i = 0; i < 5000; i++) {
        uint64_t world = next_choice(&state) % 9 + 1, rank = next_choice(&state) % world;
        uint64_t length = next_choice(&state) >> next_choice(&state) % 64;
        uint64_t position = UINT64_MAX - 1 - next_choice(&state) % 100;
        check_share((lx__shard){rank, world}, length != 0 ? length : 1, position,
                    next_choice(&state) % 200);
    }
    for (uint64_t back = 1; back < 20; back++)
        check_share((lx__shard){3, 5}, UINT64_MAX, UINT64_MAX - back, 30);
}
END_TEST

START_TEST(numbers_at_the_limits_do_not_overflow)
{
    lx__rank_slice share = lx__shard_slice((lx__shard){UINT64_MAX - 1, UINT64_MAX}, UINT64_MAX, 5,
                                           UINT64_MAX);
    ck_assert_uint_eq(share.first, UINT64_MAX - 1);
    ck_assert_uint_eq(share.count, 1);
    ck_assert_uint_eq(share.end, UINT64_MAX);
    share = lx__shard_slice((lx__shard){0, UINT64_MAX}, UINT64_MAX, 5, UINT64_MAX);
    ck_assert_uint_eq(share.count, 0);
    share = lx__shard_slice((lx__shard){0, 1}, UINT64_MAX, 0, UINT64_MAX);
    ck_assert_uint_eq(share.count, UINT64_MAX);
}
END_TEST

START_TEST(each_rank_gets_an_equal_part_of_a_batch)
{
    for (uint64_t position = 0; position < 1000 - 8 * 16; position++)
        for (uint64_t rank = 0; rank < 8; rank++)
            ck_assert_uint_eq(lx__shard_slice((lx__shard){rank, 8}, 1000, position, 8 * 16).count,
                              16);
}
END_TEST

UNIT_MAIN("sampler/rank-slice", rejects_invalid_ranks_by_name, slices_of_all_short_ranges,
          slices_at_the_last_positions, numbers_at_the_limits_do_not_overflow,
          each_rank_gets_an_equal_part_of_a_batch)
