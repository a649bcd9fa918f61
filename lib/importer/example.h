/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads a serialized tf.Example: a map of named features, each of which is a list of byte
 * strings, of floats or of 64-bit integers.
 *
 * The reader is strict. It accepts what the message types of example.proto and feature.proto of
 * TensorFlow allow, in any order and with packed or unpacked numbers, and nothing else.
 */
#ifndef LX_IMPORTER_EXAMPLE_H
#define LX_IMPORTER_EXAMPLE_H

#include "importer/format.h"

typedef struct lx__example_place lx__example_place;

/** The features of an example. */
typedef struct lx__example {
    const char *lists;        /**< Names of features, separated by commas, whose byte strings become
                                   a JSON array; NULL: none. */
    uint64_t limit;           /**< More bytes of copied values are LX_ERR_LIMIT. */
    lx__import_value *values; /**< One for each feature. */
    lx__example_place *places;
    size_t count, value_capacity, place_capacity;
    uint8_t *copies; /**< Values that the message does not contain in one piece. */
    size_t copied, copy_capacity;
} lx__example;

/**
 * Reads a message; @c values and @c count are valid until the next call and while @p data is.
 *
 * A list of one value becomes a scalar, a longer one of numbers an array, and one without values a
 * missing value. A feature with several byte strings is unusable unless @c lists has its name and
 * they are UTF-8.
 *
 * @retval LX_ERR_CORRUPT      The message is not a tf.Example.
 * @retval LX_ERR_LIMIT        It has more than LX_MAX_FIELDS features, or they are too large.
 * @retval LX_ERR_UNSUPPORTED  It is a tf.SequenceExample.
 */
lx_status lx__example_read(lx__example *self, const uint8_t *data, size_t size, lx_error *error);

void lx__example_free(lx__example *self);

#endif
