/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks JSON texts (RFC 8259) in UTF-8, and finds values in them, without building objects.
 *
 * json.h parses the library's own documents. This file reads texts of callers and of imports, of
 * any JSON type and length, in one pass that allocates nothing. Repeated keys and numbers of any
 * length are valid.
 */
#ifndef LX_BASE_JSON_SCAN_H
#define LX_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include <loaderx/export.h>

/** Maximum nesting depth. Parsers that call themselves, such as Python's, handle this depth. */
#define LX__JSON_SCAN_DEPTH 512

/** A place in a text. After a failure, it is the place of the first byte that is wrong. */
typedef struct lx__json_scan {
    const char *at;
    const char *end;
    const char *expected; /**< After a failure, what is expected there: a constant noun phrase. */
} lx__json_scan;

/** The type of a value. */
typedef enum lx__json_type {
    LX__JSON_SCAN_NULL,
    LX__JSON_SCAN_BOOL,
    LX__JSON_SCAN_NUMBER,
    LX__JSON_SCAN_STRING,
    LX__JSON_SCAN_ARRAY,
    LX__JSON_SCAN_OBJECT
} lx__json_type;

LX_API void lx__json_scan_skip_space(lx__json_scan *self);

/** Passes whitespace and then the byte @p byte; otherwise, @p expected is expected. */
LX_API bool lx__json_scan_pass(lx__json_scan *self, char byte, const char *expected);

/** Passes a number; @p whole: it has neither a fraction nor an exponent. */
LX_API bool lx__json_scan_number(lx__json_scan *self, bool *whole);

/** Passes a string; @p escaped: it contains a backslash. */
LX_API bool lx__json_scan_string(lx__json_scan *self, bool *escaped);

/** Passes whitespace and then any value. Sets its type and, for a string, @p escaped. */
LX_API bool lx__json_scan_value(lx__json_scan *self, lx__json_type *type, bool *escaped);

/**
 * Checks whether @p text is one JSON value, with whitespace around it.
 *
 * @param[out] expected  If the text is invalid, receives what is expected at the returned offset: a
 *                       constant noun phrase. Otherwise unchanged.
 * @return The offset at which the text is invalid; @p size + 1 if it is valid.
 */
LX_API size_t lx__json_scan_check(const char *text, size_t size, const char **expected);

#endif
