/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A sample of several pieces of documents: its tokens, and beside them which piece each is
 * of, and its place in it.
 */
#ifndef LX_LOADER_PACKED_ROW_H
#define LX_LOADER_PACKED_ROW_H

#include <loaderx/packing.h>

#include "loader/sources/source.h"
#include "loader/tokens/tokens.h"

/** How the rows of a source are written. */
typedef struct lx__row_format {
    lx_tokens *tokens; /**< Referenced. */
    uint64_t length;   /**< Tokens of a row. */
    uint64_t limit;
    lx__widen *widen;
    size_t wide;
    size_t segments, positions; /**< Which columns these are; 0: there is none. */
} lx__row_format;

/** A row that is being written; what is not wanted is NULL. */
typedef struct lx__row {
    uint8_t *tokens, *segments, *positions;
    uint64_t filled; /**< Tokens. */
    uint32_t pieces;
} lx__row;

/** LX_ERR_ARGUMENT where @p dtype or @p columns is none; @p length has to be good. */
LX_API lx_status lx__row_format_init(lx__row_format *format, lx_tokens *tokens, uint64_t length,
                                     lx_dtype dtype, uint64_t vocabulary, unsigned columns,
                                     lx_error *error);

/** LX_ERR_ARGUMENT where a number that is to be written among the tokens does not fit @p dtype. */
LX_API lx_status lx__row_check_number(const char *what, int64_t number, lx_dtype dtype,
                                      lx_error *error);

LX_API void lx__row_format_dispose(lx__row_format *format);

/** How many columns there are, and what they are. */
LX_API size_t lx__row_format_columns(const lx__row_format *format);
LX_API lx_status lx__row_format_set_columns(const lx__row_format *format, lx_source *source,
                                            lx_error *error);

/** Adds to the state of a source what tells its documents, and not the columns or what stands in
 * padding: how rows are handed out is no matter of the data. Returns 0, or -1 without memory. */
int lx__row_format_describe(const lx__row_format *format, uint64_t tokens, uint32_t lengths_crc,
                            json_t *object);

/** Begins row @p i of what is filled. */
LX_API lx__row lx__row_begin(const lx__row_format *format, const lx_target *targets, size_t i);

/** Adds tokens to the row. */
LX_API lx_status lx__row_add_tokens(const lx__row_format *format, lx__row *row, uint64_t first,
                                    uint64_t count, lx_error *error);

/** Adds a number to the row, @p count times. */
LX_API void lx__row_add_number(const lx__row_format *format, lx__row *row, int64_t number,
                               uint64_t count);

/** All that was added since @p from is the next piece; without tokens it is none. */
LX_API void lx__row_end_piece(lx__row *row, uint64_t from);

/** The rest of the row is padding. */
void lx__row_pad(const lx__row_format *format, lx__row *row, int64_t pad);

#endif
