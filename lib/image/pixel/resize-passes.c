/* SPDX-License-Identifier: MIT */
#include "image/pixel/resize-passes.h"

#include "base/cpu.h"
#include "image/pixel/resize-avx2.h"
#include "image/pixel/resize-plain.h"

const lx__passes *lx__passes_find(void)
{
#if defined(__x86_64__)
    if (lx__cpu_has(LX__CPU_AVX2))
        return &lx__passes_avx2;
#endif
    return &lx__passes_plain;
}
