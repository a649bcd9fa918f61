/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A source of contiguous records of equal size in a mapped file.
 */
#ifndef LX_LOADER_SOURCE_ARRAY_H
#define LX_LOADER_SOURCE_ARRAY_H

#include "base/file.h"
#include "loader/sources/source.h"

/** The format of the file. */
typedef enum lx__array_kind { LX__ARRAY_NPY, LX__ARRAY_FLAT } lx__array_kind;

/** Maps @p length records starting at @p offset of a file. The caller must have checked that the
 * file contains these records. The function computes the column's size. */
lx_status lx__source_map_array(const lx__file *file, lx__array_kind kind, uint64_t offset,
                               uint64_t length, const lx_column_info *column, lx_source **source,
                               lx_error *error);

#endif
