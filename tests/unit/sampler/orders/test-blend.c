/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <pthread.h>

#include <loaderx/sampler.h>

#include "../../scarce.h"
#include "mixtures.h"

/** Reads positions one after another: those of a set follow its order, @p at being their earlier
 * number; counts agree. */
static void expect_sets(const struct setup *setup, lx_order *order, uint64_t first, uint64_t end,
                        uint64_t *at)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t *indices = malloc((end - first) * sizeof *indices), counts[SETS_MAX];
    uint64_t *own = malloc((end - first) * sizeof *own), all = 0;
    read_order(order, first, 1, end - first, indices);
    unit_ok(lx_order_get_part_lengths(order, first, end, counts, &error));
    for (size_t set = 0; set < setup->count; set++) {
        uint64_t n = 0;
        read_order(setup->parts[set], at[set], 1, counts[set], own);
        for (uint64_t k = 0; k < end - first; k++)
            if (indices[k] / APART == set) {
                ck_assert_uint_lt(n, counts[set]);
                ck_assert_uint_eq(indices[k] % APART, own[n++]);
            }
        ck_assert_uint_eq(n, counts[set]);
        at[set] += n;
        all += n;
    }
    ck_assert_uint_eq(all, end - first);
    free(own);
    free(indices);
}

START_TEST(repeating_sets_continue_across_epochs)
{
    uint64_t state = 1;
    for (int round = 0; round < 25; round++) {
        struct setup setup = random_setup(&state, 12);
        uint64_t length = next_choice(&state) % 700 + 1, at[SETS_MAX] = {0};
        lx_order *order = blend(&setup, LX_EXHAUSTED_REPEAT, length);
        ck_assert_uint_eq(lx_order_get_length(order), length);
        for (uint64_t first = 0; first < 3000; first += 611)
            expect_sets(&setup, order, first, first + 611, at);
        expect_order(order, state);
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(stops_at_the_first_exhausted_set)
{
    uint64_t state = 2;
    for (int round = 0; round < 25; round++) {
        struct setup setup = random_setup(&state, 12);
        lx_order *order = blend(&setup, LX_EXHAUSTED_STOP, 0);
        lx_order *longer = blend(&setup, LX_EXHAUSTED_REPEAT, 10000000);
        lx_error error = LX_ERROR_INIT;
        uint64_t length = lx_order_get_length(order), counts[SETS_MAX];
        ck_assert_uint_ge(length, 1);
        unit_ok(lx_order_get_part_lengths(order, 0, length, counts, &error));
        for (size_t i = 0; i < setup.count; i++)
            ck_assert_uint_le(counts[i], setup.lengths[i]);
        unit_ok(lx_order_get_part_lengths(longer, 0, length + 1, counts, &error));
        bool beyond = false;
        for (size_t i = 0; i < setup.count; i++)
            beyond = beyond || counts[i] > setup.lengths[i];
        ck_assert(beyond);
        /* Each epoch of it begins an epoch of each set. */
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            uint64_t at[SETS_MAX];
            for (size_t i = 0; i < setup.count; i++)
                at[i] = epoch * setup.lengths[i];
            expect_sets(&setup, order, epoch * length, (epoch + 1) * length, at);
        }
        expect_order(order, state);
        lx_order_unref(order);
        lx_order_unref(longer);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(redistributing_gives_each_sample_once)
{
    uint64_t state = 3;
    for (int round = 0; round < 25; round++) {
        struct setup setup = random_setup(&state, SETS_MAX);
        lx_order *order = blend(&setup, LX_EXHAUSTED_REDISTRIBUTE, 0);
        uint64_t length = 0;
        for (size_t i = 0; i < setup.count; i++)
            length += setup.weights[0][i] > 0 ? setup.lengths[i] : 0;
        ck_assert_uint_eq(lx_order_get_length(order), length);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            uint64_t at[SETS_MAX];
            for (size_t i = 0; i < setup.count; i++)
                at[i] = epoch * setup.lengths[i];
            expect_sets(&setup, order, epoch * length, (epoch + 1) * length, at);
            for (size_t i = 0; i < setup.count; i++)
                ck_assert_uint_eq(at[i], (epoch + (setup.weights[0][i] > 0)) * setup.lengths[i]);
        }
        expect_order(order, state);
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(weights_change_at_their_positions)
{
    static const uint64_t lengths[] = {1000, 1000, 1000};
    static const double first[] = {1, 0, 0}, second[] = {0, 3, 1}, third[] = {0, 0, 1};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(3, lengths, first);
    unit_ok(lx_mixture_add_phase(setup.mixture, 100, second, 3, &error));
    unit_ok(lx_mixture_add_phase(setup.mixture, 500, third, 3, &error));
    lx_order *order = blend(&setup, LX_EXHAUSTED_REPEAT, 600);
    uint64_t counts[3], at[SETS_MAX] = {0};
    static const uint64_t ends[][4] = {
        {0, 100, 100, 0}, {100, 500, 0, 300}, {500, 600, 0, 0}, {600, 1200, 100, 300}};
    for (size_t i = 0; i < 4; i++) {
        unit_ok(lx_order_get_part_lengths(order, ends[i][0], ends[i][1], counts, &error));
        ck_assert_uint_eq(counts[0], ends[i][2]);
        ck_assert_uint_eq(counts[1], ends[i][3]);
    }
    expect_sets(&setup, order, 0, 2000, at);
    expect_order(order, 5);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

START_TEST(reaches_any_position_of_long_sets_quickly)
{
    static const uint64_t lengths[] = {1000000000000, 1ull << 62, 7};
    static const double weights[] = {0.7, 0.2999, 0.0001};
    lx_error error = LX_ERROR_INIT;
    lx_mixture *mixture = lx_mixture_new();
    lx_order *order;
    for (int i = 0; i < 3; i++) {
        lx_order *part = make_order("shuffle", lengths[i], 42, 0);
        unit_ok(lx_mixture_add_part(mixture, part, 0, weights[i], &error));
        lx_order_unref(part);
    }
    unit_ok(lx_mixture_set_length(mixture, UINT64_MAX, &error));
    unit_ok(lx_order_new_blend(mixture, &order, &error));
    expect_order(order, 9);
    lx_order_unref(order);
    unit_ok(lx_mixture_set_exhausted_policy(mixture, LX_EXHAUSTED_REDISTRIBUTE, &error));
    unit_ok(lx_mixture_set_length(mixture, 0, &error));
    unit_ok(lx_order_new_blend(mixture, &order, &error));
    ck_assert_uint_eq(lx_order_get_length(order), lengths[0] + lengths[1] + lengths[2]);
    expect_order(order, 10);
    lx_order_unref(order);
    lx_mixture_free(mixture);
}
END_TEST

/** Reads neighboring positions in one call, and compares them with single reads. */
static void expect_blocks(lx_order *order, lx__scratch *scratch, uint64_t first, size_t count)
{
    static uint64_t indices[LX__ORDER_BLOCK];
    lx_error error = LX_ERROR_INIT;
    unit_ok(lx__order_read(order, scratch, first, 1, count, indices, &error));
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(indices[i], index_at(order, first + i));
}

/* Lengths that formulas permute, and one of a table between them. */
START_TEST(blocks_of_long_sets_match_single_positions)
{
    static const uint64_t lengths[] = {70000, 200000, 500, 66000, 1u << 20};
    static const double weights[] = {3, 1, 0.01, 9, 2};
    for (int exhausted = LX_EXHAUSTED_REPEAT; exhausted <= LX_EXHAUSTED_REDISTRIBUTE; exhausted++) {
        lx_error error = LX_ERROR_INIT;
        lx__scratch *scratch;
        struct setup setup = make_setup(5, lengths, weights);
        uint64_t state = 17, begin = 50000;
        static const double later[] = {1, 1, 0, 1, 0};
        unit_ok(lx_mixture_add_phase(setup.mixture, begin, later, 5, &error));
        lx_order *order = blend(&setup, (lx_exhausted_policy)exhausted, 0);
        uint64_t length = lx_order_get_length(order), near[] = {0, begin, length, 2 * length};
        unit_ok(lx__scratch_new(order, &scratch, &error));
        for (size_t i = 0; i < 24; i++) {
            size_t count = next_choice(&state) % 300 + 1;
            uint64_t first = near[i % 4] + (i < 12 ? next_choice(&state) % (3 * length) : 0);
            expect_blocks(order, scratch, first > 150 ? first - 150 : 0, count);
        }
        lx__scratch_free(scratch);
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

/** A mixture of any sets, weights and length. */
static lx_order *random_blend(struct setup *setup, uint64_t *state, lx_exhausted_policy exhausted)
{
    uint64_t sum;
    *setup = random_setup(state, 12);
    sum = sum_of_lengths(setup);
    if (sum >= 10)
        add_curriculum(setup, state, sum);
    return blend(setup, exhausted, 0);
}

/** Takes the indices of a rank from its position @p first up to @p end. */
static void expect_rank(lx_sampler *sampler, const uint64_t *all, uint64_t length, uint64_t rank,
                        uint64_t world, uint64_t first, uint64_t end)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t index, taken;
    for (uint64_t position = first; position < end; position++) {
        if (position % length % world != rank)
            continue;
        unit_ok(lx_sampler_take(sampler, 1, &index, &taken, &error));
        ck_assert_uint_eq(index, all[position]);
    }
}

START_TEST(ranks_cover_the_epoch_and_resume_with_other_ranks)
{
    enum { ALL = 2500 };
    uint64_t state = 6, all[ALL];
    char text[LX_MAX_SAMPLER_STATE];
    for (int round = 0; round < 15; round++) {
        lx_error error = LX_ERROR_INIT;
        struct setup setup;
        lx_sampler *sampler;
        lx_order *order = random_blend(&setup, &state, (lx_exhausted_policy)(round % 3));
        uint64_t length = lx_order_get_length(order), world = next_choice(&state) % 6 + 1;
        read_order(order, 0, 1, ALL, all);
        world = world < length ? world : length;
        for (uint64_t rank = 0; rank < world; rank++) {
            unit_ok(lx_sampler_new(order, rank, world, &sampler, &error));
            expect_rank(sampler, all, length, rank, world, 0, ALL);
            lx_sampler_free(sampler);
        }
        /* From the middle of the epoch on, with another number of ranks. */
        uint64_t middle = length / 2, others = next_choice(&state) % 6 + 1;
        others = others < length ? others : length;
        unit_ok(lx_sampler_new(order, 0, world, &sampler, &error));
        unit_ok(lx_sampler_seek(sampler, middle, &error));
        unit_ok(lx_sampler_save(sampler, text, sizeof text, NULL, &error));
        lx_sampler_free(sampler);
        for (uint64_t rank = 0; rank < others; rank++) {
            unit_ok(lx_sampler_new(order, rank, others, &sampler, &error));
            unit_ok(lx_sampler_restore(sampler, text, &error));
            expect_rank(sampler, all, length, rank, others, middle, ALL);
            lx_sampler_free(sampler);
        }
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(a_seek_equals_take_and_drop)
{
    uint64_t state = 7, dropped[3000], indices[100], taken;
    for (int round = 0; round < 30; round++) {
        lx_error error = LX_ERROR_INIT;
        struct setup setup;
        lx_sampler *sampler, *far;
        lx_order *order = random_blend(&setup, &state, (lx_exhausted_policy)(round % 3));
        uint64_t from = next_choice(&state) % 2900;
        unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
        unit_ok(lx_sampler_new(order, 0, 1, &far, &error));
        unit_ok(lx_sampler_take(sampler, 3000, dropped, &taken, &error));
        unit_ok(lx_sampler_seek(far, from, &error));
        unit_ok(lx_sampler_take(far, 100, indices, &taken, &error));
        ck_assert_mem_eq(indices, dropped + from, sizeof indices);
        lx_sampler_free(sampler);
        lx_sampler_free(far);
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

START_TEST(sets_have_their_share_from_the_start_of_weights)
{
    uint64_t state = 8;
    for (int round = 0; round < 60; round++) {
        lx_error error = LX_ERROR_INIT;
        struct setup setup = random_setup(&state, SETS_MAX);
        add_curriculum(&setup, &state, 100000);
        lx_order *order = blend(&setup, LX_EXHAUSTED_REPEAT, 200000);
        for (size_t which = 0; which < setup.weighting_count; which++) {
            const double *weights = setup.weights[which];
            uint64_t begin = setup.begins[which], counts[SETS_MAX];
            bool is_last = which + 1 == setup.weighting_count;
            uint64_t next = is_last ? 200000 : setup.begins[which + 1];
            uint64_t count = next_choice(&state) % (next - begin) + 1;
            double sum = 0, used = 0;
            for (size_t i = 0; i < setup.count; i++) {
                sum += weights[i];
                used += weights[i] > 0;
            }
            unit_ok(lx_order_get_part_lengths(order, begin, begin + count, counts, &error));
            for (size_t i = 0; i < setup.count; i++)
                ck_assert_double_le(fabs((double)counts[i] - (double)count * weights[i] / sum),
                                    ceil(log2(used)) / 2 + 1e-6);
        }
        lx_order_unref(order);
        free_setup(&setup);
    }
}
END_TEST

/** A mixture rejects the state of another one, and the error names the difference. */
static void expect_difference(const struct setup *setup, lx_order *other, const char *path)
{
    lx_error error = LX_ERROR_INIT;
    char text[LX_MAX_SAMPLER_STATE];
    lx_sampler *sampler;
    lx_order *order;
    unit_ok(lx_order_new_blend(setup->mixture, &order, &error));
    unit_ok(lx_sampler_new(order, 0, 1, &sampler, &error));
    unit_ok(lx_sampler_save(sampler, text, sizeof text, NULL, &error));
    unit_ok(lx_sampler_restore(sampler, text, &error));
    lx_sampler_free(sampler);
    unit_ok(lx_sampler_new(other, 0, 1, &sampler, &error));
    lx_status status = lx_sampler_restore(sampler, text, &error);
    ck_assert_int_eq(status, LX_ERR_MISMATCH);
    ck_assert_msg(strstr(error.message, path) != NULL, "%s: %s", path, error.message);
    lx_error_clear(&error);
    lx_sampler_free(sampler);
    lx_order_unref(order);
    lx_order_unref(other);
}

START_TEST(states_distinguish_mixtures)
{
    static const uint64_t lengths[] = {10, 10}, shorter[] = {10, 9};
    static const double weights[] = {1, 0.3}, others[] = {1, 0.25}, later[] = {1, 0};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(2, lengths, weights), odd = make_setup(2, lengths, others);
    struct setup part = make_setup(2, shorter, weights), same = make_setup(2, lengths, weights);
    lx_mixture_set_length(setup.mixture, 18, &error);
    expect_difference(&setup, blend(&odd, LX_EXHAUSTED_REPEAT, 18),
                      "\"order.weightings[0].weights[1]\" is \"0.29999999999999999\" in the state, "
                      "but \"0.25\" here");
    expect_difference(&setup, blend(&part, LX_EXHAUSTED_REPEAT, 18), "order.parts[1].length");
    expect_difference(&setup, blend(&same, LX_EXHAUSTED_REPEAT, 19), "order.length");
    expect_difference(&setup, blend(&same, LX_EXHAUSTED_STOP, 13), "order.exhausted");
    expect_difference(&setup, blend(&same, LX_EXHAUSTED_REDISTRIBUTE, 18), "order.exhausted");
    unit_ok(lx_mixture_add_phase(same.mixture, 17, later, 2, &error));
    expect_difference(&setup, blend(&same, LX_EXHAUSTED_REPEAT, 18), "order.weightings[1]");
    unit_ok(lx_mixture_add_phase(setup.mixture, 16, later, 2, &error));
    expect_difference(&setup, blend(&same, LX_EXHAUSTED_REPEAT, 18), "order.weightings[1].begin");
    free_setup(&setup);
    free_setup(&part);
    free_setup(&odd);
    free_setup(&same);
}
END_TEST

static void *read_some(void *order)
{
    uint64_t *indices = malloc(3000 * sizeof *indices);
    read_order(order, 0, 1, 3000, indices);
    lx_order_unref(order);
    return indices;
}

START_TEST(threads_share_one_mixture)
{
    static const uint64_t lengths[] = {100, 1000, 70000};
    static const double weights[] = {1, 2, 3};
    struct setup setup = make_setup(3, lengths, weights);
    lx_order *order = blend(&setup, LX_EXHAUSTED_REDISTRIBUTE, 0);
    pthread_t threads[3];
    void *indices[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_some, lx_order_ref(order)), 0);
    lx_order_unref(order);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], &indices[i]);
    for (int i = 1; i < 3; i++)
        ck_assert_mem_eq(indices[0], indices[i], 3000 * sizeof(uint64_t));
    for (int i = 0; i < 3; i++)
        free(indices[i]);
    free_setup(&setup);
}
END_TEST

START_TEST(reports_failed_allocations)
{
    enum { SETS = 5 };
    static const uint64_t lengths[SETS] = {10, 20, 30, 40, 50};
    static const double weights[SETS] = {1, 2, 3, 4, 5};
    lx_error error = LX_ERROR_INIT;
    struct setup setup = make_setup(SETS, lengths, weights);
    lx_order *order;
    lx__scratch *scratch;
    lx_status status = LX_ERR_NOMEM;
    uint64_t indices[100], right[100];
    unit_ok(lx_mixture_set_exhausted_policy(setup.mixture, LX_EXHAUSTED_REDISTRIBUTE, &error));
    for (int left = 0; status != LX_OK; left++) {
        scarce_begin(left);
        status = lx_order_new_blend(setup.mixture, &order, &error);
        scarce_left = INT_MAX;
        ck_assert(status == LX_OK || (status == LX_ERR_NOMEM && order == NULL));
        lx_error_clear(&error);
    }
    read_order(order, 0, 1, 100, right);
    unit_ok(lx__scratch_new(order, &scratch, &error));
    status = LX_ERR_NOMEM;
    for (int left = 0; status != LX_OK; left++) { /* with one scratch, which continues after */
        scarce_left = left;
        status = lx__order_read(order, scratch, 0, 1, 100, indices, &error);
        scarce_left = INT_MAX;
        ck_assert(status == LX_OK || status == LX_ERR_NOMEM);
        lx_error_clear(&error);
    }
    ck_assert_mem_eq(indices, right, sizeof right);
    lx__scratch_free(scratch);
    lx_order_unref(order);
    free_setup(&setup);
}
END_TEST

UNIT_MAIN("sampler/blend", repeating_sets_continue_across_epochs, stops_at_the_first_exhausted_set,
          redistributing_gives_each_sample_once, weights_change_at_their_positions,
          reaches_any_position_of_long_sets_quickly, blocks_of_long_sets_match_single_positions,
          ranks_cover_the_epoch_and_resume_with_other_ranks, a_seek_equals_take_and_drop,
          sets_have_their_share_from_the_start_of_weights, states_distinguish_mixtures,
          threads_share_one_mixture, reports_failed_allocations)
