/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief JSON as this library reads it: from hostile text, by jansson, with limits on the depth, the
 * number of values and the length of numbers. No key may occur twice in an object, and every value
 * is checked for type and range before it is used.
 */
#ifndef LX_BASE_JSON_H
#define LX_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Deepest nesting that is read. */
#define LX__JSON_DEPTH 16
/** Most values that are read: jansson takes up to 240 bytes for each, and so 125 MB for all. */
#define LX__JSON_VALUES ((size_t)1 << 19)
/** Longest number that is read, in characters. Every number that is used has at most 20; a longer
 * one only costs time. */
#define LX__JSON_NUMBER 64

/**
 * Parses one object from @p size bytes.
 * @retval LX_ERR_CORRUPT  Not JSON, not an object, nested deeper than #LX__JSON_DEPTH, a key twice,
 *                         a number of more than #LX__JSON_NUMBER characters.
 * @retval LX_ERR_LIMIT    More than #LX__JSON_VALUES values.
 * @retval LX_ERR_NOMEM    Out of memory.
 */
LX_API lx_status lx__json_parse(const char *text, size_t size, json_t **object, lx_error *error);

/** Member @p key of @p object, an integer in [@p least, @p most] (at most 2^63 - 1). */
LX_API lx_status lx__json_get_integer(const json_t *object, const char *key, uint64_t least,
                                      uint64_t most, uint64_t *value, lx_error *error);

/** Member @p key, a text; borrowed from @p object. */
LX_API lx_status lx__json_get_text(const json_t *object, const char *key, const char **value,
                                   lx_error *error);

/** Member @p key, true or false. */
LX_API lx_status lx__json_get_bool(const json_t *object, const char *key, bool *value,
                                   lx_error *error);

/** Member @p key of type @p type (JSON_OBJECT, JSON_ARRAY ...); borrowed from @p object. */
LX_API lx_status lx__json_get(const json_t *object, const char *key, json_type type,
                              json_t **value, lx_error *error);

/** The object as text, keys in the order they were set, for lx__free(). @p flags are jansson's. */
LX_API char *lx__json_text(const json_t *object, size_t flags);

#endif
