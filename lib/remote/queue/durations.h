/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How long the last reads took, and so from when on a read is a straggler.
 */
#ifndef LX_REMOTE_DURATIONS_H
#define LX_REMOTE_DURATIONS_H

#include <stdint.h>

#define LX__DURATIONS 64

/** The shortest time after which a read is a straggler. */
#define LX__STRAGGLES_AFTER ((uint64_t)2000000000)

typedef struct lx__durations {
    uint64_t last[LX__DURATIONS]; /**< In nanoseconds. */
    uint64_t count;
} lx__durations;

void lx__durations_add(lx__durations *durations, uint64_t duration);

/** Returns three times the 95th percentile, but at least #LX__STRAGGLES_AFTER. */
uint64_t lx__durations_get_longest(const lx__durations *durations);

#endif
