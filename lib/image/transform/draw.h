/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The random numbers of a step, and what they become.
 */
#ifndef LX_IMAGE_DRAW_H
#define LX_IMAGE_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/random.h>

/** How many numbers of a sample's stream belong to each step. */
#define LX__STEP_DRAWS 64

/** The numbers of a sample's stream that belong to a step. */
typedef struct lx__draws {
    const uint64_t *key; /**< Of the stream. */
    uint64_t first;      /**< The number of the first one in the stream. */
} lx__draws;

/** Gets the first @p count numbers of a step, at most #LX__STEP_DRAWS. */
static inline void lx__draw(const lx__draws *draws, size_t count, uint64_t *numbers)
{
    lx_random_get_draws(draws->key, draws->first, count, numbers);
}

/** Returns a number in [0, 1). */
static inline double lx__draw_uniform(uint64_t draw)
{
    return (double)(draw >> 11) * 0x1p-53;
}

/** Returns a number in [0, @p count). */
static inline uint32_t lx__draw_below(uint64_t draw, uint32_t count)
{
    return (uint32_t)((draw >> 32) * count >> 32);
}

/** Returns a number from @p range[0] to @p range[1]. */
static inline double lx__draw_between(uint64_t draw, const double range[2])
{
    return range[0] + lx__draw_uniform(draw) * (range[1] - range[0]);
}

#endif
