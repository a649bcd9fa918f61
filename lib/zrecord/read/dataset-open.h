/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Opens another handle to a dataset.
 */
#ifndef LX_ZRECORD_DATASET_OPEN_H
#define LX_ZRECORD_DATASET_OPEN_H

#include <loaderx/dataset.h>

#include "base/file.h"

/**
 * Like lx_dataset_open(), for a sealed dataset in @p directory, which has a provider. Messages name
 * its path. Access mode auto means pread.
 *
 * @param directory  The call takes it over, even on failure.
 * @retval LX_ERR_UNSUPPORTED  The dataset is not sealed, or the options ask for mappings or for a
 *                             live handle.
 */
LX_API lx_status lx__dataset_open_in(lx__file *directory, const lx_dataset_options *options,
                                     lx_dataset **dataset, lx_error *error);

/** Returns the directory of a dataset. A refresh or lx_dataset_close() may close it, unless
 * lx__dataset_open_in() has opened the dataset: then only lx_dataset_close() does. */
LX_API const lx__file *lx__dataset_get_directory(lx_dataset *dataset);

/** Opens another handle to the dataset, with its newest snapshot loaded. The handle is live if
 * @p dataset is. */
LX_API lx_status lx__dataset_share(lx_dataset *dataset, lx_dataset **shared, lx_error *error);

#endif
