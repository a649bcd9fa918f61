/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The rows of all fields, some records at a time, on their way from a writer's tables to
 * new ones.
 *
 * A stripe has them as they hold: with the live sets in the places of rows.
 */
#ifndef LX_ZRECORD_ROW_BLOCK_H
#define LX_ZRECORD_ROW_BLOCK_H

#include "zrecord/write/install.h"

typedef struct lx__stripe {
    const lx_writer *writer;
    uint8_t *offsets, *checks; /**< Rows of the first field, then of the next, capacity of each. */
    size_t capacity;           /**< Records. */
    uint64_t first;            /**< The first of those that are there. */
    size_t count;
    lx__sorted *sets; /**< Those that count. */
    size_t set_count;
    size_t next_set; /**< The first that was not put into its place yet. */
} lx__stripe;

/** Gets ready for the first records of @p writer, with every row in the tables. */
lx_status lx__stripe_open(lx__stripe *stripe, const lx_writer *writer, lx_error *error);

/** Goes on to the next records; LX_END behind the last. */
lx_status lx__stripe_next(lx__stripe *stripe, lx_error *error);

/** Writes the records to the same rows of other tables. */
lx_status lx__stripe_write(const lx__stripe *stripe, const lx__rows *rows, lx_error *error);

/** Starts anew, from the first record. */
void lx__stripe_rewind(lx__stripe *stripe);

void lx__stripe_close(lx__stripe *stripe);

static inline uint8_t *lx__stripe_offset_row(const lx__stripe *stripe, size_t field, size_t at)
{
    return stripe->offsets + (field * stripe->capacity + at) * LX__OFFSET_ROW;
}

static inline uint8_t *lx__stripe_check_row(const lx__stripe *stripe, size_t field, size_t at)
{
    return stripe->checks + (field * stripe->capacity + at) * LX__CHECK_ROW;
}

#endif
