/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A uniform permutation made by shuffling a table, for lengths whose table is small.
 *
 * Source of the algorithm: Durstenfeld, "Algorithm 235: Random permutation", 1964, known as the
 * Fisher-Yates shuffle.
 */
#ifndef LX_SAMPLER_FISHER_YATES_H
#define LX_SAMPLER_FISHER_YATES_H

#include <stddef.h>
#include <stdint.h>

/** Maximum length for this shuffle: the numbers fit in 16 bits, and the table in 128 KiB. */
#define LX__FISHER_YATES_LENGTH 65536u

/**
 * Fills @p table with 0..length-1, shuffled by the draws under @p key: draw i chooses the number at
 * place i among the remaining numbers. The permutation is uniform to one part in 2^33: the bias of
 * a choice among m is at most m / 2^64, and the sum of these biases over all places is length^2 /
 * 2^65.
 *
 * @param length  1 .. #LX__FISHER_YATES_LENGTH.
 */
void lx__fisher_yates(uint16_t *table, uint32_t length, uint64_t key);

/** Replaces each of @p count numbers, all below the length, with its entry in @p table. */
void lx__fisher_yates_map(const uint16_t *table, uint64_t *values, size_t count);

#endif
