/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources over datasets.
 */
#ifndef LX_LOADER_SOURCE_ZRECORD_H
#define LX_LOADER_SOURCE_ZRECORD_H

#include <loaderx/source.h>

#include "base/json.h"

/** Creates a source over the dataset at @p path and closes the dataset with the source. */
lx_status lx__source_open_zrecord(const char *path, const lx_dataset_options *options,
                                  lx_source **source, lx_error *error);

/** Returns the identity of a dataset's snapshot. NULL if memory is short. */
json_t *lx__source_dataset_snapshot_id(lx_dataset *dataset);

#endif
