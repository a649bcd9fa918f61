/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads the rows of all fields, a block of records at a time, so that they can be written to
 * new tables.
 *
 * A row block contains the current rows: the rows of the tables with all updates applied.
 */
#ifndef LX_ZRECORD_ROW_BLOCK_H
#define LX_ZRECORD_ROW_BLOCK_H

#include "zrecord/write/install.h"

typedef struct lx__row_block {
    const lx_writer *writer;
    uint8_t *offsets, *checks; /**< `capacity` rows of each field, one field after the other. */
    size_t capacity;           /**< Maximum number of records in a block. */
    uint64_t first;            /**< The first record in the block. */
    size_t count;
    lx__sorted_update *updates; /**< The updates that are still needed. */
    size_t update_count;
    size_t next_update; /**< The first update that is not yet applied to a row. */
    /** A bit for each field that certainly has missing values among the updates applied so far. */
    uint64_t missing[LX_MAX_FIELDS / 64];
} lx__row_block;

/** Prepares for reading from the first record of @p writer; all of its rows must be in the
 * tables. */
lx_status lx__row_block_open(lx__row_block *block, const lx_writer *writer, lx_error *error);

/** Reads the next records; returns LX_END after the last record. */
lx_status lx__row_block_next(lx__row_block *block, lx_error *error);

/** Writes the records to the same rows of @p tables. */
lx_status lx__row_block_write(const lx__row_block *block, lx__table_writer *tables,
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
