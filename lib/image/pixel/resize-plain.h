/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The inner loops of resizing in plain C.
 */
#ifndef LX_IMAGE_RESIZE_PLAIN_H
#define LX_IMAGE_RESIZE_PLAIN_H

#include "image/pixel/resize-passes.h"

extern const lx__passes lx__passes_plain;

#endif
