/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Draws by weights in constant time, from a table of 8 bytes a weight.
 *
 * The table has a column for each index, all as high as each other; a column holds the index whose
 * it is up to some height, and above that one other index. A draw chooses a column, and a height in
 * it. Heights are whole numbers, so that what each index has in all is exact.
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

/** A column of 2^32 units: the first @ref own are its index's, the others @ref other's, which is
 * itself where it has all. */
typedef struct lx__alias_column {
    uint32_t own, other;
} lx__alias_column;

typedef struct lx__alias {
    uint64_t count;
    const lx__alias_column *columns; /**< The table's words of 8 bytes. */
    lx__table table;
} lx__alias;

/**
 * Makes the table of weights that lx__weigh() passed, the greatest of which is @p largest.
 *
 * @param crc     Of the weights.
 * @param tables  The folder that keeps it; NULL: memory.
 * @retval LX_ERR_NOMEM  There is no memory for it; or as lx__table_keep().
 */
lx_status lx__alias_new(const double *weights, uint64_t count, double largest, uint32_t crc,
                        const char *tables, lx__alias *alias, lx_error *error);

void lx__alias_free(lx__alias *alias);

/** Puts in the place of each of @p count draw numbers the index that this draw under @p key gives;
 * at most #LX__ORDER_BLOCK of them.
 * @retval LX_ERR_CORRUPT  The table's file is damaged. */
lx_status lx__alias_draw(const lx__alias *alias, uint64_t key, uint64_t *numbers, size_t count,
                         lx_error *error);

#endif
