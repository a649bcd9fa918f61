/* SPDX-License-Identifier: MIT */
#include "remote/queue/durations.h"

#include <stdlib.h>
#include <string.h>

void lx__durations_add(lx__durations *durations, uint64_t duration)
{
    durations->last[durations->count++ % LX__DURATIONS] = duration;
}

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

uint64_t lx__durations_get_longest(const lx__durations *durations)
{
    uint64_t sorted[LX__DURATIONS];
    size_t count = durations->count < LX__DURATIONS ? (size_t)durations->count
                                                    : (size_t)LX__DURATIONS;
    if (count == 0)
        return LX__STRAGGLES_AFTER;
    memcpy(sorted, durations->last, sizeof sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    uint64_t longest = 3 * sorted[count * 95 / 100];
    return longest > LX__STRAGGLES_AFTER ? longest : LX__STRAGGLES_AFTER;
}
