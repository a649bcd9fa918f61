/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A field of a dataset whose records are documents of tokens.
 */
#ifndef LX_LOADER_TOKEN_FIELD_H
#define LX_LOADER_TOKEN_FIELD_H

#include <loaderx/dataset.h>

#include "base/json.h"
#include "loader/tokens/widen.h"

/** Immutable after it is opened. */
typedef struct lx__token_field {
    lx_dataset *dataset; /**< The field's own handle, pinned to a snapshot, in which no writer moves
                              a token. */
    size_t position;
    const lx_field *field;
    lx_dtype dtype;
    size_t width; /**< Bytes per token. */
    uint64_t documents, length;
    uint64_t each;   /**< Number of tokens per document, if @ref ends is NULL. */
    uint64_t *ends;  /**< End of each document, in tokens; NULL if all documents have the same
                          length. */
    uint64_t *guide; /**< If @ref ends is not NULL: for each multiple of 2^ @ref shift, the document
                          that contains the token with that number. */
    unsigned shift;
    uint32_t lengths_crc; /**< CRC-32C of the lengths of all documents. */
    bool in_place;        /**< Records are read from the mapping, not gathered. */
    bool zeros;           /**< Damaged records are read as zeros. */
} lx__token_field;

/** Pins the dataset, and reads the lengths of all records; see lx_tokens_new_field(). */
lx_status lx__token_field_open(lx_dataset *dataset, size_t position, lx_dtype dtype,
                               lx__token_field **field, lx_error *error);

/** @p field may be NULL. */
void lx__token_field_free(lx__token_field *field);

/** Finds the tokens of document @p number, which must be below the number of documents. */
void lx__token_field_document(const lx__token_field *field, uint64_t number, uint64_t *first,
                              uint64_t *length);

/** Copies tokens [at, at + count), which must exist, with @p widen and @p limit. */
lx_status lx__token_field_copy(const lx__token_field *field, uint64_t at, uint64_t count,
                               lx__widen *widen, uint64_t limit, size_t wide, uint8_t *out,
                               lx_error *error);

/** Prefetches the tokens that will be read next, if their location in memory is known. */
void lx__token_field_prefetch(const lx__token_field *field, uint64_t at, uint64_t count);

/** Starts reading tokens that will be needed soon from the disk, without waiting for them. */
void lx__token_field_read_ahead(const lx__token_field *field, uint64_t at, uint64_t count);

/** Returns JSON that identifies the field's documents, which begin at token @p first of a sequence.
 * Returns NULL when out of memory. */
json_t *lx__token_field_describe(const lx__token_field *field, uint64_t first);

#endif
