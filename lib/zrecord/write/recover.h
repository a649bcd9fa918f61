/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Opens the files of an existing dataset for writing. See doc/zrecord-format.md, 10.3.
 */
#ifndef LX_ZRECORD_RECOVER_H
#define LX_ZRECORD_RECOVER_H

#include "zrecord/write/writer.h"

/** Reads LOG, removes orphans, writes back the data that was not synced, and truncates LOG after
 * the last frame that is valid in this boot. */
lx_status lx__writer_recover(lx_writer *writer, lx_error *error);

#endif
