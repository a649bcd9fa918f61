/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices, or other numbers, that no formula gives: 4 bytes each where that is enough, else
 * 8; in memory, or in a file that is mapped.
 *
 * A file may be damaged, or another process may write to it. So reading a table has two steps:
 * lx__table_check() finds damaged blocks; then each number that is read is checked against the use
 * that is made of it. lx__table_map() does both.
 */
#ifndef LX_SAMPLER_INDEX_TABLE_H
#define LX_SAMPLER_INDEX_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

#include "base/json.h"
#include "sampler/core/index-table-file.h"

/** A table. It never changes. */
typedef struct lx__table {
    uint64_t count;
    uint64_t bound; /**< Every number is below this. */
    const uint32_t *narrow; /**< One of the two, or neither if there are no numbers. */
    const uint64_t *wide;
    uint32_t crc; /**< Of indices that were given, as little-endian words of 64 bits. */
    lx__table_file *file; /**< That has them; NULL: they are in memory, for lx__free(). */
} lx__table;

/** Whether numbers below @p bound take 4 bytes, and not 8. */
static inline bool lx__table_is_narrow(uint64_t bound)
{
    return bound - 1 <= UINT32_MAX; /* of none, too: 0 - 1 is not, and there is nothing to hold */
}

/**
 * Looks through indices, for a table that holds none of them yet: their number, bound, checksum.
 *
 * @retval LX_ERR_ARGUMENT  One is 2^64 - 1.
 */
lx_status lx__table_survey(const uint64_t *indices, uint64_t count, lx__table *table,
                         lx_error *error);

/** Copies the indices of which lx__table_survey() told. */
LX_API lx_status lx__table_fill(const uint64_t *indices, lx__table *table, lx_error *error);

/** Both. */
LX_API lx_status lx__table_new(const uint64_t *indices, uint64_t count, lx__table *table,
                               lx_error *error);

LX_API void lx__table_free(lx__table *table);

/** Before the numbers at @p places, all below the count, are read.
 * @retval LX_ERR_CORRUPT  The file is damaged there. */
static inline lx_status lx__table_check(const lx__table *table, const uint64_t *places,
                                        size_t count, lx_error *error)
{
    return table->file == NULL ? LX_OK
                               : lx__table_file_check(table->file, places, count, error);
}

/** The same of @p count places from @p first on. */
static inline lx_status lx__table_check_range(const lx__table *table, uint64_t first,
                                              uint64_t count, lx_error *error)
{
    return table->file == NULL ? LX_OK
                               : lx__table_file_check_range(table->file, first, count, error);
}

/** For who finds that a file has numbers which no order has there. */
LX_API lx_status lx__table_refuse(const lx__table *table, lx_error *error);

/** Puts in the place of each of @p count numbers, below the table's count, the index that is there
 * in the table; each is below the bound. */
LX_API lx_status lx__table_map(const lx__table *table, uint64_t *places, size_t count,
                               lx_error *error);

/** Its checksum, which stands for it in states. NULL without memory. */
LX_API json_t *lx__table_to_json(const lx__table *table);

#endif
