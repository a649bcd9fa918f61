/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief UTF-8 as defined by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef LX_BASE_UTF8_H
#define LX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/export.h>

/** Whether the NUL-terminated @p text is valid UTF-8. */
LX_API bool lx__utf8_valid(const char *text);

#endif
