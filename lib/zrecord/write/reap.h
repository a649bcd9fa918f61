/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reaps write buffers: waits until they are flushed, and applies their operations.
 */
#ifndef LX_ZRECORD_REAP_H
#define LX_ZRECORD_REAP_H

#include "zrecord/write/writer.h"

/** Waits for the oldest write buffer and applies it. The writer keeps a failure. */
lx_status lx__writer_reap_oldest(lx_writer *writer, lx_error *error);

/** Hands the write buffer that is being filled, if there is one, to a flush task. */
lx_status lx__writer_flush(lx_writer *writer, lx_error *error);

/** Applies the operations of calls up to @p target: all of them or, where one cannot be flushed,
 * none. The writer keeps a failure. Afterwards no flush task is running. */
lx_status lx__writer_reap(lx_writer *writer, uint64_t target, lx_error *error);

/** Drops all operations since the last frame. */
lx_status lx__writer_drop(lx_writer *writer, lx_error *error);

#endif
