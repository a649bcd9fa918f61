/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file to be read once, from its beginning to its end, inflated on the way if it is
 * gzipped: whatever its name is, its first two bytes tell.
 */
#ifndef LX_TOOLS_INPUT_H
#define LX_TOOLS_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** One thread at a time. */
typedef struct input input;

/** Opens a file, pipe or device. */
lx_status input_open(const char *path, input **in, lx_error *error);

/** NULL is nothing. */
void input_close(input *in);

/** The path it was opened by. */
const char *input_path(const input *in);

/** Bytes that were read so far, inflated. */
uint64_t input_tell(const input *in);

/**
 * The most bytes that it can give in all: what a header promises beyond that need not be tried.
 * #LX_NONE where that is not known.
 *
 * @param[out] exact  Not 0 if it is just as many; 0 if there may be fewer.
 */
uint64_t input_bound(const input *in, int *exact);

/**
 * Reads the next @p size bytes, all of them.
 * @retval LX_ERR_CORRUPT   The file ends before, or is no valid gzip.
 * @retval LX_ERR_CANCELED  A signal came while it waited for a pipe.
 */
lx_status input_read(input *in, void *data, size_t size, lx_error *error);

/**
 * Sees that nothing is left, and that the checksums of gzip are right.
 * @retval LX_ERR_CORRUPT  They are not, or there is more.
 */
lx_status input_finish(input *in, lx_error *error);

#endif
