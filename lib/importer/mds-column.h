/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A column of Mosaic MDS: its encoding, and how its values are read.
 */
#ifndef LX_IMPORTER_MDS_COLUMN_H
#define LX_IMPORTER_MDS_COLUMN_H

#include <jansson.h>

#include "importer/varying.h"

/** What an encoding means. */
typedef enum lx__mds_kind {
    LX__MDS_BYTES, /**< Any bytes, such as a pickle, which stays one. */
    LX__MDS_IMAGE, /**< An encoded image. */
    LX__MDS_STR,
    LX__MDS_WORD,    /**< A number as text. */
    LX__MDS_DECIMAL, /**< The same, all of whose digits count. */
    LX__MDS_JSON,
    LX__MDS_SCALAR,
    LX__MDS_ARRAY
} lx__mds_kind;

/** A column. */
typedef struct lx__mds_column {
    lx__mds_kind kind;
    size_t size;     /**< Of each value in bytes; LX__MDS_VARIES. */
    bool has_dtype;  /**< Each array has @ref dtype; otherwise the first one sets it. */
    bool seen_dtype; /**< @ref dtype was set. */
    bool has_shape;  /**< Each array has the shape in @ref varying. */
    lx_dtype dtype;
    lx__varying varying;
} lx__mds_column;

/** The size of values in a column in which it varies. */
#define LX__MDS_VARIES SIZE_MAX

/**
 * Sets up a column.
 *
 * @param name      Borrowed.
 * @param encoding  As in index.json, such as "ndarray:float32:3,4".
 * @param size      As in column_sizes: a number or null.
 * @retval LX_ERR_UNSUPPORTED  The encoding is unknown.
 * @retval LX_ERR_CORRUPT      The size is not that of the encoding.
 */
lx_status lx__mds_column_open(lx__mds_column *self, const char *name, const char *encoding,
                              const json_t *size, lx_error *error);
void lx__mds_column_close(lx__mds_column *self);

/** Stores a value as up to LX__VARYING_VALUES values at @p values, and their number in @p count. */
lx_status lx__mds_column_read(lx__mds_column *self, const uint8_t *data, size_t size,
                              lx__import_value *values, size_t *count, lx_error *error);

#endif
