/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads the rows of all fields, some records at a time, and writes them to new tables.
 *
 * A row block contains current rows: updates replace the rows in the tables.
 */
#ifndef LX_ZRECORD_ROW_BLOCK_H
#define LX_ZRECORD_ROW_BLOCK_H

#include "zrecord/write/install.h"

typedef struct lx__row_block {
    const lx_writer *writer;
    uint8_t *offsets, *checks; /**< Rows of the first field, then of the next, `capacity` each. */
    size_t capacity;           /**< Number of records. */
    uint64_t first;            /**< The first record in the block. */
    size_t count;
    lx__sorted_update *updates; /**< Updates that are still needed. */
    size_t update_count;
    size_t next_update; /**< The first update that is not applied to a row yet. */
} lx__row_block;

/** Prepares to read from the first record of @p writer; all its rows are in the tables. */
lx_status lx__row_block_open(lx__row_block *block, const lx_writer *writer, lx_error *error);

/** Reads the next records; LX_END after the last. */
lx_status lx__row_block_next(lx__row_block *block, lx_error *error);

/** Writes the records to the same rows of other tables. */
lx_status lx__row_block_write(const lx__row_block *block, const lx__table_writer *tables,
                              lx_error *error);

/** Starts again at the first record. */
void lx__row_block_rewind(lx__row_block *block);

void lx__row_block_close(lx__row_block *block);

static inline uint8_t *lx__row_block_offset_row(const lx__row_block *block, size_t field, size_t at)
{
    return block->offsets + (field * block->capacity + at) * LX__OFFSET_ROW;
}

static inline uint8_t *lx__row_block_check_row(const lx__row_block *block, size_t field, size_t at)
{
    return block->checks + (field * block->capacity + at) * LX__CHECK_ROW;
}

#endif
