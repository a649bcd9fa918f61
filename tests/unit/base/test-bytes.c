/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

#include "../unit.h"

START_TEST(numbers_are_little_endian_at_any_address)
{
    uint8_t bytes[16] = {0};
    lx__store_le32(bytes + 1, 0x04030201u);
    ck_assert_int_eq(bytes[1], 1);
    ck_assert_int_eq(bytes[4], 4);
    ck_assert_uint_eq(lx__load_le32(bytes + 1), 0x04030201u);
    lx__store_le64(bytes + 3, 0x0807060504030201u);
    ck_assert_int_eq(bytes[3], 1);
    ck_assert_int_eq(bytes[10], 8);
    ck_assert_uint_eq(lx__load_le64(bytes + 3), 0x0807060504030201u);
}
END_TEST

START_TEST(checks_ranges_at_the_boundaries)
{
    ck_assert(lx__range_fits(0, 0, 0));
    ck_assert(lx__range_fits(10, 0, 10));
    ck_assert(lx__range_fits(3, 7, 10));
    ck_assert(!lx__range_fits(3, 8, 10));
    ck_assert(!lx__range_fits(11, 0, 10));
    ck_assert(!lx__range_fits(UINT64_MAX, 2, UINT64_MAX));
    ck_assert(!lx__range_fits(1, UINT64_MAX, UINT64_MAX));
    ck_assert(lx__range_fits(0, UINT64_MAX, UINT64_MAX));
}
END_TEST

START_TEST(sums_and_products_report_overflow)
{
    uint64_t value = 7;
    ck_assert(!lx__add_fits(UINT64_MAX, 1, &value));
    ck_assert(!lx__multiply_fits(1ull << 32, 1ull << 32, &value));
    ck_assert_uint_eq(value, 7);
    ck_assert(lx__add_fits(UINT64_MAX - 1, 1, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert(lx__multiply_fits(1ull << 31, 1ull << 32, &value));
    ck_assert_uint_eq(value, 1ull << 63);
    ck_assert(lx__multiply_fits(UINT64_MAX, 0, &value));
    ck_assert_uint_eq(value, 0);
}
END_TEST

START_TEST(alignment_rounds_up)
{
    ck_assert_uint_eq(lx__align_up(0, 8), 0);
    ck_assert_uint_eq(lx__align_up(1, 8), 8);
    ck_assert_uint_eq(lx__align_up(4096, 4096), 4096);
    ck_assert_uint_eq(lx__align_up(4097, 4096), 8192);
    ck_assert_uint_eq(lx__align_up(13, 1), 13);
}
END_TEST

UNIT_MAIN("base/bytes", numbers_are_little_endian_at_any_address, checks_ranges_at_the_boundaries,
          sums_and_products_report_overflow, alignment_rounds_up)
