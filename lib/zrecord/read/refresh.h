/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How a handle gets to a state: from the start of the WAL, or on from the state that it has.
 */
#ifndef LX_ZRECORD_REFRESH_H
#define LX_ZRECORD_REFRESH_H

#include "zrecord/read/dataset.h"

/** Opens what is at the path of the handle from the start. */
lx_status lx__dataset_load(const lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error);

/** References the snapshot that a call reads, or a view: the newest one if the dataset is live. */
lx_status lx__dataset_pin_newest(lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error);

/** As lx__dataset_pin_newest(), for calls that cannot fail: the last one that could be read. */
lx__snapshot *lx__dataset_pin(lx_dataset *dataset);

#endif
