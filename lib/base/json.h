/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Parses JSON from untrusted text with jansson, limiting the depth, the number of values and
 * the length of numbers. An object must not repeat a key. The type and range of every value are
 * checked before use.
 */
#ifndef LX_BASE_JSON_H
#define LX_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Maximum nesting depth. */
#define LX__JSON_DEPTH 16
/** Maximum number of values: jansson needs up to 240 bytes for each, 125 MB in total. */
#define LX__JSON_VALUES ((size_t)1 << 19)
/** Maximum length of a number in characters. The library uses at most 20; parsing longer ones would
 * only cost time. */
#define LX__JSON_NUMBER 64

/**
 * Parses one object from @p size bytes.
 * @retval LX_ERR_CORRUPT  The text is not valid JSON or not an object, is nested deeper than
 *                         #LX__JSON_DEPTH, or contains a repeated key or a number longer than
 *                         #LX__JSON_NUMBER characters.
 * @retval LX_ERR_LIMIT    The text contains more than #LX__JSON_VALUES values.
 * @retval LX_ERR_NOMEM    Out of memory.
 */
LX_API lx_status lx__json_parse(const char *text, size_t size, json_t **object, lx_error *error);

/** Gets the member @p key of @p object, which must be an integer in [@p least, @p most] (at most
 * 2^63 - 1). */
LX_API lx_status lx__json_get_integer(const json_t *object, const char *key, uint64_t least,
                                      uint64_t most, uint64_t *value, lx_error *error);

/** Gets the member @p key, which must be a string; the result is borrowed from @p object. */
LX_API lx_status lx__json_get_text(const json_t *object, const char *key, const char **value,
                                   lx_error *error);

/** Gets the member @p key, which must be a boolean. */
LX_API lx_status lx__json_get_bool(const json_t *object, const char *key, bool *value,
                                   lx_error *error);

/** Gets the member @p key, which must have the type @p type (JSON_OBJECT, JSON_ARRAY ...); the
 * result is borrowed from @p object. */
LX_API lx_status lx__json_get(const json_t *object, const char *key, json_type type, json_t **value,
                              lx_error *error);

/** Whether @p value is an integer in [@p least, @p most]. */
static inline bool lx__json_is_integer_in(const json_t *value, json_int_t least, json_int_t most)
{
    return json_is_integer(value) && json_integer_value(value) >= least &&
           json_integer_value(value) <= most;
}

/** Formats the object; release the text with lx__free(). @p flags are jansson's flags: without
 * JSON_SORT_KEYS, the keys keep their insertion order. */
LX_API char *lx__json_text(const json_t *object, size_t flags);

#endif
