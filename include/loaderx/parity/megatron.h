/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The samples of Megatron's GPT dataset, and the order of its blends.
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
 * It reproduces Megatron's GPTDataset exactly: the documents of as many epochs as needed are
 * shuffled, concatenated and cut into samples of one length, and the samples are shuffled.
 * doc/packing.md defines the place of each token exactly; doc/from-megatron.md describes how a
 * training moves from Megatron.
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
    LX_MEGATRON_SEGMENTS = LX_PACKED_SEGMENTS,   /**< "segments", int32: 1, 2, ... for the pieces of
                                                      a sample. */
    LX_MEGATRON_POSITIONS = LX_PACKED_POSITIONS, /**< "positions", int32: from 0 in each piece. */
    LX_MEGATRON_LOSS_MASK = 4 /**< "loss_mask", float32 for each of the sequence_length inputs: 1,
                                   or 0 where the label is padding, and as
                                   lx_megatron_options_set_mask_eod() says. */
} lx_megatron_columns;

/**
 * How the samples are made.
 *
 * Each setter returns #LX_OK, #LX_ERR_ARGUMENT if @p options is NULL, or #LX_ERR_NOMEM.
 * lx_source_new_megatron() checks the values.
 *
 * @par Thread safety
 * One thread at a time. A source copies what it needs when it is made.
 */
typedef struct lx_megatron_options lx_megatron_options;

/** Returns options with the defaults, which lack the sequence length; NULL when out of memory. */
LX_API lx_megatron_options *lx_megatron_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_megatron_options_free(lx_megatron_options *options);

/** Sets the tokens of an input, 1 to 2^31 - 2. Every source needs it. */
LX_API lx_status lx_megatron_options_set_sequence_length(lx_megatron_options *options,
                                                         uint64_t sequence_length, lx_error *error);

/**
 * Sets the documents to use: @p count from @p first on; #LX_NONE as @p count for all the others.
 * The default is all documents.
 */
LX_API lx_status lx_megatron_options_set_documents(lx_megatron_options *options, uint64_t first,
                                                   uint64_t count, lx_error *error);

/**
 * Sets the samples that are needed, which decide the number of epochs of the documents; there may
 * be more samples. #LX_NONE, the default, for one epoch.
 */
LX_API lx_status lx_megatron_options_set_num_samples(lx_megatron_options *options,
                                                     uint64_t num_samples, lx_error *error);

/** Sets the seed of NumPy's RandomState, 0 to 2^32 - 1; the default is 1234. */
LX_API lx_status lx_megatron_options_set_seed(lx_megatron_options *options, uint64_t seed,
                                              lx_error *error);

/** Sets whether a sample has one more token, for the last label; the default is true. */
LX_API lx_status lx_megatron_options_set_extra_token(lx_megatron_options *options, bool extra,
                                                     lx_error *error);

/**
 * Sets whether the remainder at the end is left out, the default. Otherwise it is a sample, too,
 * and padded, as Megatron may do for validation.
 */
LX_API lx_status lx_megatron_options_set_drop_last_partial(lx_megatron_options *options, bool drop,
                                                           lx_error *error);

/** Sets the type of the column "tokens": #LX_INT32, the default, or #LX_INT64. */
LX_API lx_status lx_megatron_options_set_dtype(lx_megatron_options *options, lx_dtype dtype,
                                               lx_error *error);

/**
 * Sets the size of the vocabulary: a sample with a token that is not below it fails. 0, the
 * default, for no limit.
 */
LX_API lx_status lx_megatron_options_set_vocabulary(lx_megatron_options *options,
                                                    uint64_t vocabulary, lx_error *error);

/**
 * Sets the padding after the last token, which need not be in the vocabulary; the default is -1.
 */
LX_API lx_status lx_megatron_options_set_pad(lx_megatron_options *options, int64_t pad,
                                             lx_error *error);

/** Sets the token at the end of a document; #LX_SEPARATOR_NONE, the default, for none. */
LX_API lx_status lx_megatron_options_set_eod(lx_megatron_options *options, int64_t eod,
                                             lx_error *error);

/**
 * Sets whether a piece ends with each token of lx_megatron_options_set_eod(), as with Megatron's
 * reset_position_ids and reset_attention_mask. Otherwise, the default, a piece ends with its
 * document.
 */
LX_API lx_status lx_megatron_options_set_split_at_eod(lx_megatron_options *options, bool split,
                                                      lx_error *error);

/**
 * Sets whether the loss mask is 0 if the input is the token of lx_megatron_options_set_eod(), as
 * with Megatron's eod_mask_loss; the default is false.
 */
