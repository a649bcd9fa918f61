/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The chunks of a joined dataset, which stay where its parts have them.
 */
#ifndef LX_ZRECORD_JOIN_CHUNKS_H
#define LX_ZRECORD_JOIN_CHUNKS_H

#include "zrecord/maintenance/join.h"

/** Numbers the chunks of all parts, and sets the chunks of the state and the first chunk of each
 * part.
 * @retval LX_ERR_LIMIT  There are too many. */
lx_status lx__join_number_chunks(lx__join *self, lx_error *error);

/** Says in the meta where the chunks are.
 * @retval LX_ERR_ARGUMENT  A path is invalid or too long, or a part is there twice. */
lx_status lx__join_locate_chunks(lx__join *self, lx_error *error);

#endif
