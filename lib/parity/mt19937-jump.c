/* SPDX-License-Identifier: MIT */
/* Jumps far ahead. Each number of the generator is a sum of earlier ones at fixed distances, so its
 * sequence satisfies a linear recurrence whose characteristic polynomial over GF(2) has degree
 * 19937. The state after n more numbers is the sum of the states at the exponents that occur in x^n
 * modulo this polynomial (Haramoto, Matsumoto, Nishimura, Panneton and L'Ecuyer, "Efficient Jump
 * Ahead for F2-Linear Random Number Generators", 2008). */
#include "parity/mt19937-jump.h"

#include "parity/mt19937.h"

#include <stdbool.h>
#include <string.h>

#include "sampler/random/wide-arithmetic.h"

#define WORDS LX__MT19937_WORDS
/* Minimum distance at which a jump is faster than generating the numbers. */
#define FAR (UINT64_C(1) << 24)

#define DEGREE 19937
#define POLYNOMIAL_WORDS ((DEGREE + 64) / 64)
#define TAPS_MAX 1024

/** A polynomial of twice the degree; coefficient i is bit i mod 64 of word i div 64. */
typedef struct polynomial {
    uint64_t words[2 * POLYNOMIAL_WORDS];
} polynomial;

static bool coefficient(const polynomial *p, size_t power)
{
    return p->words[power / 64] >> power % 64 & 1;
}

/** Adds x^shift (x^623 + x^396)^power: modulo 2, binomial coefficient j of the power is 1 if the
 * bits of j are a subset of those of the power. */
static void add_power(polynomial *p, unsigned power, unsigned shift)
{
    for (unsigned j = 0; j <= power; j++)
        if ((power & j) == j) {
            unsigned at = 396 * power + 227 * j + shift;
            p->words[at / 64] ^= UINT64_C(1) << at % 64;
        }
}

/* Lists the exponents of the characteristic polynomial below the highest, by the formula of
 * Matsumoto and Nishimura for 624 words, one of which lacks 31 bits. The second-highest exponent is
 * 227 below the highest. */
static size_t list_taps(uint16_t *taps)
{
    polynomial p = {{0}};
    size_t count = 0;
    const uint32_t vector = 0x9908b0dfu;
    add_power(&p, 31, 624);
    add_power(&p, 31, 397);
    for (unsigned i = 0; i < 31; i++)
        if (vector >> i & 1) {
            add_power(&p, 30 - i, 624);
            add_power(&p, 30 - i, 397);
        }
    if (vector >> 31 & 1)
        add_power(&p, 0, 0);
    for (size_t power = 0; power < DEGREE; power++)
        if (coefficient(&p, power))
            taps[count++] = (uint16_t)power;
    return count;
}

/** Reduces modulo the polynomial, a word at a time: the feedback of a word lands more than a word
 * below it. */
static void reduce(polynomial *p, const uint16_t *taps, size_t count)
{
    for (size_t at = 2 * POLYNOMIAL_WORDS; at-- > DEGREE / 64;) {
        uint64_t high = at > DEGREE / 64 ? p->words[at]
                                         : p->words[at] >> DEGREE % 64 << DEGREE % 64;
        p->words[at] ^= high;
        for (size_t i = 0; i < count; i++) { /* x^(64 at) becomes x^(64 at - DEGREE + tap) */
            size_t to = 64 * at + taps[i] - DEGREE;
            if (64 * at + taps[i] < DEGREE) { /* only for the last word, whose low bits are 0 */
                p->words[0] ^= high >> (DEGREE - 64 * at - taps[i]);
                continue;
            }
            p->words[to / 64] ^= high << to % 64;
            if (to % 64 != 0)
                p->words[to / 64 + 1] ^= high >> (64 - to % 64);
        }
    }
}

/** Inserts a zero bit above each bit. */
static uint64_t spread(uint32_t half)
{
    uint64_t bits = half;
    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    return (bits | bits << 1) & 0x5555555555555555u;
}

/** Computes p^2 or, if @p more is true, p^2 times x. */
static void square(polynomial *p, bool more)
{
    for (size_t i = POLYNOMIAL_WORDS; i-- > 0;) {
        uint64_t word = p->words[i];
        p->words[2 * i + 1] = spread((uint32_t)(word >> 32));
        p->words[2 * i] = spread((uint32_t)word);
    }
    for (size_t i = 2 * POLYNOMIAL_WORDS; more && i-- > 0;)
        p->words[i] = p->words[i] << 1 | (i != 0 ? p->words[i - 1] >> 63 : 0);
}

/** Returns x^(high * 2^64 + low) modulo the polynomial. */
static polynomial power_of_x(uint64_t high, uint64_t low)
{
    uint16_t taps[TAPS_MAX];
    size_t count = list_taps(taps);
    polynomial p = {{1}};
    for (int bit = high != 0 ? 127 : 63; bit >= 0; bit--) {
        square(&p, (bit >= 64 ? high >> (bit - 64) : low >> bit) & 1);
        reduce(&p, taps, count);
    }
    return p;
}

void lx__mt19937_jump(lx__mt19937 *generator, uint64_t high, uint64_t low)
{
    polynomial p = power_of_x(high, low);
    lx__mt19937 next = *generator;
    uint32_t sum[LX__MT19937_WORDS] = {0}, window[2 * LX__MT19937_WORDS];
    memcpy(window, next.words, sizeof next.words);
    for (size_t power = 0; power < DEGREE; power++) {
        size_t at = power % LX__MT19937_WORDS;
        if (at == 0) { /* the window contains the next 624 words and those after them */
            memcpy(window, next.words, sizeof next.words);
            lx__mt19937_advance(&next);
            memcpy(window + LX__MT19937_WORDS, next.words, sizeof next.words);
        }
        if (coefficient(&p, power))
            for (size_t i = 0; i < LX__MT19937_WORDS; i++)
                sum[i] ^= window[at + i];
    }
    memcpy(generator->words, sum, sizeof sum);
}

void lx__mt19937_skip(lx__mt19937 *generator, uint64_t count, uint64_t times)
{
    uint64_t left = WORDS - generator->used, high, low = lx__multiply_wide(count, times, &high);
    if (high != 0 || low > left + FAR) {
        generator->used = WORDS;
        lx__mt19937_jump(generator, high - (low < left), low - left);
        return;
    }
    for (; low > WORDS - generator->used; lx__mt19937_advance(generator))
        low -= WORDS - generator->used;
    generator->used += (uint32_t)low;
}
