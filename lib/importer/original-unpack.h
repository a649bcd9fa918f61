/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Decompresses the records of a store of loaderx 2.8.
 */
#ifndef LX_IMPORTER_ORIGINAL_UNPACK_H
#define LX_IMPORTER_ORIGINAL_UNPACK_H

#include <stddef.h>

#include <loaderx/status.h>

typedef struct lx__original_unpacker lx__original_unpacker;

/**
 * Creates an unpacker; @p dictionary may be NULL.
 *
 * @retval LX_ERR_UNSUPPORTED  This build has no zstd.
 * @retval LX_ERR_CORRUPT      The dictionary is invalid.
 */
lx_status lx__original_unpacker_new(const void *dictionary, size_t size,
                                    lx__original_unpacker **unpacker, lx_error *error);
void lx__original_unpacker_free(lx__original_unpacker *unpacker);

/** Decompresses one frame, which must give exactly @p size bytes. */
lx_status lx__original_unpack(lx__original_unpacker *unpacker, const void *stored,
                              size_t stored_size, void *data, size_t size, lx_error *error);

#endif
