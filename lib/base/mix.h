/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A mixing function for hashes and random numbers.
 */
#ifndef LX_BASE_MIX_H
#define LX_BASE_MIX_H

#include <stdint.h>

/** Makes each bit depend on all others: the last step of SplitMix64 (Steele, Lea, Flood: "Fast
 * Splittable Pseudorandom Number Generators", 2014). A bijection; not cryptographic. */
static inline uint64_t lx__mix(uint64_t number)
{
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

#endif
