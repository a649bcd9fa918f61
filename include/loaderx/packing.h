/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Documents packed into samples of one length.
 */
#ifndef LOADERX_PACKING_H
#define LOADERX_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/batch.h>
#include <loaderx/export.h>
#include <loaderx/source.h>
#include <loaderx/status.h>
#include <loaderx/tokens.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_source_new_packed_tokens Pack documents into samples
 *
 * Documents are packed by best fit, which cuts none without need, or joined one after another.
 * doc/packing.md defines the place of each piece exactly.
 *
 * @code
 * uint64_t padding, total;
 * lx_token_options *options = lx_token_options_new();
 * lx_token_options_set_columns(
 *     options, LX_PACKED_SEGMENTS | LX_PACKED_POSITIONS, &error);
 * lx_source_new_packed_tokens(tokens, 4096, options, &samples, &error);
 * lx_token_options_free(options);
 * lx_source_get_padding(samples, &padding, &total, &error);
 * @endcode
 * @see lx_loader, lx_segments_get_sizes(), lx_source, lx_source_new_megatron(), lx_tokens
 * @{
 */

/**
 * Makes a source of bins that are filled with documents by best fit: sample i is the @p capacity
 * tokens of bin i, padded at the end.
 *
 * A document that is longer than a bin is cut into pieces of @p capacity tokens and a remainder;
 * any other document is one piece. The longest pieces come first, those of one length in the order
 * of their documents. Each piece goes into the bin with the least room that is enough, the first
 * one of several, or into a new bin. So each token of each document is in one sample, and which one
 * does not depend on threads. A document without tokens is not a piece.
 *
 * The source holds 4 bytes for each piece that is shorter than a bin, 4 for each bin of such
 * pieces, and 16 for each document of @p capacity tokens or more. Making it reads the lengths of
 * all documents, and takes another 12 bytes for each document and 8 for each token of @p capacity.
 * A million documents take less than a second.
 *
 * The state of a loader identifies the source by the lengths of all documents and @p capacity, not
 * by the columns.
 *
 * @param[in]  tokens    The sequence; referenced.
 * @param[in]  capacity  Tokens of a sample, 1 to 2^24.
 * @param[in]  options   The type, the vocabulary, the padding, and the columns; NULL for the
 *                       defaults.
 * @param[out] source    Receives the source, to be released with lx_source_unref().
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  @p capacity is out of range, an option is invalid, the padding does not
 *                          fit the type, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The index of a file points beyond its tokens; the error has file and
 *                          offset.
 * @retval LX_ERR_LIMIT     There are 2^32 - 1 documents or more.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_packed_tokens(lx_tokens *tokens, uint64_t capacity,
                                             const lx_token_options *options, lx_source **source,
                                             lx_error *error);

/**
 * Makes a source of samples of documents one after another, with a separator after each: sample i
 * is the @p sequence_length + 1 tokens from position i * @p sequence_length on, as in
 * lx_source_new_tokens(), which ignores documents. The remainder at the end is not a sample.
 *
 * A separator belongs to the document before it: it has its segment, and the next position. A piece
 * is the part of a document in one sample: segments begin with 1 in each sample, and positions with
 * 0, also where a document continues, as with Megatron's reset_position_ids.
 *
 * The source holds a byte for each document. Making it reads the lengths of all documents; a sample
 * is found by binary search.
 *
 * @param[in]  tokens           The sequence; referenced.
 * @param[in]  sequence_length  Tokens of an input, 1 to 2^31 - 2.
 * @param[in]  options          The type, the vocabulary, the separator, and the columns; NULL for
 *                              the defaults.
 * @param[out] source           Receives the source, to be released with lx_source_unref().
 * @param[out] error            Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  @p sequence_length is out of range, an option is invalid, the separator
 *                          is not in the vocabulary or does not fit the type, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The index of a file points beyond its tokens; the error has file and
 *                          offset.
 * @retval LX_ERR_LIMIT     Documents and separators have 2^64 tokens or more.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_joined_tokens(lx_tokens *tokens, uint64_t sequence_length,
                                             const lx_token_options *options, lx_source **source,
                                             lx_error *error);

/**
 * Returns how many of the @p total tokens of all samples of lx_source_new_packed_tokens() are
 * padding.
 *
 * @retval LX_OK            The numbers are at @p padding and @p total.
 * @retval LX_ERR_ARGUMENT  @p source is another kind of source, or a pointer is NULL.
 */
LX_API lx_status lx_source_get_padding(const lx_source *source, uint64_t *padding, uint64_t *total,
                                       lx_error *error);

/** @} */

/**
 * @defgroup lx_segments_get_sizes Measure the pieces of a batch
 *
 * @code
 * lx_segment_sizes sizes;
 * const lx_column *segments = lx_batch_find_column(batch, "segments");
 * lx_segments_get_sizes(segments, true, offsets, capacity, &sizes, &error);
 * attend(tokens, offsets, sizes.count, sizes.longest);
 * @endcode
 * @see lx_batch, lx_source_new_packed_tokens()
 * @{
 */

/** The pieces of a batch. */
typedef struct lx_segment_sizes {
    size_t count;    /**< The number of offsets: that of the pieces, and one. */
    int32_t longest; /**< Tokens of the longest piece; 0 without pieces. */
} lx_segment_sizes;

/**
 * Computes the offsets of the pieces of a batch in its concatenated rows, for attention over
 * sequences of any length (cu_seqlens and max_seqlen of flash attention).
 *
 * A piece is a run of one number in one row. Padding, a run of 0, is a piece of its own, so that
 * the pieces cover the batch as it is; or it is left out, for tokens of which only those with a
 * segment are kept.
 *
 * @param[in]  segments  The column "segments" of a batch, or another one of int32 with one
 *                       dimension: name and size are not used. It has at most 2^31 - 1 numbers.
 * @param[in]  padding   Whether runs of 0 are pieces.
 * @param[out] offsets   Receives 0 and the end of each piece; NULL if @p capacity is 0.
 * @param[in]  capacity  The number of offsets that fit. Rows times the length of a row, and one,
 *                       is always enough; 0 asks for @p sizes alone.
 * @param[out] sizes     Receives the number of offsets and the longest piece.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The pieces are measured.
 * @retval LX_ERR_ARGUMENT  The column has another dtype or shape, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p capacity is too small: the first offsets are stored, and @p sizes.
 *                          Or the column has 2^31 numbers or more, and nothing is stored.
 */
LX_API lx_status lx_segments_get_sizes(const lx_column *segments, bool padding, int32_t *offsets,
                                       size_t capacity, lx_segment_sizes *sizes, lx_error *error);

/** @} */

LX_END_DECLS

#endif
