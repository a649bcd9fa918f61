/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks JSON texts (RFC 8259) without parsing them into memory.
 *
 * json.h parses the library's own documents. This file checks values of callers: texts of any JSON
 * type and length, in one pass that allocates nothing.
 */
#ifndef LX_BASE_JSON_TEXT_H
#define LX_BASE_JSON_TEXT_H

#include <stddef.h>

#include <loaderx/export.h>

/** Maximum nesting depth. Parsers that call themselves, such as Python's, handle this depth. */
#define LX__JSON_TEXT_DEPTH 512

/**
 * Checks whether @p text is one JSON value in UTF-8, with whitespace around it. Accepts repeated
 * keys, and numbers of any length.
 *
 * @param[out] expected  If the text is invalid, receives what is expected at the returned offset: a
 *                       constant noun phrase. Otherwise unchanged.
 * @return The offset at which the text is invalid; @p size + 1 if it is valid.
 */
LX_API size_t lx__json_text_check(const char *text, size_t size, const char **expected);

#endif
