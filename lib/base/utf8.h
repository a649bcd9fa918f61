/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief UTF-8 as RFC 3629 has it: no longer forms, no halves of pairs, nothing above U+10FFFF.
 */
#ifndef LX_BASE_UTF8_H
#define LX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/export.h>

/** Whether a text that ends with a NUL is UTF-8. */
LX_API bool lx__utf8_valid(const char *text);

#endif
