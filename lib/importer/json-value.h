/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Converts JSON that base/json-scan.h has passed to values: strings and lists of numbers.
 * It builds no objects: jansson takes several times as long as Python's json.loads(), which this
 * must keep up with.
 */
#ifndef LX_IMPORTER_JSON_VALUE_H
#define LX_IMPORTER_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/schema.h>
#include <loaderx/status.h>

#include "importer/number.h"

/** Checks that bytes of an input are one JSON value; otherwise fails with LX_ERR_CORRUPT and the
 * offset. @p what: a noun phrase for the bytes, such as "the value". */
lx_status lx__json_check(const char *what, const void *data, size_t size, lx_error *error);

/**
 * Copies what is between the quotes of a checked string, without its escapes, as UTF-8.
 *
 * @param to  At least @p size bytes.
 * @return The size of the copy; SIZE_MAX if an escape is a half of a surrogate pair.
 */
size_t lx__json_unescape(const char *text, size_t size, char *to);

/** A list of numbers or of such lists. */
typedef struct lx__json_list {
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];
    lx__numbers numbers;
    const char *inexact; /**< The first number of which a float64 would lose digits; NULL: none. */
    size_t inexact_size;
} lx__json_list;

/** Whether the list is "[]", which may stand for an empty array of any number of dimensions. */
static inline bool lx__json_list_is_empty(const lx__json_list *list)
{
    return list->ndim == 1 && list->shape[0] == 0;
}

/** Measures a checked array; false unless it is rectangular and contains nothing but numbers. */
bool lx__json_measure(const char *text, size_t size, lx__json_list *list);

/** Stores the numbers of a measured array; false if one is not a value of @p dtype. */
bool lx__json_store(const char *text, size_t size, lx_dtype dtype, void *elements);

#endif
