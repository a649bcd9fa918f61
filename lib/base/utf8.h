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

/** Length of the character at @p text, which has @p size bytes; 0 if it is invalid. */
LX_API size_t lx__utf8_character(const char *text, size_t size);

/** Number of bytes at the beginning of @p text that are valid UTF-8: @p size if all of them are. */
LX_API size_t lx__utf8_span(const char *text, size_t size);

/** Whether the NUL-terminated @p text is valid UTF-8. */
LX_API bool lx__utf8_valid(const char *text);

#endif
