/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Adds operations to the write buffer that is being filled, and ends the calls that did.
 */
#ifndef LX_ZRECORD_ADD_H
#define LX_ZRECORD_ADD_H

#include "zrecord/write/writer.h"

/**
 * Adds an operation to the write buffer that is being filled. It may wait for a commit.
 * @param fields  The values' fields by position; NULL: all of them in order.
 * @param values  As many as the operation says, checked.
 */
lx_status lx__writer_add(lx_writer *writer, const lx__operation *operation, const size_t *fields,
                         const lx_value *values, lx_error *error);

/** A value to be written, perhaps in the form in which another dataset has stored it. */
typedef struct lx__stored {
    const void *data;
    uint64_t size;    /**< Of the bytes at data; LX_NONE: it is missing. */
    uint32_t logical; /**< If as_stored: of the value, over LX__INLINE_MAX. */
    bool as_stored;   /**< The bytes are compressed, if the field is. */
} lx__stored;

/** As lx__writer_add(), with a value for every field in order. */
lx_status lx__writer_add_stored(lx_writer *writer, const lx__operation *operation,
                                const lx__stored *values, lx_error *error);

/** Ends a call that added operations, with the status of that: counts it, keeps a failure, commits
 * and syncs what is due. */
lx_status lx__writer_end_call(lx_writer *writer, lx_status status, const lx_error *failure,
                              lx_error *error);

#endif
