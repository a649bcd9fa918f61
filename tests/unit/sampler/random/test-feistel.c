/* SPDX-License-Identifier: MIT */
#include "sampler/random/feistel-map.h"
#include "sampler/random/feistel.h"

#include "base/cpu.h"

#include "../../unit.h"
#include "../statistics.h"

/** Every kernel this processor can run, NULL at the end. */
static lx__feistel_kernel **kernels(void)
{
    static lx__feistel_kernel *list[3];
    size_t count = 0;
    list[count++] = lx__feistel_pass_scalar;
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_AVX2))
        list[count++] = lx__feistel_pass_avx2;
#elif defined(__aarch64__)
    list[count++] = lx__feistel_pass_neon;
#endif
    list[count] = NULL;
    return list;
}

/** The largest number of so many bits, 2 to 64. */
static uint64_t largest_of(uint32_t bits)
{
    return UINT64_MAX >> (64 - bits);
}

/** Images of first, first + step, ... */
static void read_by(lx__feistel_kernel *kernel, const lx__feistel *feistel, uint64_t first,
                    uint64_t step, uint64_t count, uint64_t *images)
{
    for (uint64_t i = 0; i < count; i++)
        images[i] = first + i * step;
    if (kernel != NULL)
        lx__feistel_map_by(kernel, feistel, images, count);
    else
        lx__feistel_map(feistel, images, count);
}

START_TEST(matches_known_values)
{
    /* From tests/golden/orders.py. */
    static const struct {
        uint64_t length, seed, epoch, first, image[4];
    } known[] = {
        {5, 42, 0, 0, {3, 4, 2, 1}},
        {4097, 1, 2, 4093, {2641, 2419, 2558, 631}},
        {65537, 42, 0, 0, {35509, 1284, 40063, 1101}},
        {65537, 42, 1, 65533, {50751, 48353, 44898, 31593}},
        {262144, 43, 0, 7, {177628, 66467, 10052, 251181}},
        {100000000, 42, 0, 50000000, {95493136, 1346211, 71318409, 91913067}},
        {1000000000000,
         42,
         3,
         999999999996,
         {751213821364, 185547219399, 704639563727, 829102128083}},
        {4611686018427387905,
         7,
         1,
         4611686018427387901,
         {722168614676976341, 3565822999998863452, 1347749847407530354, 2923894408578095189}},
        {18446744073709551615u,
         18446744073709551615u,
         0,
         18446744073709551611u,
         {834738210203898729, 10330555676992038623u, 7381367135735336583, 12840114939785673191u}},
    };
    uint64_t images[4];
    for (lx__feistel_kernel **kernel = kernels(); *kernel != NULL; kernel++) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            lx__feistel feistel;
            lx__feistel_init(&feistel, known[i].length, known[i].seed, known[i].epoch);
            read_by(*kernel, &feistel, known[i].first, 1, 4, images);
            for (int j = 0; j < 4; j++)
                ck_assert_uint_eq(images[j], known[i].image[j]);
        }
    }
}
END_TEST

static void check_halves(uint64_t length, uint32_t bits)
{
    lx__feistel feistel;
    lx__feistel_init(&feistel, length, 1, 1);
    ck_assert_uint_eq(feistel.left, bits / 2);
    ck_assert_uint_eq(feistel.right, bits - bits / 2);
}

START_TEST(halves_are_the_smallest_that_hold_the_length)
{
    check_halves(1, 2);
    for (uint32_t bits = 2; bits <= 63; bits++) {
        check_halves(largest_of(bits), bits);
        check_halves(largest_of(bits) + 1, bits);
        check_halves(largest_of(bits) + 2, bits + 1);
    }
    check_halves(UINT64_MAX, 64);
}
END_TEST

START_TEST(kernels_agree_on_all_widths_and_counts)
{
    static uint64_t input[300], expected[300], values[300];
    uint64_t state = 1;
    for (uint32_t bits = 2; bits <= 64; bits++) {
        lx__feistel feistel;
        lx__feistel_init(&feistel, largest_of(bits), bits, 5);
        for (size_t count = 0; count <= 300; count += count < 80 ? 1 : 55) {
            for (size_t i = 0; i < count; i++)
                input[i] = expected[i] = next_choice(&state) >> (64 - bits);
            lx__feistel_pass_scalar(&feistel, expected, count);
            for (lx__feistel_kernel **kernel = kernels(); *kernel != NULL; kernel++) {
                memcpy(values, input, sizeof values);
                (*kernel)(&feistel, values, count);
                ck_assert_mem_eq(values, expected, count * sizeof *values);
            }
        }
    }
}
END_TEST

static void check_permutation(uint64_t length)
{
    uint64_t *images = malloc(length * sizeof *images);
    for (lx__feistel_kernel **kernel = kernels(); *kernel != NULL; kernel++) {
        lx__feistel feistel;
        lx__feistel_init(&feistel, length, length, 3);
        read_by(*kernel, &feistel, 0, 1, length, images);
        ck_assert_msg(is_permutation(images, length), "length %llu", (unsigned long long)length);
        ck_assert_uint_eq(lx__feistel_invert(&feistel, images[length / 3]), length / 3);
    }
    free(images);
}

START_TEST(every_short_length_gives_a_permutation)
{
    for (uint64_t length = 1; length <= 4096; length++)
        check_permutation(length);
}
END_TEST

