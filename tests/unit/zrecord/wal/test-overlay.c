/* SPDX-License-Identifier: MIT */
#include "zrecord/wal/overlay.h"

#include "../../scarce.h"
#include "../records.h"
#include "base/bytes.h"
#include "base/error.h"

/** Rows that report their update. */
static lx__update make_set(uint32_t field, uint64_t index, uint64_t number)
{
    lx__update set = {.index = index, .field = field};
    lx__store_le32(set.rows, field);
    lx__store_le64(set.rows + 4, index);
    lx__store_le64(set.rows + 12, number);
    lx__store_le32(set.rows + 20, ~field);
    return set;
}

static void put(lx__overlay_layer *layer, uint32_t field, uint64_t index, uint64_t number)
{
    lx_error error = LX_ERROR_INIT;
    lx__update set = make_set(field, index, number);
    unit_ok(lx__update_map_put_many(&layer->map, &set, 1, &error));
}

static lx__overlay_layer *new_layer(lx__overlay *updates)
{
    lx__overlay_layer *layer = lx__overlay_layer_new(updates, 0);
    ck_assert_ptr_nonnull(layer);
    return layer;
}

static void expect(const lx__overlay *updates, uint32_t field, uint64_t index, uint64_t number)
{
    lx__update set = make_set(field, index, number);
    const lx__update *found = lx__overlay_find_update(updates, field, index);
    ck_assert_msg(found != NULL, "(%u, %d) is not found", field, (int)index);
    ck_assert_mem_eq(found->rows, set.rows, sizeof set.rows);
}

#define FAR UINT64_MAX /* a length that drops nothing */

START_TEST(finds_exactly_the_updates_that_were_put)
{
    static const uint64_t spreads[] = {1, 7, 1ull << 32, 1ull << 50};
    lx_error error = LX_ERROR_INIT;
    for (size_t s = 0; s < 4; s++) {
        lx__overlay updates = {0};
        lx__overlay_layer *layer = lx__overlay_layer_new(&updates, s * 3000);
        for (uint64_t i = 0; i < 3000; i++)
            put(layer, (uint32_t)(i % 5), i * spreads[s], i);
        unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
        ck_assert_uint_eq(lx__overlay_count(&updates), 3000);
        ck_assert_uint_eq(updates.depth, 1);
        for (uint64_t i = 0; i < 3000; i++) {
            expect(&updates, (uint32_t)(i % 5), i * spreads[s], i);
            ck_assert_ptr_null(
                lx__overlay_find_update(&updates, (uint32_t)(i % 5) + 1, i * spreads[s]));
            ck_assert_ptr_null(
                lx__overlay_find_update(&updates, (uint32_t)(i % 5), (i + 3000) * spreads[s]));
        }
        lx__overlay_free(&updates);
    }
}
END_TEST

START_TEST(a_later_update_replaces_an_earlier_one)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    lx__overlay_layer *layer = new_layer(&updates);
    for (uint64_t number = 1; number < 50; number++)
        for (uint64_t i = 0; i < 100; i++)
            if (number <= i % 49 + 1)
                put(layer, 2, i, number);
    unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
    ck_assert_uint_eq(lx__overlay_count(&updates), 100);
    for (uint64_t i = 0; i < 100; i++)
        expect(&updates, 2, i, i % 49 + 1);
    /* Of another layer, too. */
    layer = new_layer(&updates);
    put(layer, 2, 17, 1000);
    unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
    expect(&updates, 2, 17, 1000);
    expect(&updates, 2, 18, 19);
    ck_assert_uint_eq(lx__overlay_count(&updates), 100);
    lx__overlay_free(&updates);
}
END_TEST

START_TEST(finds_many_as_one_by_one)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    uint64_t indices[64], marks[64];
    for (uint64_t step = 0; step < 4; step++) {
        lx__overlay_layer *layer = new_layer(&updates);
        for (uint64_t i = 0; i < (step == 0 ? 2000u : 400u >> step); i++)
            put(layer, (uint32_t)(i % 2), mix(step * 10000 + i) % 20000, step);
        unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
    }
    ck_assert_uint_ge(updates.depth, 2);
    size_t by_chance = 0;
    for (uint64_t block = 0; block < 300; block++) {
        size_t count = 1 + mix(block) % 64;
        for (size_t i = 0; i < count; i++)
            indices[i] = mix(block * 64 + i) % 20000;
        lx__overlay_hash_many(&updates, 1, indices, count, marks);
        uint64_t may = lx__overlay_filter(&updates, 1, indices, count, marks);
        lx__overlay_prefetch(&updates, 1, indices, may);
        for (size_t i = 0; i < count; i++) {
            bool there = lx__overlay_find_update(&updates, 1, indices[i]) != NULL;
            ck_assert(!there || (may >> i & 1)); /* none is missed */
            by_chance += !there && (may >> i & 1);
        }
        ck_assert(count == 64 || may >> count == 0);
    }
    ck_assert_uint_lt(by_chance, 300 * 32 / 20);
    lx__overlay_free(&updates);
}
END_TEST

