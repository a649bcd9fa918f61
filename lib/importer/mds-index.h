/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The index.json of a folder of Mosaic MDS: its shards and their columns.
 */
#ifndef LX_IMPORTER_MDS_INDEX_H
#define LX_IMPORTER_MDS_INDEX_H

#include <jansson.h>

#include "importer/mds-column.h"

/** A folder. */
typedef struct lx__mds_index {
    const char *folder; /**< Borrowed. */
    json_t *root;
    size_t shard_count;
} lx__mds_index;

/** A shard as the index describes it. */
typedef struct lx__mds_shard {
    char *path;              /**< Of its file, which may be compressed. */
    uint64_t samples, bytes; /**< @c bytes: of the shard, not compressed. */
    lx__mds_column *columns;
    size_t column_count;
} lx__mds_shard;

/** Reads the index of a folder. Call lx__mds_index_close() afterwards, even on failure. */
lx_status lx__mds_index_open(lx__mds_index *self, const char *folder, lx_error *error);
void lx__mds_index_close(lx__mds_index *self);

/**
 * Reads the description of shard @p i. Call lx__mds_shard_close() afterwards, even on failure. The
 * name of its file is made from @p i: a different one in the index is refused, so that it cannot be
 * a path.
 */
lx_status lx__mds_shard_open(lx__mds_shard *self, const lx__mds_index *index, size_t i,
                             lx_error *error);
void lx__mds_shard_close(lx__mds_shard *self);

#endif
