/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Changes to the fields of a dataset that other calls make, too.
 */
#ifndef LX_ZRECORD_ALTER_H
#define LX_ZRECORD_ALTER_H

#include "zrecord/write/writer.h"

/** Sets the level and the wanted size of the dictionary of the field at @p position, as part of a
 * call that installs a generation. Does not check them. */
lx_status lx__alter_packing(lx_writer *writer, size_t position, int level, uint32_t dictionary,
                            lx_error *error);

#endif
