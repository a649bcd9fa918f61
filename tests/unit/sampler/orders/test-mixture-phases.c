/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-phases.h"
#include "sampler/orders/mixture-split.h"

#include <limits.h>

#include "../../scarce.h"
#include "mixtures.h"

/** An epoch that is read one offset after the other, as doc/orders.md defines it. */
struct walk {
    const struct setup *setup;
    lx_exhausted_policy exhausted;
    size_t weighting;
    uint64_t at, begin; /* here, and at the beginning of the phase */
    uint64_t had[SETS_MAX], before[SETS_MAX];
    lx__mixture_split split;
};

/** Begins a phase; false if no set has a weight. */
static bool begin_phase(struct walk *walk)
{
    lx_error error = LX_ERROR_INIT;
    const struct setup *setup = walk->setup;
    double weights[SETS_MAX];
    bool any = false;
    for (size_t i = 0; i < setup->count; i++) {
        bool is_out = walk->exhausted == LX_EXHAUSTED_REDISTRIBUTE &&
                      walk->had[i] == setup->lengths[i];
        weights[i] = is_out ? 0 : setup->weights[walk->weighting][i];
        any = any || weights[i] > 0;
    }
    lx__mixture_split_free(&walk->split);
    if (any)
        unit_ok(lx__mixture_split_new(weights, setup->count, &walk->split, &error));
    walk->begin = walk->at;
    memcpy(walk->before, walk->had, sizeof walk->had);
    return any;
}

/** The set and its place at the next offset; false at the end of the epoch. */
static bool step(struct walk *walk, uint16_t *set, uint64_t *place)
{
    const struct setup *setup = walk->setup;
    size_t next = walk->weighting + 1;
    if (next < setup->weighting_count && walk->at == setup->begins[next])
        walk->weighting = next;
    else
        next = 0;
    if ((walk->at == 0 || next != 0) && !begin_phase(walk))
        return false;
    for (;;) {
        *place = walk->at - walk->begin;
        lx__mixture_split_find(&walk->split, place, 1, set);
        *place += walk->before[*set];
        if (walk->exhausted == LX_EXHAUSTED_REPEAT || *place < setup->lengths[*set])
            break;
        if (walk->exhausted == LX_EXHAUSTED_STOP || !begin_phase(walk))
            return false;
    }
    ck_assert_uint_eq(*place, walk->had[*set]++);
    walk->at++;
    return true;
}

static void expect_plan(const struct setup *setup, lx_exhausted_policy exhausted, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx__mixture_phases phases;
    uint64_t limit = length != 0 ? length : sum_of_lengths(setup), place;
    uint16_t set;
    unit_ok(lx_mixture_set_exhausted_policy(setup->mixture, exhausted, &error));
    unit_ok(lx_mixture_set_length(setup->mixture, length, &error));
    unit_ok(lx__mixture_phases_new(setup->mixture, &phases, &error));
    struct walk walk = {.setup = setup, .exhausted = exhausted};
    while (walk.at < limit && step(&walk, &set, &place)) {
        uint64_t offset = walk.at - 1, counts[SETS_MAX];
        uint16_t found;
        ck_assert_uint_lt(offset, phases.length);
        const lx__mixture_phase *phase = &phases.list[lx__mixture_phases_find(&phases, offset)];
        offset -= phase->begin;
        lx__mixture_split_find(&phase->split, &offset, 1, &found);
        ck_assert_uint_eq(found, set);
        ck_assert_uint_eq(offset + phase->before[found], place);
        if (walk.at % 37 == 0) {
            lx__mixture_phases_count(&phases, walk.at, counts);
            ck_assert_mem_eq(counts, walk.had, setup->count * sizeof *counts);
        }
    }
    ck_assert_uint_eq(phases.length, walk.at);
    ck_assert_mem_eq(phases.totals, walk.had, setup->count * sizeof *walk.had);
    lx__mixture_split_free(&walk.split);
    lx__mixture_phases_free(&phases);
}

