/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Turns the operations of a flushed write buffer into entries, in the order of the calls.
 */
#ifndef LX_ZRECORD_APPLY_H
#define LX_ZRECORD_APPLY_H

#include "zrecord/write/writer.h"

/** Adds the operations of a flushed buffer to those that the next frame will commit. */
lx_status lx__writer_apply(lx_writer *writer, const lx__write_buffer *buffer, lx_error *error);

#endif
