/* SPDX-License-Identifier: MIT */
#include "remote/queue/backoff.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/mix.h"

#define SECOND ((uint64_t)1000000000)
#define FIRST_PAUSE (SECOND / 10)

/** Returns a random number of at most @p most: SplitMix64 (see base/mix.h). */
static uint64_t get_random(uint64_t *random, uint64_t most)
{
    return lx__mix(*random += 0x9e3779b97f4a7c15) % (most + 1);
}

uint64_t lx__backoff_get_pause(uint64_t *random, unsigned attempts)
{
    bool doubles = attempts <= 8; /* to 12.8 s */
    return get_random(random, doubles ? FIRST_PAUSE << (attempts - 1) : LX__LONGEST_PAUSE);
}

void lx__backoff_append_effort(lx_error *error, unsigned attempts, uint64_t nanoseconds)
{
    if (attempts == 1)
        return;
    if (nanoseconds < 120 * SECOND)
        lx__error_append(error, "; tried %u times in %.1f s", attempts,
                         (double)nanoseconds / SECOND);
    else
        lx__error_append(error, "; tried %u times in %" PRIu64 " minutes", attempts,
                         nanoseconds / (60 * SECOND));
}
