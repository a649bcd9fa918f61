/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the states of samplers and loaders have in common: one JSON object that says what
 * it is the state of, in which version, and carries a checksum, so that a number that was edited
 * is an error and not another place. doc/orders.md describes it.
 */
#ifndef LX_SAMPLER_SAVED_STATE_H
#define LX_SAMPLER_SAVED_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

#include "base/json.h"

/** @p value as an integer, or from 2^63 on, which JSON's readers do not agree on, as a text of
 * its digits. NULL without memory. */
LX_API json_t *lx__state_number(uint64_t value);

/** Member @p key of @p object, as lx__state_number() writes it. */
LX_API lx_status lx__state_get_number(const json_t *object, const char *key, uint64_t *value,
                                      lx_error *error);

/** Goes on with the checksum of what an order or a source is made from, one number after the other, each as a
 * little-endian word; it begins with 0. */
LX_API uint32_t lx__state_add(uint32_t crc, uint64_t word);

/** A checksum, as eight hexadecimal digits. NULL without memory. */
LX_API json_t *lx__state_crc(uint32_t crc);

/** The CRC-32C of @p value as text, keys sorted and without spaces, in eight hexadecimal digits; to
 * @p bytes goes the length of that text. NULL without memory, or without a value. */
json_t *lx__state_digest(const json_t *value, size_t *bytes);

/** @p value again, if it takes few bytes, else its digest, so that states stay short. Takes the
 * reference. */
json_t *lx__state_shorten(json_t *value);

/** Begins the state of a @p what ("sampler"), in @p version. NULL without memory. */
LX_API json_t *lx__state_new(const char *what, int version);

/**
 * Adds the checksum to a whole state and writes it as snprintf would: @p length, which may be
 * NULL, gets the length of the text whatever @p size; 0 asks for that alone.
 *
 * @retval LX_ERR_LIMIT  The text and its NUL do not fit in @p size bytes; none of it is there.
 */
LX_API lx_status lx__state_write(json_t *state, char *text, size_t size, size_t *length,
                                 lx_error *error);

/**
 * Parses the state of a @p what in @p version. Its checksum is for lx__state_check(), after the
 * comparisons that can say more of a difference.
 *
 * @retval LX_ERR_CORRUPT      It is not a JSON object, or not a state.
 * @retval LX_ERR_MISMATCH     It is the state of something else.
 * @retval LX_ERR_UNSUPPORTED  It is of another version.
 */
LX_API lx_status lx__state_parse(const char *text, const char *what, int version, json_t **state,
                                 lx_error *error);

/**
 * Holds a part of a state against what it would be here, as deep as that goes.
 *
 * @param path  Where the part stands, for the error: "order".
 * @retval LX_ERR_MISMATCH  The message names the first difference and both values.
 */
LX_API lx_status lx__state_match(const char *path, const json_t *theirs, const json_t *ours,
                                 lx_error *error);

/** LX_ERR_CORRUPT if the state was changed after it was written. */
LX_API lx_status lx__state_check(const json_t *state, lx_error *error);

#endif