START_TEST(later_frames_drop_updates_by_length_and_rows)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    lx__overlay_layer *layer = new_layer(&updates);
    for (uint64_t i = 0; i < 1000; i++)
        put(layer, 0, i, 1);
    unit_ok(lx__overlay_add(&updates, layer, 1000, 100, &error));
    unit_ok(lx__overlay_add(&updates, NULL, 900, 100, &error)); /* truncated to 900 */
    ck_assert_uint_eq(lx__overlay_count(&updates), 900);
    unit_ok(lx__overlay_add(&updates, NULL, 950, 100, &error)); /* it grows: truncated updates stay
                                                              * dropped */
    unit_ok(lx__overlay_add(&updates, NULL, 950, 300, &error)); /* takes 100 to 299 */
    ck_assert_uint_eq(lx__overlay_count(&updates), 700);
    for (uint64_t i = 0; i < 1000; i++) {
        bool live = i < 100 || (i >= 300 && i < 900);
        ck_assert_msg((lx__overlay_find_update(&updates, 0, i) != NULL) == live, "%d", (int)i);
    }
    /* Earlier drops do not affect a new layer at such indices. */
    layer = new_layer(&updates);
    for (uint64_t i = 0; i < 1000; i += 10)
        put(layer, 0, i, 2);
    unit_ok(lx__overlay_add(&updates, layer, 1000, 300, &error));
    for (uint64_t i = 0; i < 1000; i += 10)
        expect(&updates, 0, i, 2);
    expect(&updates, 0, 99, 1);
    ck_assert_ptr_null(lx__overlay_find_update(&updates, 0, 101));
    ck_assert_ptr_null(lx__overlay_find_update(&updates, 0, 901));
    ck_assert_uint_eq(lx__overlay_count(&updates), 700 - 70 + 100);
    lx__overlay_free(&updates);
}
END_TEST

START_TEST(frees_an_empty_layer)
{
    static const struct {
        uint64_t first, count, length, rows;
        bool gone;
    } cases[] = {
        {10, 5, 100, 15, true},                                                 /* all were taken */
        {10, 5, 100, 14, false}, {9, 5, 100, 15, false}, {10, 5, 10, 10, true}, /* cut off */
        {10, 5, 11, 10, false},  {10, 5, 13, 13, true}, /* some taken, the others cut off */
        {10, 5, 13, 12, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__overlay updates = {0};
        lx__overlay_layer *layer = new_layer(&updates);
        for (uint64_t k = 0; k < cases[i].count; k++)
            put(layer, 0, cases[i].first + k, 1);
        unit_ok(lx__overlay_add(&updates, layer, 100, 10, &error));
        unit_ok(lx__overlay_add(&updates, NULL, cases[i].length, cases[i].rows, &error));
        ck_assert_msg((updates.depth == 0) == cases[i].gone, "case %zu", i);
        ck_assert((lx__overlay_count(&updates) == 0) == cases[i].gone);
        lx__overlay_free(&updates);
    }
}
END_TEST

START_TEST(keeps_few_layers_and_rarely_moves_updates)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    uint64_t made = 0, number = 0;
    size_t deepest = 0;
    for (int step = 0; step < 20000; step++) {
        lx__overlay_layer *layer = new_layer(&updates), *before[LX__OVERLAY_LAYERS_MAX];
        size_t depth = updates.depth;
        for (size_t i = 0; i < depth; i++)
            before[i] = updates.uses[i].layer;
        for (uint64_t k = 0; k < 1 + mix((uint64_t)step) % 5; k++)
            put(layer, 0, number++, 1);
        unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
        made += updates.uses[updates.depth - 1].layer->map.count;
        ck_assert_uint_le(updates.depth, depth + 1);
        for (size_t i = 0; i + 1 < updates.depth; i++)
            ck_assert_ptr_eq(updates.uses[i].layer, before[i]); /* shared, not made again */
        if (updates.depth > deepest)
            deepest = updates.depth;
    }
    ck_assert_uint_eq(lx__overlay_count(&updates), number);
    ck_assert_uint_le(deepest, 8);
    ck_assert_msg(made / number < 60, "an update was moved %d times", (int)(made / number));
    lx__overlay_free(&updates);
}
END_TEST

