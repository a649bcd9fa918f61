/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The fields of an import: their names and types follow from the first records, except the
 * types that the caller set.
 */
#ifndef LX_IMPORTER_DERIVED_FIELDS_H
#define LX_IMPORTER_DERIVED_FIELDS_H

#include "importer/cursor.h"

/**
 * Derives the fields from the first records of the first input that has any.
 *
 * @param fields  Zeroed.
 * @param cursor  Reads the records; the input is closed afterwards.
 * @retval LX_ERR_ARGUMENT  The type of a field is set that no record has.
 */
lx_status lx__derived_fields_init(lx__import_fields *fields, lx__cursor *cursor, lx_error *error);

/** Returns the position of a field whose type was set; the number of fields if it is not there. */
size_t lx__derived_fields_find(const lx__import_fields *fields, const lx__import_field *given);

/** Notes which fields have types that the caller set. */
void lx__derived_fields_note_given(lx__import_fields *fields, const lx__import_fields *given);

/** Reports a field whose type was set and that no record has: the name may be misspelt. In a dataset
 * that exists, the field may be meant to have no values. @p result says what the import did, or is
 * empty. */
lx_status lx__derived_fields_fail_absent(const lx__import_field *given, const char *result,
                                         lx_error *error);

#endif
