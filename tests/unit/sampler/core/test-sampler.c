/* SPDX-License-Identifier: MIT */
#include <loaderx/sampler.h>

#include "../../data.h"
#include "../../scarce.h"
#include "base/alloc.h"
#include "../orders.h"
#include "../statistics.h"

static lx_sampler *make_sampler(lx_order *order, uint64_t rank, uint64_t world)
{
    lx_error error = LX_ERROR_INIT;
    lx_sampler *sampler;
    unit_ok(lx_sampler_new(order, rank, world, &sampler, &error));
    return sampler;
}

static void seek(lx_sampler *sampler, uint64_t position)
{
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx_sampler_seek(sampler, position, &error));
    ck_assert_uint_eq(lx_sampler_tell(sampler), position);
}

/** Takes the remaining indices; returns their number. */
static uint64_t take(lx_sampler *sampler, uint64_t count, uint64_t *indices)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t taken = 77;
    lx_status status = lx_sampler_take(sampler, count, indices, &taken, &error);
    ck_assert_int_eq(status, taken == 0 && count != 0 ? LX_END : LX_OK);
    return taken;
}

static const char *const kinds[] = {"sequential", "random", "shuffle"};

/** A small order of any kind, and a place for it. */
struct setup {
    lx_order *order;
    uint64_t length, rank, world, position;
};

static struct setup any_setup(uint64_t *state)
{
    struct setup setup;
    setup.length = next_choice(state) % 60 + 1;
    setup.world = next_choice(state) % 12 + 1;
    setup.rank = next_choice(state) % setup.world;
    setup.position = next_choice(state) % (4 * setup.length);
    uint64_t seed = next_choice(state) % 100;
    setup.order = make_order(kinds[next_choice(state) % 3], setup.length, seed, seed);
    return setup;
}

/** Every index at the first positions of an order. */
static void read_all(lx_order *order, uint64_t *all, uint64_t count)
{
    read_order(order, 0, 1, count, all);
}

/** Step by step, by definition, from @p position on. */
static uint64_t take_by_steps(const struct setup *setup, const uint64_t *all, uint64_t count,
                              uint64_t *indices)
{
    uint64_t at = setup->position;
    for (uint64_t done = 0; done < count;) {
        uint64_t epoch_end = (at / setup->length + 1) * setup->length;
        uint64_t end = at + setup->world < epoch_end ? at + setup->world : epoch_end;
        for (; at < end; at++)
            if (at % setup->length % setup->world == setup->rank)
                indices[done++] = all[at];
    }
    return at;
}

#define MOST 40
#define REACH (60 * (MOST + 6) + 12 * MOST)

START_TEST(a_rank_takes_its_part_step_by_step)
{
    static uint64_t all[REACH];
    uint64_t state = 11, indices[MOST], expected[MOST];
    for (int i = 0; i < 3000; i++) {
        struct setup setup = any_setup(&state);
        if (setup.rank >= setup.length)
            setup.rank = 0;
        uint64_t count = next_choice(&state) % MOST;
        read_all(setup.order, all, REACH);
        lx_sampler *sampler = make_sampler(setup.order, setup.rank, setup.world);
        seek(sampler, setup.position);
        ck_assert_uint_eq(take(sampler, count, indices), count);
        uint64_t end = take_by_steps(&setup, all, count, expected);
        ck_assert_uint_eq(lx_sampler_tell(sampler), end);
        ck_assert_mem_eq(indices, expected, count * sizeof *indices);
        lx_sampler_free(sampler);
        lx_order_unref(setup.order);
    }
}
END_TEST

START_TEST(two_takes_equal_one)
{
    uint64_t state = 13, once[200], twice[200];
    for (int i = 0; i < 2000; i++) {
        struct setup setup = any_setup(&state);
        uint64_t a = next_choice(&state) % 100, b = next_choice(&state) % 100;
        lx_sampler *one = make_sampler(setup.order, setup.rank, setup.world);
        lx_sampler *other = make_sampler(setup.order, setup.rank, setup.world);
        seek(one, setup.position);
        seek(other, setup.position);
        uint64_t count = take(one, a + b, once);
        ck_assert_uint_eq(take(other, a, twice) + take(other, b, twice + a), count);
        ck_assert_mem_eq(once, twice, count * sizeof *once);
        ck_assert_uint_eq(lx_sampler_tell(one), lx_sampler_tell(other));
        lx_sampler_free(one);
        lx_sampler_free(other);
        lx_order_unref(setup.order);
    }
}
END_TEST

