/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources made of other sources: zip, concat and subset.
 */
#ifndef LX_LOADER_SOURCE_PARTS_H
#define LX_LOADER_SOURCE_PARTS_H

#include "loader/sources/source.h"

/** The first member of every source that is made of other sources. */
typedef struct lx__parts_source {
    lx_source source;
    lx_source **parts; /**< Owned references. */
    size_t part_count;
} lx__parts_source;

/** Makes @p parts the parts of the new source @p made, which holds references to the parts and is
 * live if any part is live. */
lx_status lx__source_add_parts(lx_source *made, lx_source *const *parts, size_t count,
                               lx_error *error);

/** Copies the columns of one source to a new source. */
lx_status lx__source_copy_columns(lx_source *made, const lx_source *from, lx_error *error);

/** Maximum number of records per call to an lx__source_fill_block. */
#define LX__SOURCE_BLOCK 256

/** Fills a block of records, like a class's fill_samples function; @p spare has room for one target
 * per column. */
typedef lx_status lx__source_fill_block(lx_source *source, const lx_samples *samples,
                                        const lx_target *targets, lx_target *spare,
                                        lx_error *error);

/** Returns @p count samples, beginning with sample @p first. */
static inline lx_samples lx__samples_slice(const lx_samples *samples, size_t first, size_t count)
{
    return (lx_samples){.count = count,
                        .indices = samples->indices + first,
                        .positions = samples->positions + first,
                        .epoch = samples->epoch};
}

/** Fills records block by block. */
lx_status lx__source_fill_blocks(lx_source *source, const lx_samples *samples,
                                 const lx_target *targets, lx__source_fill_block *fill,
                                 lx_error *error);

/** @name Functions of a class */
/** @{ */
int lx__source_parts_describe(const lx_source *source, json_t *object);
lx_status lx__source_parts_visit(const lx_source *source, const bool *wanted,
                                 lx__dataset_visit *visit, void *user, lx_error *error);
void lx__source_parts_dispose(lx_source *source);

/** Takes a snapshot of each live part, one after the other, because no single snapshot spans
 * several datasets.
 * @param size  Size of the struct in bytes; the bytes after the parts stay zero. */
lx_status lx__source_parts_pin(lx_source *source, size_t size, lx_source **pinned, lx_error *error);
/** @} */

#endif
