/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Widens tokens from their dtype in a file to 4 or 8 bytes.
 */
#ifndef LX_LOADER_WIDEN_H
#define LX_LOADER_WIDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>

/** Copies @p count tokens from unaligned @p from to @p to. Returns false if a token is negative or
 * not below @p limit; the other tokens are still written. */
typedef bool lx__widen(const void *from, size_t count, uint64_t limit, void *to);

/** Returns the function that converts tokens of dtype @p from to #LX_INT32 or #LX_INT64; NULL if
 * tokens cannot have dtype @p from, or if @p to is neither of these two. */
lx__widen *lx__widen_find(lx_dtype from, lx_dtype to);

/** Finds the first of @p count tokens of @p width bytes that is not below @p limit, after @p widen
 * has returned false. Sets @p token to its value. */
uint64_t lx__widen_find_bad(lx__widen *widen, const void *from, uint64_t count, size_t width,
                            uint64_t limit, uint64_t *token);

/** The functions, indexed by the dtype in the file and by whether output elements are 8 bytes wide;
 * NULL if tokens cannot have this dtype. */
#define LX__WIDEN_DTYPES (LX_UINT64 + 1)
extern lx__widen *const lx__widen_plain[LX__WIDEN_DTYPES][2];
#if defined(__x86_64__)
extern lx__widen *const lx__widen_avx2[LX__WIDEN_DTYPES][2];
#endif

/** Returns the limit for tokens of dtype @p from: tokens below the limit are not negative, fit in
 * @p to and are less than @p vocabulary (0 means no bound). */
uint64_t lx__widen_limit(lx_dtype from, lx_dtype to, uint64_t vocabulary);

#endif