START_TEST(seek_then_take_is_take_then_drop)
{
    uint64_t state = 17, all[200], some[100];
    for (int i = 0; i < 2000; i++) {
        struct setup setup = any_setup(&state);
        uint64_t dropped = next_choice(&state) % 100;
        lx_sampler *one = make_sampler(setup.order, setup.rank, setup.world);
        lx_sampler *other = make_sampler(setup.order, setup.rank, setup.world);
        (void)take(one, dropped, all);
        seek(other, lx_sampler_tell(one));
        uint64_t rest = take(one, 100, all + dropped);
        ck_assert_uint_eq(take(other, 100, some), rest);
        ck_assert_mem_eq(all + dropped, some, rest * sizeof *some);
        seek(one, 0);
        ck_assert_uint_eq(take(one, 100, some), rest);
        ck_assert_mem_eq(all, some, (dropped < rest ? dropped : rest) * sizeof *some);
        lx_sampler_free(one);
        lx_sampler_free(other);
        lx_order_unref(setup.order);
    }
}
END_TEST

/** Takes the indices of @p rank from @p position to the end of its epoch, and counts each. */
static void count_rest(const struct setup *setup, uint64_t rank, uint64_t position,
                       uint32_t *counts)
{
    uint64_t end = (position / setup->length + 1) * setup->length, index;
    lx_sampler *sampler = make_sampler(setup->order, rank, setup->world);
    seek(sampler, position);
    while (lx_sampler_tell(sampler) < end && take(sampler, 1, &index) == 1)
        if (lx_sampler_tell(sampler) <= end)
            counts[index]++;
    lx_sampler_free(sampler);
}

START_TEST(all_ranks_together_take_the_whole_order)
{
    static uint64_t all[REACH];
    uint64_t state = 19;
    for (int i = 0; i < 1000; i++) {
        struct setup setup = any_setup(&state);
        uint32_t counts[60] = {0}, expected[60] = {0};
        uint64_t end = (setup.position / setup.length + 1) * setup.length;
        read_all(setup.order, all, end);
        for (uint64_t at = setup.position; at < end; at++)
            expected[all[at]]++;
        for (uint64_t rank = 0; rank < setup.world; rank++)
            count_rest(&setup, rank, setup.position, counts);
        ck_assert_mem_eq(counts, expected, sizeof counts);
        lx_order_unref(setup.order);
    }
}
END_TEST

START_TEST(an_epoch_is_complete_across_world_sizes)
{
    uint64_t state = 23, indices[12];
    for (int i = 0; i < 500; i++) {
        struct setup setup = any_setup(&state);
        uint32_t counts[60] = {0};
        uint64_t position = 0;
        lx_order_unref(setup.order);
        setup.order = make_order("shuffle", setup.length, state, 0);
        for (int change = 0; change < 5 && position < setup.length; change++) {
            setup.world = next_choice(&state) % 12 + 1;
            uint64_t steps = next_choice(&state) % 3, end = position + steps * setup.world;
            if (end > setup.length)
                break; /* count_rest handles the last window, with an uneven end */
            for (uint64_t rank = 0; rank < setup.world; rank++) {
                lx_sampler *sampler = make_sampler(setup.order, rank, setup.world);
                seek(sampler, position);
                ck_assert_uint_eq(take(sampler, steps, indices), steps);
                ck_assert_uint_eq(lx_sampler_tell(sampler), end);
                for (uint64_t k = 0; k < steps; k++)
                    counts[indices[k]]++;
                lx_sampler_free(sampler);
            }
            position = end;
        }
        for (uint64_t rank = 0; rank < setup.world && position < setup.length; rank++)
            count_rest(&setup, rank, position, counts);
        for (uint64_t index = 0; index < setup.length; index++)
            ck_assert_uint_eq(counts[index], 1);
        lx_order_unref(setup.order);
    }
}
END_TEST

