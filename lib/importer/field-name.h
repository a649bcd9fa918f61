/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Names of fields: those that inputs have become valid ones, and those that a caller writes
 * must be valid.
 */
#ifndef LX_IMPORTER_FIELD_NAME_H
#define LX_IMPORTER_FIELD_NAME_H

#include <stddef.h>

#include <loaderx/schema.h>

/** Makes a valid name of @p source, which is NUL-terminated: bytes that no name may have become
 * "_". */
lx_status lx__field_name_make(const char *source, char name[LX_MAX_FIELD_NAME + 1],
                              lx_error *error);

/** Checks the value of the option @p option, which names a field. */
lx_status lx__field_name_check(const char *option, const char *value, lx_error *error);

#endif
