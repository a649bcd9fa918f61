/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Jumps ahead in MT19937, as if many numbers had been generated.
 */
#ifndef LX_PARITY_MT19937_JUMP_H
#define LX_PARITY_MT19937_JUMP_H

#include "parity/mt19937.h"

/** Advances as if @p count numbers had been generated @p times times; takes milliseconds for any
 * distance. */
void lx__mt19937_skip(lx__mt19937 *generator, uint64_t count, uint64_t times);

/** Advances by @p high * 2^64 + @p low numbers with a polynomial. All words of the generator must
 * have been used. */
void lx__mt19937_jump(lx__mt19937 *generator, uint64_t high, uint64_t low);

#endif
