/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Log rotation, and the code that decides when rotations and WAL checkpoints are due.
 */
#ifndef LX_ZRECORD_ROTATE_H
#define LX_ZRECORD_ROTATE_H

#include "zrecord/write/writer.h"

/** Rotates or checkpoints the log if that is due. Called after a commit, which a failure here does
 * not undo; maintenance is retried once the log has grown further. A failed sync poisons the
 * writer. */
void lx__writer_maintain(lx_writer *writer);

/** Calls lx__writer_maintain() after a submitted commit, unless there are later calls that could
 * still be undone. */
void lx__writer_maintain_submitted(lx_writer *writer);

/** Rotates the log. Frame 0 of the new log contains the state and the updates that are still
 * needed. */
lx_status lx__writer_rotate(lx_writer *writer, lx_error *error);

#endif
