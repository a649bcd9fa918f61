/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Token sequences in files or fields, and sources that divide them into samples.
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
 * @defgroup lx_tokens Token sequences, and samples from them
 *
 * An ::lx_tokens is one long sequence of small integers. If the files define document boundaries,
 * the sequence is divided into documents. A source divides the sequence into samples of a fixed
 * length, and can find any sample immediately.
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
 * A sequence of tokens of type uint8, uint16, uint32, int32 or int64, little-endian. Files are
 * memory-mapped: they must not be modified while the sequence exists, and if a file is truncated,
 * reading it raises SIGBUS. If a sequence uses fields of datasets, writers may still change those
 * datasets.
 *
 * @par Ownership
 * Sequences are reference-counted: each constructor returns one reference, and lx_tokens_unref()
 * drops one.
 *
 * @par Thread safety
 * Any thread may use a sequence at any time, because a sequence never changes.
 */
typedef struct lx_tokens lx_tokens;

/**
 * Opens a token file. Its name determines the format:
 *
 * - `x.npy`: a one-dimensional array.
 * - `x.idx`, or `x.bin` if `x.idx` exists beside it: the two files of a Megatron indexed dataset.
 *   What Megatron calls a sequence is called a document here.
 * - `x.ds`: tokens in the format that Nanotron reads. `x.ds.index`, if it exists, contains the end
 *   of each document as an 8-byte number. `x.ds.metadata`, if it exists, contains the width of a
 *   token.
 * - Any other name: raw tokens, which form one document.
 *
 * @param[in]  path    A regular file.
 * @param[in]  dtype   The type of a token. #LX_BYTES means the type that the file states, or uint16
 *                     for an `x.ds` without metadata.
 * @param[out] tokens  Receives the sequence; release it with lx_tokens_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The sequence was opened.
 * @retval LX_ERR_ARGUMENT     @p dtype is not a token type, @p dtype is #LX_BYTES but the file does
 *                             not state a type, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH     The file states a different dtype.
 * @retval LX_ERR_NOT_FOUND    A file does not exist.
 * @retval LX_ERR_CORRUPT      A file ends in the middle of a token, or the files do not match each
 *                             other.
 * @retval LX_ERR_UNSUPPORTED  The array has an unsupported form, the index has an unsupported
 *                             version or belongs to a multimodal dataset, the tokens are
 *                             floating-point numbers, or the first bytes of a file show that it has
 *                             no raw tokens but an array, a table, an archive, compressed data or
 *                             text.
 * @retval LX_ERR_IO           A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM        Out of memory.
 */
LX_API lx_status lx_tokens_open(const char *path, lx_dtype dtype, lx_tokens **tokens,
                                lx_error *error);

/**
 * Creates a sequence from a file of raw little-endian tokens, whatever its name. The file has no
 * header and forms one document.
 *
 * @param[in]  path    A regular file.
 * @param[in]  dtype   The type of a token.
 * @param[out] tokens  Receives the sequence; release it with lx_tokens_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The sequence was opened.
 * @retval LX_ERR_ARGUMENT   @p dtype is not a token type, or a pointer is NULL.
 * @retval LX_ERR_NOT_FOUND  The file does not exist.
 * @retval LX_ERR_CORRUPT    The file ends in the middle of a token.
 * @retval LX_ERR_UNSUPPORTED  Its first bytes show that it has no raw tokens, as for
 *                             lx_tokens_open().
 * @retval LX_ERR_IO         A system call failed; the error reports its errno.
 * @retval LX_ERR_NOMEM      Out of memory.
 */
LX_API lx_status lx_tokens_open_raw(const char *path, lx_dtype dtype, lx_tokens **tokens,
                                    lx_error *error);

