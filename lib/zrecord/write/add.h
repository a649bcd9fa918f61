/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Adds operations to the current write buffer, and does the work due at the end of each call
 * that adds them.
 */
#ifndef LX_ZRECORD_ADD_H
#define LX_ZRECORD_ADD_H

#include "zrecord/write/writer.h"

/**
 * Adds an operation to the current write buffer. May wait for a commit.
 * @param fields  Field position of each value; NULL: all fields, in order.
 * @param values  The operation's values, which must have been checked; there are operation->values
 *                of them.
 */
lx_status lx__writer_add(lx_writer *writer, const lx__operation *operation, const size_t *fields,
                         const lx_value *values, lx_error *error);

/** A value to write, which may be in the form in which another dataset stores it. */
typedef struct lx__stored {
    const void *data;
    uint64_t size;    /**< Size of data in bytes; LX_NONE: the value is missing. */
    uint32_t logical; /**< If as_stored is set, the size of the value, which is greater than
                           LX__INLINE_MAX. */
    bool as_stored;   /**< If the field is compressed, data is in compressed form. */
} lx__stored;

/** Like lx__writer_add(), with a value for each field, in order. */
lx_status lx__writer_add_stored(lx_writer *writer, const lx__operation *operation,
                                const lx__stored *values, lx_error *error);

/** Appends a record with the values of all fields, which must have been checked. */
lx_status lx__writer_add_record(lx_writer *writer, const lx_value *values, lx_error *error);

/** Checks whether @p count records can be appended. */
lx_status lx__writer_check_room(const lx_writer *writer, uint64_t count, lx_error *error);

/** Stores the values of all fields of record @p i of the caller's @p records in @p values. */
typedef void lx__fill_record(const lx_writer *writer, void *records, uint64_t i, lx_value *values);

/** Appends @p count records, which must have been checked, and ends the call that appends them. */
lx_status lx__writer_add_records(lx_writer *writer, uint64_t count, lx__fill_record *fill,
                                 void *records, uint64_t *first, lx_error *error);

/** Ends a call that added operations: counts the call, records a failure if there was one, and does
 * any commit or sync that is due. @p status is the result of adding the operations. */
lx_status lx__writer_end_call(lx_writer *writer, lx_status status, const lx_error *failure,
                              lx_error *error);

#endif
