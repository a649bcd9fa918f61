/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Loads snapshots for a handle, starting from the beginning of the WAL or from the handle's
 * current snapshot.
 */
#ifndef LX_ZRECORD_REFRESH_H
#define LX_ZRECORD_REFRESH_H

#include "zrecord/read/dataset.h"

/** Opens the dataset at the handle's path and replays its WAL from the start. */
lx_status lx__dataset_load(const lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error);

/** Like lx__dataset_load(), for the sealed dataset in @p directory, which the call takes over. */
lx_status lx__dataset_load_in(const lx_dataset *dataset, lx__file *directory,
                              lx__snapshot **snapshot, lx_error *error);

/** Returns a reference to the snapshot that a call or a view must use: that of the newest commit if
 * the dataset is live, or else the newest snapshot loaded. */
LX_API lx_status lx__dataset_pin_newest(lx_dataset *dataset, lx__snapshot **snapshot,
                                        lx_error *error);

/** Like lx__dataset_pin_newest(), for calls that cannot fail: if the refresh fails, returns the
 * newest snapshot loaded. */
lx__snapshot *lx__dataset_pin(lx_dataset *dataset);

#endif
