/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The samples of Megatron's GPT dataset, number for number: documents shuffled, cut into
 * samples of one length across their ends, and the samples shuffled.
 *
 * @code
 * lx_megatron how = LX_MEGATRON_INIT;
 * how.sequence_length = 4096;
 * how.num_samples = 100000;
 * lx_tokens_open("corpus.bin", LX_BYTES, &tokens, &error);
 * lx_source_from_megatron(tokens, &how, &samples, &error);
 * @endcode
 *
 * Which token stands where is told, to the bit, in doc/packing.md.
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

/** @defgroup lx_source_from_megatron The samples of Megatron's GPT dataset
 * @{ */

/** Columns beside the tokens. */
typedef enum lx_megatron_columns {
    LX_MEGATRON_SEGMENTS = LX_PACKED_SEGMENTS,   /**< "segments", int32: 1, 2 .. for the pieces of a
                                                      sample. */
    LX_MEGATRON_POSITIONS = LX_PACKED_POSITIONS, /**< "positions", int32: from 0 in each piece. */
    LX_MEGATRON_LOSS_MASK = 4 /**< "loss_mask", float32 for each of the sequence_length inputs: 0
                                   where the label is padding, or where lx_megatron::mask_eod says;
                                   else 1. */
} lx_megatron_columns;

/** What samples are made: to begin with #LX_MEGATRON_INIT, so that members can be added. */
typedef struct lx_megatron {
    size_t struct_size;       /**< sizeof(lx_megatron). */
    uint64_t first_document;  /**< Where the documents begin that it is made of, and */
    uint64_t document_count;  /**< how many they are; #LX_NONE: all from there on. */
    uint64_t sequence_length; /**< Tokens of an input: 1 to 2^31 - 2. */
    uint64_t num_samples;     /**< Samples that are needed: there are as many epochs of the
                                   documents as it takes. #LX_NONE: one epoch. */
    uint64_t seed;            /**< Of RandomState: 0 to 2^32 - 1. */
    bool extra_token;         /**< Whether a sample has a token more, for the last label. */
    bool drop_last_partial;   /**< False: what is left at the end is a sample, too, which is padded;
                                   as Megatron may have it for validation. */
    lx_dtype dtype;           /**< Of the column "tokens": #LX_INT32 or #LX_INT64. */
    uint64_t vocabulary;      /**< Each token must be below it, or its sample fails; 0: no limit. */
    int64_t pad;              /**< What stands behind the last token; it need not be in the
                                   vocabulary. */
    int64_t eod;              /**< The token at the end of a document, or #LX_SEPARATOR_NONE. */
    bool split_at_eod;        /**< True: a piece ends with each @ref eod, as with Megatron's
                                   reset_position_ids and reset_attention_mask. False: where a
                                   document does. */
    bool mask_eod;            /**< Whether there is no loss where the input is @ref eod, as with
                                   eod_mask_loss. */
    unsigned columns;         /**< Which there are beside the tokens, in this order: of
                                   ::lx_megatron_columns, or 0. */
    const char *tables;       /**< The folder that keeps the tables in a file (see ::lx_order);
                                   NULL: in memory. */
} lx_megatron;

/** All documents, once; seed 1234. Only the sequence_length is missing. */
#define LX_MEGATRON_INIT                                                                           \
    {                                                                                              \
        sizeof(lx_megatron), 0, LX_NONE, 0, LX_NONE, 1234, true, true, LX_INT32, 0, -1,            \
            LX_SEPARATOR_NONE, false, false, 0, NULL                                               \
    }

