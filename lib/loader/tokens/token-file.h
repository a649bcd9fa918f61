/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A mapped file of tokens and the index of its documents, or a field in place of a file.
 */
#ifndef LX_LOADER_TOKEN_FILE_H
#define LX_LOADER_TOKEN_FILE_H

#include <stdatomic.h>

#include <loaderx/tokens.h>

#include "base/mapping.h"
#include "loader/tokens/token-field.h"

/** Where document boundaries are stored. */
typedef enum lx__documents {
    LX__DOCUMENTS_ONE,      /**< Nowhere: the file is one document. */
    LX__DOCUMENTS_ENDS,     /**< As the end of each document in tokens, 8 bytes each. */
    LX__DOCUMENTS_MEGATRON, /**< As lengths in tokens, 4 bytes each, then offsets in bytes, 8
                                 each. */
    LX__DOCUMENTS_RECORDS   /**< In the records of a field. */
} lx__documents;

/** Immutable after it is opened; reference-counted. */
typedef struct lx__token_file {
    atomic_size_t references;
    char *path;
    lx__token_field *field; /**< The field that contains the tokens, in which case nothing is
                                 mapped; NULL if the file contains the tokens. */
    lx__mapping tokens, index;
    const uint8_t *data; /**< The first token. */
    uint64_t offset;     /**< Offset of the first token in the file. */
    uint64_t length;     /**< Number of tokens. */
    lx_dtype dtype;
    lx__documents how;
    uint64_t documents;
    const uint8_t *lengths, *places; /**< In the index. */
    char *index_path;
} lx__token_file;

lx__token_file *lx__token_file_ref(lx__token_file *file);
void lx__token_file_unref(lx__token_file *file);

/** Finds the tokens of a document. @p number must be below the number of documents. */
lx_status lx__token_file_document(const lx__token_file *file, uint64_t number, uint64_t *first,
                                  uint64_t *length, lx_error *error);

/* ---- the formats; each function fills in a file that is zeroed except for its path */

/** Returns LX_ERR_ARGUMENT if tokens cannot have @p dtype. */
lx_status lx__token_file_check_dtype(lx_dtype dtype, lx_error *error);

/** Maps @p length tokens of @p path, starting at @p offset; #LX_NONE maps all tokens up to the end
 * of the file. */
lx_status lx__token_file_map(lx__token_file *file, const char *path, lx_dtype dtype,
                             uint64_t offset, uint64_t length, lx_error *error);

/** Maps an index. Takes ownership of @p path. */
lx_status lx__token_file_map_index(lx__token_file *file, char *path, lx_error *error);

/** Sets the dtype to @p said, which is the dtype that the file states. Returns LX_ERR_MISMATCH if
 * @p dtype is neither @p said nor #LX_BYTES. */
lx_status lx__token_file_set_dtype(lx__token_file *file, lx_dtype dtype, lx_dtype said,
                                   lx_error *error);

#endif