LX_API lx_status lx_megatron_options_set_mask_eod(lx_megatron_options *options, bool mask,
                                                  lx_error *error);

/**
 * Sets the additional columns, in the order of ::lx_megatron_columns, whose values are or-ed. 0,
 * the default, for none.
 */
LX_API lx_status lx_megatron_options_set_columns(lx_megatron_options *options, unsigned columns,
                                                 lx_error *error);

/**
 * Sets the directory that keeps the tables in a file (see ::lx_order). With NULL, the default, they
 * are kept in memory.
 */
LX_API lx_status lx_megatron_options_set_tables(lx_megatron_options *options, const char *directory,
                                                lx_error *error);

/**
 * Makes a source whose record i is the text of GPTDataset[i]: sequence_length + 1 tokens (without
 * the extra token one less) in the column "tokens". Padding continues the last piece, as in
 * Megatron: its segment is not 0.
 *
 * The source holds 4 bytes for each document of each epoch, and 12 for each sample; 8 and 24 from
 * 2^32 of either on. Making it reads the lengths of these documents, also if the tables exist in
 * files. Any number of processes share tables in files.
 *
 * The state of a loader identifies the source by the lengths of the documents, by the epochs that
 * num_samples needs, and by everything else on which the tables depend, not by the columns.
 *
 * @param[in]  tokens   The sequence; referenced. What Megatron calls a sequence is a document.
 * @param[in]  options  How the samples are made.
 * @param[out] source   Receives the source, to be released with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  An option is invalid; the message names it. The documents have
 *                          no token; or they have less than a sample together, and one epoch or no
 *                          sample was requested. Or a pointer is NULL.
 * @retval LX_ERR_RANGE     There are fewer documents.
 * @retval LX_ERR_CORRUPT   The index of a file points beyond its tokens; the error has file and
 *                          offset.
 * @retval LX_ERR_LIMIT     There are 2^31 documents or more, one has 2^31 tokens or more, or
 *                          num_samples needs 2^31 epochs or more, or tables of 2^48 numbers.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, of tables in a file, as ::lx_order describes.
 */
LX_API lx_status lx_source_new_megatron(lx_tokens *tokens, const lx_megatron_options *options,
                                        lx_source **source, lx_error *error);

/** The tables that Megatron makes. */
typedef enum lx_megatron_index {
    LX_MEGATRON_DOCUMENTS, /**< The documents of all epochs, in order. */
    LX_MEGATRON_SAMPLES,   /**< Where each sample begins before the shuffle, and where the last one
                                ends: two numbers each, the index in the previous table and the
                                token there. */
    LX_MEGATRON_SHUFFLE    /**< The sample at each place after the shuffle. */
} lx_megatron_index;

/**
 * Reads a table of a source of lx_source_new_megatron(), to compare it with Megatron's.
 *
 * @param[in]  source   The source.
 * @param[in]  index    The table.
 * @param[in]  first    The first number to read, from 0.
 * @param[in]  count    The amount of numbers to read.
 * @param[out] numbers  Receives them; NULL if @p count is 0.
 * @param[out] length   Receives the size of the whole table in numbers; may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The numbers are at @p numbers.
 * @retval LX_ERR_ARGUMENT  @p source is another kind of source, @p index is invalid, or a pointer
 *                          is NULL.
 * @retval LX_ERR_RANGE     The table ends before the last of them.
 * @retval LX_ERR_CORRUPT   The file of the tables is damaged.
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
 * Makes the order of a mixture as Megatron does, and reproduces it exactly: each position goes to
 * the set that is furthest below its share. The weights are used as they are: Megatron divides them
 * by their sum, as NumPy adds it, before, and so must the caller. With #LX_EXHAUSTED_REDISTRIBUTE
 * and the lengths of the sets over their sum as weights, it is Megatron's exhaustive form. A set of
 * weight 0 also gets a position where no other one lags: leave it out.
 *
 * Making it iterates over all positions, about 15 ns each for 8 sets, and stores the progress of
 * the sets every 16,384 positions, 8 bytes for each set. lx_order_new_blend() needs neither.
 *
 * @param[in]  mixture  A mixture with at least one set, and weights that do not change.
 * @param[in]  options  The directory of tables; NULL for the default.
 * @param[out] order    Receives the order, to be released with lx_order_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The order is made.
 * @retval LX_ERR_ARGUMENT     There is no set, none has a weight, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  lx_mixture_set_weights() was called.
 * @retval LX_ERR_LIMIT        An epoch would have more than 2^53 positions.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, with a directory of tables, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_greedy(const lx_mixture *mixture, const lx_order_options *options,
                                     lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
