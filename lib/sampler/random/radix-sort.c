/* SPDX-License-Identifier: MIT */
#include "sampler/random/radix-sort.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* 11-bit digits: the counts of one digit fit in the first-level cache, and six digits cover a
 * key. */
#define DIGIT_BITS 11
#define DIGITS 6
#define VALUES (1 << DIGIT_BITS)

static unsigned digit_of(uint64_t key, int digit)
{
    return (unsigned)(key >> digit * DIGIT_BITS) & (VALUES - 1);
}

/** Converts the counts of a digit's values to start positions. Returns 1 if all keys have the same
 * digit. */
static int begin_values(size_t *counts, size_t count)
{
    size_t begin = 0;
    for (int value = 0; value < VALUES; value++) {
        size_t these = counts[value];
        if (these == count)
            return 1;
        counts[value] = begin;
        begin += these;
    }
    return 0;
}

lx_status lx__radix_sort(lx__keyed *items, size_t count, lx_error *error)
{
    if (count < 2)
        return LX_OK;
    size_t(*counts)[VALUES] = lx__alloc_array(DIGITS, sizeof *counts);
    lx__keyed *spare = lx__alloc_array(count, sizeof *spare);
    if (counts == NULL || spare == NULL) {
        lx__free(counts);
        lx__free(spare);
        return lx__fail_memory(error, "sorting");
    }
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(items[i].key, digit)]++;
    lx__keyed *from = items, *to = spare;
    for (int digit = 0; digit < DIGITS; digit++) {
        if (begin_values(counts[digit], count))
            continue;
        for (size_t i = 0; i < count; i++)
            to[counts[digit][digit_of(from[i].key, digit)]++] = from[i];
        lx__keyed *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    lx__free(counts);
    lx__free(spare);
    return LX_OK;
}
