/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Checks and locates the values that callers pass.
 */
#ifndef LX_ZRECORD_VALUE_H
#define LX_ZRECORD_VALUE_H

#include "zrecord/write/writer.h"

/** Fails unless @p value is a valid value of field @p field. */
lx_status lx__value_check(const lx_writer *writer, size_t field, const lx_value *value,
                          lx_error *error);

/** Logs a warning if a checked value is an image that the library does not decode; once for each
 * format and writer. */
void lx__value_log_format(lx_writer *writer, const lx_field *field, const lx_value *value);

/** Like lx__value_check(), for a field that is not in the writer's schema. The error does not name
 * the field. */
lx_status lx__value_check_field(const lx_field *field, const lx_value *value, lx_error *error);

/** Fails unless @p column has @p count valid values of field @p field. */
lx_status lx__column_check(const lx_writer *writer, size_t field, const lx_values *column,
                           uint64_t count, lx_error *error);

/** Like lx__column_check(), for a field that is not in the writer's schema. The error names the
 * record, but not the field. */
lx_status lx__column_check_field(const lx_field *field, const lx_values *column, uint64_t count,
                                 lx_error *error);

/** Returns the value of record @p i in a checked column. If the value is missing, its size is
 * LX_NONE. */
lx_value lx__column_value(const lx_field *field, const lx_values *column, uint64_t i);

#endif
