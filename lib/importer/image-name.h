/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Names of files that are encoded images.
 */
#ifndef LX_IMPORTER_IMAGE_NAME_H
#define LX_IMPORTER_IMAGE_NAME_H

#include <stdbool.h>

/** Whether a name ends with that of an image format, in small or capital letters; @p name may be
 * the ending alone. */
bool lx__image_name_is(const char *name);

#endif
