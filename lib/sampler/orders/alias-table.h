/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Weighted draws in constant time, from a table with 8 bytes per weight.
 *
 * The table has a column for each index, all of equal height. A column belongs to its own index up
 * to some height, and to one other index above that. A draw chooses a column and a height in it.
 * Heights are integers, so the total of each index is exact.
 *
 * Sources: Walker, "An Efficient Method for Generating Discrete Random Variables with General
 * Distributions", 1977; Huebschle-Schneider and Sanders, "Parallel Weighted Random Sampling", 2019,
 * for filling the columns in one sweep.
 */
#ifndef LX_SAMPLER_ALIAS_TABLE_H
#define LX_SAMPLER_ALIAS_TABLE_H

#include <stdint.h>

#include <loaderx/status.h>

#include "sampler/core/index-table.h"

/** A column of 2^32 units: the first @ref own units belong to its index, the rest to @ref other,
 * which is the index itself if it owns the whole column. */
typedef struct lx__alias_column {
    uint32_t own, other;
} lx__alias_column;

typedef struct lx__alias {
    uint64_t count;
    const lx__alias_column *columns; /**< The table's 8-byte words. */
    lx__index_table table;
} lx__alias;

/**
 * Creates the table for weights that lx__order_weights_check() accepted, the largest of which is @p
 * largest.
 *
 * @param crc     CRC-32C of the weights.
 * @param tables  The folder for the table file; NULL: the table stays in memory.
 * @retval LX_ERR_NOMEM  Out of memory. Other failures are those of lx__index_table_cache_get().
 */
lx_status lx__alias_new(const double *weights, uint64_t count, double largest, uint32_t crc,
                        const char *tables, lx__alias *alias, lx_error *error);

void lx__alias_free(lx__alias *alias);

/** Replaces each of @p count draw numbers (at most #LX__ORDER_BLOCK) with the index that the draw
 * with this number under @p key selects.
 * @retval LX_ERR_CORRUPT  The table file is damaged. */
lx_status lx__alias_draw(const lx__alias *alias, uint64_t key, uint64_t *numbers, size_t count,
                         lx_error *error);

#endif
