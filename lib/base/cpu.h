/* SPDX-License-Identifier: MIT */
/** @file
 * What the processor can do beyond the baseline of its architecture. */
#ifndef LX_BASE_CPU_H
#define LX_BASE_CPU_H

#include <stdbool.h>

#include <loaderx/export.h>

#if defined(__x86_64__)

typedef enum lx__cpu_feature {
    LX__CPU_SSE42 = 1, /**< SSE 4.2 and the carry-less multiplication. */
    LX__CPU_AVX2 = 2,  /**< AVX2 and F16C, which all processors with AVX2 have. */
} lx__cpu_feature;

/** Returns whether this processor has the feature, and the system saves its registers. */
LX_API bool lx__cpu_has(lx__cpu_feature feature);

#endif
#endif
