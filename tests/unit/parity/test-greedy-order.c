/* SPDX-License-Identifier: MIT */
#include <loaderx/parity/megatron.h>

#include <math.h>

#include "../scarce.h"
#include "../sampler/orders.h"
#include "../sampler/statistics.h"

/* Set i has indices from i * APART on. */
#define APART 1000000u

static lx_mixture *mix(const uint64_t *lengths, const double *weights, size_t count,
                       lx_exhausted_policy exhausted, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_mixture *mixture = lx_mixture_new();
    for (size_t i = 0; i < count; i++) {
        lx_order *part = make_order("sequential", lengths[i], 0, 0);
        unit_ok(lx_mixture_add_part(mixture, part, i * APART, weights[i], &error));
        lx_order_unref(part);
    }
    unit_ok(lx_mixture_set_exhausted_policy(mixture, exhausted, &error));
    unit_ok(lx_mixture_set_length(mixture, length, &error));
    return mixture;
}

static lx_order *make_greedy(const uint64_t *lengths, const double *weights, size_t count,
                             lx_exhausted_policy exhausted, uint64_t length)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_mixture *mixture = mix(lengths, weights, count, exhausted, length);
    unit_ok(lx_order_new_greedy(mixture, NULL, &order, &error));
    lx_mixture_free(mixture);
    return order;
}

START_TEST(matches_megatron)
{
    static const uint64_t sets[] = {0, 1, 2, 0, 1, 0, 2, 0, 1, 0, 0, 1};
    uint64_t indices[12], given[3] = {0};
    lx_order *order = make_greedy((uint64_t[]){100, 100, 100}, (double[]){.5, .3, .2}, 3,
                                  LX_EXHAUSTED_REPEAT, 12);
    read_order(order, 0, 1, 12, indices);
    for (int i = 0; i < 12; i++)
        ck_assert_uint_eq(indices[i], sets[i] * APART + given[sets[i]]++);
    lx_order_unref(order);
}
END_TEST

START_TEST(matches_the_exhaustive_form_of_megatron)
{
    static const uint64_t sets[] = {0, 1, 2, 0, 1, 0};
    uint64_t indices[12];
    lx_order *order = make_greedy((uint64_t[]){3, 2, 1}, (double[]){3 / 6.0, 2 / 6.0, 1 / 6.0}, 3,
                                  LX_EXHAUSTED_REDISTRIBUTE, 0);
    ck_assert_uint_eq(lx_order_get_length(order), 6);
    read_order(order, 0, 1, 12, indices);
    for (int i = 0; i < 12; i++)
        ck_assert_uint_eq(indices[i] / APART, sets[i % 6]);
    lx_order_unref(order);
}
END_TEST

/** Compares an order of more than a block with the loop of doc/orders.md; returns the number of
 * repeated indices. */
static uint64_t expect_loop(const uint64_t *lengths, const double *weights, size_t count,
                            lx_exhausted_policy exhausted, uint64_t length)
{
    enum { MOST = 60000, SETS = 40 };
    static uint64_t indices[MOST];
    uint64_t given[SETS] = {0}, total = 0, k = 0;
    bool out[SETS] = {false};
    lx_order *order = make_greedy(lengths, weights, count, exhausted, length);
    for (size_t i = 0; i < count; i++)
        total += lengths[i];
    ck_assert_uint_le(lx_order_get_length(order), MOST);
    read_order(order, 0, 1, lx_order_get_length(order), indices);
    for (; k < (length != 0 ? length : total); k++) {
        double most = -INFINITY;
        size_t set = count;
        for (size_t i = 0; i < count; i++) {
            volatile double wanted = weights[i] * (k != 0 ? (double)k : 1.0);
            if (!out[i] && wanted - (double)given[i] > most) {
                most = wanted - (double)given[i];
                set = i;
            }
        }
        if (set == count || (exhausted == LX_EXHAUSTED_STOP && given[set] == lengths[set]))
            break;
        ck_assert_uint_lt(k, lx_order_get_length(order));
        ck_assert_uint_eq(indices[k], set * APART + given[set]++ % lengths[set]);
        out[set] = exhausted == LX_EXHAUSTED_REDISTRIBUTE && given[set] == lengths[set];
    }
    ck_assert_uint_eq(k, lx_order_get_length(order));
    static int turn;
    if (turn++ % 5 == 0) /* it restarts a block for each of many positions */
        expect_order(order, 5);
    lx_order_unref(order);
    return k;
}

