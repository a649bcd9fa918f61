/* SPDX-License-Identifier: MIT */
/* Compiled with AVX2: nothing here runs before widen.c has asked for it. */
#include "loader/tokens/widen-loops.h"

lx__widen *const lx__widen_avx2[LX__WIDEN_DTYPES][2] = LX__WIDEN_TABLE;