/**
 * Creates a sequence from a field of a dataset. Each record is a document, in record order. The
 * tokens of a record in a bytes field are its bytes, read as numbers of type @p dtype; in a dense
 * or ragged field, they are its elements in C order. A record without a value is an empty document.
 *
 * The sequence pins the snapshot that the dataset is reading, as lx_dataset_pin() does: writers,
 * refreshes and lx_dataset_close() do not affect it. The sequence uses the options of the dataset:
 * the access mode, the verify policy and #LX_DAMAGE_ZEROS. With #LX_DAMAGE_ZEROS, a damaged
 * document has no tokens if the damage is found when its length is read, and consists of zeros if
 * the damage is found later.
 *
 * The call reads the lengths of all records, which takes about a tenth of a second per million
 * records, and the sequence keeps the lengths, using 8.5 bytes per record. For a dense field
 * without missing values, neither is necessary. Raw values are read in place if they are
 * memory-mapped. Compressed values, and all values in pread access mode, are read completely for
 * each sample that contains a part of them.
 *
 * @param[in]  dataset  The dataset; you may close it afterwards.
 * @param[in]  field    The position of the field in the schema.
 * @param[in]  dtype    The type of a token; required for a bytes field. For any other field,
 *                      #LX_BYTES means the type of the field.
 * @param[out] tokens   Receives the sequence; release it with lx_tokens_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sequence was created.
 * @retval LX_ERR_ARGUMENT  The field does not exist; @p dtype is not a token type, or is #LX_BYTES
 *                          for a bytes field; or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  The field has a different dtype.
 * @retval LX_ERR_CORRUPT   A record ends in the middle of a token, or its entry is damaged; the
 *                          error reports the field and record.
 * @retval LX_ERR_LIMIT     There are 2^64 tokens or more.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, any status that lx_dataset_get_sizes() returns.
 */
LX_API lx_status lx_tokens_new_field(lx_dataset *dataset, size_t field, lx_dtype dtype,
                                     lx_tokens **tokens, lx_error *error);

/**
 * Concatenates sequences of the same dtype, including their documents. The sequences may come from
 * both files and fields.
 *
 * @param[in]  parts   At least one sequence; the call takes references. If a part is itself a
 *                     concatenation, its own parts are used instead.
 * @param[in]  count   The number of sequences.
 * @param[out] tokens  Receives the sequence; release it with lx_tokens_unref().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The sequence was created.
 * @retval LX_ERR_MISMATCH  The dtypes differ; the error reports both.
 * @retval LX_ERR_ARGUMENT  @p count is 0, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     There are more than 2^64 - 1 tokens.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_tokens_new_concat(lx_tokens *const *parts, size_t count, lx_tokens **tokens,
                                      lx_error *error);

/** Adds a reference and returns @p tokens. */
LX_API lx_tokens *lx_tokens_ref(lx_tokens *tokens);

/** Drops a reference; dropping the last one frees the sequence. NULL is allowed. */
LX_API void lx_tokens_unref(lx_tokens *tokens);

/** Returns the number of tokens. */
LX_API uint64_t lx_tokens_get_length(const lx_tokens *tokens);

/** Returns the type of a token as stored in the files or fields. */
LX_API lx_dtype lx_tokens_get_dtype(const lx_tokens *tokens);

/** Returns the number of documents; a file that defines no documents counts as one document. */
LX_API uint64_t lx_tokens_get_document_count(const lx_tokens *tokens);

/**
 * Finds the position of the first token of document @p number, and the length of the document.
 *
 * @retval LX_OK            The result was stored in @p first and @p length.
 * @retval LX_ERR_RANGE     @p number is not less than lx_tokens_get_document_count().
 * @retval LX_ERR_CORRUPT   The index of the file points beyond its tokens.
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
 * @retval LX_OK            The tokens were stored in @p data.
 * @retval LX_ERR_RANGE     The range extends beyond the end of the sequence.
 * @retval LX_ERR_CORRUPT   A token does not fit in @p dtype, or a record is damaged; the error
 *                          reports the file and offset, or the field and record.
 * @retval LX_ERR_ARGUMENT  @p dtype is neither #LX_INT32 nor #LX_INT64, or a pointer is NULL.
 * @return Otherwise, for fields, any status that lx_dataset_gather() returns.
 */
LX_API lx_status lx_tokens_read(const lx_tokens *tokens, uint64_t first, uint64_t count,
                                lx_dtype dtype, void *data, lx_error *error);

/** @} */

/**
 * @defgroup lx_token_options Options of a token source
 *
 * Options are never silently ignored: creating a source with an option that does not apply to it
 * fails with #LX_ERR_ARGUMENT.
 * @see lx_source_new_packed_tokens(), lx_source_new_tokens(), lx_tokens
 * @{
 */

