/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Arrays of a source that says that their shapes vary. If they do not have exactly one
 * dimension, their shapes become a second value, for fields of bytes: the size of a value does not
 * determine its shape.
 */
#ifndef LX_IMPORTER_VARYING_H
#define LX_IMPORTER_VARYING_H

#include <loaderx/schema.h>

#include "importer/format.h"

/** What follows the name of an array in the name of its shape. */
#define LX__VARYING_SUFFIX ".shape"

/** The name and the shape of such an array. */
typedef struct lx__varying {
    const char *name; /**< Borrowed. */
    char *shape_name; /**< The name with #LX__VARYING_SUFFIX. */
    size_t ndim;      /**< Of the current array, as is the next one. */
    uint64_t shape[LX_MAX_NDIM];
    uint64_t elements[LX_MAX_NDIM]; /**< The shape in little-endian order. */
    uint64_t extent;                /**< Of the second value. */
} lx__varying;

/** The most values that an array becomes. */
#define LX__VARYING_VALUES 2

/** Sets the name, which is borrowed; LX_ERR_NOMEM. */
lx_status lx__varying_open(lx__varying *self, const char *name, lx_error *error);
void lx__varying_close(lx__varying *self);

/** Whether an array of shape self->shape has exactly @p size bytes. */
bool lx__varying_fits(const lx__varying *self, lx_dtype dtype, uint64_t size);

/** Stores the values of the current array at @p values, and returns their number. */
size_t lx__varying_put(lx__varying *self, lx_dtype dtype, const void *data, size_t size,
                       lx__import_value *values);

#endif
