/* SPDX-License-Identifier: MIT */
/* Selects the fastest kernel for this processor. */
#include "sampler/orders/mixture-split-find.h"

#include "sampler/orders/mixture-split.h"

void lx__mixture_split_find(const lx__mixture_split *split, uint64_t *places, size_t count,
                            uint16_t *sets)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        lx__mixture_split_find_avx2(split, places, count, sets);
        return;
    }
#endif
    lx__mixture_split_find_scalar(split, places, count, sets);
}
