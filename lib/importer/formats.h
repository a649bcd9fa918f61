/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The list of formats.
 */
#ifndef LX_IMPORTER_FORMATS_H
#define LX_IMPORTER_FORMATS_H

#include "importer/format.h"

/** Maximum number of options of a format. */
#define LX__FORMAT_OPTIONS 8

/** Finds a format by its name; the error of an unknown name lists all names. */
lx_status lx__format_find(const char *name, const lx__format_class **format, lx_error *error);

/** Finds the position of an option of a format; fails in the same way. */
lx_status lx__format_find_option(const lx__format_class *format, const char *name, size_t *position,
                                 lx_error *error);

#endif
