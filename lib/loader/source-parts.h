/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources that are made of others: side by side, or one behind the other.
 */
#ifndef LX_LOADER_SOURCE_PARTS_H
#define LX_LOADER_SOURCE_PARTS_H

#include "loader/source.h"

/** What such a source begins with. */
typedef struct lx__parts_source {
    lx_source source;
    lx_source **parts; /**< Referenced. */
    size_t part_count;
} lx__parts_source;

/** Takes references of the sources as the parts of a new one, which is live where one of them is. */
lx_status lx__source_add_parts(lx_source *made, lx_source *const *parts, size_t count,
                               lx_error *error);

/** @name For a class */
/** @{ */
int lx__source_parts_describe(const lx_source *source, json_t *object);
json_t *lx__source_parts_frame(const lx_source *source);
void lx__source_parts_dispose(lx_source *source);

/** Each part that is live is held, one after another: of several datasets there is no one state.
 * @param size  Bytes of the struct, of which what stands behind the parts stays zero. */
lx_status lx__source_parts_hold(lx_source *source, size_t size, lx_source **held, lx_error *error);
/** @} */

#endif
