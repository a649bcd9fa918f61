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

/** Never changes once it is open. */
typedef struct lx__token_field {
    lx_dataset *dataset; /**< A pin of its own: no writer moves a token. */
    size_t position;
    const lx_field *field;
    lx_dtype dtype;
    size_t width; /**< Bytes of a token. */
    uint64_t documents, length;
    uint64_t each;        /**< Tokens of each document, if it has no @ref ends. */
    uint64_t *ends;       /**< Of each document, in tokens; NULL: all are as long. */
    uint64_t *guide;      /**< With these: the document of every 2^ @ref shift th token. */
    unsigned shift;
    uint32_t lengths_crc; /**< Of all documents. */
    bool in_place;        /**< Records are read where they are mapped, not gathered. */
    bool zeros;           /**< What is damaged then is zeros. */
} lx__token_field;

/** Pins the dataset, and reads the lengths of all records; see lx_tokens_new_field(). */
lx_status lx__token_field_open(lx_dataset *dataset, size_t position, lx_dtype dtype,
                               lx__token_field **field, lx_error *error);

/** NULL is nothing. */
void lx__token_field_free(lx__token_field *field);

/** Where document @p number lies, which is below those that there are. */
void lx__token_field_document(const lx__token_field *field, uint64_t number, uint64_t *first,
                              uint64_t *length);

/** Reads tokens [at, at + count), which are there, by @p widen with @p limit. */
lx_status lx__token_field_copy(const lx__token_field *field, uint64_t at, uint64_t count,
                               lx__widen *widen, uint64_t limit, size_t wide, uint8_t *out,
                               lx_error *error);

/** Has the memory of tokens fetched that are read next, as far as it is known. */
void lx__token_field_approach(const lx__token_field *field, uint64_t at, uint64_t count);

/** What tells its documents, which begin with token @p first of a sequence, from others. NULL without
 * memory. */
json_t *lx__token_field_describe(const lx__token_field *field, uint64_t first);

#endif
