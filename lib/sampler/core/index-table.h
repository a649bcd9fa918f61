/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tables of arbitrary indices or other numbers, in memory or in a mapped file. Each number
 * takes 4 bytes if all of them fit, otherwise 8.
 *
 * A file may be damaged, and another process may write to it. Every read therefore needs two
 * checks: lx__index_table_check() finds damaged blocks, and then the reader checks that each number
 * is valid for its purpose. lx__index_table_map() does both checks.
 */
#ifndef LX_SAMPLER_INDEX_TABLE_H
#define LX_SAMPLER_INDEX_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

#include "base/json.h"
#include "sampler/core/index-table-file.h"

/** A table. Immutable. */
typedef struct lx__index_table {
    uint64_t count;
    uint64_t bound;         /**< Upper limit of the numbers, exclusive. */
    const uint32_t *narrow; /**< One of these two is set, or neither if the table is empty. */
    const uint64_t *wide;
    uint32_t crc;               /**< CRC-32C of the given indices as little-endian 64-bit words. */
    lx__index_table_file *file; /**< Owns the numbers; NULL: they are in memory, to be freed with
                                     lx__free(). */
} lx__index_table;

/** Whether numbers below @p bound take 4 bytes instead of 8. */
static inline bool lx__index_table_is_narrow(uint64_t bound)
{
    return bound - 1 <= UINT32_MAX; /* false for bound 0, where no number is stored */
}

/**
 * Sets the count, bound and checksum of an empty table to those of @p indices.
 *
 * @retval LX_ERR_ARGUMENT  An index is 2^64 - 1.
 */
lx_status lx__index_table_measure(const uint64_t *indices, uint64_t count, lx__index_table *table,
                                  lx_error *error);

/** Copies the indices into the table; call lx__index_table_measure() first. */
LX_API lx_status lx__index_table_fill(const uint64_t *indices, lx__index_table *table,
                                      lx_error *error);

/** Calls lx__index_table_measure() and lx__index_table_fill(). */
LX_API lx_status lx__index_table_new(const uint64_t *indices, uint64_t count,
                                     lx__index_table *table, lx_error *error);

LX_API void lx__index_table_free(lx__index_table *table);

/** Checks the numbers at @p count places, all below the table's count. Call this function before
 * reading the numbers.
 * @retval LX_ERR_CORRUPT  The file is damaged at one of these places. */
static inline lx_status lx__index_table_check(const lx__index_table *table, const uint64_t *places,
                                              size_t count, lx_error *error)
{
    return table->file == NULL ? LX_OK
                               : lx__index_table_file_check(table->file, places, count, error);
}

/** Like lx__index_table_check(), for the @p count places starting at @p first. */
static inline lx_status lx__index_table_check_range(const lx__index_table *table, uint64_t first,
                                                    uint64_t count, lx_error *error)
{
    return table->file == NULL ? LX_OK
                               : lx__index_table_file_check_range(table->file, first, count, error);
}

/** Reports a number of the table that is invalid for its purpose. Returns LX_ERR_CORRUPT. */
LX_API lx_status lx__index_table_fail(const lx__index_table *table, lx_error *error);

/** Replaces each of @p count places, all below the table's count, with the index stored there,
 * which is below the bound. */
LX_API lx_status lx__index_table_map(const lx__index_table *table, uint64_t *places, size_t count,
                                     lx_error *error);

/** Returns the table's checksum, which identifies the table in saved states. Returns NULL when out
 * of memory. */
LX_API json_t *lx__index_table_to_json(const lx__index_table *table);

#endif
