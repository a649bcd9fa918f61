/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The saved states of samplers and loaders. Each is a JSON object with a kind, a version and
 * a checksum, so that an edited number causes an error instead of a different position. See
 * doc/orders.md.
 */
#ifndef LX_SAMPLER_SAVED_STATE_H
#define LX_SAMPLER_SAVED_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "base/json.h"

/** Returns @p value as a JSON integer or, if it is 2^63 or more, a range in which JSON readers
 * disagree, as a string of its digits. Returns NULL when out of memory. */
LX_API json_t *lx__state_number(uint64_t value);

/** Reads member @p key of @p object, in the form that lx__state_number() writes. */
LX_API lx_status lx__state_get_number(const json_t *object, const char *key, uint64_t *value,
                                      lx_error *error);

/** Adds a number, as a little-endian word, to the checksum of the inputs of an order or a source.
 * The checksum starts at 0. */
LX_API uint32_t lx__state_add(uint32_t crc, uint64_t word);

/** Returns a checksum as eight hexadecimal digits, or NULL when out of memory. */
LX_API json_t *lx__state_crc(uint32_t crc);

/** Returns the CRC-32C of @p value as text with sorted keys and without spaces, in eight
 * hexadecimal digits, and sets @p bytes to the length of that text. Returns NULL when out of
 * memory, or if @p value is NULL. */
json_t *lx__state_digest(const json_t *value, size_t *bytes);

/** Returns @p value if its text is short, otherwise its digest, so that states stay short. Takes
 * ownership of the reference to @p value. */
json_t *lx__state_shorten(json_t *value);

/** Starts the saved state of an object of kind @p what (such as "sampler") in format version @p
 * version. Returns NULL when out of memory. */
LX_API json_t *lx__state_new(const char *what, int version);

/**
 * Adds the checksum to a complete state and writes it like snprintf(): sets @p length, which may be
 * NULL, to the length of the text regardless of @p size, and writes nothing if @p size is 0.
 *
 * @retval LX_ERR_LIMIT  The text and its NUL exceed @p size bytes; the buffer is set to an empty
 *                       string.
 */
LX_API lx_status lx__state_write(json_t *state, char *text, size_t size, size_t *length,
                                 lx_error *error);

/**
 * Parses the saved state of an object of kind @p what in format version @p version. Call
 * lx__state_check() after the comparisons, which describe a difference better than the checksum
 * does.
 *
 * @retval LX_ERR_CORRUPT      The text is not a JSON object, or not a state.
 * @retval LX_ERR_MISMATCH     The text is the state of a different kind of object.
 * @retval LX_ERR_UNSUPPORTED  The format version of the state is not @p version.
 */
LX_API lx_status lx__state_parse(const char *text, const char *what, int version, json_t **state,
                                 lx_error *error);

/**
 * Compares a member of a state with its expected value, recursively.
 *
 * @param path  Path of the member, for the error, such as "order".
 * @retval LX_ERR_MISMATCH  The message names the first difference and both values.
 */
LX_API lx_status lx__state_match(const char *path, const json_t *theirs, const json_t *ours,
                                 lx_error *error);

/** Returns LX_ERR_CORRUPT if the state was changed after it was written. */
LX_API lx_status lx__state_check(const json_t *state, lx_error *error);

#endif
