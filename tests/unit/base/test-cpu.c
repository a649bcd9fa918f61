/* SPDX-License-Identifier: MIT */
#include "base/cpu.h"

#include "../unit.h"

START_TEST(features_are_those_that_the_compiler_finds)
{
#if defined(__x86_64__)
    for (int i = 0; i < 2; i++) { /* asked, and kept */
        ck_assert_int_eq(lx__cpu_has(LX__CPU_SSE42),
                         __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"));
        ck_assert_int_eq(lx__cpu_has(LX__CPU_AVX2), __builtin_cpu_supports("avx2") != 0);
    }
#endif
}
END_TEST

UNIT_MAIN("base/cpu", features_are_those_that_the_compiler_finds)
