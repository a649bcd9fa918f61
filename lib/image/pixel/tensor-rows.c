/* SPDX-License-Identifier: MIT */
#include "image/pixel/tensor-rows.h"

#include "image/pixel/tensor-avx2.h"
#include "image/pixel/tensor-plain.h"

#if defined(__x86_64__)
#include <cpuid.h>

/** Clang 14 does not know F16C in __builtin_cpu_supports(). */
static bool has_f16c(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

lx__tensor_row *lx__tensor_row_find(const lx__tensor_kind *kind)
{
#if defined(__x86_64__)
    if (kind->is_exact && __builtin_cpu_supports("avx2") && has_f16c())
        return lx__tensor_row_avx2;
#endif
    (void)kind;
    return lx__tensor_row_plain;
}
