/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Indices that no formula gives: 4 bytes each where that is enough, else 8.
 */
#ifndef LX_SAMPLER_TABLE_H
#define LX_SAMPLER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

#include "base/json.h"

/** A table. It never changes. */
typedef struct lx__table {
    uint64_t count;
    uint64_t bound;  /**< Every index is below this. */
    uint32_t *narrow; /**< One of the two, or neither if there are no indices. */
    uint64_t *wide;
    uint32_t crc; /**< Of the indices, as little-endian words of 64 bits. */
} lx__table;

/**
 * Copies indices.
 *
 * @retval LX_ERR_ARGUMENT  One is 2^64 - 1.
 */
LX_API lx_status lx__table_new(const uint64_t *indices, uint64_t count, lx__table *table,
                        lx_error *error);

LX_API void lx__table_free(lx__table *table);

/** Puts in the place of each of @p count numbers, below the table's count, the index that is there
 * in the table. */
LX_API void lx__table_map(const lx__table *table, uint64_t *places, size_t count);

/** Its checksum, which stands for it in states. NULL without memory. */
LX_API json_t *lx__table_to_json(const lx__table *table);

#endif
