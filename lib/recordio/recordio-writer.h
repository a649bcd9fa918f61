/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a reader uses of a writer.
 */
#ifndef LX_RECORDIO_WRITER_H
#define LX_RECORDIO_WRITER_H

#include <loaderx/recordio.h>

/** Writes a record whose parts are already there, with their heads and padding; fails like
 * lx_recordio_writer_write(). */
lx_status lx__recordio_writer_add_parts(lx_recordio_writer *writer, const char *key,
                                        const void *parts, size_t size, lx_error *error);

#endif
