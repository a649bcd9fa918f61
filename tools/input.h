/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file that is read once, from beginning to end. It is decompressed if its first two bytes
 * show that it is gzipped, regardless of its name.
 */
#ifndef LX_TOOLS_INPUT_H
#define LX_TOOLS_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Not thread-safe. */
typedef struct input input;

/** Opens a file, pipe or device. */
lx_status input_open(const char *path, input **in, lx_error *error);

/** Closes the input; NULL is a no-op. */
void input_close(input *in);

/** Returns the path passed to input_open(). */
const char *input_path(const input *in);

/** Returns the number of bytes read so far, after decompression. */
uint64_t input_tell(const input *in);

/**
 * Returns the maximum size of the input in bytes, or #LX_NONE if it is unknown. Data that a header
 * declares beyond this size cannot exist.
 *
 * @param[out] exact  Nonzero if the input has exactly this size; 0 if it may be smaller.
 */
uint64_t input_bound(const input *in, int *exact);

/**
 * Reads exactly the next @p size bytes.
 * @retval LX_ERR_CORRUPT   The file ends earlier, or its gzip data is invalid.
 * @retval LX_ERR_CANCELED  A signal was received while waiting for a pipe.
 */
lx_status input_read(input *in, void *data, size_t size, lx_error *error);

/**
 * Checks that no data is left, and that the gzip checksums match.
 * @retval LX_ERR_CORRUPT  A checksum does not match, or data is left.
 */
lx_status input_finish(input *in, lx_error *error);

#endif
