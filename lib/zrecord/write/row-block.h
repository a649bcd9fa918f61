/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The rows of all fields, some records at a time, on their way from a writer's tables to
 * new ones.
 *
 * A row block has them as they hold: with the live sets in the places of rows.
 */
#ifndef LX_ZRECORD_ROW_BLOCK_H
#define LX_ZRECORD_ROW_BLOCK_H

#include "zrecord/write/install.h"

typedef struct lx__row_block {
    const lx_writer *writer;
    uint8_t *offsets, *checks; /**< Rows of the first field, then of the next, capacity of each. */
    size_t capacity;           /**< Records. */
    uint64_t first;            /**< The first of those that are there. */
    size_t count;
    lx__sorted_update *updates; /**< Those that count. */
    size_t update_count;
    size_t next_update; /**< The first that was not put into its place yet. */
} lx__row_block;

/** Gets ready for the first records of @p writer, with every row in the tables. */
lx_status lx__row_block_open(lx__row_block *block, const lx_writer *writer, lx_error *error);

/** Goes on to the next records; LX_END behind the last. */
lx_status lx__row_block_next(lx__row_block *block, lx_error *error);

/** Writes the records to the same rows of other tables. */
lx_status lx__row_block_write(const lx__row_block *block, const lx__table_writer *tables,
                              lx_error *error);

/** Starts anew, from the first record. */
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
