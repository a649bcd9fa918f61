/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file that is written from one place to its end, through a buffer.
 */
#ifndef LX_RECORDIO_OUTPUT_H
#define LX_RECORDIO_OUTPUT_H

#include "base/file.h"

/** Zero, with a closed file, before it is opened. */
typedef struct lx__output {
    lx__file file;
    uint64_t offset; /**< Where the buffer begins in the file. */
    uint8_t *buffer;
    size_t used;
} lx__output;

/** Opens @p path with these flags, for writing at its end. */
lx_status lx__output_open(lx__output *self, const char *path, int flags, lx_error *error);

/** Adds bytes at the end. After a failure, the file may have some of them. */
lx_status lx__output_add(lx__output *self, const void *data, size_t size, lx_error *error);

/** Writes the buffer, and makes the file durable. */
lx_status lx__output_finish(lx__output *self, lx_error *error);

/** Closes the file and frees the buffer, without writing it. */
void lx__output_close(lx__output *self);

/** Returns the offset of the end, including the buffer. */
static inline uint64_t lx__output_end(const lx__output *self)
{
    return self->offset + self->used;
}

#endif