START_TEST(lengths_around_a_power_of_two_give_permutations)
{
    check_permutation(65537);
    for (uint32_t bits = 13; bits <= 20; bits++) {
        check_permutation(largest_of(bits));
        check_permutation(largest_of(bits) + 1);
        check_permutation(largest_of(bits) + 2);
    }
}
END_TEST

/** Images of random places are in range, and the inverse maps them back; so does it for chosen
 * images. */
static void check_samples(uint64_t length)
{
    lx__feistel feistel;
    lx__feistel_init(&feistel, length, 42, length / 2);
    uint64_t state = length, images[64];
    for (int i = 0; i < 200; i++) {
        uint64_t first = next_choice(&state) % length;
        uint64_t count = length - first < 64 ? length - first : 64;
        read_by(NULL, &feistel, first, 1, count, images);
        uint64_t good = 0;
        for (uint64_t j = 0; j < count; j++)
            good += images[j] < length && lx__feistel_invert(&feistel, images[j]) == first + j;
        ck_assert_uint_eq(good, count);
        uint64_t image = next_choice(&state) % length;
        read_by(NULL, &feistel, lx__feistel_invert(&feistel, image), 1, 1, images);
        ck_assert_uint_eq(images[0], image);
    }
}

START_TEST(long_lengths_invert)
{
    static const uint64_t lengths[] = {1000000,          100000000,  1000000000000,    1ull << 40,
                                       (1ull << 40) + 1, 3ull << 50, (1ull << 62) - 1, 1ull << 62,
                                       (1ull << 62) + 1, 1ull << 63, UINT64_MAX - 1,   UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check_samples(lengths[i]);
    for (uint32_t bits = 17; bits <= 63; bits++) {
        check_samples(largest_of(bits));
        check_samples(largest_of(bits) + 1);
        check_samples(largest_of(bits) + 2);
    }
}
END_TEST

START_TEST(reads_in_steps_and_parts)
{
    static uint64_t all[70000], some[70000];
    lx__feistel feistel;
    lx__feistel_init(&feistel, 70000, 42, 0);
    read_by(NULL, &feistel, 0, 1, 70000, all);
    for (uint64_t step = 1; step < 3000; step = step * 3 + 1) {
        uint64_t count = (70000 - 1 - 11) / step + 1, half = count / 2;
        read_by(NULL, &feistel, 11, step, half, some);
        read_by(NULL, &feistel, 11 + half * step, step, count - half, some + half);
        uint64_t good = 0;
        for (uint64_t i = 0; i < count; i++)
            good += some[i] == all[11 + i * step];
        ck_assert_uint_eq(good, count);
    }
}
END_TEST

/** Of all pairs of numbers that differ exactly in @p varied bits from @p shift on: the number whose
 * images differ there in the same way. */
static double equal_differences(const uint64_t *image, uint32_t bits, uint32_t varied,
                                uint32_t shift)
{
    uint64_t mask = largest_of(varied) << shift, equal = 0;
    for (uint64_t fixed = 0; fixed <= largest_of(bits); fixed++) {
        if ((fixed & mask) != 0)
            continue;
        for (uint64_t a = 0; a <= largest_of(varied); a++) {
            for (uint64_t b = 0; b < a; b++) {
                uint64_t one = fixed | a << shift, other = fixed | b << shift;
                equal += ((image[one] ^ image[other] ^ one ^ other) & mask) == 0;
            }
        }
    }
    return (double)equal;
}

/** By chance this is one of 2^varied, except for the pair's own zero difference. */
static double z_of_differences(double equal, double keys, uint32_t bits, uint32_t varied)
{
    double count = ldexp(1, (int)bits), fixed = ldexp(1, (int)(bits - varied));
    double pairs = keys * fixed * ldexp(1, (int)varied) * (ldexp(1, (int)varied) - 1) / 2;
    return z_of_count(equal, pairs * fixed / (count - 1));
}

/** Detects a Feistel network of too few rounds (doc/orders.md), with the numbers of bits that show
 * it best: for 4 rounds and 10 bits z would be 1,400, and for 6 rounds 43. */
START_TEST(differences_look_random)
{
    enum { KEYS = 4000 };
    for (uint32_t bits = 9; bits <= 11; bits++) {
        uint64_t image[1 << 11];
        double equal_left = 0, equal_right = 0;
        lx__feistel feistel;
        for (uint64_t epoch = 0; epoch < KEYS; epoch++) {
            lx__feistel_init(&feistel, 1u << bits, 12345, epoch);
            read_by(NULL, &feistel, 0, 1, 1u << bits, image);
            equal_left += equal_differences(image, bits, feistel.left, feistel.right);
            equal_right += equal_differences(image, bits, feistel.right, 0);
        }
        expect_chance(z_of_differences(equal_left, KEYS, bits, feistel.left));
        expect_chance(z_of_differences(equal_right, KEYS, bits, feistel.right));
    }
}
END_TEST

UNIT_MAIN("sampler/feistel", matches_known_values, halves_are_the_smallest_that_hold_the_length,
          kernels_agree_on_all_widths_and_counts, every_short_length_gives_a_permutation,
          lengths_around_a_power_of_two_give_permutations, long_lengths_invert,
          reads_in_steps_and_parts, differences_look_random)
