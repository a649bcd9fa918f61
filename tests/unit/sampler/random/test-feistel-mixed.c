/* SPDX-License-Identifier: MIT */
#include "sampler/random/feistel-map.h"
#include "sampler/random/feistel-mixed.h"

#include <stdlib.h>

#include "../../unit.h"
#include "../statistics.h"

#define KINDS 70
#define MOST 2500

/* Permutations of all widths, many of which walk cycles often, and the division of a batch among
 * them. */
struct mix {
    lx__feistel feistels[KINDS];
    const lx__feistel *of_kind[KINDS];
    uint16_t of[MOST];
    uint64_t values[MOST], right[MOST];
};

static struct mix *new_mix(uint64_t *state)
{
    struct mix *mix = malloc(sizeof *mix);
    for (size_t i = 0; i < KINDS; i++) {
        uint64_t length = i == 0 ? UINT64_MAX : (next_choice(state) >> i % 63) + 1;
        lx__feistel_init(&mix->feistels[i], length, i, 3);
        mix->of_kind[i] = &mix->feistels[i];
    }
    return mix;
}

/** Numbers of several permutations, in runs of about @p run; each is also mapped alone, to
 * compare. */
static void deal(struct mix *mix, size_t count, size_t kinds, size_t run, uint64_t *state)
{
    uint16_t kind = 0;
    for (size_t i = 0; i < count; i++) {
        if (next_choice(state) % run == 0)
            kind = (uint16_t)(next_choice(state) % kinds);
        mix->of[i] = kind;
        mix->values[i] = mix->right[i] = next_choice(state) % mix->feistels[kind].length;
        lx__feistel_map_by(lx__feistel_pass_scalar, &mix->feistels[kind], &mix->right[i], 1);
    }
}

START_TEST(maps_each_number_by_its_own_key)
{
    static const size_t runs[] = {1, 5, 40, 200, 5000};
    uint64_t state = 11;
    struct mix *mix = new_mix(&state);
    for (size_t count = 0; count <= MOST; count += count < 80 ? 1 : 403)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            size_t bytes = count * sizeof *mix->values;
            deal(mix, count, KINDS, runs[i], &state);
            lx__feistel_map_mixed(mix->of_kind, mix->of, mix->values, count);
            ck_assert(memcmp(mix->values, mix->right, bytes) == 0);
            deal(mix, count, 2, runs[i], &state);
            lx__feistel_map_mixed_by(lx__feistel_pass_scalar, lx__feistel_mixed_pass_scalar,
                                     mix->of_kind, mix->of, mix->values, count);
            ck_assert(memcmp(mix->values, mix->right, bytes) == 0);
        }
    free(mix);
}
END_TEST

/** Every third place is permuted once, and the others stay. */
static void expect_pass(lx__feistel_mixed_kernel *kernel, struct mix *mix, size_t count)
{
    static uint16_t places[MOST];
    size_t chosen = 0;
    memcpy(mix->right, mix->values, sizeof mix->right);
    for (size_t place = 0; place < count; place += 3) {
        places[chosen++] = (uint16_t)place;
        lx__feistel_pass_scalar(&mix->feistels[mix->of[place]], &mix->right[place], 1);
    }
    kernel(mix->of_kind, mix->of, mix->values, places, chosen);
    ck_assert(memcmp(mix->values, mix->right, sizeof mix->right) == 0);
}

START_TEST(kernels_take_the_given_positions)
{
    uint64_t state = 12;
    struct mix *mix = new_mix(&state);
    deal(mix, MOST, KINDS, 1, &state);
    for (size_t count = 0; count < MOST; count += count < 500 ? 1 : 97) {
        expect_pass(lx__feistel_mixed_pass_scalar, mix, count);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2"))
            expect_pass(lx__feistel_mixed_pass_avx2, mix, count);
#endif
    }
    free(mix);
}
END_TEST

UNIT_MAIN("sampler/feistel-mixed", maps_each_number_by_its_own_key,
          kernels_take_the_given_positions)
