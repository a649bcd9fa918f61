/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Formatted texts of any length.
 */
#ifndef LX_REMOTE_HTTP_FORMAT_H
#define LX_REMOTE_HTTP_FORMAT_H

#include <loaderx/export.h>

/** Allocates a formatted text, which the caller frees with lx__free(); NULL if out of memory. */
char *lx__http_format(const char *text, ...) LX_PRINTF(1, 2);

#endif
