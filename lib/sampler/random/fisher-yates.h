/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A permutation by shuffling a table: exact, for lengths of which a table is cheap.
 *
 * Source of the algorithm: Durstenfeld, "Algorithm 235: Random permutation", 1964; known as the
 * shuffle of Fisher and Yates.
 */
#ifndef LX_SAMPLER_FISHER_YATES_H
#define LX_SAMPLER_FISHER_YATES_H

#include <stddef.h>
#include <stdint.h>

/** Longest order that is shuffled so: its numbers fit in 16 bits, and its table in 128 KiB. */
#define LX__FISHER_YATES_LENGTH 65536u

/**
 * Fills @p table with 0..length-1 in the order that the draws under @p key give: place i gets what
 * draw i chooses of the numbers left. Every permutation is as likely as any other to one part in
 * 2^33: a choice among m is off an even one by at most m / 2^64 of it, and the sum of these over
 * all places is length^2 / 2^65.
 *
 * @param length  1 .. #LX__FISHER_YATES_LENGTH.
 */
void lx__fisher_yates(uint16_t *table, uint32_t length, uint64_t key);

/** Puts in the place of each of @p count numbers, below the length, the one that is there in
 * @p table. */
void lx__fisher_yates_map(const uint16_t *table, uint64_t *values, size_t count);

#endif
