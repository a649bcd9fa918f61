/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers of the crash test: random numbers that a seed repeats, and memory whose exhaustion
 * ends the test.
 */
#ifndef LX_TESTS_FAULTS_SUPPORT_H
#define LX_TESTS_FAULTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sanitizer.h"

/** Longest time for one job, or one state, in seconds: sanitizers make them ten times slower. A
 * hanging one is killed. */
#define SUPPORT_TIMEOUT 120

/** SplitMix64: one number of state, so that any two may be mixed into a third. */
struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** 0 .. limit - 1. */
static inline uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    return rng_next(rng) % limit;
}

/** True once in @p times. */
static inline bool rng_once_in(struct rng *rng, uint64_t times)
{
    return rng_below(rng, times) == 0;
}

/** Another seed for each pair. */
static inline uint64_t rng_mix(uint64_t seed, uint64_t number)
{
    struct rng rng = {seed ^ (number + 1) * UINT64_C(0xd1342543de82ef95)};
    return rng_next(&rng);
}

static inline _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static inline void *need(void *memory)
{
    if (memory == NULL)
        give_up("out of memory");
    return memory;
}

/** Room for one more element of @p size bytes in an array that doubles. */
static inline void *grow(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity != 0 ? 2 * *capacity : 8;
    return need(realloc(list, *capacity * size));
}

#endif