START_TEST(never_exceeds_the_maximum_of_layers)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    uint64_t number = 0;
    /* Each a fifth of the one before: too small to be merged. */
    static const uint64_t sizes[] = {250000, 49000, 9700, 1900, 370, 66, 3, 1, 1, 1, 1, 1, 1,
                                     1,      1,     1,    1,    1,   1,  1, 1, 1, 1, 1, 1, 1,
                                     1,      1,     1,    1,    1,   1,  1, 1, 1, 1, 1, 1, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lx__overlay_layer *layer = new_layer(&updates);
        for (uint64_t k = 0; k < sizes[i]; k++)
            put(layer, 0, number++, i);
        unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
        ck_assert_uint_le(updates.depth, LX__OVERLAY_LAYERS_MAX);
        ck_assert_uint_ge(updates.depth, i < 6 ? i + 1 : 6);
    }
    ck_assert_uint_eq(lx__overlay_count(&updates), number);
    lx__overlay_free(&updates);
}
END_TEST

/** A merge begins with a copy of the oldest layer: dropped updates do not return, and verified ones
 * stay so. */
START_TEST(a_merge_keeps_live_updates)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    lx__overlay_layer *layer = new_layer(&updates);
    for (uint64_t i = 0; i < 1000; i++)
        put(layer, 0, i, 1);
    unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
    for (uint64_t i = 0; i < 1000; i += 2)
        lx__update_set_verified(lx__overlay_find_update(&updates, 0, i));
    layer = new_layer(&updates);
    for (uint64_t i = 0; i < 100; i++)
        put(layer, 1, i, 2);
    unit_ok(
        lx__overlay_add(&updates, layer, 900, 20, &error)); /* [0, 20) and [900, ..) are dropped */
    ck_assert_uint_eq(updates.depth, 2);
    layer = new_layer(&updates);
    for (uint64_t i = 100; i < 600; i += 2)
        put(layer, 0, i, 3);
    unit_ok(lx__overlay_add(&updates, layer, FAR, 20, &error));
    ck_assert_uint_eq(updates.depth, 1);
    for (uint64_t i = 0; i < 1000; i++) {
        bool newest = i >= 100 && i < 600 && i % 2 == 0;
        const lx__update *set = lx__overlay_find_update(&updates, 0, i);
        ck_assert_int_eq(set != NULL, i >= 20 && i < 900);
        if (set != NULL) {
            expect(&updates, 0, i, newest ? 3 : 1);
            ck_assert_int_eq(lx__update_is_verified(set), i % 2 == 0 && !newest);
        }
    }
    expect(&updates, 1, 60, 2);
    lx__overlay_free(&updates);
}
END_TEST

START_TEST(a_copy_keeps_its_content)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0}, copies[20];
    for (uint64_t i = 0; i < 20; i++) {
        lx__overlay_layer *layer = new_layer(&updates);
        for (uint64_t k = 0; k < 100; k++)
            put(layer, 0, k * (i + 1), i);
        unit_ok(lx__overlay_add(&updates, layer, 2000 - i * 90, 5 * i, &error));
        lx__overlay_copy(&copies[i], &updates);
    }
    lx__overlay_free(&updates);
    for (uint64_t i = 0; i < 20; i++) {
        for (uint64_t k = 0; k < 100; k++)
            expect(&copies[i], 0, k * (i + 1), i);
        ck_assert_ptr_null(lx__overlay_find_update(&copies[i], 0, 100 * (i + 1) + 1901));
        lx__overlay_free(&copies[i]);
    }
}
END_TEST

struct walk {
    lx__overlay *updates;
    size_t count;
};

static lx_status visit(void *user, const lx__update *set, lx_error *error)
{
    struct walk *walk = user;
    ck_assert_ptr_eq(lx__overlay_find_update(walk->updates, set->field, set->index), set);
    if (++walk->count == 600)
        return lx_fail(error, LX_ERR_LIMIT, "enough");
    return LX_OK;
}

START_TEST(visits_each_live_update_once)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    for (uint64_t i = 0; i < 4; i++) {
        lx__overlay_layer *layer = new_layer(&updates);
        for (uint64_t k = 0; k < 400u >> i; k++)
            put(layer, (uint32_t)i % 2, k, i);
        unit_ok(lx__overlay_add(&updates, layer, 350, 0, &error));
    }
    struct walk walk = {&updates, 0};
    unit_ok(lx__overlay_each(&updates, visit, &walk, &error));
    ck_assert_uint_eq(walk.count, 350 + 200); /* 399 and on are dropped by the later frames */
    walk.count = 590;
    unit_fails(lx__overlay_each(&updates, visit, &walk, &error), LX_ERR_LIMIT);
    ck_assert_uint_eq(walk.count, 600);
    lx__overlay_free(&updates);
}
END_TEST

