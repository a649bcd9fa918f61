/* SPDX-License-Identifier: MIT */
/* Selects the fastest kernel for this processor. */
#include "sampler/random/feistel-map.h"

#include <stdatomic.h>

#include "base/cpu.h"

static lx__feistel_kernel *best(void)
{
#if defined(__x86_64__)
    return lx__cpu_has(LX__CPU_AVX2) ? lx__feistel_pass_avx2 : lx__feistel_pass_scalar;
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
