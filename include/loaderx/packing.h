/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Packing of documents into samples of a fixed length.
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
 * Documents are either packed by best fit, which cuts a document only if it is longer than a
 * sample, or joined one after another. doc/packing.md defines exactly where each piece goes.
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
 * Creates a source of bins, which are filled with documents by best fit. Sample i consists of the
 * @p capacity tokens of bin i, with padding at the end.
 *
 * A document that is longer than a bin is cut into pieces of @p capacity tokens and a remainder;
 * any other document forms one piece. The longest pieces are placed first; pieces of equal length
 * are placed in document order. Each piece goes into the bin with the least room among those with
 * enough room (if there are several, the one to which a piece was added last) or, if no bin has
 * enough room, into a new bin. Each token of each document is therefore in exactly one sample, and
 * the number of threads does not affect which sample that is. An empty document does not form a
 * piece.
 *
 * The source uses 4 bytes for each piece that is shorter than a bin, 4 bytes for each bin of such
 * pieces, and 16 bytes for each document of @p capacity tokens or more. Creating the source reads
 * the lengths of all documents, and temporarily takes another 12 bytes per document, plus
 * 8 * @p capacity bytes. For a million documents, this takes less than a second.
 *
 * A loader's state identifies the source by the lengths of all documents and by @p capacity, not by
 * the columns.
 *
 * @param[in]  tokens    The sequence; the call takes a reference.
 * @param[in]  capacity  The number of tokens in a sample, 1 to 2^24.
 * @param[in]  options   The type, the vocabulary, the padding and the columns; NULL for the
 *                       defaults.
 * @param[out] source    Receives the source; release it with lx_source_unref().
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_ARGUMENT  @p capacity is out of range, an option is invalid, the padding does not
 *                          fit the type, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The index of a file points beyond its tokens; the error reports the file
 *                          and offset.
 * @retval LX_ERR_LIMIT     There are 2^32 - 1 documents or more.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_packed_tokens(lx_tokens *tokens, uint64_t capacity,
                                             const lx_token_options *options, lx_source **source,
                                             lx_error *error);

/**
 * Creates a source of samples from documents that are joined one after another, with a separator
 * after each. Sample i consists of the @p sequence_length + 1 tokens that start at position
 * i * @p sequence_length, as in lx_source_new_tokens(), which ignores documents. The remainder at
 * the end does not form a sample.
 *
 * A separator belongs to the document before it: it has that document's segment number, and the
 * position after the document's last token. A piece is the part of a document that is in one
 * sample. In each sample, segments start at 1; in each piece, positions start at 0, even where a
 * document continues from the previous sample, as with Megatron's reset_position_ids.
 *
 * The source uses one byte per document. Creating the source reads the lengths of all documents.
 * Reading a sample begins with a binary search.
 *
 * @param[in]  tokens           The sequence; the call takes a reference.
 * @param[in]  sequence_length  The number of tokens in an input, 1 to 2^31 - 2.
 * @param[in]  options          The type, the vocabulary, the separator and the columns; NULL for
 *                              the defaults.
 * @param[out] source           Receives the source; release it with lx_source_unref().
 * @param[out] error            Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_ARGUMENT  @p sequence_length is out of range, an option is invalid, the separator
 *                          is not in the vocabulary or does not fit the type, or a pointer is NULL.
 * @retval LX_ERR_CORRUPT   The index of a file points beyond its tokens; the error reports the file
 *                          and offset.
 * @retval LX_ERR_LIMIT     The documents and separators together have 2^64 tokens or more.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_joined_tokens(lx_tokens *tokens, uint64_t sequence_length,
                                             const lx_token_options *options, lx_source **source,
                                             lx_error *error);

/**
 * Returns the number of padding tokens, and the total number of tokens, in all samples of a source
 * that lx_source_new_packed_tokens() created.
 *
 * @retval LX_OK            The numbers were stored in @p padding and @p total.
 * @retval LX_ERR_ARGUMENT  @p source is a different kind of source, or a pointer is NULL.
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
    size_t count;    /**< The number of offsets, which is the number of pieces plus 1. */
    int32_t longest; /**< The number of tokens in the longest piece; 0 if there are no pieces. */
    uint64_t reserved[4]; /**< Zero. */
} lx_segment_sizes;

/**
 * Computes the offsets of a batch's pieces within its concatenated rows, for variable-length
 * attention (cu_seqlens and max_seqlen of flash attention).
 *
 * A piece is a run of equal numbers within one row. A run of zeros is padding. Padding can count as
 * a piece of its own, so that the pieces cover the whole batch. Alternatively, padding can be left
 * out, for an attention function that receives only the tokens that belong to a segment.
 *
 * @param[in]  segments  The column "segments" of a batch, or any other one-dimensional int32
 *                       column, with at most 2^31 - 1 numbers. The name and size members of the
 *                       column are not used.
 * @param[in]  padding   Whether runs of 0 count as pieces.
 * @param[out] offsets   Receives 0, followed by the end of each piece; NULL if @p capacity is 0.
 * @param[in]  capacity  The number of offsets that fit in @p offsets. The number of rows times the
 *                       row length, plus 1, is always enough; with 0, the call sets only @p sizes.
 * @param[out] sizes     Receives the number of offsets and the length of the longest piece.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  The column has a different dtype or shape, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     @p capacity is too small, in which case @p sizes and the offsets that
 *                          fit are stored; or the column has 2^31 numbers or more, in which case
 *                          nothing is stored.
 */
LX_API lx_status lx_segments_get_sizes(const lx_column *segments, bool padding, int32_t *offsets,
                                       size_t capacity, lx_segment_sizes *sizes, lx_error *error);

/** @} */

LX_END_DECLS

#endif
