/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What resizes and crops have in common.
 */
#ifndef LX_IMAGE_STEP_SIZE_H
#define LX_IMAGE_STEP_SIZE_H

#include "image/transform/transform.h"

/** Adds a step with these parameters; fails if a side or the filter is out of range. */
lx_status lx__size_step_add(lx_image_transform *transform, const lx__step_class *class,
                            const lx__size_step *size, lx_error *error);

/** For lx__step_class. */
void lx__size_step_extend(const lx__step *step, lx__extent *extent);
int lx__size_step_save(const lx__step *step, json_t *object);

#endif