START_TEST(matches_the_loop_of_megatron)
{
    uint64_t state = 77;
    for (int round = 0; round < 24; round++) {
        uint64_t lengths[40];
        double weights[40], sum = 0;
        size_t count = next_choice(&state) % 40 + 1;
        for (size_t i = 0; i < count; i++) {
            lengths[i] = next_choice(&state) % 1400 + 1;
            sum += weights[i] = (double)(next_choice(&state) % 9 + 1);
        }
        for (size_t i = 0; i < count; i++)
            weights[i] /= sum;
        lx_exhausted_policy exhausted = (lx_exhausted_policy)(round % 3);
        uint64_t length = round % 2 == 0 ? 0 : next_choice(&state) % 50000 + 1;
        if (exhausted != LX_EXHAUSTED_REPEAT || length == 0)
            length = length % 5000;
        (void)expect_loop(lengths, weights, count, exhausted, length);
    }
    static const uint64_t long_ones[] = {30000, 20000, 9000};
    expect_loop(long_ones, (double[]){.5, .3, .2}, 3, LX_EXHAUSTED_REDISTRIBUTE, 0);
    expect_loop(long_ones, (double[]){.2, .3, .5}, 3, LX_EXHAUSTED_STOP, 0);
    expect_loop(long_ones, (double[]){.2, .3, .5}, 3, LX_EXHAUSTED_REPEAT, 0);
    expect_loop(long_ones, (double[]){.2, .3, .5}, 3, LX_EXHAUSTED_REPEAT, 2 * 16384);
}
END_TEST

