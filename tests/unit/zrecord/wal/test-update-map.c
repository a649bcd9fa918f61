/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/update-map.h"

#include "../../unit.h"
#include "../records.h"
#include "base/alloc.h"

static lx__entry entry_of(uint64_t number)
{
    return (lx__entry){.chunk = 1, .physical = 9, .offset = number, .logical = 9, .crc = 7};
}

static void put(lx__update_map *map, uint32_t field, uint64_t index, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    lx__entry entry = entry_of(number);
    unit_ok(lx__update_map_reserve(map, 1, &error));
    lx__update_map_put_entry(map, field, index, &entry);
}

START_TEST(finds_updates_that_were_put)
{
    lx__update_map map = {0};
    ck_assert_ptr_null(lx__update_map_find(&map, 0, 0));
    for (uint64_t i = 0; i < 5000; i++)
        put(&map, i % 3, i * 7, i);
    ck_assert_uint_eq(map.count, 5000);
    for (uint64_t i = 0; i < 5000; i++) {
        const lx__update *found = lx__update_map_find(&map, i % 3, i * 7);
        ck_assert_ptr_nonnull(found);
        ck_assert_uint_eq(lx__update_entry(found).offset, i);
        ck_assert_ptr_null(lx__update_map_find(&map, (i + 1) % 3, i * 7));
        ck_assert_ptr_null(lx__update_map_find(&map, i % 3, i * 7 + 1));
    }
    lx__update_map_free(&map);
}
END_TEST

START_TEST(the_last_value_applies_in_the_order_of_the_first)
{
    lx__update_map map = {0};
    put(&map, 0, 30, 1);
    put(&map, 0, 10, 2);
    put(&map, 1, 30, 3);
    put(&map, 0, 30, 4);
    ck_assert_uint_eq(map.count, 3);
    ck_assert_uint_eq(map.list[0].index, 30);
    ck_assert_uint_eq(lx__update_entry(&map.list[0]).offset, 4);
    ck_assert_uint_eq(map.list[1].index, 10);
    ck_assert_uint_eq(map.list[2].field, 1);
    lx__update_map_free(&map);
}
END_TEST

/** Few of many keys, all of few, and so many that the map is full. */
START_TEST(clears_all)
{
    static const uint64_t counts[] = {10, 2000, 3, 100000, 20};
    lx__update_map map = {0};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (uint64_t i = 0; i < counts[k]; i++)
            put(&map, 0, i, i + k);
        for (uint64_t i = 0; i < counts[k]; i++)
            ck_assert(lx__update_entry(lx__update_map_find(&map, 0, i)).offset == i + k);
        lx__update_map_clear(&map);
        ck_assert_uint_eq(map.count, 0);
        for (uint64_t i = 0; i < counts[k]; i++)
            ck_assert(lx__update_map_find(&map, 0, i) == NULL);
    }
    lx__update_map_free(&map);
}
END_TEST

START_TEST(puts_many_in_their_order)
{
    lx_error error = LX_ERROR_INIT;
    lx__update_map map = {0};
    uint64_t last[50] = {0}, number = 0;
    for (uint64_t round = 0; round < 200; round++) {
        lx__update some[LX__UPDATE_BATCH_MAX] = {{0}};
        size_t count = mix(round) % (LX__UPDATE_BATCH_MAX + 1);
        for (size_t i = 0; i < count; i++) { /* keys are repeated, also within one call */
            some[i].index = mix(round * 100 + i) % 50;
            some[i].rows[0] = (uint8_t)++number;
            last[some[i].index] = number;
        }
        unit_ok(lx__update_map_put_many(&map, some, count, &error));
    }
    ck_assert_uint_eq(map.count, 50);
    for (uint64_t i = 0; i < 50; i++)
        ck_assert_uint_eq(lx__update_map_find(&map, 0, i)->rows[0], (uint8_t)last[i]);
    lx__update_map_free(&map);
}
END_TEST

static bool even_stay(const lx__update *set, const void *user)
{
    (void)user;
    return set->index % 2 == 0;
}

START_TEST(keeps_remaining_updates)
{
    lx__update_map map = {0};
    for (uint64_t i = 0; i < 1000; i++)
        put(&map, 0, i, 1);
    lx__update_map_keep(&map, even_stay, NULL);
    put(&map, 0, 1, 2);
    put(&map, 0, 2, 2);
    ck_assert_uint_eq(map.count, 501);
    for (uint64_t i = 3; i < 1000; i++)
        ck_assert((lx__update_map_find(&map, 0, i) != NULL) == (i % 2 == 0));
    for (uint64_t i = 1; i <= 4; i += i)
        ck_assert_uint_eq(lx__update_entry(lx__update_map_find(&map, 0, i)).offset, i < 4 ? 2 : 1);
    lx__update_map_free(&map);
}
END_TEST

START_TEST(rejects_more_than_it_can_number)
{
    lx_error error = LX_ERROR_INIT;
    lx__update_map map = {0};
    unit_fails(lx__update_map_reserve(&map, LX__UPDATES_MAX + 1, &error), LX_ERR_LIMIT);
    lx__update_map_free(&map);
}
END_TEST

START_TEST(sorts_by_index_and_then_by_field_id)
{
    lx_error error = LX_ERROR_INIT;
    lx__update_map map = {0};
    lx_schema *schema = lx_schema_new();
    lx__sorted_update *sorted;
    size_t count;
    /* Positions and ids may be in opposite orders in a dataset of another writer. */
    static const uint32_t ids[] = {7, 3, 5};
    for (uint32_t i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), '\0'};
        lx_field field = {.name = name, .dtype = LX_INT8, .id = ids[i]};
        unit_ok(lx__schema_add(schema, &field, name, false, &error));
    }
    unit_ok(lx__update_map_reserve(&map, 3000, &error));
    for (uint64_t i = 0; i < 3000; i++) {
        lx__entry entry = {.offset = i};
        lx__update_map_put_entry(&map, (uint32_t)(mix(i) % 3), mix(i + 5000) % 500, &entry);
    }
    unit_ok(lx__update_map_sort(&map, schema, 400, &sorted, &count, &error));
    size_t below = 0;
    for (size_t i = 0; i < map.count; i++)
        below += map.list[i].index < 400;
    ck_assert_uint_eq(count, below);
    ck_assert_uint_gt(count, 1000);
    for (size_t i = 0; i < count; i++) {
        const lx__update *set = &map.list[sorted[i].position];
        ck_assert_uint_eq(set->index, sorted[i].index);
        ck_assert_uint_eq(ids[set->field], sorted[i].field_id);
        ck_assert(i == 0 || sorted[i - 1].index < sorted[i].index ||
                  (sorted[i - 1].index == sorted[i].index &&
                   sorted[i - 1].field_id < sorted[i].field_id));
    }
    lx__free(sorted);
    lx__update_map_clear(&map);
    unit_ok(lx__update_map_sort(&map, schema, 400, &sorted, &count, &error));
    ck_assert_uint_eq(count, 0);
    lx__free(sorted);
    lx__update_map_free(&map);
    lx_schema_free(schema);
}
END_TEST

UNIT_MAIN("zrecord/update-map", finds_updates_that_were_put,
          the_last_value_applies_in_the_order_of_the_first, clears_all, puts_many_in_their_order,
          keeps_remaining_updates, rejects_more_than_it_can_number,
          sorts_by_index_and_then_by_field_id)
