/* SPDX-License-Identifier: MIT */
#include "parity/numpy-shuffle.h"

#include <string.h>

/* Swaps in flight, for prefetching. */
#define AHEAD 32

/** Draws a number in 0..most as RandomState does: takes the bits under @p mask, and rejects numbers
 * above @p most. */
static inline uint64_t draw(lx__mt19937 *generator, uint64_t most, uint64_t mask)
{
    uint64_t number;
    do {
        number = lx__mt19937_next(generator);
        if (mask > UINT32_MAX)
            number = number << 32 | lx__mt19937_next(generator);
        number &= mask;
    } while (number > most);
    return number;
}

/** Draws the partners of the last @p n places of 0..last, in descending order. */
static void draw_ahead(lx__mt19937 *generator, uint64_t last, size_t n, uint64_t *others)
{
    uint64_t mask = UINT64_MAX >> __builtin_clzll(last);
    for (size_t k = 0; k < n; k++) {
        if (last - k <= mask >> 1)
            mask >>= 1;
        others[k] = draw(generator, last - k, mask);
    }
}

static size_t least(uint64_t left)
{
    return left < AHEAD ? (size_t)left : AHEAD;
}

/** Draws several partners before their swaps, so that the memory accesses overlap. Inlined for each
 * element size. */
static inline __attribute__((always_inline)) void shuffle(lx__mt19937 *generator, uint8_t *numbers,
                                                          size_t size, uint64_t count)
{
    uint64_t others[AHEAD];
    for (uint64_t i = count == 0 ? 0 : count - 1; i > 0;) {
        size_t n = least(i);
        draw_ahead(generator, i, n, others);
        for (size_t k = 0; k < n; k++)
            __builtin_prefetch(numbers + others[k] * size, 1);
        for (size_t k = 0; k < n; k++, i--) {
            uint64_t number = 0, other = 0;
            memcpy(&number, numbers + i * size, size);
            memcpy(&other, numbers + others[k] * size, size);
            memcpy(numbers + i * size, &other, size);
            memcpy(numbers + others[k] * size, &number, size);
        }
    }
}

void lx__random_state_shuffle32(lx__mt19937 *generator, uint32_t *numbers, uint64_t count)
{
    shuffle(generator, (uint8_t *)numbers, sizeof *numbers, count);
}

void lx__random_state_shuffle64(lx__mt19937 *generator, uint64_t *numbers, uint64_t count)
{
    shuffle(generator, (uint8_t *)numbers, sizeof *numbers, count);
}
