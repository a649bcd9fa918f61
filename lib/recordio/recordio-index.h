/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The offsets of an index, without its keys.
 */
#ifndef LX_RECORDIO_INDEX_H
#define LX_RECORDIO_INDEX_H

#include <loaderx/recordio.h>

void lx__recordio_sort_offsets(uint64_t *offsets, size_t count);

/** Reads the offsets of an index, in its order; release them with lx__free(). */
lx_status lx__recordio_load_offsets(const char *path, uint64_t **offsets, size_t *count,
                                    lx_error *error);

#endif
