/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tells missing values from present ones by their entries, without reading the values.
 */
#ifndef LX_ZRECORD_PRESENT_H
#define LX_ZRECORD_PRESENT_H

#include "zrecord/read/dataset.h"

/** Whether a field may have missing values in the newest snapshot loaded; if not, it certainly has
 * none. */
LX_API bool lx__dataset_may_be_missing(lx_dataset *dataset, size_t field);

/**
 * Finds out which records have a value in a field. A damaged value counts as present.
 *
 * @param[out] present  Receives one byte per record: 0 if the value is missing, otherwise 1.
 * @retval LX_ERR_RANGE  An index is not less than the length.
 * @return Otherwise, the status of a failure to refresh a live dataset, or to read with pread.
 */
LX_API lx_status lx__dataset_mark_present(lx_dataset *dataset, size_t field,
                                          const uint64_t *indices, size_t count, uint8_t *present,
                                          lx_error *error);

#endif
