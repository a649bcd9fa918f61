/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A sequence of tokens, concatenated from files and fields.
 */
#ifndef LX_LOADER_TOKENS_H
#define LX_LOADER_TOKENS_H

#include "loader/sources/source.h"
#include "loader/tokens/token-file.h"
#include "loader/tokens/widen.h"

/** A file, and the position of its first token and document in the sequence. */
typedef struct lx__token_part {
    lx__token_file *file;
    uint64_t first, first_document;
} lx__token_part;

struct lx_tokens {
    atomic_size_t references;
    lx_dtype dtype;
    size_t width; /**< Bytes per token. */
    uint64_t length, documents;
    size_t part_count;
    lx__token_part *parts; /**< There is at least one part, even if the sequence is empty. */
};

/** Copies tokens [first, first + count), which must exist, with @p widen and @p limit. */
lx_status lx__tokens_copy(const lx_tokens *tokens, uint64_t first, uint64_t count, lx__widen *widen,
                          uint64_t limit, size_t wide, void *data, lx_error *error);

/** Prefetches the start of each page of the tokens that will be read next, up to the end of the
 * file that contains token @p first. */
LX_API void lx__tokens_prefetch(const lx_tokens *tokens, uint64_t first, uint64_t count);

/** Starts reading the tokens in [first, first + count) that exist from the disk, without waiting. */
LX_API void lx__tokens_read_ahead(const lx_tokens *tokens, uint64_t first, uint64_t count);

/** Adds members to a source's saved state that identify the fields among the parts; files add
 * nothing. Returns 0, or -1 when out of memory. */
LX_API int lx__tokens_describe(const lx_tokens *tokens, json_t *object);

/** Calls @p visit for the dataset of each field among the parts. */
LX_API lx_status lx__tokens_visit_datasets(const lx_tokens *tokens, lx__dataset_visit *visit,
                                           void *user, lx_error *error);

#endif