/**
 * The options of a token source.
 *
 * @par Thread safety
 * Only one thread at a time may use the options. A source copies what it needs when it is created.
 */
typedef struct lx_token_options lx_token_options;

/**
 * Returns new options with the defaults: #LX_INT32, no vocabulary limit, padding with 0, no
 * separator and no additional columns. Returns NULL if out of memory.
 */
LX_API lx_token_options *lx_token_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_token_options_free(lx_token_options *options);

/**
 * Sets the type of the column "tokens": #LX_INT32 or #LX_INT64. The type is checked when the source
 * is created.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_dtype(lx_token_options *options, lx_dtype dtype,
                                            lx_error *error);

/**
 * Sets the vocabulary size; 0, the default, means no limit. Reading a sample fails if it contains a
 * token that is not less than the vocabulary size.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_vocabulary(lx_token_options *options, uint64_t vocabulary,
                                                 lx_error *error);

/** Additional columns, with one int32 per token, from which to build attention masks. */
typedef enum lx_packed_columns {
    LX_PACKED_SEGMENTS = 1, /**< "segments": the number of the token's piece in the sample, starting
                                 at 1; 0 for padding. */
    LX_PACKED_POSITIONS = 2 /**< "positions": the token's position in its piece, starting at 0, even
                                 if the piece continues a document from another sample; 0 for
                                 padding. */
} lx_packed_columns;

/**
 * Sets the additional columns: a bitwise OR of ::lx_packed_columns values. The columns appear in
 * the order of that enum. 0, the default, means none.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_columns(lx_token_options *options, unsigned columns,
                                              lx_error *error);

/**
 * Sets the number that lx_source_new_packed_tokens() uses for padding in the column "tokens". This
 * number need not be in the vocabulary. The default is 0.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_pad(lx_token_options *options, int64_t pad, lx_error *error);

/** Means that there is no separator between documents. */
#define LX_SEPARATOR_NONE (-1)

/**
 * Sets the token that lx_source_new_joined_tokens() adds after each document. #LX_SEPARATOR_NONE,
 * the default, means none.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options is NULL.
 */
LX_API lx_status lx_token_options_set_separator(lx_token_options *options, int64_t separator,
                                                lx_error *error);

/** @} */

/**
 * @defgroup lx_source_new_tokens Divide a sequence into samples
 *
 * Both sources ignore document boundaries; the sources in packing.h do not.
 * @see lx_loader, lx_source, lx_source_new_packed_tokens(), lx_token_options, lx_tokens
 * @{
 */

/**
 * Creates a source of overlapping samples: sample i consists of the @p sequence_length + 1 tokens
 * that start at position i * @p sequence_length. If the inputs are `[:-1]` of a sample and the
 * labels are `[1:]`, each token is thus an input at most once and a label at most once. The
 * remainder at the end does not form a sample; a sequence shorter than a sample results in an empty
 * source. The only column is "tokens".
 *
 * @param[in]  tokens           The sequence; the call takes a reference.
 * @param[in]  sequence_length  The number of tokens in an input, 1 or more.
 * @param[in]  options          The type and the vocabulary; NULL for the defaults.
 * @param[out] source           Receives the source; release it with lx_source_unref().
 * @param[out] error            Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_ARGUMENT  @p sequence_length is 0, a sample would have 2^64 bytes or more, an
 *                          option is invalid, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_tokens(lx_tokens *tokens, uint64_t sequence_length,
                                      const lx_token_options *options, lx_source **source,
                                      lx_error *error);

/**
 * Creates a source of blocks that do not overlap: block i consists of the @p size tokens that start
 * at position i * @p size. The remainder at the end does not form a block. The only column is
 * "tokens". If the inputs are `[:-1]` of a block and the labels are `[1:]`, the first token of the
 * block is never a label.
 *
 * @param[in]  tokens   The sequence; the call takes a reference.
 * @param[in]  size     The number of tokens in a block, 1 or more.
 * @param[in]  options  The type and the vocabulary; NULL for the defaults.
 * @param[out] source   Receives the source; release it with lx_source_unref().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
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
