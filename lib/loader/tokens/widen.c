/* SPDX-License-Identifier: MIT */
#include "loader/tokens/widen.h"

#include "base/cpu.h"
#include "loader/tokens/widen-loops.h"

lx__widen *const lx__widen_plain[LX__WIDEN_DTYPES][2] = LX__WIDEN_TABLE;

lx__widen *lx__widen_find(lx_dtype from, lx_dtype to)
{
    if ((size_t)from >= LX__WIDEN_DTYPES || (to != LX_INT32 && to != LX_INT64))
        return NULL;
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_AVX2))
        return lx__widen_avx2[from][to == LX_INT64];
#endif
    return lx__widen_plain[from][to == LX_INT64];
}

/** Returns one more than the largest value of a signed type of this size. */
static uint64_t most_of(lx_dtype dtype)
{
    return (uint64_t)1 << (8 * lx_dtype_get_size(dtype) - 1);
}

uint64_t lx__widen_limit(lx_dtype from, lx_dtype to, uint64_t vocabulary)
{
    uint64_t limit = most_of(to);
    bool is_signed = from == LX_INT8 || from == LX_INT16 || from == LX_INT32 || from == LX_INT64;
    if (is_signed && most_of(from) < limit)
        limit = most_of(from);
    return vocabulary != 0 && vocabulary < limit ? vocabulary : limit;
}

uint64_t lx__widen_find_bad(lx__widen *widen, const void *from, uint64_t count, size_t width,
                            uint64_t limit, uint64_t *token)
{
    const uint8_t *at = from;
    uint8_t wide[8], bytes[8] = {0};
    uint64_t i = 0;
    while (i + 1 < count && widen(at + i * width, 1, limit, wide))
        i++;
    memcpy(bytes, at + i * width, width);
    *token = lx__load_le64(bytes);
    return i;
}
