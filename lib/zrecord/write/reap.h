/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reaps write buffers: waits until they are flushed, and applies their operations.
 */
#ifndef LX_ZRECORD_REAP_H
#define LX_ZRECORD_REAP_H

#include "zrecord/write/writer.h"

/** Waits for the oldest buffer and applies it. A failure is recorded in the writer. */
lx_status lx__writer_reap_oldest(lx_writer *writer, lx_error *error);

/** Submits the buffer that is being filled, if there is one, to the flush. */
lx_status lx__writer_submit_buffer(lx_writer *writer, lx_error *error);

/** Applies the operations of the calls up to @p target: all of them or, if one of them cannot be
 * flushed, none of them. A failure is recorded in the writer. Afterwards, no worker is flushing. */
lx_status lx__writer_reap(lx_writer *writer, uint64_t target, lx_error *error);

/** Drops all operations since the last frame. */
lx_status lx__writer_drop(lx_writer *writer, lx_error *error);

#endif
