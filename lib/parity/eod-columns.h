/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What tokens that mark the ends of documents, or padding, say of the others in a sample.
 */
#ifndef LX_PARITY_EOD_COLUMNS_H
#define LX_PARITY_EOD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A sample that was written. */
typedef struct lx__marked {
    const uint8_t *text; /**< Its tokens, little-endian. */
    uint64_t length;     /**< How many. */
    size_t wide;         /**< Bytes of each: 4 or 8. */
    int64_t end;         /**< The token at the end of a document. */
} lx__marked;

/** Numbers the pieces, each of which ends with a mark, from 1 on, and from 0 on the tokens in each.
 * Either of the two may be NULL. */
void lx__marks_split(const lx__marked *marked, uint8_t *segments, uint8_t *positions);

/** Writes a float for each of the first @p inputs tokens: 0 where the one behind it is @p pad or
 * not there, and with @p ends where it is a mark; else 1. */
void lx__marks_mask(const lx__marked *marked, bool ends, int64_t pad, uint64_t inputs,
                    uint8_t *mask);

#endif
