/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The tables of a joined dataset, written while passing over those of its parts.
 */
#ifndef LX_ZRECORD_JOIN_TABLES_H
#define LX_ZRECORD_JOIN_TABLES_H

#include "zrecord/maintenance/join.h"

/** Makes the seals of the tables, with everything but their checksums. */
lx_status lx__join_name_tables(lx__join *self, lx_error *error);

/**
 * Writes the tables of all fields, makes them durable, and sets the checksums in
 * their seals.
 *
 * @retval LX_ERR_CORRUPT  A table of a part, or a row in it, is damaged.
 */
lx_status lx__join_write_tables(lx__join *self, lx_error *error);

#endif
