/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks JSON text (RFC 8259) and finds the values in it, without building objects:
 * jansson takes several times as long as Python's json.loads(), which this must keep up with.
 */
#ifndef LX_IMPORTER_JSON_SCAN_H
#define LX_IMPORTER_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/schema.h>

/** Maximum nesting depth. */
#define LX__JSON_SCAN_DEPTH 128

/** A place in a text. After a failure, it is the place of the first byte that is wrong. */
typedef struct lx__json_scan {
    const char *at;
    const char *end;
    const char *why; /**< What is wrong, such as "a comma is missing". */
} lx__json_scan;

/** What begins with a byte. */
typedef enum lx__json_type {
    LX__JSON_SCAN_NULL,
    LX__JSON_SCAN_BOOL,
    LX__JSON_SCAN_NUMBER,
    LX__JSON_SCAN_STRING,
    LX__JSON_SCAN_ARRAY,
    LX__JSON_SCAN_OBJECT
} lx__json_type;

void lx__json_scan_skip_space(lx__json_scan *self);

/** Passes the byte @p byte, which must be the next one after spaces. */
bool lx__json_scan_pass(lx__json_scan *self, char byte, const char *why);

/** Passes a string, which must begin here; @p escaped: it contains a backslash. */
bool lx__json_scan_string(lx__json_scan *self, bool *escaped);

/** Passes any value, after spaces; @p type and @p escaped describe the outermost one. */
bool lx__json_scan_value(lx__json_scan *self, lx__json_type *type, bool *escaped);

/** Whether the text is one value with nothing after it but spaces. */
bool lx__json_scan_is_valid(const char *text, size_t size);

/**
 * Copies what is between the quotes of a checked string, without its escapes, as UTF-8.
 *
 * @param to  At least @p size bytes.
 * @return The size of the copy; SIZE_MAX if an escape is a half of a surrogate pair.
 */
size_t lx__json_scan_unescape(const char *text, size_t size, char *to);

/** A list of numbers or of such lists. */
typedef struct lx__json_list {
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];
    bool int64; /**< All numbers are whole and fit in an int64. */
} lx__json_list;

/** Measures a checked array; false unless it is rectangular and contains nothing but numbers. */
bool lx__json_scan_measure(const char *text, size_t size, lx__json_list *list);

/** Stores the numbers of a measured array; false if one is not a value of @p dtype. */
bool lx__json_scan_store(const char *text, size_t size, lx_dtype dtype, void *elements);

#endif
