/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-sets.h"

#include "../../scarce.h"
#include "base/alloc.h"
#include "mixtures.h"

#define SETS 5
/* Bytes that a thread holds in addition to those of each set. */
#define ALLOCATIONS 2

/* An order that has the bound of sets, and nothing else. */
static const lx__order_class empty_class = {.kind = "empty", .formula = 1};

static lx_order *make_sets(const struct setup *setup, lx__mixture_sets *sets)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    unit_ok(lx__order_new(&empty_class, sizeof *order, 10, 0, &order, &error));
    unit_ok(lx__mixture_sets_new(setup->mixture, order, sets, &error));
    return order;
}

static struct setup five(void)
{
    /* One that a formula permutes, between others with tables. */
    static const uint64_t lengths[] = {7, 1, 70000, 20, 9};
    static const double weights[] = {1, 1, 1, 1, 1};
    return make_setup(SETS, lengths, weights);
}

START_TEST(an_order_has_the_bound_and_number_of_sets)
{
    struct setup setup = five();
    lx__mixture_sets sets;
    lx_order *order = make_sets(&setup, &sets);
    ck_assert_uint_eq(sets.count, SETS);
    ck_assert_uint_eq(lx_order_get_part_count(order), SETS);
    ck_assert_uint_eq(lx__order_get_bound(order), 4 * APART + 9);
    lx__mixture_sets_free(&sets);
    ck_assert_ptr_null(sets.parts);
    lx__mixture_sets_free(&sets); /* nothing remains of it */
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

/** Reads @p count random positions of sets, and compares each with the set's own order. */
static void expect_block(const struct setup *setup, const lx__mixture_sets *sets,
                         lx__mixture_sets_scratch *scratch, size_t count, uint64_t *state)
{
    static uint64_t places[LX__ORDER_BLOCK], kept[LX__ORDER_BLOCK];
    static uint16_t of[LX__ORDER_BLOCK];
    lx_error error = LX_ERROR_INIT;
    for (size_t i = 0; i < count; i++) {
        of[i] = scratch->of[i] = (uint16_t)(next_choice(state) % SETS);
        kept[i] = places[i] = next_choice(state) % 2000 * (of[i] == 2 ? 50 : 1);
    }
    unit_ok(lx__mixture_sets_read(sets, scratch, places, count, &error));
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(places[i], of[i] * APART + index_at(setup->parts[of[i]], kept[i]));
}

START_TEST(each_position_is_read_from_its_set)
{
    static const size_t counts[] = {1, 2, 3, 50, LX__ORDER_BLOCK, 7, LX__ORDER_BLOCK};
    static lx__mixture_sets_scratch scratch;
    lx_error error = LX_ERROR_INIT;
    struct setup setup = five();
    lx__mixture_sets sets;
    lx_order *order = make_sets(&setup, &sets);
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        unit_ok(lx__mixture_sets_prepare(&sets, &scratch, &error));
        expect_block(&setup, &sets, &scratch, counts[i], &state);
    }
    lx__mixture_sets_clear(&scratch);
    lx__mixture_sets_free(&sets);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

START_TEST(retries_a_failed_read)
{
    static lx__mixture_sets_scratch scratch;
    lx_error error = LX_ERROR_INIT;
    struct setup setup = five();
    lx__mixture_sets sets;
    lx_order *order = make_sets(&setup, &sets);
    uint64_t places[2] = {3, 4}, state = 8;
    for (int left = 0; left < ALLOCATIONS; left++) {
        scarce_begin(left);
        unit_fails(lx__mixture_sets_prepare(&sets, &scratch, &error), LX_ERR_NOMEM);
    }
    scarce_left = ALLOCATIONS;
    unit_ok(lx__mixture_sets_prepare(&sets, &scratch, &error));
    unit_fails(lx__mixture_sets_read(&sets, &scratch, places, 2, &error), LX_ERR_NOMEM);
    scarce_left = 1000000;
    expect_block(&setup, &sets, &scratch, 100, &state);
    lx__mixture_sets_clear(&scratch);
    lx__mixture_sets_free(&sets);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

START_TEST(states_contain_parts_and_offsets)
{
    struct setup setup = five();
    lx__mixture_sets sets;
    lx_order *order = make_sets(&setup, &sets);
    json_t *object = json_object();
    ck_assert_int_eq(lx__mixture_sets_describe(&sets, object), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "parts")), SETS);
    const json_t *offsets = json_object_get(object, "offsets");
    for (size_t i = 0; i < SETS; i++)
        ck_assert_int_eq(json_integer_value(json_array_get(offsets, i)), (json_int_t)(i * APART));
    json_decref(object);
    lx__mixture_sets_free(&sets);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

UNIT_MAIN("sampler/mixture-sets", an_order_has_the_bound_and_number_of_sets,
          each_position_is_read_from_its_set, retries_a_failed_read,
          states_contain_parts_and_offsets)
