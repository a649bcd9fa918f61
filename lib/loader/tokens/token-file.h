/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A mapped file of tokens, and what says where its documents are; or a field in its place.
 */
#ifndef LX_LOADER_TOKEN_FILE_H
#define LX_LOADER_TOKEN_FILE_H

#include <stdatomic.h>

#include <loaderx/tokens.h>

#include "base/mapping.h"
#include "loader/tokens/token-field.h"

/** How documents are told. */
typedef enum lx__documents {
    LX__DOCUMENTS_ONE,     /**< All tokens are one. */
    LX__DOCUMENTS_ENDS,    /**< A number of 8 bytes each: its end, in tokens. */
    LX__DOCUMENTS_MEGATRON, /**< Lengths of 4 bytes in tokens, then places of 8 in bytes. */
    LX__DOCUMENTS_RECORDS   /**< Those of a field. */
} lx__documents;

/** Never changes once it is open; counted. */
typedef struct lx__token_file {
    atomic_size_t references;
    char *path;
    lx__token_field *field; /**< Has the tokens, and nothing is mapped; NULL: the file has. */
    lx__mapping tokens, index;
    const uint8_t *data; /**< The first token. */
    uint64_t offset;     /**< Of it in the file. */
    uint64_t length;     /**< Tokens. */
    lx_dtype dtype;
    lx__documents how;
    uint64_t documents;
    const uint8_t *lengths, *places; /**< In the index. */
    char *index_path;
} lx__token_file;

/** Opens it by its name; see lx_tokens_open(). */
lx_status lx__token_file_open(const char *path, lx_dtype dtype, lx__token_file **file,
                              lx_error *error);

/** Puts a field in the place of a file; see lx_tokens_new_field(). */
lx_status lx__token_file_from_field(lx_dataset *dataset, size_t field, lx_dtype dtype,
                                    lx__token_file **file, lx_error *error);

lx__token_file *lx__token_file_ref(lx__token_file *file);
void lx__token_file_unref(lx__token_file *file);

/** Finds a document, whose number is below those that there are. */
lx_status lx__token_file_document(const lx__token_file *file, uint64_t number, uint64_t *first,
                                  uint64_t *length, lx_error *error);

/* ---- the kinds, each of which fills in a file that is zeroed but for its path */

/** LX_ERR_ARGUMENT where @p dtype is not one that tokens can have. */
lx_status lx__token_file_check_dtype(lx_dtype dtype, lx_error *error);

/** Maps the tokens from @p offset of @p path on, @p length of them, or all that there are if it is
 * #LX_NONE. */
lx_status lx__token_file_map(lx__token_file *file, const char *path, lx_dtype dtype,
                             uint64_t offset, uint64_t length, lx_error *error);

/** Maps an index, whose path is taken over. */
lx_status lx__token_file_map_index(lx__token_file *file, char *path, lx_error *error);

/** @p dtype, or @p said where that is #LX_BYTES; LX_ERR_MISMATCH where both are told and differ. */
lx_status lx__token_file_agree(lx__token_file *file, lx_dtype dtype, lx_dtype said,
                               lx_error *error);

lx_status lx__token_file_open_megatron(lx__token_file *file, lx_dtype dtype, lx_error *error);
lx_status lx__token_file_open_ds(lx__token_file *file, lx_dtype dtype, lx_error *error);

#endif
