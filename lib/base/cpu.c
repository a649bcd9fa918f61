/* SPDX-License-Identifier: MIT */
/* Not __builtin_cpu_supports(), which needs the help of the compiler's run time: in that of Zig,
 * which builds our Python wheels, it knows no feature. */
#include "base/cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdatomic.h>

#define ASKED 4 /* that the features are known */

static bool saves_avx(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6; /* the registers of SSE and of AVX */
}

static int ask(void)
{
    unsigned a, b, c, d;
    int features = ASKED;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0)
        return features;
    if ((c & bit_SSE4_2) != 0 && (c & bit_PCLMUL) != 0)
        features |= LX__CPU_SSE42;
    bool avx = (c & bit_OSXSAVE) != 0 && (c & bit_AVX) != 0 && (c & bit_F16C) != 0 && saves_avx();
    if (avx && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0)
        features |= LX__CPU_AVX2;
    return features;
}

bool lx__cpu_has(lx__cpu_feature feature)
{
    /* Kept, because a virtual machine takes microseconds to answer. A race is harmless: all threads
     * store the same features. */
    static atomic_int known;
    int features = atomic_load_explicit(&known, memory_order_relaxed);
    if (features == 0) {
        features = ask();
        atomic_store_explicit(&known, features, memory_order_relaxed);
    }
    return (features & (int)feature) != 0;
}

#endif
