/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Shows raw values of a pinned, mapped dataset in place. A slice can be read as long as the
 * pinned handle is open.
 */
#ifndef LX_ZRECORD_SHOW_H
#define LX_ZRECORD_SHOW_H

#include <stdbool.h>

#include <loaderx/dataset.h>

/** Returns a slice of one record, like lx_dataset_view(). */
LX_API lx_status lx__dataset_show(lx_dataset *pinned, size_t field, uint64_t index, lx_slice *slice,
                                  lx_error *error);

/** Locates a value, so that it can be prefetched before lx__dataset_show() reads it. Accesses only
 * its table row or row update; returns false if that is not enough. */
LX_API bool lx__dataset_locate(const lx_dataset *pinned, size_t field, uint64_t index,
                               lx_slice *slice);

#endif
