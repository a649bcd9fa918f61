/* SPDX-License-Identifier: MIT */
#include "zrecord/sets.h"

#include "base/bytes.h"
#include "records.h"

/** Rows that tell which set they are of. */
static void make_rows(uint8_t rows[LX__ENTRY_BYTES], uint32_t field, uint64_t index, uint64_t epoch)
{
    lx__store_le32(rows, field);
    lx__store_le64(rows + 4, index);
    lx__store_le64(rows + 12, epoch);
    lx__store_le32(rows + 20, ~field);
}

static void put(lx__sets *sets, uint32_t field, uint64_t index, uint64_t epoch)
{
    lx_error error = LX_ERROR_INIT;
    uint8_t rows[LX__ENTRY_BYTES];
    make_rows(rows, field, index, epoch);
    unit_ok(lx__sets_put(sets, field, index, epoch, rows, &error));
}

static void expect(const lx__sets *sets, uint32_t field, uint64_t index, uint64_t epoch)
{
    uint8_t rows[LX__ENTRY_BYTES];
    const uint8_t *found = lx__sets_find(sets, field, index);
    make_rows(rows, field, index, epoch);
    ck_assert_msg(found != NULL, "(%u, %d) is not found", field, (int)index);
    ck_assert_mem_eq(found, rows, sizeof rows);
}

static bool all_stay(const lx__set *set, const void *user)
{
    (void)set, (void)user;
    return true;
}

static bool even_stay(const lx__set *set, const void *user)
{
    (void)user;
    return set->index % 2 == 0;
}

START_TEST(what_was_put_is_found_and_nothing_else)
{
    static const uint64_t spreads[] = {1, 7, 1ull << 32, 1ull << 50};
    lx_error error = LX_ERROR_INIT;
    for (size_t s = 0; s < 4; s++) {
        lx__sets sets;
        unit_ok(lx__sets_init(&sets, &error));
        for (uint64_t i = 0; i < 3000; i++)
            put(&sets, (uint32_t)(i % 5), i * spreads[s], i);
        ck_assert_uint_eq(sets.count, 3000);
        unit_ok(lx__sets_settle(&sets, &sets, all_stay, NULL, &error));
        ck_assert_uint_eq(sets.count, 3000);
        for (uint64_t i = 0; i < 3000; i++) {
            expect(&sets, (uint32_t)(i % 5), i * spreads[s], i);
            ck_assert_ptr_null(lx__sets_find(&sets, (uint32_t)(i % 5) + 1, i * spreads[s]));
            ck_assert_ptr_null(lx__sets_find(&sets, (uint32_t)(i % 5), (i + 3000) * spreads[s]));
        }
        lx__sets_free(&sets);
    }
}
END_TEST

START_TEST(a_later_set_takes_the_place_of_an_earlier_one)
{
    lx_error error = LX_ERROR_INIT;
    lx__sets sets;
    unit_ok(lx__sets_init(&sets, &error));
    for (uint64_t epoch = 1; epoch < 50; epoch++)
        for (uint64_t i = 0; i < 100; i++)
            if (epoch <= i % 49 + 1)
                put(&sets, 2, i, epoch);
    ck_assert_uint_eq(sets.count, 100);
    unit_ok(lx__sets_settle(&sets, &sets, all_stay, NULL, &error));
    for (uint64_t i = 0; i < 100; i++)
        expect(&sets, 2, i, i % 49 + 1);
    lx__sets_free(&sets);
}
END_TEST

START_TEST(settling_keeps_what_stays)
{
    lx_error error = LX_ERROR_INIT;
    lx__sets sets, kept;
    unit_ok(lx__sets_init(&sets, &error));
    for (uint64_t i = 0; i < 1000; i++)
        put(&sets, 0, i, 1);
    unit_ok(lx__sets_settle(&kept, &sets, even_stay, NULL, &error));
    ck_assert_uint_eq(sets.count, 1000); /* left as it was */
    ck_assert_uint_eq(kept.count, 500);
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert((lx__sets_find(&kept, 0, i) != NULL) == (i % 2 == 0));
    /* Another can be made of that one, and be added to. */
    unit_ok(lx__sets_settle(&sets, &sets, even_stay, NULL, &error));
    put(&sets, 0, 1, 2);
    unit_ok(lx__sets_settle(&sets, &sets, all_stay, NULL, &error));
    expect(&sets, 0, 1, 2);
    expect(&sets, 0, 2, 1);
    ck_assert_uint_eq(sets.count, 501);
    lx__sets_free(&sets);
    lx__sets_free(&kept);
}
END_TEST

START_TEST(none_are_found_in_an_empty_one)
{
    lx_error error = LX_ERROR_INIT;
    lx__sets sets = {0};
    ck_assert_ptr_null(lx__sets_find(&sets, 0, 0));
    lx__sets_free(&sets);
    unit_ok(lx__sets_init(&sets, &error));
    ck_assert_ptr_null(lx__sets_find(&sets, 0, 0));
    unit_ok(lx__sets_settle(&sets, &sets, all_stay, NULL, &error));
    ck_assert_ptr_null(lx__sets_find(&sets, 0, 0));
    lx__sets_free(&sets);
    lx__sets_free(&sets);
}
END_TEST

START_TEST(two_tables_do_not_collide_alike)
{
    lx_error error = LX_ERROR_INIT;
    lx__sets a, b;
    unit_ok(lx__sets_init(&a, &error));
    unit_ok(lx__sets_init(&b, &error));
    ck_assert_uint_ne(a.seed, b.seed);
    lx__sets_free(&a);
    lx__sets_free(&b);
}
END_TEST

UNIT_MAIN("zrecord/sets", what_was_put_is_found_and_nothing_else,
          a_later_set_takes_the_place_of_an_earlier_one, settling_keeps_what_stays,
          none_are_found_in_an_empty_one, two_tables_do_not_collide_alike)