START_TEST(counts_samples_of_sets)
{
    static uint64_t indices[130000];
    const uint64_t lengths[] = {30000, 20000, 9000};
    lx_error error = LX_ERROR_INIT;
    for (int exhausted = 0; exhausted < 3; exhausted++) {
        lx_order *order = make_greedy(lengths, (double[]){.5, .3, .2}, 3,
                                      (lx_exhausted_policy)exhausted, 0);
        uint64_t state = 5, length = lx_order_get_length(order);
        ck_assert_uint_eq(lx_order_get_part_count(order), 3);
        read_order(order, 0, 1, 2 * length, indices);
        for (int round = 0; round < 40; round++) {
            uint64_t end = next_choice(&state) % (2 * length + 1), counts[3], right[3] = {0};
            uint64_t first = next_choice(&state) % (end + 1);
            unit_ok(lx_order_get_part_lengths(order, first, end, counts, &error));
            for (uint64_t i = first; i < end; i++)
                right[indices[i] / APART]++;
            ck_assert_mem_eq(counts, right, sizeof right);
        }
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(rejects_invalid_arguments)
{
    lx_error error = LX_ERROR_INIT;
    lx_order *order;
    lx_mixture *mixture = lx_mixture_new();
    unit_fails(lx_order_new_greedy(mixture, NULL, NULL, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_greedy(NULL, NULL, &order, &error), LX_ERR_ARGUMENT);
    unit_fails(lx_order_new_greedy(mixture, NULL, &order, &error), LX_ERR_ARGUMENT);
    lx_mixture_free(mixture);
    mixture = mix((uint64_t[]){10, 20}, (double[]){1, 2}, 2, LX_EXHAUSTED_REPEAT,
                  (UINT64_C(1) << 53) + 1);
    unit_fails(lx_order_new_greedy(mixture, NULL, &order, &error), LX_ERR_LIMIT);
    unit_ok(lx_mixture_set_length(mixture, 100, &error));
    for (int left = 0; left < 12; left++) {
        scarce_begin(left);
        unit_fails(lx_order_new_greedy(mixture, NULL, &order, &error), LX_ERR_NOMEM);
        ck_assert_ptr_null(order);
    }
    scarce_begin(1000);
    unit_ok(lx_mixture_add_phase(mixture, 10, (double[]){2, 1}, 2, &error));
    unit_fails(lx_order_new_greedy(mixture, NULL, &order, &error), LX_ERR_UNSUPPORTED);
    lx_mixture_free(mixture);
}
END_TEST

/** Reads positions up to @p end in random pieces with gaps, and records them. */
static void read_pieces(lx_order *order, uint64_t end, uint64_t *indices, bool *is_read)
{
    lx_error error = LX_ERROR_INIT;
    lx__scratch *scratch;
    uint64_t state = 21;
    unit_ok(lx__scratch_new(order, &scratch, &error));
    for (uint64_t at = 0, count; at < end; at += count) {
        count = next_choice(&state) % 700 + 1;
        if (count > end - at)
            count = end - at;
        if (next_choice(&state) % 9 == 0)
            continue;
        unit_ok(lx__order_read(order, scratch, at, 1, count, indices + at, &error));
        memset(is_read + at, true, count);
    }
    lx__scratch_free(scratch);
}

START_TEST(reads_positions_out_of_sequence)
{
    enum { END = 70000, STEP = 7 };
    static const uint64_t lengths[] = {66000, 300, 90000};
    static uint64_t indices[END], right[END / STEP];
    static bool is_read[END];
    for (int exhausted = LX_EXHAUSTED_REPEAT; exhausted <= LX_EXHAUSTED_REDISTRIBUTE; exhausted++) {
        lx_error error = LX_ERROR_INIT;
        lx_order *order;
        lx_mixture *mixture = lx_mixture_new();
        for (size_t i = 0; i < 3; i++) {
            lx_order *part = make_order("shuffle", lengths[i], i, 0);
            unit_ok(lx_mixture_add_part(mixture, part, i * APART, i == 1 ? 0.01 : 0.495, &error));
            lx_order_unref(part);
        }
        unit_ok(lx_mixture_set_exhausted_policy(mixture, (lx_exhausted_policy)exhausted, &error));
        unit_ok(lx_mixture_set_length(mixture, 33000, &error));
        unit_ok(lx_order_new_greedy(mixture, NULL, &order, &error));
        memset(is_read, 0, sizeof is_read);
        read_pieces(order, END, indices, is_read);
        for (uint64_t first = 0; first < STEP; first++) {
            read_order(order, first, STEP, END / STEP, right);
            for (uint64_t i = 0; i < END / STEP; i++)
                ck_assert(!is_read[first + i * STEP] || indices[first + i * STEP] == right[i]);
        }
        lx_order_unref(order);
        lx_mixture_free(mixture);
    }
}
END_TEST

START_TEST(reports_failed_allocations_of_reads)
{
    lx_error error = LX_ERROR_INIT;
    uint64_t right[20], indices[20], counts[2];
    lx_order *order = make_greedy((uint64_t[]){10, 20}, (double[]){.4, .6}, 2, LX_EXHAUSTED_STOP,
                                  0);
    read_order(order, 0, 1, 20, right);
    for (int left = 1; left < 10; left++) {
        lx__scratch *scratch;
        scarce_begin(left);
        unit_ok(lx__scratch_new(order, &scratch, &error));
        unit_fails(lx__order_read(order, scratch, 0, 1, 20, indices, &error), LX_ERR_NOMEM);
        scarce_begin(1000);
        unit_ok(lx__order_read(order, scratch, 0, 1, 20, indices, &error));
        ck_assert_mem_eq(indices, right, sizeof right);
        lx__scratch_free(scratch);
    }
    for (int left = 0; left < 5; left++) {
        scarce_begin(left);
        unit_fails(lx_order_get_part_lengths(order, 3, 7, counts, &error), LX_ERR_NOMEM);
    }
    scarce_begin(1000);
    lx_order_unref(order);
}
END_TEST

UNIT_MAIN("parity/greedy-order", matches_megatron, matches_the_exhaustive_form_of_megatron,
          matches_the_loop_of_megatron, reads_positions_out_of_sequence, counts_samples_of_sets,
          rejects_invalid_arguments, reports_failed_allocations_of_reads)