START_TEST(phases_match_a_step_by_step_run)
{
    uint64_t state = 1;
    for (int round = 0; round < 90; round++) {
        struct setup setup = random_setup(&state, round % 2 ? 3 : SETS_MAX);
        uint64_t sum = sum_of_lengths(&setup), length = next_choice(&state) % (2 * sum) + 20;
        if (sum >= 20)
            add_curriculum(&setup, &state, sum < length ? sum : length);
        expect_plan(&setup, (lx_exhausted_policy)(round % 3),
                    round % 4 == 0 || sum < 20 ? 0 : length);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(a_set_of_weight_0_gives_nothing)
{
    static const uint64_t lengths[] = {30, 50, 20};
    static const double weights[] = {1, 0, 1};
    static const uint64_t expected[][3] = {{50, 0, 50}, {21, 0, 20}, {30, 0, 20}};
    for (int i = 0; i < 3; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__mixture_phases phases;
        struct setup setup = make_setup(3, lengths, weights);
        expect_plan(&setup, (lx_exhausted_policy)i, 0);
        unit_ok(lx__mixture_phases_new(setup.mixture, &phases, &error));
        ck_assert_mem_eq(phases.totals, expected[i], sizeof expected[i]);
        lx__mixture_phases_free(&phases);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(an_epoch_ends_with_the_last_weighted_set)
{
    static const uint64_t lengths[] = {30, 50};
    static const double first[] = {1, 0}, second[] = {0, 1};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(2, lengths, first);
    setup.begins[1] = 40;
    setup.weights[1][1] = 1;
    setup.weighting_count = 2;
    unit_ok(lx_mixture_add_phase(setup.mixture, 40, second, 2, &error));
    expect_plan(&setup, LX_EXHAUSTED_REPEAT, 0);
    for (int i = 1; i < 3; i++) {
        lx__mixture_phases phases;
        expect_plan(&setup, (lx_exhausted_policy)i, 0);
        unit_ok(lx__mixture_phases_new(setup.mixture, &phases, &error));
        ck_assert_uint_eq(phases.length, 30);
        ck_assert_uint_eq(phases.count, 1);
        lx__mixture_phases_free(&phases);
    }
    free_setup(&setup);
}
END_TEST

START_TEST(rejects_weights_after_the_end)
{
    static const uint64_t lengths[] = {30, 50};
    static const double weights[] = {1, 1};
    lx_error error = LX_ERROR_INIT;
    lx__mixture_phases phases;
    struct setup setup = make_setup(2, lengths, weights);
    unit_ok(lx_mixture_add_phase(setup.mixture, 80, weights, 2, &error));
    for (int i = 0; i < 3; i++) {
        unit_ok(lx_mixture_set_exhausted_policy(setup.mixture, (lx_exhausted_policy)i, &error));
        unit_ok(lx_mixture_set_length(setup.mixture, 0, &error));
        unit_fails(lx__mixture_phases_new(setup.mixture, &phases, &error), LX_ERR_ARGUMENT);
        unit_ok(lx_mixture_set_length(setup.mixture, 80, &error));
        unit_fails(lx__mixture_phases_new(setup.mixture, &phases, &error), LX_ERR_ARGUMENT);
        unit_ok(lx_mixture_set_length(setup.mixture, 81, &error));
        unit_ok(lx__mixture_phases_new(setup.mixture, &phases, &error));
        ck_assert_uint_le(phases.length, 81);
        lx__mixture_phases_free(&phases);
    }
    free_setup(&setup);
}
END_TEST

START_TEST(accepts_the_longest_lengths)
{
    static const uint64_t lengths[] = {UINT64_MAX - 5, 5, 1ull << 63};
    static const double weights[] = {1, 1e-9, 0};
    lx_error error = LX_ERROR_INIT;
    lx__mixture_phases phases;
    lx_mixture *mixture = lx_mixture_new();
    for (int i = 0; i < 3; i++) {
        lx_order *part = make_order("shuffle", lengths[i], 1, 0);
        unit_ok(lx_mixture_add_part(mixture, part, 0, weights[i], &error));
        lx_order_unref(part);
        for (int kind = 0; kind < 3; kind++) {
            unit_ok(lx_mixture_set_exhausted_policy(mixture, (lx_exhausted_policy)kind, &error));
            unit_ok(lx_mixture_set_length(mixture, 0, &error));
            if (i == 2) { /* too many in total */
                unit_fails(lx__mixture_phases_new(mixture, &phases, &error), LX_ERR_ARGUMENT);
                unit_ok(lx_mixture_set_length(mixture, UINT64_MAX, &error));
            }
            unit_ok(lx__mixture_phases_new(mixture, &phases, &error));
            if (kind == LX_EXHAUSTED_REDISTRIBUTE && i != 0) {
                ck_assert_uint_eq(phases.length, UINT64_MAX);
                ck_assert_mem_eq(phases.totals, lengths, 2 * sizeof *lengths);
            }
            if (kind == LX_EXHAUSTED_STOP && i != 0)
                ck_assert_uint_eq(phases.totals[1], 5);
            lx__mixture_phases_free(&phases);
        }
    }
    lx_mixture_free(mixture);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    static const uint64_t lengths[] = {30, 50, 70};
    static const double weights[] = {1, 1, 2};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(3, lengths, weights);
    lx_status status = LX_ERR_NOMEM;
    unit_ok(lx_mixture_set_exhausted_policy(setup.mixture, LX_EXHAUSTED_REDISTRIBUTE, &error));
    for (int left = 0; status != LX_OK; left++) {
        lx__mixture_phases phases;
        scarce_begin(left);
        status = lx__mixture_phases_new(setup.mixture, &phases, &error);
        scarce_left = INT_MAX;
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        lx__mixture_phases_free(&phases);
        lx_error_clear(&error);
    }
    free_setup(&setup);
}
END_TEST

UNIT_MAIN("sampler/mixture-phases", phases_match_a_step_by_step_run,
          a_set_of_weight_0_gives_nothing, an_epoch_ends_with_the_last_weighted_set,
          rejects_weights_after_the_end, accepts_the_longest_lengths, reports_failed_allocations)
