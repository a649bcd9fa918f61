/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The conversion of rows in plain C: it looks values up.
 */
#ifndef LX_IMAGE_TENSOR_PLAIN_H
#define LX_IMAGE_TENSOR_PLAIN_H

#include "image/pixel/tensor-rows.h"

lx__tensor_row lx__tensor_row_plain;

#endif
