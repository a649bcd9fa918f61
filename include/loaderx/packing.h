/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Documents packed into samples of one length: by best fit, which cuts none without need,
 * or one behind the other.
 *
 * @code
 * lx_tokens *tokens = NULL;
 * lx_source *samples = NULL;
 * lx_tokens_open("corpus.bin", LX_BYTES, &tokens, &error);
 * lx_source_pack_tokens(tokens, 4096, LX_INT32, 50257, 0, LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS,
 *                       &samples, &error);
 * @endcode
 *
 * Which piece goes where is told, to the bit, in doc/packing.md.
 */
#ifndef LOADERX_PACKING_H
#define LOADERX_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/loader.h>
#include <loaderx/status.h>
#include <loaderx/tokens.h>

LX_BEGIN_DECLS

/** @defgroup lx_source_pack_tokens Pack documents into samples
 * @{ */

/** Columns beside the tokens, an int32 for each token: masks of attention are made of them. */
typedef enum lx_packed_columns {
    LX_PACKED_SEGMENTS = 1, /**< "segments": 1, 2 .. for the pieces of a sample, 0 for padding. */
    LX_PACKED_POSITIONS = 2 /**< "positions": from 0 in each piece, also where that goes on with a
                                 document from another sample; 0 for padding. */
} lx_packed_columns;

/**
 * A source of bins, which are filled with documents by best fit: sample i is the @p capacity tokens
 * of bin i, its end padded.
 *
 * A document that is longer than a bin is cut into pieces of @p capacity tokens and what is left;
 * any other is one piece. Pieces are taken by their lengths, the longest first, those of one length
 * in the order of their documents. Each is put into the bin with the least room that is enough, of
 * several of these into the first one, or if there is none, into the next new one. So each token of
 * each document is in one sample, and which one does not depend on threads. A document without
 * tokens is no piece.
 *
 * It holds 4 bytes for each piece that is shorter than a bin, 4 for each bin of these, and 16 for
 * each document of @p capacity tokens or more. Making it reads all lengths, and takes 12 bytes a
 * document more, and 8 for each token of @p capacity; a million documents are packed in less than a
 * second.
 *
 * States of a loader tell it by the lengths of all documents and @p capacity, not by how samples are
 * handed out.
 *
 * @param[in]  tokens      Referenced.
 * @param[in]  capacity    Tokens of a sample: 1 to 2^24.
 * @param[in]  dtype       #LX_INT32 or #LX_INT64, of the column "tokens".
 * @param[in]  vocabulary  Each token must be below it, or its sample fails; 0: no such limit.
 * @param[in]  pad         What padding is in that column; it need not be in the vocabulary.
 * @param[in]  columns     Which others there are, in this order: of ::lx_packed_columns, or 0.
 * @param[out] source      To be given up with lx_source_unref().
 * @param[out] error       Where a failure is told; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p capacity is 0 or too large, @p dtype or @p columns is another, @p pad
 *                          does not fit @p dtype, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   An index says a place that the tokens do not have; the error tells its
 *                          file and offset.
 * @retval LX_ERR_LIMIT     There are 2^32 - 1 documents or more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_source_pack_tokens(lx_tokens *tokens, uint64_t capacity, lx_dtype dtype,
                                       uint64_t vocabulary, int64_t pad, unsigned columns,
                                       lx_source **source, lx_error *error);

/** No separator. */
#define LX_SEPARATOR_NONE (-1)

/**
 * A source of samples of documents one behind the other, each with a separator behind it: sample i
 * is the @p sequence_length + 1 tokens from i * @p sequence_length on, as those of
 * lx_source_from_tokens(), which knows nothing of documents. What is left at the end is no sample.
 *
 * A separator belongs to the document before it: it has its segment, and the next position. A piece
 * is what a sample has of a document, so that segments begin with 1 in each sample, and positions
 * with 0 also where a document goes on, as with Megatron's reset_position_ids.
 *
 * It holds a byte a document. Making it reads all lengths; a sample is found by halving.
 *
 * @param[in]  tokens           Referenced.
 * @param[in]  sequence_length  1 to 2^31 - 2.
 * @param[in]  dtype            #LX_INT32 or #LX_INT64, of the column "tokens".
 * @param[in]  vocabulary       Each token must be below it, or its sample fails; 0: no such limit.
 * @param[in]  separator        The token behind each document, or #LX_SEPARATOR_NONE.
 * @param[in]  columns          Which others there are, in this order: of ::lx_packed_columns, or 0.
 * @param[out] source           To be given up with lx_source_unref().
 * @param[out] error            Where a failure is told; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p sequence_length is 0 or too large, @p dtype or @p columns is another,
 *                          @p separator is no token of the vocabulary or does not fit @p dtype, or
 *                          a pointer is NULL.
 * @retval LX_ERR_CORRUPT   An index says a place that the tokens do not have; the error tells its
 *                          file and offset.
 * @retval LX_ERR_LIMIT     Documents and separators are 2^64 tokens or more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_source_join_tokens(lx_tokens *tokens, uint64_t sequence_length, lx_dtype dtype,
                                       uint64_t vocabulary, int64_t separator, unsigned columns,
                                       lx_source **source, lx_error *error);

/**
 * Tells how much of all samples of lx_source_pack_tokens() is padding: @p padding of @p total
 * tokens.
 *
 * @retval LX_OK            Told.
 * @retval LX_ERR_ARGUMENT  @p source is another one, or a pointer is NULL.
 */
LX_API lx_status lx_source_get_padding(const lx_source *source, uint64_t *padding, uint64_t *total,
                                       lx_error *error);

/** @} */

/** @defgroup lx_segments_measure Measure the pieces of a batch
 * @{ */

/**
 * Measures the pieces of a batch, for attention that takes sequences of any length one behind the
 * other (the cu_seqlens and max_seqlen of flash attention): where each begins in the rows behind
 * one another, and behind the last, where it ends.
 *
 * A piece is a run of one number in one row. Padding, a run of 0, is a piece of each row that has it,
 * so that the pieces cover the batch as it is; or it is left out, for tokens of which only those are
 * kept whose segment is not 0.
 *
 * @param[in]  segments    The column "segments" of a batch, little-endian: @p rows of @p length.
 * @param[in]  rows        Together with
 * @param[in]  length      at most 2^31 - 1 numbers.
 * @param[in]  padding     Whether padding is pieces.
 * @param[out] cu_seqlens  The numbers, which begin with 0; NULL if @p room is 0.
 * @param[in]  room        How many there is room for: rows * length + 1 are always enough, and 0
 *                         asks for @p count and @p max_seqlen alone.
 * @param[out] count       How many there are: one more than pieces.
 * @param[out] max_seqlen  Tokens of the longest piece, or 0.
 * @param[out] error       Where a failure is told; may be NULL.
 *
 * @retval LX_OK            Measured.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_LIMIT     There is too little room: the first numbers are there, and @p count and
 *                          @p max_seqlen. Or there are 2^31 numbers or more, and nothing is told.
 */
LX_API lx_status lx_segments_measure(const int32_t *segments, size_t rows, size_t length,
                                     bool padding, int32_t *cu_seqlens, size_t room, size_t *count,
                                     int32_t *max_seqlen, lx_error *error);

/** @} */

LX_END_DECLS

#endif
