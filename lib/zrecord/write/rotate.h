/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Log rotation, and when it and WAL checkpoints are due.
 */
#ifndef LX_ZRECORD_ROTATE_H
#define LX_ZRECORD_ROTATE_H

#include "zrecord/write/writer.h"

/** Rotates the log, or checkpoints it, if that is due. Called after a commit, which a failure here
 * does not undo: it is retried once the log has grown. A failed sync poisons the writer. */
void lx__writer_maintain(lx_writer *writer);

/** The same after a commit that was submitted: only if no call came after it, since what is neither
 * committed nor submitted can still be undone. */
void lx__writer_maintain_submitted(lx_writer *writer);

/** Rotates the log: frame 0 of a new one has the state, and the updates that count. */
lx_status lx__writer_rotate(lx_writer *writer, lx_error *error);

#endif
