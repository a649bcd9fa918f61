/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Names of fields that a caller writes.
 */
#ifndef LX_IMPORTER_FIELD_NAME_H
#define LX_IMPORTER_FIELD_NAME_H

#include <loaderx/schema.h>

/** Checks the value of the option @p option, which names a field. */
lx_status lx__field_name_check(const char *option, const char *value, lx_error *error);

#endif
