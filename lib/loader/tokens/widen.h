/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tokens as they lie in files, made 4 or 8 bytes wide.
 */
#ifndef LX_LOADER_WIDEN_H
#define LX_LOADER_WIDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>

/** Writes @p count tokens at @p from, of no alignment, to @p to; false if one of them is @p limit or
 * above, or negative: the rest of them is written all the same. */
typedef bool lx__widen(const void *from, size_t count, uint64_t limit, void *to);

/** What does that for tokens of @p from as #LX_INT32 or #LX_INT64; NULL where there are no tokens of
 * that dtype, or @p to is another. */
lx__widen *lx__widen_find(lx_dtype from, lx_dtype to);

/** Finds the first of @p count tokens, of @p width bytes each, that is @p limit or above: there is
 * one where @p widen gave false. @p token is what it is. */
uint64_t lx__widen_find_bad(lx__widen *widen, const void *from, uint64_t count, size_t width,
                            uint64_t limit, uint64_t *token);

/** By the dtype in the file, up to the last that tokens can have, and whether they become 8 bytes
 * wide; NULL where there are none. */
#define LX__WIDEN_DTYPES (LX_UINT64 + 1)
extern lx__widen *const lx__widen_plain[LX__WIDEN_DTYPES][2];
#if defined(__x86_64__)
extern lx__widen *const lx__widen_avx2[LX__WIDEN_DTYPES][2];
#endif

/** The limit that tokens of @p from have to keep so that none is negative, all fit @p to, and all
 * are below @p vocabulary, which 0 sets no bound to. */
uint64_t lx__widen_limit(lx_dtype from, lx_dtype to, uint64_t vocabulary);

#endif
