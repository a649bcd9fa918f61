/* SPDX-License-Identifier: MIT */
#include "../orders.h"
#include "../statistics.h"

/* One length for either kernel, both multiples of BINS: the first has a table. */
static const uint64_t lengths[] = {16384, 65600};
#define LONGEST 65600

static void check_epochs(uint64_t length, uint64_t seed)
{
    uint64_t *indices = malloc(3 * length * sizeof *indices);
    lx_order *order = make_order("shuffle", length, seed, 0);
    read_order(order, 5 * length, 1, 3 * length, indices);
    for (int epoch = 0; epoch < 3; epoch++)
        ck_assert_msg(is_permutation(indices + epoch * length, length), "length %llu",
                      (unsigned long long)length);
    if (length > 20)
        ck_assert_mem_ne(indices, indices + length, length * sizeof *indices);
    lx_order_unref(order);
    free(indices);
}

START_TEST(each_epoch_is_a_permutation)
{
    for (uint64_t length = 1; length < 600; length++)
        check_epochs(length, length);
    for (uint64_t length = 65534; length <= 65540; length++)
        check_epochs(length, 42);
    check_epochs(60000, 42);
    check_epochs(300000, 42);
}
END_TEST

START_TEST(a_position_gives_the_same_index_from_any_start)
{
    for (int l = 0; l < 2; l++) {
        uint64_t length = lengths[l], state = 3;
        lx_error error = LX_ERROR_INIT;
        lx_order *order = make_order("shuffle", length, 42, 0);
        lx__scratch *scratch;
        unit_ok(lx__scratch_new(order, &scratch, &error));
        for (int i = 0; i < 60; i++) {
            uint64_t indices[70], first = next_choice(&state) % (3 * length);
            uint64_t step = i % 3 == 0 ? 1 : next_choice(&state) % 997 + 1;
            unit_ok(lx__order_read(order, scratch, first, step, 70, indices, &error));
            for (uint64_t k = 0; k < 70; k += 23)
                ck_assert_uint_eq(indices[k], index_at(order, first + k * step));
        }
        lx__scratch_free(scratch);
        lx_order_unref(order);
    }
}
END_TEST

START_TEST(steps_longer_than_an_epoch)
{
    uint64_t indices[50];
    lx_order *order = make_order("shuffle", 7, 42, 0);
    read_order(order, 3, 10, 50, indices);
    for (uint64_t k = 0; k < 50; k++)
        ck_assert_uint_eq(indices[k], index_at(order, 3 + k * 10));
    lx_order_unref(order);
}
END_TEST

START_TEST(positions_values_and_neighbors_are_uniform)
{
    enum { EPOCHS = 40 };
    static uint64_t indices[EPOCHS * LONGEST];
    for (int l = 0; l < 2; l++) {
        pair_table places = {.length = lengths[l]}, neighbours = {.length = lengths[l]};
        uint32_t differences[BINS] = {0};
        double fixed = 0, adjacent = 0;
        lx_order *order = make_order("shuffle", lengths[l], 42, 0);
        read_order(order, 0, 1, EPOCHS * lengths[l], indices);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            const uint64_t *at = indices + epoch * lengths[l];
            for (uint64_t i = 0; i < lengths[l]; i++) {
                count_pair(&places, i, at[i]);
                fixed += at[i] == i;
                if (i % 2 == 1)
                    count_pair(&neighbours, at[i - 1], at[i]);
                if (i == 0)
                    continue;
                adjacent += at[i] == at[i - 1] + 1;
                uint64_t difference = (at[i] + lengths[l] - at[i - 1]) % lengths[l];
                differences[difference * BINS / lengths[l]]++;
            }
        }
        expect_chance(z_of_matched_pairs(&places));
        expect_chance(z_of_neighbour_pairs(&neighbours));
        expect_chance(z_of_cells(differences, BINS, BINS - 1));
        expect_chance(z_of_count(fixed, EPOCHS));
        expect_chance(z_of_count(adjacent, EPOCHS));
        lx_order_unref(order);
    }
}
END_TEST

/** The correlation of two orders at positions from @p first and from @p second on. */
static void check_independent(uint64_t length, uint64_t seed_1, uint64_t first, uint64_t seed_2,
                              uint64_t second, double *equal)
{
    static uint64_t a[LONGEST], b[LONGEST];
    pair_table pairs = {.length = length};
    lx_order *one = make_order("shuffle", length, seed_1, 0);
    lx_order *other = make_order("shuffle", length, seed_2, 0);
    read_order(one, first, 1, length, a);
    read_order(other, second, 1, length, b);
    for (uint64_t i = 0; i < length; i++) {
        count_pair(&pairs, a[i], b[i]);
        *equal += a[i] == b[i];
    }
    expect_chance(z_of_matched_pairs(&pairs));
    expect_chance(z_of_correlation(a, b, length));
    lx_order_unref(one);
    lx_order_unref(other);
}

START_TEST(seeds_and_epochs_are_independent)
{
    for (int l = 0; l < 2; l++) {
        uint64_t length = lengths[l];
        double equal = 0, pairs = 0;
        for (uint64_t i = 0; i < 20; i++, pairs += 4) {
            check_independent(length, 42, i * length, 42, (i + 1) * length, &equal);
            check_independent(length, i, 0, i + 1, 0, &equal);
            check_independent(length, i, length, i + 1, 0, &equal);
            check_independent(length, i, 0, i | 1ull << (i + 40), 0, &equal);
        }
        expect_chance(z_of_count(equal, pairs)); /* on average, a pair of permutations agrees in
                                                  * one place */
    }
}
END_TEST

START_TEST(accepts_lengths_at_the_limits)
{
    static const uint64_t longest[] = {1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    uint64_t indices[100];
    for (int l = 0; l < 3; l++) {
        lx_order *order = make_order("shuffle", longest[l], 42, 0);
        read_order(order, UINT64_MAX - 100, 1, 100, indices);
        for (int i = 0; i < 100; i++)
            ck_assert_uint_lt(indices[i], longest[l]);
        ck_assert_uint_eq(indices[99], index_at(order, UINT64_MAX - 1));
        lx_order_unref(order);
    }
}
END_TEST

UNIT_MAIN("sampler/shuffle", each_epoch_is_a_permutation,
          a_position_gives_the_same_index_from_any_start, steps_longer_than_an_epoch,
          positions_values_and_neighbors_are_uniform, seeds_and_epochs_are_independent,
          accepts_lengths_at_the_limits)
