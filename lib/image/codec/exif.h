/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The orientation in Exif data.
 */
#ifndef LX_IMAGE_CODEC_EXIF_H
#define LX_IMAGE_CODEC_EXIF_H

#include <stddef.h>
#include <stdint.h>

/**
 * Finds the orientation in Exif data, which may begin with "Exif" and two zeros.
 *
 * @return The number, from 1 to 8; 1, the usual one, if there is none or the data is damaged.
 */
uint32_t lx__exif_get_orientation(const uint8_t *bytes, size_t size);

#endif
