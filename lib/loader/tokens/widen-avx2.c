/* SPDX-License-Identifier: MIT */
/* Compiled for AVX2: widen.c calls it only on processors with AVX2. */
#include "loader/tokens/widen-loops.h"

lx__widen *const lx__widen_avx2[LX__WIDEN_DTYPES][2] = LX__WIDEN_TABLE;
