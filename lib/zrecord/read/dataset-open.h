/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Opens another handle to a dataset.
 */
#ifndef LX_ZRECORD_DATASET_OPEN_H
#define LX_ZRECORD_DATASET_OPEN_H

#include <loaderx/dataset.h>

/** Opens another handle to the dataset, with its newest snapshot loaded. The handle is live if
 * @p dataset is. */
LX_API lx_status lx__dataset_share(lx_dataset *dataset, lx_dataset **shared, lx_error *error);

#endif
