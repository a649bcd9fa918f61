/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The samples of Megatron's GPT dataset, and the order of Megatron's blends.
 */
#ifndef LOADERX_PARITY_MEGATRON_H
#define LOADERX_PARITY_MEGATRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/mixture.h>
#include <loaderx/order.h>
#include <loaderx/source.h>
#include <loaderx/status.h>
#include <loaderx/tokens.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_source_new_megatron The samples of Megatron's GPT dataset
 *
 * This source reproduces Megatron's GPTDataset exactly: it shuffles and concatenates the documents
 * of as many epochs as needed, cuts them into samples of a fixed length, and shuffles the samples.
 * doc/packing.md defines exactly where each token goes; doc/from-megatron.md describes how to move
 * a training run from Megatron.
 *
 * @code
 * lx_megatron_options *options = lx_megatron_options_new();
 * lx_megatron_options_set_sequence_length(options, 4096, &error);
 * lx_megatron_options_set_num_samples(options, 100000, &error);
 * lx_megatron_options_set_tables(options, "cache", &error);
 * lx_tokens_open("corpus.bin", LX_BYTES, &tokens, &error);
 * lx_source_new_megatron(tokens, options, &samples, &error);
 * lx_megatron_options_free(options);
 * @endcode
 * @see lx_loader, lx_order_new_greedy(), lx_source, lx_source_new_packed_tokens(), lx_tokens
 * @{
 */

/** Additional columns. */
typedef enum lx_megatron_columns {
    LX_MEGATRON_SEGMENTS = LX_PACKED_SEGMENTS,   /**< "segments", int32: the number of the token's
                                                      piece in the sample, starting at 1. */
    LX_MEGATRON_POSITIONS = LX_PACKED_POSITIONS, /**< "positions", int32: the token's position in
                                                      its piece, starting at 0. */
    LX_MEGATRON_LOSS_MASK = 4 /**< "loss_mask", one float32 for each of the sequence_length inputs:
                                   0 if the label is padding or lx_megatron_options_set_mask_eod()
                                   applies; otherwise 1. */
} lx_megatron_columns;

/**
 * The options of a Megatron source, which determine its samples.
 *
 * Each setter returns #LX_OK, #LX_ERR_ARGUMENT if @p options is NULL, or #LX_ERR_NOMEM.
 * lx_source_new_megatron() checks the values.
 *
 * @par Thread safety
 * Only one thread at a time may use the options. A source copies what it needs when it is created.
 */
typedef struct lx_megatron_options lx_megatron_options;

/**
 * Returns new options with default values for everything except the sequence length; NULL if out of
 * memory.
 */
LX_API lx_megatron_options *lx_megatron_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_megatron_options_free(lx_megatron_options *options);

/** Sets the number of tokens in an input, 1 to 2^31 - 2. This option is required. */
LX_API lx_status lx_megatron_options_set_sequence_length(lx_megatron_options *options,
                                                         uint64_t sequence_length, lx_error *error);

/**
 * Sets the documents to use: @p count documents starting at number @p first. A @p count of #LX_NONE
 * means all remaining documents. The default is all documents.
 */
LX_API lx_status lx_megatron_options_set_documents(lx_megatron_options *options, uint64_t first,
                                                   uint64_t count, lx_error *error);

/**
 * Sets the number of samples that are needed, which determines the number of epochs of the
 * documents. The source may have more samples than needed. #LX_NONE, the default, means one epoch.
 */
LX_API lx_status lx_megatron_options_set_num_samples(lx_megatron_options *options,
                                                     uint64_t num_samples, lx_error *error);

/** Sets the seed of NumPy's RandomState, 0 to 2^32 - 1; the default is 1234. */
LX_API lx_status lx_megatron_options_set_seed(lx_megatron_options *options, uint64_t seed,
                                              lx_error *error);

/** Sets whether a sample has one extra token for the last label; the default is true. */
LX_API lx_status lx_megatron_options_set_extra_token(lx_megatron_options *options, bool extra,
                                                     lx_error *error);

/**
 * Sets whether to drop the remainder at the end; the default is true. Otherwise, the remainder is
 * padded and becomes a sample, as Megatron may do for validation.
 */
LX_API lx_status lx_megatron_options_set_drop_last_partial(lx_megatron_options *options, bool drop,
                                                           lx_error *error);

/** Sets the type of the column "tokens": #LX_INT32, the default, or #LX_INT64. */
LX_API lx_status lx_megatron_options_set_dtype(lx_megatron_options *options, lx_dtype dtype,
                                               lx_error *error);

/**
 * Sets the vocabulary size; 0, the default, means no limit. Reading a sample fails if it contains a
 * token that is not less than the vocabulary size.
 */
LX_API lx_status lx_megatron_options_set_vocabulary(lx_megatron_options *options,
                                                    uint64_t vocabulary, lx_error *error);

/**
 * Sets the number that pads a sample after its last token. This number need not be in the
 * vocabulary. The default is -1.
 */
LX_API lx_status lx_megatron_options_set_pad(lx_megatron_options *options, int64_t pad,
                                             lx_error *error);

/** Sets the token that ends a document; #LX_SEPARATOR_NONE, the default, means none. */
LX_API lx_status lx_megatron_options_set_eod(lx_megatron_options *options, int64_t eod,
                                             lx_error *error);

/**
 * Sets whether each occurrence of the token set with lx_megatron_options_set_eod() ends a piece, as
 * with Megatron's reset_position_ids and reset_attention_mask. With false, the default, a piece
 * ends where its document ends.
 */
LX_API lx_status lx_megatron_options_set_split_at_eod(lx_megatron_options *options, bool split,
                                                      lx_error *error);

/**
 * Sets whether the loss mask is 0 where the input is the token set with
 * lx_megatron_options_set_eod(), as with Megatron's eod_mask_loss; the default is false.
 */
LX_API lx_status lx_megatron_options_set_mask_eod(lx_megatron_options *options, bool mask,
                                                  lx_error *error);

/**
 * Sets the additional columns: a bitwise OR of ::lx_megatron_columns values. The columns appear in
 * the order of that enum. 0, the default, means none.
 */
LX_API lx_status lx_megatron_options_set_columns(lx_megatron_options *options, unsigned columns,
                                                 lx_error *error);

/**
 * Sets the directory in which the source stores its tables as a file (see ::lx_order). With NULL,
 * the default, the tables are kept in memory.
 */
LX_API lx_status lx_megatron_options_set_tables(lx_megatron_options *options, const char *directory,
                                                lx_error *error);

/**
 * Creates a source in which record i is the text of GPTDataset[i]: sequence_length + 1 tokens, or
 * sequence_length without the extra token, in the column "tokens". As in Megatron, padding
 * continues the last piece, so the segment number of padding is not 0. With the extra token, if the
 * last piece before the padding consists of a single token, that piece is merged into the previous
 * one.
 *
 * The source uses 4 bytes for each document of each epoch, and 12 bytes for each sample; if there
 * are 2^32 or more of either, it uses 8 and 24 bytes. Creating the source reads the lengths of
 * these documents, even if the tables already exist in a file. Any number of processes can share
 * tables in files.
 *
 * A loader's state identifies the source by the lengths of the documents, the number of epochs that
 * num_samples needs, and everything else that the tables depend on, but not by the columns.
 *
 * @param[in]  tokens   The sequence; the call takes a reference. What Megatron calls a sequence is
 *                      called a document here.
 * @param[in]  options  The options of a Megatron source, which determine its samples.
 * @param[out] source   Receives the source; release it with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_ARGUMENT  An option is invalid (the message names it); the documents contain no
 *                          tokens; the documents contain too few tokens for one sample, and
 *                          num_samples is #LX_NONE or 0; or a pointer is NULL.
 * @retval LX_ERR_RANGE     The requested range of documents extends beyond the last document.
 * @retval LX_ERR_CORRUPT   The index of a file points beyond its tokens; the error reports the file
 *                          and offset.
 * @retval LX_ERR_LIMIT     There are 2^31 documents or more, a document has 2^31 tokens or more, or
 *                          num_samples needs at least 2^31 epochs, 2^63 tokens, or tables of 2^48
 *                          numbers.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_source_new_megatron(lx_tokens *tokens, const lx_megatron_options *options,
                                        lx_source **source, lx_error *error);

/** The tables that Megatron builds. */
typedef enum lx_megatron_index {
    LX_MEGATRON_DOCUMENTS, /**< The documents of all epochs, in order. */
    LX_MEGATRON_SAMPLES,   /**< Where each sample begins before the shuffle, and where the last
                                sample ends. Each location consists of two numbers: an index into
                                the documents table, and the position of the token within that
                                document. */
    LX_MEGATRON_SHUFFLE    /**< The sample at each position after the shuffle. */
} lx_megatron_index;

/**
 * Reads a table of a source from lx_source_new_megatron(), for comparison with the table that
 * Megatron builds.
 *
 * @param[in]  source   The source.
 * @param[in]  index    The table.
 * @param[in]  first    The position of the first number to read, counted from 0.
 * @param[in]  count    The number of numbers to read.
 * @param[out] numbers  Receives the numbers; may be NULL if @p count is 0.
 * @param[out] length   Receives the length of the whole table; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The numbers were stored in @p numbers.
 * @retval LX_ERR_ARGUMENT  @p source is a different kind of source, @p index is invalid, or a
 *                          pointer is NULL.
 * @retval LX_ERR_RANGE     The range extends beyond the end of the table.
 * @retval LX_ERR_CORRUPT   The file that contains the tables is damaged.
 */
LX_API lx_status lx_source_read_megatron_index(const lx_source *source, lx_megatron_index index,
                                               uint64_t first, uint64_t count, uint64_t *numbers,
                                               uint64_t *length, lx_error *error);

/** @} */

/**
 * @defgroup lx_order_new_greedy The order of Megatron's blends
 * @see lx_error, lx_mixture, lx_order, lx_order_new_nanoset(), lx_source_new_megatron()
 * @{
 */

/**
 * Creates the order of a mixture exactly as Megatron does: each position goes to the part that is
 * furthest below its share. The weights are used unchanged. Megatron first divides the weights by
 * their sum, which it computes in the same way as NumPy, so the caller must do the same. If the
 * weights are the lengths of the parts divided by the sum of the lengths, the order with
 * #LX_EXHAUSTED_REDISTRIBUTE is that of Megatron's exhaustive mode. A part with a weight of 0 still
 * gets a position when no other part is below its share: leave such parts out.
 *
 * Creating the order iterates over all positions, which takes about 15 ns per position for 8 parts,
 * and stores the progress of the parts every 16,384 positions, using 8 bytes per part.
 * lx_order_new_blend() does neither.
 *
 * @param[in]  mixture  A mixture with at least one part, and with weights that do not change.
 * @param[in]  options  Only the tables directory applies; NULL for the default.
 * @param[out] order    Receives the order; release it with lx_order_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The order was created.
 * @retval LX_ERR_ARGUMENT     There are no parts, no part has a weight above 0, or a pointer is
 *                             NULL.
 * @retval LX_ERR_UNSUPPORTED  lx_mixture_add_phase() was called.
 * @retval LX_ERR_LIMIT        An epoch would have more than 2^53 positions.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, if a tables directory is set, any status that ::lx_order lists under "Tables
 *         in files".
 */
LX_API lx_status lx_order_new_greedy(const lx_mixture *mixture, const lx_order_options *options,
                                     lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
