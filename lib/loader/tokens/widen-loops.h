/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The loops that widen tokens, compiled once per instruction set.
 */
#ifndef LX_LOADER_WIDEN_LOOPS_H
#define LX_LOADER_WIDEN_LOOPS_H

#include "base/bytes.h"
#include "loader/tokens/widen.h"

/* Number of tokens per loop; a constant, so that compilers vectorize the loop. */
#define STEP 32

#define LE8(x) (x)

/* Compares tokens as unsigned numbers of their width in the file, so a negative token counts as a
 * large number. A limit beyond this width allows all tokens. */
#define WIDEN(name, from_type, swap, to_type, to_swap)                                             \
    static inline from_type name##_some(const uint8_t *restrict in, size_t count, from_type last,  \
                                        uint8_t *restrict out)                                     \
    {                                                                                              \
        from_type above = 0;                                                                       \
        for (size_t i = 0; i < count; i++) {                                                       \
            from_type token;                                                                       \
            memcpy(&token, in + i * sizeof token, sizeof token);                                   \
            token = swap(token);                                                                   \
            above |= (from_type)(token > last);                                                    \
            to_type wide = to_swap((to_type)token);                                                \
            memcpy(out + i * sizeof wide, &wide, sizeof wide);                                     \
        }                                                                                          \
        return above;                                                                              \
    }                                                                                              \
    static bool name(const void *from, size_t count, uint64_t limit, void *to)                     \
    {                                                                                              \
        const uint8_t *in = from;                                                                  \
        uint8_t *out = to;                                                                         \
        bool all = limit > (from_type)-1;                                                          \
        from_type last = all ? (from_type)-1 : (from_type)(limit - 1), above = 0;                  \
        for (; count >= STEP; count -= STEP) {                                                     \
            above |= name##_some(in, STEP, last, out);                                             \
            in += STEP * sizeof(from_type);                                                        \
            out += STEP * sizeof(to_type);                                                         \
        }                                                                                          \
        above |= name##_some(in, count, last, out);                                                \
        return above == 0;                                                                         \
    }

WIDEN(widen_8_32, uint8_t, LE8, uint32_t, LX__LE32)
WIDEN(widen_8_64, uint8_t, LE8, uint64_t, LX__LE64)
WIDEN(widen_16_32, uint16_t, LX__LE16, uint32_t, LX__LE32)
WIDEN(widen_16_64, uint16_t, LX__LE16, uint64_t, LX__LE64)
WIDEN(widen_32_32, uint32_t, LX__LE32, uint32_t, LX__LE32)
WIDEN(widen_32_64, uint32_t, LX__LE32, uint64_t, LX__LE64)
WIDEN(widen_64_32, uint64_t, LX__LE64, uint32_t, LX__LE32)
WIDEN(widen_64_64, uint64_t, LX__LE64, uint64_t, LX__LE64)

/** All loops, indexed by the dtype in the file and by whether output elements are 8 bytes wide. */
#define LX__WIDEN_TABLE                                                                            \
    {                                                                                              \
        [LX_INT8] = {widen_8_32, widen_8_64}, [LX_INT16] = {widen_16_32, widen_16_64},             \
        [LX_INT32] = {widen_32_32, widen_32_64}, [LX_INT64] = {widen_64_32, widen_64_64},          \
        [LX_UINT8] = {widen_8_32, widen_8_64}, [LX_UINT16] = {widen_16_32, widen_16_64},           \
        [LX_UINT32] = {widen_32_32, widen_32_64}, [LX_UINT64] = {widen_64_32, widen_64_64},        \
    }

#endif
