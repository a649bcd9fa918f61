/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The columns of a sample that are derived from its end-of-document and padding tokens.
 */
#ifndef LX_PARITY_EOD_COLUMNS_H
#define LX_PARITY_EOD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The tokens of a sample, which have already been written. */
typedef struct lx__eod_sample {
    const uint8_t *text; /**< Little-endian tokens. */
    uint64_t length;     /**< Number of tokens. */
    size_t wide;         /**< Bytes per token: 4 or 8. */
    int64_t end;         /**< The end-of-document token. */
} lx__eod_sample;

/** Numbers the segments from 1, and the positions within each segment from 0. An end-of-document
 * token ends a segment. Either output may be NULL. */
void lx__eod_sample_split(const lx__eod_sample *marked, uint8_t *segments, uint8_t *positions);

/** Writes a float for each of the first @p inputs tokens: 0 if the next token is @p pad or missing,
 * or if @p ends is true and the token ends a document; otherwise 1. */
void lx__eod_sample_mask(const lx__eod_sample *marked, bool ends, int64_t pad, uint64_t inputs,
                         uint8_t *mask);

#endif