/**
 * A source whose record i is the text of GPTDataset[i]: the sequence_length + 1 tokens (or one less
 * without the extra one), in the column "tokens".
 *
 * Padding continues the last piece, as it does there: its segment is not 0.
 *
 * It holds 4 bytes for each document of each epoch, and 12 for each sample, or 8 and 24 from 2^32
 * of either on. Making it reads the lengths of these documents, whether the tables are made or
 * found.
 * Any number of processes share tables in files.
 *
 * States of a loader tell it by the lengths of the documents, by the epochs that num_samples comes
 * to, and by what else the tables depend on, not by how samples are handed out.
 *
 * @param[in]  tokens  Referenced. A document of it is what Megatron calls a sequence.
 * @param[in]  how     Copied.
 * @param[out] source  To be given up with lx_source_unref().
 * @param[out] error   Where a failure is told; may be NULL.
 *
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  A member of @p how is none that it can be: the message names it. The
 *                          documents have no token, or together less than a sample has, and one
 *                          epoch of them, or no sample, was asked for. Or a pointer is NULL.
 * @retval LX_ERR_RANGE     There are not so many documents.
 * @retval LX_ERR_CORRUPT   An index says a place that the tokens do not have; the error tells its
 *                          file and offset.
 * @retval LX_ERR_LIMIT     There are 2^31 documents or more, one has 2^31 tokens or more, or
 *                          num_samples takes 2^31 epochs or more, or tables of 2^48 numbers.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Of tables in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_source_from_megatron(lx_tokens *tokens, const lx_megatron *how,
                                         lx_source **source, lx_error *error);

/** The tables that Megatron makes. */
typedef enum lx_megatron_index {
    LX_MEGATRON_DOCUMENTS, /**< The documents of all epochs in their order. */
    LX_MEGATRON_SAMPLES,   /**< Where samples begin before they are shuffled, two numbers each: the
                                place in the table before, and the token there. Behind the last one,
                                where it ends. */
    LX_MEGATRON_SHUFFLE    /**< Which of these stands where. */
} lx_megatron_index;

/**
 * Reads of the tables of a source of lx_source_from_megatron(), to compare them with Megatron's.
 *
 * @param[in]  source   One of these.
 * @param[in]  index    Which table.
 * @param[in]  first    The first number; counted from 0.
 * @param[in]  count    How many.
 * @param[out] numbers  Room for as many; NULL if @p count is 0.
 * @param[out] length   How many the table has in all; may be NULL.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_OK            Read.
 * @retval LX_ERR_ARGUMENT  @p source is another one, there is no such table, or a pointer is NULL.
 * @retval LX_ERR_RANGE     There are not so many.
 * @retval LX_ERR_CORRUPT   The file of the tables is damaged.
 */
LX_API lx_status lx_source_read_megatron(const lx_source *source, lx_megatron_index index,
                                         uint64_t first, uint64_t count, uint64_t *numbers,
                                         uint64_t *length, lx_error *error);

/** @} */

/** @defgroup lx_order_new_greedy The order of Megatron's blends
 * @{ */

/**
 * Makes the order of a mixture as Megatron does, number for number: each position goes to the set
 * that lags furthest behind its weight. Weights are used as they are: Megatron divides them by
 * their sum, as NumPy adds it, and so does its caller. With #LX_EXHAUSTED_REDISTRIBUTE it is what
 * Megatron's exhaustive form gives, for weights that are the sets' lengths over their sum. A set of
 * weight 0 is given a position, too, where no other one lags: leave it out.
 *
 * It has to go through all positions when it is made, some 15 ns each for 8 sets, and notes every
 * 16,384 of them how far the sets are: 8 bytes a set each time. lx_order_new_blend() does without.
 *
 * @param[in]  mixture  At least one set of a weight, and weights that do not change.
 * @param[in]  tables   The folder that keeps the table in a file (see ::lx_order); NULL:
 *                      in memory.
 * @param[out] order    The order, for lx_order_unref(); NULL on failure.
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT     There is no set, none has a weight, or a pointer is NULL.
 * @retval LX_ERR_UNSUPPORTED  Other weights were set for a later offset.
 * @retval LX_ERR_LIMIT        An epoch would have more than 2^53 positions.
 * @retval LX_ERR_NOMEM        There is no memory for it.
 * @return Of a table in a file also what ::lx_order says of these.
 */
LX_API lx_status lx_order_new_greedy(const lx_mixture *mixture, const char *tables,
                                     lx_order **order, lx_error *error);

/** @} */

LX_END_DECLS

#endif
