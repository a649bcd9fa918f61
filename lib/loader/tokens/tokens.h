/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A sequence of tokens: parts of it lie in files and fields, one behind the other.
 */
#ifndef LX_LOADER_TOKENS_H
#define LX_LOADER_TOKENS_H

#include "loader/tokens/token-file.h"
#include "loader/tokens/widen.h"

/** A file, and where its tokens and documents begin in the sequence. */
typedef struct lx__token_part {
    lx__token_file *file;
    uint64_t first, first_document;
} lx__token_part;

struct lx_tokens {
    atomic_size_t references;
    lx_dtype dtype;
    size_t width; /**< Bytes of a token. */
    uint64_t length, documents;
    size_t part_count;
    lx__token_part *parts; /**< None without tokens and documents, unless there is no other. */
};

/** Reads tokens [first, first + count), which are there, by @p widen with @p limit. */
lx_status lx__tokens_copy(const lx_tokens *tokens, uint64_t first, uint64_t count,
                          lx__widen *widen, uint64_t limit, size_t wide, void *data,
                          lx_error *error);

/** Fetches the beginning of each page of tokens that are read next, as far as one file has them. */
LX_API void lx__tokens_approach(const lx_tokens *tokens, uint64_t first, uint64_t count);

/** Adds to the state of a source what tells the fields among the parts; of files there is nothing.
 * Returns 0, or -1 without memory. */
LX_API int lx__tokens_describe(const lx_tokens *tokens, json_t *object);

/** What names the states of these fields; null without any. NULL without memory. */
LX_API json_t *lx__tokens_frame(const lx_tokens *tokens);

#endif
