/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources over datasets.
 */
#ifndef LX_LOADER_SOURCE_ZRECORD_H
#define LX_LOADER_SOURCE_ZRECORD_H

#include <loaderx/source.h>

/** Opens the dataset at @p path and creates a source over the dataset; freeing the source closes
 * the dataset. */
lx_status lx__source_open_zrecord(const char *path, const lx_dataset_options *options,
                                  lx_source **source, lx_error *error);

#endif
