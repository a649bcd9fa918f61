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

/** Whether files may be truncated to what is committed. A repair keeps the bytes of the commits that
 * it removes from LOG, and a reader may still have mapped the rows of commits that one removed. */
bool lx__writer_may_trim(const lx_writer *writer);

#endif
