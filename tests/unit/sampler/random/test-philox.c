/* SPDX-License-Identifier: MIT */
#include "sampler/random/philox.h"

#include "../../unit.h"
#include "../statistics.h"

START_TEST(matches_known_values)
{
    /* Test vectors of the authors, for philox2x64 with 10 rounds. */
    static const uint64_t known[3][5] = {
        {0, 0, 0, 0xca00a0459843d731, 0x66c24222c9a845b5},
        {~0ull, ~0ull, ~0ull, 0x65b021d60cd8310f, 0x4d02f3222f86df20},
        {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x0a5e742c2997341c,
         0xb0f883d38000de5d}};
    for (int i = 0; i < 3; i++) {
        lx__philox_block block = lx__philox(known[i][0], known[i][1], known[i][2]);
        ck_assert_uint_eq(block.word[0], known[i][3]);
        ck_assert_uint_eq(block.word[1], known[i][4]);
    }
}
END_TEST

static uint64_t draw(uint64_t key, uint64_t number)
{
    return lx__philox(number / 2, 0, key).word[number % 2];
}

START_TEST(draws_are_the_same_from_any_start_in_any_steps)
{
    static const uint64_t firsts[] = {0, 1, 2, 1000001, 1ull << 40, UINT64_MAX - 2000};
    uint64_t draws[41];
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
        for (size_t count = 0; count <= 40; count += 1 + count / 4) {
            draws[count] = 7;
            lx__philox_draws(3, firsts[f], count, draws);
            for (size_t i = 0; i < count; i++)
                ck_assert_uint_eq(draws[i], draw(3, firsts[f] + i));
            for (size_t i = 0; i < count; i++)
                draws[i] = firsts[f] + i * i;
            lx__philox_draws_at(3, draws, count);
            for (size_t i = 0; i < count; i++)
                ck_assert_uint_eq(draws[i], draw(3, firsts[f] + i * i));
            ck_assert_uint_eq(draws[count], 7);
        }
    }
}
END_TEST

START_TEST(bits_are_uniform)
{
    static uint64_t draws[65536];
    static uint32_t cells[64];
    lx__philox_draws(42, 0, 65536, draws);
    double sum = 0;
    for (int i = 0; i < 65536; i++)
        for (int bit = 0; bit < 64; bit++)
            cells[bit] += draws[i] >> bit & 1;
    for (int bit = 0; bit < 64; bit++)
        sum += (cells[bit] - 32768.0) * (cells[bit] - 32768.0) / 16384;
    expect_chance(z_of_chi_square(sum, 64));
}
END_TEST

UNIT_MAIN("sampler/philox", matches_known_values, draws_are_the_same_from_any_start_in_any_steps,
          bits_are_uniform)
