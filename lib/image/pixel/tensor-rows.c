/* SPDX-License-Identifier: MIT */
#include "image/pixel/tensor-rows.h"

#include "base/cpu.h"
#include "image/pixel/tensor-avx2.h"
#include "image/pixel/tensor-plain.h"

lx__tensor_row *lx__tensor_row_find(const lx__tensor_kind *kind)
{
#if defined(__x86_64__)
    if (kind->is_exact && lx__cpu_has(LX__CPU_AVX2))
        return lx__tensor_row_avx2;
#endif
    (void)kind;
    return lx__tensor_row_plain;
}
