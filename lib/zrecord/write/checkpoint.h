/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The WAL checkpoint, which writes the updates in the log to new tables.
 */
#ifndef LX_ZRECORD_CHECKPOINT_H
#define LX_ZRECORD_CHECKPOINT_H

#include "zrecord/write/install.h"

/** Makes tables that contain the current entries of all records. */
lx_status lx__install_checkpoint(lx__install *self, lx_error *error);

/** Makes new tables and a log without updates, and installs both. */
lx_status lx__writer_checkpoint(lx_writer *writer, lx_error *error);

#endif
