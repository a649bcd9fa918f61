/* SPDX-License-Identifier: MIT */
#include "../records.h"
#include "base/alloc.h"
#include "zrecord/write/install.h"

START_TEST(sorts_by_index_and_then_by_id)
{
    lx_error error = LX_ERROR_INIT;
    lx__set_map map = {0};
    lx_schema *schema = lx_schema_new();
    lx__sorted *sorted;
    size_t count;
    /* Positions and ids run against each other, as they may in a dataset of somebody else. */
    static const uint32_t ids[] = {7, 3, 5};
    for (uint32_t i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), '\0'};
        lx_field field = {.name = name, .dtype = LX_INT8, .id = ids[i]};
        unit_ok(lx__schema_add(schema, &field, name, &error));
    }
    unit_ok(lx__set_map_reserve(&map, 3000, &error));
    for (uint64_t i = 0; i < 3000; i++) {
        lx__entry entry = {.offset = i};
        lx__set_map_put_entry(&map, (uint32_t)(mix(i) % 3), mix(i + 5000) % 500, &entry);
    }
    unit_ok(lx__sets_sort(&map, schema, 400, &sorted, &count, &error));
    size_t below = 0;
    for (size_t i = 0; i < map.count; i++)
        below += map.list[i].index < 400;
    ck_assert_uint_eq(count, below);
    ck_assert_uint_gt(count, 1000);
    for (size_t i = 0; i < count; i++) {
        const lx__set *set = &map.list[sorted[i].position];
        ck_assert_uint_eq(set->index, sorted[i].index);
        ck_assert_uint_eq(ids[set->field], sorted[i].field_id);
        ck_assert(i == 0 || sorted[i - 1].index < sorted[i].index ||
                  (sorted[i - 1].index == sorted[i].index &&
                   sorted[i - 1].field_id < sorted[i].field_id));
    }
    lx__free(sorted);
    lx__set_map_clear(&map);
    unit_ok(lx__sets_sort(&map, schema, 400, &sorted, &count, &error));
    ck_assert_uint_eq(count, 0);
    lx__free(sorted);
    lx__set_map_free(&map);
    lx_schema_free(schema);
}
END_TEST

UNIT_MAIN("zrecord/sort-updates", sorts_by_index_and_then_by_id)