START_TEST(finds_nothing_in_an_empty_overlay)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    ck_assert_ptr_null(lx__overlay_find_update(&updates, 0, 0));
    unit_ok(lx__overlay_add(&updates, new_layer(&updates), 10, 3, &error));
    ck_assert_uint_eq(updates.depth, 0);
    ck_assert_uint_eq(updates.rows, 3);
    ck_assert_ptr_null(lx__overlay_find_update(&updates, 0, 0));
    lx__overlay_free(&updates);
    lx__overlay_free(&updates);
    lx__overlay_layer_unref(NULL);
}
END_TEST

START_TEST(hashes_differ_between_overlays)
{
    lx__overlay a = {0}, b = {0};
    ck_assert_uint_ne(lx__overlay_seed(&a), lx__overlay_seed(&b));
    ck_assert_uint_eq(lx__overlay_seed(&a), lx__overlay_seed(&a));
}
END_TEST

/** Updates of one layer or of several, with others that a copy shows or that frames dropped. */
START_TEST(collects_all_live_updates)
{
    for (unsigned kind = 0; kind < 8; kind++) {
        lx_error error = LX_ERROR_INIT;
        lx__overlay updates = {0}, copy = {0};
        lx__update_map map = {0};
        bool two = kind & 1, shared = kind & 2, cut = kind & 4;
        lx__overlay_layer *layer = new_layer(&updates);
        for (uint64_t i = 0; i < 2000; i++)
            put(layer, 0, i, i);
        unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
        layer = two ? new_layer(&updates) : NULL;
        for (uint64_t i = 90; two && i < 110; i++)
            put(layer, 1, i, i);
        unit_ok(lx__overlay_add(&updates, layer, cut ? 1500 : FAR, 0, &error));
        if (shared)
            lx__overlay_copy(&copy, &updates);
        size_t count = lx__overlay_count(&updates);
        ck_assert_uint_eq(count, (cut ? 1500 : 2000) + (two ? 20 : 0));
        unit_ok(lx__overlay_move(&updates, &map, &error));
        ck_assert_uint_eq(map.count, count);
        ck_assert_uint_eq(updates.depth, 0);
        ck_assert_ptr_null(lx__update_map_find(&map, 2, 100));
        ck_assert((lx__update_map_find(&map, 1, 100) != NULL) == two);
        ck_assert((lx__update_map_find(&map, 0, 1600) != NULL) != cut);
        if (shared)
            expect(&copy, 0, 7, 7);
        lx__overlay_free(&copy);
        lx__update_map_free(&map);
    }
}
END_TEST

START_TEST(a_failed_allocation_changes_nothing)
{
    lx_error error = LX_ERROR_INIT;
    lx__overlay updates = {0};
    lx__overlay_layer *layer = new_layer(&updates);
    for (uint64_t i = 0; i < 200; i++)
        put(layer, 0, i, 1);
    unit_ok(lx__overlay_add(&updates, layer, FAR, 0, &error));
    lx_status status = LX_ERR_NOMEM;
    for (int memory = 0; status != LX_OK; memory++) {
        ck_assert_int_lt(memory, 50);
        scarce_begin(memory);
        layer = lx__overlay_layer_new(&updates, 0);
        status = layer != NULL ? LX_OK : LX_ERR_NOMEM;
        for (uint64_t i = 150; status == LX_OK && i < 300; i++) {
            lx__update set = make_set(0, i, 2);
            status = lx__update_map_put_many(&layer->map, &set, 1, NULL);
        }
        if (status == LX_OK)
            status = lx__overlay_add(&updates, layer, FAR, 0, NULL);
        else
            lx__overlay_layer_unref(layer);
        scarce_begin(100000);
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        ck_assert_uint_eq(lx__overlay_count(&updates), status == LX_OK ? 300 : 200);
        expect(&updates, 0, 150, status == LX_OK ? 2 : 1);
    }
    lx__overlay_free(&updates);
}
END_TEST

UNIT_MAIN("zrecord/overlay", finds_exactly_the_updates_that_were_put,
          a_later_update_replaces_an_earlier_one, finds_many_as_one_by_one,
          later_frames_drop_updates_by_length_and_rows, frees_an_empty_layer,
          keeps_few_layers_and_rarely_moves_updates, never_exceeds_the_maximum_of_layers,
          a_merge_keeps_live_updates, a_copy_keeps_its_content, visits_each_live_update_once,
          finds_nothing_in_an_empty_overlay, hashes_differ_between_overlays,
          collects_all_live_updates, a_failed_allocation_changes_nothing)
