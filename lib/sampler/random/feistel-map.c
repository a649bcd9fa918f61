/* SPDX-License-Identifier: MIT */
/* Selects the fastest kernel for this processor. */
#include "sampler/random/feistel-map.h"

#include <stdatomic.h>

#include "sampler/random/feistel-mixed.h"

static lx__feistel_kernel *best(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? lx__feistel_pass_avx2 : lx__feistel_pass_scalar;
#elif defined(__aarch64__)
    return lx__feistel_pass_neon;
#else
    return lx__feistel_pass_scalar;
#endif
}

void lx__feistel_map(const lx__feistel *feistel, uint64_t *values, size_t count)
{
    /* A race is harmless: all threads store the same kernel. */
    static _Atomic(lx__feistel_kernel *) chosen;
    lx__feistel_kernel *kernel = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (kernel == NULL) {
        kernel = best();
        atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
    }
    lx__feistel_map_by(kernel, feistel, values, count);
}

void lx__feistel_map_mixed(const lx__feistel *const *feistels, const uint16_t *of, uint64_t *values,
                           size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        lx__feistel_map_mixed_by(lx__feistel_pass_avx2, lx__feistel_mixed_pass_avx2, feistels, of,
                                 values, count);
        return;
    }
#endif
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && of[end] == of[first])
            end++;
        lx__feistel_map(feistels[of[first]], values + first, end - first);
    }
}
