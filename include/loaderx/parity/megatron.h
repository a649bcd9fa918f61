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
#include <loaderx/loader.h>
#include <loaderx/mixture.h>
#include <loaderx/order.h>
#include <loaderx/packing.h>
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
 * lx_megatron how = LX_MEGATRON_INIT;
 * how.sequence_length = 4096;
 * how.num_samples = 100000;
 * how.tables = "cache";
 * lx_tokens_open("corpus.bin", LX_BYTES, &tokens, &error);
 * lx_source_new_megatron(tokens, &how, &samples, &error);
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
                                   or 0 where the label is padding, and as lx_megatron::mask_eod
                                   says. */
} lx_megatron_columns;

/** How the samples are made. Initialize it with #LX_MEGATRON_INIT, so that members can be added. */
typedef struct lx_megatron {
    size_t struct_size;       /**< sizeof(lx_megatron). */
    uint64_t first_document;  /**< The first document to use. */
    uint64_t document_count;  /**< The number of documents from there; #LX_NONE for all. */
    uint64_t sequence_length; /**< Tokens of an input, 1 to 2^31 - 2. */
    uint64_t num_samples;     /**< The samples that are needed, which decide the number of epochs of
                                   the documents; there may be more. #LX_NONE for one epoch. */
    uint64_t seed;            /**< The seed of NumPy's RandomState, 0 to 2^32 - 1. */
    bool extra_token;         /**< Whether a sample has one more token, for the last label. */
    bool drop_last_partial;   /**< False: the remainder at the end is a sample, too, and padded, as
                                   Megatron may do for validation. */
    lx_dtype dtype;           /**< The type of the column "tokens": #LX_INT32 or #LX_INT64. */
    uint64_t vocabulary;      /**< A sample with a token that is not below it fails; 0 for no
                                   limit. */
    int64_t pad;              /**< The padding after the last token; it need not be in the
                                   vocabulary. */
    int64_t eod;              /**< The token at the end of a document, or #LX_SEPARATOR_NONE. */
    bool split_at_eod;        /**< True: a piece ends with each @ref eod, as with Megatron's
                                   reset_position_ids and reset_attention_mask. False: a piece ends
                                   with its document. */
    bool mask_eod;            /**< Whether the loss mask is 0 if the input is @ref eod, as with
                                   Megatron's eod_mask_loss. */
    unsigned columns;         /**< Additional columns, in this order: of ::lx_megatron_columns, or
                                   0. */
    const char *tables;       /**< The directory that keeps the tables in a file (see ::lx_order);
                                   NULL to keep them in memory. */
} lx_megatron;

/** All documents, one epoch, seed 1234, an extra token, #LX_INT32, a pad of -1, no eod. Only
 * sequence_length has to be set. */
#define LX_MEGATRON_INIT                                                                           \
    {                                                                                              \
        sizeof(lx_megatron), 0, LX_NONE, 0, LX_NONE, 1234, true, true, LX_INT32, 0, -1,            \
            LX_SEPARATOR_NONE, false, false, 0, NULL                                               \
    }

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
 * @param[in]  tokens  The sequence; referenced. What Megatron calls a sequence is a document.
 * @param[in]  how     How the samples are made; copied.
 * @param[out] source  Receives the source, to be released with lx_source_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  A member of @p how is invalid; the message names it. The documents have
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
LX_API lx_status lx_source_new_megatron(lx_tokens *tokens, const lx_megatron *how,
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
 * @param[in]  tables   The directory that keeps the table in a file (see ::lx_order); NULL to keep
 *                      it in memory.
 * @param[out] order    Receives the order, to be released with lx_order_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The order is made.
 * @retval LX_ERR_ARGUMENT     There is no set, none has a weight, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  lx_mixture_set_weights() was called.
 * @retval LX_ERR_LIMIT        An epoch would have more than 2^53 positions.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, if @p tables is not NULL, as ::lx_order describes for tables in files.
 */
LX_API lx_status lx_order_new_greedy(const lx_mixture *mixture, const char *tables,
                                     lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
