/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A gather of mapped records on its way: what gather.c and gather-dense.c share.
 */
#ifndef LX_ZRECORD_MAPPED_H
#define LX_ZRECORD_MAPPED_H

#include "zrecord/reader/gather.h"

/* Rows of the table that are prefetched ahead: a miss costs about ten hits. */
#define LX__ROWS_AHEAD 16
/* No row of a raw value begins with this: it would be one of 0 bytes. */
#define LX__NO_HEAD 0

/** What stays the same for all records of a call. */
typedef struct lx__mapped {
    lx__snapshot *snapshot;
    lx__damages *damages;
    const lx__column *column;
    size_t field;
    uint64_t length;
    uint64_t rows;
    uint32_t size;  /**< Of a dense record. */
    uint32_t align_mask;
    bool verify;      /**< Some raw values of rows may have to be verified, */
    bool many;        /**< or more than a few, */
    bool always;      /**< or all of them. */
    bool verify_sets; /**< Those of sets may have to be. */
    lx__inflater *inflater; /**< Taken when the first compressed value is met. */

    /* The chunk of the last raw value, since the next is most often in the same. */
    uint64_t head;       /**< The first half of a row in it: chunk and size; or LX__NO_HEAD. */
    uint64_t last_start; /**< Where a value may begin at most. */
    const uint8_t *data; /**< Of that chunk. */
} lx__mapped;

lx__mapped lx__mapped_start(lx__snapshot *snapshot, lx__damages *damages, size_t field);

void lx__mapped_finish(lx__mapped *g);

/** Fetches the row of a record ahead. */
static inline void lx__mapped_prefetch_rows(const lx__mapped *g, uint64_t index)
{
    if (index >= g->rows)
        return;
    __builtin_prefetch(g->column->offsets + index * LX__OFFSET_ROW);
    if (g->many)
        __builtin_prefetch(g->column->checks + index * LX__CHECK_ROW);
}

/** Any kind of value, checked and verified, to @p out, which holds @p room bytes; zeros for what is
 * damaged, if that is asked for. */
lx_status lx__mapped_copy(lx__mapped *g, uint64_t index, uint8_t *out, uint64_t room,
                          lx_error *error);

#endif
