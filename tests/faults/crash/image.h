/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Images written as real directories.
 */
#ifndef LX_TESTS_FAULTS_CRASH_IMAGE_H
#define LX_TESTS_FAULTS_CRASH_IMAGE_H

#include "loss.h"

/** Makes an image in an empty directory. */
void image_make(const char *root, const struct image *image);

/** Whether the directory holds exactly the image. */
bool image_equals(const char *root, const struct image *image);

#endif
