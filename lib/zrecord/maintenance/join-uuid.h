/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The UUID of a joined dataset, which follows from its parts: a join that is repeated,
 * perhaps by another machine, makes the same dataset, so a push of it continues.
 */
#ifndef LX_ZRECORD_JOIN_UUID_H
#define LX_ZRECORD_JOIN_UUID_H

#include "zrecord/maintenance/join.h"

/** Sets the UUID: a hash of what is in meta.json of each part, which has the checksums of its
 * tables, of the path of the part, and of its number of records. */
lx_status lx__join_set_uuid(lx__join *self, lx_error *error);

#endif
