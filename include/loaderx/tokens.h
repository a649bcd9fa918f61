/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tokens: long sequences of small integers in files or fields, and samples of them.
 *
 * An ::lx_tokens is one sequence of tokens, and of documents where the files tell of them. A source
 * cuts it into samples of one length, any of which is found at once.
 *
 * @code
 * lx_tokens *tokens = NULL;
 * lx_source *samples = NULL;
 * lx_tokens_open("corpus.bin", LX_BYTES, &tokens, &error);          // Megatron's, with corpus.idx
 * lx_source_from_tokens(tokens, 4096, LX_INT32, 0, &samples, &error);   // samples of 4,097
 * lx_tokens_unref(tokens);
 * @endcode
 */
#ifndef LOADERX_TOKENS_H
#define LOADERX_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/dtype.h>
#include <loaderx/export.h>
#include <loaderx/loader.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_tokens Sequences of tokens, and samples of them
 * @{ */

/**
 * A sequence of tokens: uint8, uint16, uint32, int32 or int64, little-endian; mapped from files,
 * which must not be cut or written to as long as it is there, or read from fields of datasets,
 * which writers may change.
 *
 * @par Lifetime
 * Counted: each constructor gives one reference, lx_tokens_unref() gives it up.
 * @par Thread safety
 * Full: it never changes.
 */
typedef struct lx_tokens lx_tokens;

/**
 * Opens a file of tokens by its name:
 *
 * - `x.npy`: an array of one axis;
 * - `x.idx`, or `x.bin` with an `x.idx` beside it: the two files of Megatron's indexed datasets.
 *   A document of it is what Megatron calls a sequence;
 * - `x.ds`: tokens as Nanotron reads them, with documents if there is an `x.ds.index`, the end of
 *   each as a number of 8 bytes. `x.ds.metadata`, if it is there, says how wide a token is;
 * - any other name: bare tokens.
 *
 * @param[in]  path    A regular file.
 * @param[in]  dtype   Of a token. #LX_BYTES: what the file says; uint16 in an `x.ds` without
 *                     metadata. Where a file says another one it is refused.
 * @param[out] tokens  To be given up with lx_tokens_unref().
 * @param[out] error   Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT     @p dtype is none of a token, or #LX_BYTES where the file does not tell
 *                             it, or a pointer is NULL.
 * @retval LX_ERR_MISMATCH     The file says another dtype.
 * @retval LX_ERR_NOT_FOUND    A file is not there.
 * @retval LX_ERR_CORRUPT      It ends within a token, or its files do not fit each other.
 * @retval LX_ERR_UNSUPPORTED  An array of another form, an index of another version, floats.
 * @retval LX_ERR_IO           The system refused; errno tells why.
 * @retval LX_ERR_NOMEM        There is no memory for it.
 */
LX_API lx_status lx_tokens_open(const char *path, lx_dtype dtype, lx_tokens **tokens,
                                lx_error *error);

/**
 * Makes a sequence of a field of a dataset: each record is a document, one behind the other in the
 * order of the records. The bytes of a record are tokens of @p dtype; of a dense field its
 * elements are, in C order. A record without a value is a document without tokens.
 *
 * It pins the state of the dataset that is read, as lx_dataset_pin() does: what a writer does
 * later, a refresh, and lx_dataset_close() change nothing of it. It keeps the options of the
 * dataset: its placement, when records are verified, and #LX_DAMAGE_ZEROS, with which a document
 * that is damaged has no tokens if that is known when its length is read, and zeros if it is later.
 *
 * The lengths of all records are read at once, and kept, in 8.5 bytes for each; a dense field where
 * no value is missing keeps none. Raw records are read where they are mapped. Compressed ones, and
 * those that are read by pread, are gathered whole for each sample that has a part of them.
 *
 * @param[in]  dataset  Not referenced: it may be closed.
 * @param[in]  field    Position of the field in the schema.
 * @param[in]  dtype    Of a token: needed for a field of bytes. #LX_BYTES: what a dense field says;
 *                      where that says another one it is refused.
 * @param[out] tokens   To be given up with lx_tokens_unref().
 * @param[out] error    Where a failure is told; may be NULL.
 *
 * @retval LX_ERR_ARGUMENT  No such field; @p dtype is none of a token, or #LX_BYTES for a field of
 *                          bytes; or a pointer is NULL.
 * @retval LX_ERR_MISMATCH  The field says another dtype.
 * @retval LX_ERR_CORRUPT   A record ends within a token, or its entry is damaged; the error has
 *                          field and record.
 * @retval LX_ERR_LIMIT     There are 2^64 tokens or more.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 * @return Else as lx_dataset_measure().
 */
LX_API lx_status lx_tokens_from_field(lx_dataset *dataset, size_t field, lx_dtype dtype,
                                      lx_tokens **tokens, lx_error *error);

/**
 * Puts sequences of one dtype one behind the other, with their documents.
 *
 * @param[in]  parts   At least one; referenced. Parts of other concatenations are taken over.
 * @param[in]  count   How many.
 * @param[out] tokens  To be given up with lx_tokens_unref().
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_MISMATCH  Their dtypes differ; both are told.
 * @retval LX_ERR_ARGUMENT  There is none, or a pointer is NULL.
 * @retval LX_ERR_LIMIT     They have more than 2^64 - 1 tokens.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_tokens_concat(lx_tokens *const *parts, size_t count, lx_tokens **tokens,
                                  lx_error *error);

/** One more reference; returns @p tokens. */
LX_API lx_tokens *lx_tokens_ref(lx_tokens *tokens);

/** Gives a reference up; NULL is nothing. */
LX_API void lx_tokens_unref(lx_tokens *tokens);

/** Number of tokens. */
LX_API uint64_t lx_tokens_get_length(const lx_tokens *tokens);

/** Type of a token in the files or fields. */
LX_API lx_dtype lx_tokens_get_dtype(const lx_tokens *tokens);

/** Number of documents; a file that tells nothing of documents is one. */
LX_API uint64_t lx_tokens_get_document_count(const lx_tokens *tokens);

/**
 * Finds where document @p number lies.
 * @retval LX_ERR_RANGE    There are not so many.
 * @retval LX_ERR_CORRUPT  The index says a place that the tokens do not have.
 */
LX_API lx_status lx_tokens_get_document(const lx_tokens *tokens, uint64_t number, uint64_t *first,
                                        uint64_t *length, lx_error *error);

/**
 * Reads tokens.
 *
 * @param[in]  tokens  A sequence.
 * @param[in]  first   The first one.
 * @param[in]  count   How many.
 * @param[in]  dtype   #LX_INT32 or #LX_INT64.
 * @param[out] data    Room for as many of these.
 * @param[out] error   Where a failure is told; may be NULL.
 * @retval LX_ERR_RANGE     There are not so many.
 * @retval LX_ERR_CORRUPT   One does not fit @p dtype; the error tells its file and offset, or its
 *                          field and record. Or the record is damaged.
 * @retval LX_ERR_ARGUMENT  @p dtype is another, or a pointer is NULL.
 */
LX_API lx_status lx_tokens_read(const lx_tokens *tokens, uint64_t first, uint64_t count,
                                lx_dtype dtype, void *data, lx_error *error);

/**
 * A source of samples: sample i is the @p sequence_length + 1 tokens from i * @p sequence_length
 * on, so that inputs and labels, moved by one, cover each token once. What is left at the end is no
 * sample: of fewer tokens than a sample has there is none, which lx_source_get_length() tells. Its
 * one column is "tokens".
 *
 * @param[in]  tokens           Referenced.
 * @param[in]  sequence_length  1 or more.
 * @param[in]  dtype            #LX_INT32 or #LX_INT64, of the column.
 * @param[in]  vocabulary       Each token must be below it, or its sample fails; 0: no such limit.
 * @param[out] source           To be given up with lx_source_unref().
 * @param[out] error            Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT  @p sequence_length is 0, a sample would have 2^64 bytes or more, @p dtype
 *                          is another, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_source_from_tokens(lx_tokens *tokens, uint64_t sequence_length,
                                       lx_dtype dtype, uint64_t vocabulary, lx_source **source,
                                       lx_error *error);

/**
 * A source of blocks, which share no token: block i is the @p size tokens from i * @p size on.
 * What is left at the end is no block; of fewer tokens there is none. Its one column is "tokens".
 *
 * With inputs `[:-1]` and labels `[1:]` of a block, its first token is no label of any.
 *
 * @param[in]  tokens      Referenced.
 * @param[in]  size        1 or more.
 * @param[in]  dtype       #LX_INT32 or #LX_INT64, of the column.
 * @param[in]  vocabulary  Each token must be below it, or its block fails; 0: no such limit.
 * @param[out] source      To be given up with lx_source_unref().
 * @param[out] error       Where a failure is told; may be NULL.
 * @retval LX_ERR_ARGUMENT  @p size is 0, a block would have 2^64 bytes or more, @p dtype is
 *                          another, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     There is no memory for it.
 */
LX_API lx_status lx_source_from_token_blocks(lx_tokens *tokens, uint64_t size, lx_dtype dtype,
                                             uint64_t vocabulary, lx_source **source,
                                             lx_error *error);

/** @} */

LX_END_DECLS

#endif
