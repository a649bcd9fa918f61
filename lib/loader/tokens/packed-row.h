/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A sample of several pieces of documents: its tokens and, optionally, each token's segment
 * number and position within the segment.
 */
#ifndef LX_LOADER_PACKED_ROW_H
#define LX_LOADER_PACKED_ROW_H

#include <loaderx/tokens.h>

#include "loader/sources/source.h"
#include "loader/tokens/tokens.h"

/** The format of a source's rows. */
typedef struct lx__row_format {
    lx_tokens *tokens; /**< Owned reference. */
    uint64_t length;   /**< Number of tokens per row. */
    uint64_t limit;
    lx__widen *widen;
    size_t wide;
    size_t segments, positions; /**< The numbers of these two columns; 0 if not selected. */
} lx__row_format;

/** A row under construction; pointers of unselected columns are NULL. */
typedef struct lx__row {
    uint8_t *tokens, *segments, *positions;
    uint64_t filled; /**< Number of tokens written so far. */
    uint32_t pieces;
    bool ahead; /**< The tokens are only read ahead. */
} lx__row;

/** Returns LX_ERR_ARGUMENT if @p dtype or @p columns is invalid. The caller must have checked @p
 * length. */
LX_API lx_status lx__row_format_init(lx__row_format *format, lx_tokens *tokens, uint64_t length,
                                     lx_dtype dtype, uint64_t vocabulary, unsigned columns,
                                     lx_error *error);

/** Returns LX_ERR_ARGUMENT if a number to be written among the tokens does not fit @p dtype. */
LX_API lx_status lx__row_check_number(const char *what, int64_t number, lx_dtype dtype,
                                      lx_error *error);

LX_API void lx__row_format_dispose(lx__row_format *format);

/** Counts and sets the columns of a source. */
LX_API size_t lx__row_format_columns(const lx__row_format *format);
LX_API lx_status lx__row_format_set_columns(const lx__row_format *format, lx_source *source,
                                            lx_error *error);

/** Adds members to the source's saved state that identify its documents. Columns and padding are
 * left out, because they do not affect the data. Returns 0, or -1 when out of memory. */
int lx__row_format_describe(const lx__row_format *format, uint64_t tokens, uint32_t lengths_crc,
                            json_t *object);

/** Starts row @p i of the targets. */
LX_API lx__row lx__row_begin(const lx__row_format *format, const lx_target *targets, size_t i);

LX_API lx_status lx__row_add_tokens(const lx__row_format *format, lx__row *row, uint64_t first,
                                    uint64_t count, lx_error *error);

/** Adds a number to the row, @p count times. */
LX_API void lx__row_add_number(const lx__row_format *format, lx__row *row, int64_t number,
                               uint64_t count);

/** Ends a piece that consists of everything added since @p from; an empty piece is not counted. */
LX_API void lx__row_end_piece(lx__row *row, uint64_t from);

/** Fills the rest of the row with padding. */
void lx__row_pad(const lx__row_format *format, lx__row *row, int64_t pad);

#endif
