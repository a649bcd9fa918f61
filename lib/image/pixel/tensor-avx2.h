/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The conversion of rows for processors with AVX2 and F16C: it computes values.
 */
#ifndef LX_IMAGE_TENSOR_AVX2_H
#define LX_IMAGE_TENSOR_AVX2_H

#include "image/pixel/tensor-rows.h"

#if defined(__x86_64__)
/** The formula of the kind must be exact. */
lx__tensor_row lx__tensor_row_avx2;
#endif

#endif
