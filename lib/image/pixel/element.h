/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One element of a tensor.
 */
#ifndef LX_IMAGE_ELEMENT_H
#define LX_IMAGE_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <loaderx/dtype.h>

/** Stores the nearest value of the dtype, or the even one of two; in an integer, the end of the
 * range for a value beyond it. Returns false if the value or the element is infinite or NaN. */
bool lx__element_store(lx_dtype dtype, float value, uint8_t *to);

#endif
