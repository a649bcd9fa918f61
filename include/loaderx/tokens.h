/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sequences of tokens in files or fields, and sources of samples of them.
 */
#ifndef LOADERX_TOKENS_H
#define LOADERX_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dataset.h>
#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/source.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_tokens Sequences of tokens, and samples of them
 *
 * A ::lx_tokens is one long sequence of small integers, with documents if the files have them. A
 * source divides it into samples of one length, any of which is found at once.
 *
 * @code
 * lx_tokens *tokens = NULL;
 * lx_source *samples = NULL;
 * lx_tokens_open("corpus.bin", LX_BYTES, &tokens, &error);
 * lx_source_new_tokens(tokens, 4096, NULL, &samples, &error);
 * lx_tokens_unref(tokens);
 * @endcode
 * @see lx_dataset, lx_loader, lx_source, lx_source_new_packed_tokens(), loaderx(7)
 * @{
 */

/**
 * A sequence of tokens: uint8, uint16, uint32, int32 or int64, little-endian. Files are mapped:
 * while the sequence exists, they must not be written, and truncation of one raises SIGBUS. Fields
 * of datasets may be changed by writers.
 *
 * @par Ownership
 * A sequence is counted: each constructor returns one reference, and lx_tokens_unref() drops one.
 *
 * @par Thread safety
 * Full: it never changes.
 */
typedef struct lx_tokens lx_tokens;

/**
 * Opens a file of tokens. The name decides how it is read:
 *
 * - `x.npy`: an array with one axis.
 * - `x.idx`, or `x.bin` if `x.idx` exists beside it: the two files of Megatron's indexed datasets.
 *   What Megatron calls a sequence is a document.
 * - `x.ds`: tokens as Nanotron reads them. If `x.ds.index` exists, it has the end of each document
 *   as an 8-byte number. If `x.ds.metadata` exists, it has the width of a token.
 * - Any other name: bare tokens, which are one document.
 *
 * @param[in]  path    A regular file.
 * @param[in]  dtype   The type of a token. #LX_BYTES for the type that the file states; uint16 for
 *                     an `x.ds` without metadata.
 * @param[out] tokens  Receives the sequence, to be released with lx_tokens_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The sequence is open.
 * @retval LX_ERR_ARGUMENT     @p dtype is not a type of tokens, or is #LX_BYTES and the file does
 *                             not state one, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH     The file states another dtype.
 * @retval LX_ERR_NOT_FOUND    A file does not exist.
 * @retval LX_ERR_CORRUPT      A file ends within a token, or the files do not match each other.
 * @retval LX_ERR_UNSUPPORTED  The array has another form, the index another version, or the tokens
 *                             are floats.
 * @retval LX_ERR_IO           A system call failed; the error has its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_tokens_open(const char *path, lx_dtype dtype, lx_tokens **tokens,
                                lx_error *error);

/**
 * Makes a sequence of a field of a dataset. Each record is a document, in the order of the records:
 * of a field of #LX_BYTES its bytes as tokens of @p dtype, of a dense field its elements in C
 * order. A record without a value is a document without tokens.
 *
 * It pins the snapshot that the dataset reads, as lx_dataset_pin() does: writers, refreshes and
 * lx_dataset_close() change nothing in it. It keeps the options of the dataset: the access mode,
 * when values are verified, and #LX_DAMAGE_ZEROS. With that, a damaged document has no tokens if
 * the damage is found with its length, and zeros if it is found later.
 *
 * It reads the lengths of all records at once, a million in about a tenth of a second, and keeps
 * them in 8.5 bytes each; it keeps none for a dense field without missing values. Mapped raw values
 * are read in place. Compressed ones, and those of pread access, are gathered as a whole for each
 * sample that contains a part of them.
 *
 * @param[in]  dataset  The dataset; it may be closed afterwards.
 * @param[in]  field    The position of the field in the schema.
 * @param[in]  dtype    The type of a token: required for a field of #LX_BYTES. #LX_BYTES for that
 *                      of a dense field.
 * @param[out] tokens   Receives the sequence, to be released with lx_tokens_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sequence is made.
 * @retval LX_ERR_ARGUMENT  The field does not exist; @p dtype is not a type of tokens, or is
 *                          #LX_BYTES for a field of #LX_BYTES; or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  The field has another dtype.
 * @retval LX_ERR_CORRUPT   A record ends within a token, or its entry is damaged; the error has
 *                          field and record.
 * @retval LX_ERR_LIMIT     There are 2^64 tokens or more.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise as lx_dataset_get_sizes().
 */
LX_API lx_status lx_tokens_new_field(lx_dataset *dataset, size_t field, lx_dtype dtype,
                                     lx_tokens **tokens, lx_error *error);

/**
 * Concatenates sequences of one dtype with their documents, of files and of fields.
 *
 * @param[in]  parts   At least one sequence; referenced. The parts of concatenations are taken
 *                     over.
 * @param[in]  count   The number of sequences.
 * @param[out] tokens  Receives the sequence, to be released with lx_tokens_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sequence is made.
 * @retval LX_ERR_MISMATCH  The dtypes differ; the error has both.
 * @retval LX_ERR_ARGUMENT  There is no part, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more than 2^64 - 1 tokens.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_tokens_new_concat(lx_tokens *const *parts, size_t count, lx_tokens **tokens,
                                      lx_error *error);

/** Adds a reference. Returns @p tokens. */
LX_API lx_tokens *lx_tokens_ref(lx_tokens *tokens);

/** Drops a reference; dropping the last one frees the sequence. NULL is allowed. */
LX_API void lx_tokens_unref(lx_tokens *tokens);

/** Returns the number of tokens. */
LX_API uint64_t lx_tokens_get_length(const lx_tokens *tokens);

/** Returns the type of a token in the files or fields. */
LX_API lx_dtype lx_tokens_get_dtype(const lx_tokens *tokens);

/** Returns the number of documents; a file without documents counts as one. */
LX_API uint64_t lx_tokens_get_document_count(const lx_tokens *tokens);

/**
 * Finds document @p number: the position of its first token, and its length.
 *
 * @retval LX_OK            They are at @p first and @p length.
 * @retval LX_ERR_RANGE     @p number is not below lx_tokens_get_document_count().
 * @retval LX_ERR_CORRUPT   The index of the file points beyond the tokens.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 */
LX_API lx_status lx_tokens_get_document(const lx_tokens *tokens, uint64_t number, uint64_t *first,
                                        uint64_t *length, lx_error *error);

/**
 * Reads tokens.
 *
 * @param[in]  tokens  The sequence.
 * @param[in]  first   The position of the first token.
 * @param[in]  count   The number of tokens.
 * @param[in]  dtype   #LX_INT32 or #LX_INT64.
 * @param[out] data    Receives @p count numbers of that type.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The tokens are at @p data.
 * @retval LX_ERR_RANGE     The sequence ends before the last of them.
 * @retval LX_ERR_CORRUPT   A token does not fit @p dtype, or a record is damaged; the error has
 *                          file and offset, or field and record.
 * @retval LX_ERR_ARGUMENT  @p dtype is neither of the two, or a pointer is NULL.
 * @return Otherwise as lx_dataset_gather(), for fields.
 */
LX_API lx_status lx_tokens_read(const lx_tokens *tokens, uint64_t first, uint64_t count,
                                lx_dtype dtype, void *data, lx_error *error);

/** @} */

/**
 * @defgroup lx_token_options Options of a source of tokens
 *
 * An option that has no effect on a source is an error when the source is made, #LX_ERR_ARGUMENT,
 * so that none is ignored.
 * @see lx_source_new_packed_tokens(), lx_source_new_tokens(), lx_tokens
 * @{
 */

/**
 * The options of a source of tokens.
 *
 * @par Thread safety
 * One thread at a time. A source copies what it needs when it is made.
 */
typedef struct lx_token_options lx_token_options;

/**
 * Returns options with the defaults: #LX_INT32, no limit of the vocabulary, a pad of 0, no
 * separator, no additional columns. Returns NULL when out of memory.
 */
LX_API lx_token_options *lx_token_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_token_options_free(lx_token_options *options);

/**
 * Sets the type of the column "tokens": #LX_INT32 or #LX_INT64. It is checked when the source is
 * made.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_dtype(lx_token_options *options, lx_dtype dtype,
                                            lx_error *error);

/**
 * Sets the size of the vocabulary: a sample with a token that is not below it fails. 0 for no
 * limit.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_vocabulary(lx_token_options *options, uint64_t vocabulary,
                                                 lx_error *error);

/** Additional columns, with an int32 for each token, from which attention masks are made. */
typedef enum lx_packed_columns {
    LX_PACKED_SEGMENTS = 1, /**< "segments": 1, 2, ... for the pieces of a sample, 0 for padding. */
    LX_PACKED_POSITIONS = 2 /**< "positions": from 0 in each piece, also in one that continues a
                                 document of another sample; 0 for padding. */
} lx_packed_columns;

/**
 * Sets the additional columns, in the order of ::lx_packed_columns, whose values are or-ed. 0, the
 * default, for none.
 *
 * @retval LX_OK            They are set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_columns(lx_token_options *options, unsigned columns,
                                              lx_error *error);

/**
 * Sets the padding of lx_source_new_packed_tokens() in the column "tokens"; it need not be in the
 * vocabulary. The default is 0.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_pad(lx_token_options *options, int64_t pad, lx_error *error);

/** No separator between documents. */
#define LX_SEPARATOR_NONE (-1)

/**
 * Sets the token after each document of lx_source_new_joined_tokens(). #LX_SEPARATOR_NONE, the
 * default, for none.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_separator(lx_token_options *options, int64_t separator,
                                                lx_error *error);

/** @} */

/**
 * @defgroup lx_source_new_tokens Divide a sequence into samples
 *
 * Both sources ignore documents; those of packing.h do not.
 * @see lx_loader, lx_source, lx_source_new_packed_tokens(), lx_token_options, lx_tokens
 * @{
 */

/**
 * Makes a source of samples: sample i is the @p sequence_length + 1 tokens from position i *
 * @p sequence_length on. So inputs and labels, shifted by one, cover each token once. The remainder
 * at the end is not a sample; a sequence shorter than a sample makes an empty source. The only
 * column is "tokens".
 *
 * @param[in]  tokens           The sequence; referenced.
 * @param[in]  sequence_length  Tokens of an input, 1 or more.
 * @param[in]  options          The type and the vocabulary; NULL for the defaults.
 * @param[out] source           Receives the source, to be released with lx_source_unref().
 * @param[out] error            Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  @p sequence_length is 0, a sample would have 2^64 bytes or more,
 *                          an option is invalid, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_tokens(lx_tokens *tokens, uint64_t sequence_length,
                                      const lx_token_options *options, lx_source **source,
                                      lx_error *error);

/**
 * Makes a source of blocks, which share no token: block i is the @p size tokens from position i *
 * @p size on. The remainder at the end is not a block. The only column is "tokens". With the inputs
 * `[:-1]` and the labels `[1:]` of a block, its first token is never a label.
 *
 * @param[in]  tokens   The sequence; referenced.
 * @param[in]  size     Tokens of a block, 1 or more.
 * @param[in]  options  The type and the vocabulary; NULL for the defaults.
 * @param[out] source   Receives the source, to be released with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source is made.
 * @retval LX_ERR_ARGUMENT  @p size is 0, a block would have 2^64 bytes or more, an option is
 *                          invalid, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_token_blocks(lx_tokens *tokens, uint64_t size,
                                            const lx_token_options *options, lx_source **source,
                                            lx_error *error);

/** @} */

LX_END_DECLS

#endif
