/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The inner loops of resizing for processors with AVX2.
 */
#ifndef LX_IMAGE_RESIZE_AVX2_H
#define LX_IMAGE_RESIZE_AVX2_H

#include "image/pixel/resize-passes.h"

#if defined(__x86_64__)
extern const lx__passes lx__passes_avx2;
#endif

#endif