START_TEST(an_empty_order_gives_nothing)
{
    uint64_t indices[50];
    for (int kind = 0; kind < 3; kind++) {
        lx_order *empty = make_order(kinds[kind], 0, 1, 1);
        lx_sampler *sampler = make_sampler(empty, 0, 1);
        ck_assert_uint_eq(take(sampler, 5, indices), 0);
        ck_assert_uint_eq(take(sampler, 0, NULL), 0);
        ck_assert_uint_eq(lx_sampler_tell(sampler), 0);
        lx_sampler_free(sampler);
        lx_order_unref(empty);

        lx_order *three = make_order(kinds[kind], 3, 1, 1);
        sampler = make_sampler(three, 3, 8); /* of a world of 8, only ranks 0 to 2 have samples */
        seek(sampler, 7);
        ck_assert_uint_eq(take(sampler, 5, indices), 0);
        ck_assert_uint_eq(lx_sampler_tell(sampler), 7);
        lx_sampler_free(sampler);
        sampler = make_sampler(three, 2, 8);
        ck_assert_uint_eq(take(sampler, 50, indices), 50);
        ck_assert_uint_eq(lx_sampler_tell(sampler), 150);
        lx_sampler_free(sampler);
        lx_order_unref(three);
    }
}
END_TEST

START_TEST(stops_at_the_last_position)
{
    uint64_t indices[50];
    for (int kind = 0; kind < 3; kind++) {
        lx_order *order = make_order(kinds[kind], 1000, 1, 1);
        lx_sampler *sampler = make_sampler(order, 0, 1);
        seek(sampler, UINT64_MAX - 20);
        ck_assert_uint_eq(take(sampler, 5, indices), 5);
        ck_assert_uint_eq(take(sampler, 50, indices), 15);
        ck_assert_uint_eq(lx_sampler_tell(sampler), UINT64_MAX);
        ck_assert_uint_eq(take(sampler, 50, indices), 0);
        lx_sampler_free(sampler);

        /* 2^64 - 1 has the offset 615: the last positions are 612 to 614, of ranks 3 to 5. */
        sampler = make_sampler(order, 6, 7);
        seek(sampler, UINT64_MAX - 3);
        ck_assert_uint_eq(take(sampler, 50, indices), 0);
        ck_assert_uint_eq(lx_sampler_tell(sampler), UINT64_MAX);
        lx_sampler_free(sampler);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(accepts_numbers_at_the_limits)
{
    uint64_t indices[50];
    for (int kind = 0; kind < 3; kind++) {
        lx_order *order = make_order(kinds[kind], UINT64_MAX, 3, 3);
        lx_sampler *sampler = make_sampler(order, UINT64_MAX - 1, UINT64_MAX);
        ck_assert_uint_eq(take(sampler, 50, indices), 1);
        ck_assert_uint_eq(indices[0], index_at(order, UINT64_MAX - 1));
        ck_assert_uint_eq(lx_sampler_tell(sampler), UINT64_MAX);
        lx_sampler_free(sampler);

        sampler = make_sampler(order, 1, 1ull << 62);
        ck_assert_uint_eq(take(sampler, 50, indices), 4);
        for (uint64_t i = 0; i < 4; i++)
            ck_assert_uint_eq(indices[i], index_at(order, (i << 62) + 1));
        lx_sampler_free(sampler);
        lx_order_unref(order);

        order = make_order(kinds[kind], 1, 3, 3);
        sampler = make_sampler(order, 0, UINT64_MAX);
        ck_assert_uint_eq(take(sampler, 50, indices), 50);
        ck_assert_uint_eq(lx_sampler_tell(sampler), 50);
        lx_sampler_free(sampler);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(errors_name_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("random", 10, 1, 0);
    lx_sampler *sampler;
    uint64_t index, taken;
    ck_assert_int_eq(lx_sampler_new(order, 0, 0, &sampler, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "world"));
    ck_assert_ptr_null(sampler);
    lx_error_clear(&error);
    ck_assert_int_eq(lx_sampler_new(order, 2, 2, &sampler, &error), LX_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "rank"));
    unit_fails(lx_sampler_new(NULL, 0, 1, &sampler, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_new(order, 0, 1, NULL, &error), LX_ERR_ARGUMENT);

    sampler = make_sampler(order, 0, 1);
    unit_fails(lx_sampler_take(NULL, 1, &index, &taken, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_take(sampler, 1, NULL, &taken, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_take(sampler, 1, &index, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_seek(NULL, 1, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_save(NULL, NULL, 0, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_save(sampler, NULL, 9, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_restore(NULL, "{}", &error), LX_ERR_ARGUMENT);
    unit_fails(lx_sampler_restore(sampler, NULL, &error), LX_ERR_ARGUMENT);
    lx_sampler_free(NULL);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}
END_TEST

/** Saves the state in an order and position, and restores it with another rank and world. */
static void check_round_trip(lx_order *order, uint64_t position)
{
    lx_error error = LX_ERROR_INIT;
    char text[LX_MAX_SAMPLER_STATE];
    size_t length;
    lx_sampler *one = make_sampler(order, 3, 4), *other = make_sampler(order, 0, 1);
    seek(one, position);
    unit_ok(lx_sampler_save(one, text, sizeof text, &length, &error));
    ck_assert_uint_eq(strlen(text), length);
    unit_ok(lx_sampler_restore(other, text, &error));
    ck_assert_uint_eq(lx_sampler_tell(other), position);
    lx_sampler_free(one);
    lx_sampler_free(other);
}

START_TEST(restores_states)
{
    static const uint64_t numbers[] = {0, 1, 60000, 1ull << 53, INT64_MAX, 1ull << 63, UINT64_MAX};
    for (int kind = 0; kind < 3; kind++) {
        for (int l = 0; l < 7; l++) {
            for (int p = 0; p < 7; p++) {
                lx_order *order = make_order(kinds[kind], numbers[l], kind == 0 ? 1 : numbers[p],
                                             numbers[6 - l]);
                check_round_trip(order, numbers[p]);
                lx_order_unref(order);
            }
        }
    }
}
END_TEST

START_TEST(loads_the_state_of_version_1)
{
    lx_error error = LX_ERROR_INIT;
    char *text = data_read("states/sampler-1.json");
    lx_order *order = make_order("shuffle", 60000, 42, 0);
    lx_sampler *sampler = make_sampler(order, 0, 1);
    unit_ok(lx_sampler_restore(sampler, text, &error));
    ck_assert_uint_eq(lx_sampler_tell(sampler), 75360);
    uint64_t index;
    ck_assert_uint_eq(take(sampler, 1, &index), 1);
    ck_assert_uint_eq(index, 29324);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    free(text);
}
END_TEST

/** Restoring @p text must fail with that status and @p part in the message, and keep the
 * position. */
static void expect_refusal(const char *text, lx_status status, const char *part)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order("shuffle", 60000, 42, 0);
    lx_sampler *sampler = make_sampler(order, 0, 1);
    seek(sampler, 5);
    ck_assert_int_eq(lx_sampler_restore(sampler, text, &error), status);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_uint_eq(lx_sampler_tell(sampler), 5);
    lx_sampler_free(sampler);
    lx_order_unref(order);
}

/** The state of a sampler at position 512 of an order. */
static const char *state_of(const char *kind, uint64_t length, uint64_t a, uint64_t b)
{
    static char text[LX_MAX_SAMPLER_STATE];
    lx_error error = LX_ERROR_INIT;
    lx_order *order = make_order(kind, length, a, b);
    lx_sampler *sampler = make_sampler(order, 0, 1);
    seek(sampler, 512);
    unit_ok(lx_sampler_save(sampler, text, sizeof text, NULL, &error));
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return text;
}

/** @p text with the first @p from replaced by @p to, of the same length. */
static const char *edited(const char *text, const char *from, const char *to)
{
    static char copy[LX_MAX_SAMPLER_STATE];
    strcpy(copy, text);
    char *at = strstr(copy, from);
    ck_assert_ptr_nonnull(at);
    memcpy(at, to, strlen(to));
    return copy;
}

START_TEST(rejects_states_of_other_orders)
{
    expect_refusal(state_of("random", 60000, 42, 0), LX_ERR_MISMATCH,
                   "\"order.kind\" is \"random\" in the state, but \"shuffle\" here");
    expect_refusal(state_of("shuffle", 59999, 42, 0), LX_ERR_MISMATCH,
                   "\"order.length\" is 59999 in the state, but 60000 here");
    expect_refusal(state_of("shuffle", 60000, 43, 0), LX_ERR_MISMATCH,
                   "\"order.seed\" is 43 in the state, but 42 here");
    const char *state = state_of("shuffle", 60000, 42, 0);
    expect_refusal(edited(state, "\"version\":1", "\"version\":2"), LX_ERR_UNSUPPORTED,
                   "has version 2");
    expect_refusal(edited(state, "sampler", "leopard"), LX_ERR_MISMATCH,
                   "the state of a leopard, not of a sampler");
    expect_refusal(edited(state, "\"formula\":1", "\"formula\":2"), LX_ERR_MISMATCH,
                   "\"order.formula\" is 2 in the state, but 1 here");
    expect_refusal(edited(state, ":512", ":513"), LX_ERR_CORRUPT, "changed after it was written");
    expect_refusal(edited(state, ":512", ":\"2\""), LX_ERR_CORRUPT,
                   "\"position\" must be a number");
    expect_refusal(edited(state, ":512,", ":-12,"), LX_ERR_CORRUPT, "\"position\" is -12");
    expect_refusal(edited(state, "position", "posltion"), LX_ERR_CORRUPT,
                   "\"position\" is missing");
    expect_refusal(edited(state, "world\":1", "world\":8"), LX_ERR_CORRUPT, "changed after");
    expect_refusal("", LX_ERR_CORRUPT, "invalid JSON");
    expect_refusal("{\"state\": \"sampler\", \"version\": 1, \"order\": 7}", LX_ERR_CORRUPT,
                   "\"order\" must be an object");
}
END_TEST

/** Calls every function once; returns the first failure. */
static lx_status make_take_and_save(lx_error *error)
{
    lx_order *order = NULL;
    lx_sampler *sampler = NULL;
    uint64_t indices[10], taken;
    char text[LX_MAX_SAMPLER_STATE];
    lx_status status = lx_order_new_shuffle(100, 42, &order, error);
    if (status == LX_OK)
        status = lx_sampler_new(order, 0, 1, &sampler, error);
    if (status == LX_OK)
        status = lx_sampler_take(sampler, 10, indices, &taken, error);
    if (status == LX_OK)
        status = lx_sampler_save(sampler, text, sizeof text, NULL, error);
    if (status == LX_OK)
        status = lx_sampler_restore(sampler, text, error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    return status;
}

START_TEST(reports_each_failed_allocation)
{
    lx_error error = LX_ERROR_INIT;
    int failed = 0;
    for (;; failed++) {
        scarce_begin(failed);
        lx_error_clear(&error);
        if (make_take_and_save(&error) == LX_OK)
            break;
        ck_assert_int_eq(error.status, LX_ERR_NOMEM);
    }
    ck_assert_int_ge(failed, 6);
}
END_TEST

UNIT_MAIN("sampler/sampler", a_rank_takes_its_part_step_by_step, two_takes_equal_one,
          seek_then_take_is_take_then_drop, all_ranks_together_take_the_whole_order,
          an_epoch_is_complete_across_world_sizes, an_empty_order_gives_nothing,
          stops_at_the_last_position, accepts_numbers_at_the_limits, errors_name_arguments,
          restores_states, loads_the_state_of_version_1, rejects_states_of_other_orders,
          reports_each_failed_allocation)
