/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources that are made of others: side by side, or one behind the other.
 */
#ifndef LX_LOADER_SOURCE_PARTS_H
#define LX_LOADER_SOURCE_PARTS_H

#include "loader/sources/source.h"

/** What such a source begins with. */
typedef struct lx__parts_source {
    lx_source source;
    lx_source **parts; /**< Referenced. */
    size_t part_count;
} lx__parts_source;

/** Takes references of the sources as the parts of a new one, which is live where one of them
 * is. */
lx_status lx__source_add_parts(lx_source *made, lx_source *const *parts, size_t count,
                               lx_error *error);

/** Gives a new source the columns of another one. */
lx_status lx__source_copy_columns(lx_source *made, const lx_source *from, lx_error *error);

/** Most records that lx__source_fill_blocks() has filled at a time. */
#define LX__SOURCE_BLOCK 256

/** Fills a block of records, as fill of a class; @p spare has room for one target a column. */
typedef lx_status lx__source_fill_block(lx_source *source, const uint64_t *indices, size_t count,
                                        const lx_target *targets, lx_target *spare,
                                        lx_error *error);

/** Fills records a block at a time. */
lx_status lx__source_fill_blocks(lx_source *source, const uint64_t *indices, size_t count,
                                 const lx_target *targets, lx__source_fill_block *fill,
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
