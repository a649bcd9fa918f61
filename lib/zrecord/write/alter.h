/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Changes to the fields of a dataset that other calls make, too.
 */
#ifndef LX_ZRECORD_ALTER_H
#define LX_ZRECORD_ALTER_H

#include "zrecord/write/field-filler.h"
#include "zrecord/write/writer.h"

/** Stores the values of a new field for the existing records. */
typedef lx_status lx__fill_function(lx__field_filler *filler, void *user, lx_error *error);

/**
 * Puts a new field in the place of the field at @p position, with the same name, as part of a call
 * that installs a generation.
 *
 * @param field  The new field; its name and id are ignored.
 */
lx_status lx__alter_replace(lx_writer *writer, size_t position, const lx_field *field,
                            lx__fill_function *fill, void *user, lx_error *error);

/** Sets the level and the wanted size of the dictionary of the field at @p position, as part of a
 * call that installs a generation. Does not check them. */
lx_status lx__alter_codec_settings(lx_writer *writer, size_t position, int level,
                                   uint32_t dictionary, lx_error *error);

#endif
