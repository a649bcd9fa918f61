/* SPDX-License-Identifier: MIT */
#include "zrecord/staging/changes.h"

#include "../../unit.h"

static lx__entry entry_of(uint64_t number)
{
    return (lx__entry){.chunk = 1, .physical = 9, .offset = number, .logical = 9, .crc = 7};
}

static void put(lx__changes *changes, uint32_t field, uint64_t index, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    lx__entry entry = entry_of(number);
    unit_ok(lx__changes_reserve(changes, 1, &error));
    lx__changes_put(changes, field, index, &entry);
}

START_TEST(finds_what_was_put)
{
    lx__changes changes = {0};
    ck_assert_ptr_null(lx__changes_find(&changes, 0, 0));
    for (uint64_t i = 0; i < 5000; i++)
        put(&changes, i % 3, i * 7, i);
    ck_assert_uint_eq(changes.count, 5000);
    for (uint64_t i = 0; i < 5000; i++) {
        const lx__entry *found = lx__changes_find(&changes, i % 3, i * 7);
        ck_assert_ptr_nonnull(found);
        ck_assert_uint_eq(found->offset, i);
        ck_assert_ptr_null(lx__changes_find(&changes, (i + 1) % 3, i * 7));
        ck_assert_ptr_null(lx__changes_find(&changes, i % 3, i * 7 + 1));
    }
    lx__changes_free(&changes);
}
END_TEST

START_TEST(the_last_put_holds_and_the_order_is_that_of_the_first)
{
    lx__changes changes = {0};
    put(&changes, 0, 30, 1);
    put(&changes, 0, 10, 2);
    put(&changes, 1, 30, 3);
    put(&changes, 0, 30, 4);
    ck_assert_uint_eq(changes.count, 3);
    ck_assert_uint_eq(changes.list[0].index, 30);
    ck_assert_uint_eq(changes.list[0].entry.offset, 4);
    ck_assert_uint_eq(changes.list[1].index, 10);
    ck_assert_uint_eq(changes.list[2].field, 1);
    lx__changes_free(&changes);
}
END_TEST

/** Few of many, all of few, and so many that the memory goes. */
START_TEST(forgets_all)
{
    static const uint64_t counts[] = {10, 2000, 3, 100000, 20};
    lx__changes changes = {0};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (uint64_t i = 0; i < counts[k]; i++)
            put(&changes, 0, i, i + k);
        for (uint64_t i = 0; i < counts[k]; i++)
            ck_assert(lx__changes_find(&changes, 0, i)->offset == i + k);
        lx__changes_clear(&changes);
        ck_assert_uint_eq(changes.count, 0);
        for (uint64_t i = 0; i < counts[k]; i++)
            ck_assert(lx__changes_find(&changes, 0, i) == NULL);
    }
    lx__changes_free(&changes);
}
END_TEST

START_TEST(refuses_more_than_it_can_number)
{
    lx_error error = LX_ERROR_INIT;
    lx__changes changes = {0};
    unit_fails(lx__changes_reserve(&changes, LX__CHANGES_MAX + (size_t)1, &error), LX_ERR_LIMIT);
    lx__changes_free(&changes);
}
END_TEST

UNIT_MAIN("zrecord/changes", finds_what_was_put,
          the_last_put_holds_and_the_order_is_that_of_the_first, forgets_all,
          refuses_more_than_it_can_number)
