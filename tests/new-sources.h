/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources with all their options, in one call each: for tests that make many of them.
 *
 * The options are on the stack, so they add nothing to the allocations that tests count.
 */
#ifndef LX_TESTS_NEW_SOURCES_H
#define LX_TESTS_NEW_SOURCES_H

#include <loaderx/loaderx.h>

#include "loader/sources/source-options.h"
#include "loader/tokens/token-options.h"

/** The functions of a source. */
typedef struct source_functions {
    lx_fill_function fill;
    lx_release_function release;
    lx_sizes_function sizes;
    lx_fill_bytes_function fill_bytes;
} source_functions;

static inline lx_status new_source(const source_functions *functions, void *user, uint64_t length,
                                   const lx_column_info *columns, size_t count,
                                   const char *identity, lx_source **source, lx_error *error)
{
    if (functions == NULL)
        return lx_source_new(length, columns, count, NULL, source, error);
    lx_source_options options = {.fill = functions->fill,
                                 .release = functions->release,
                                 .sizes = functions->sizes,
                                 .fill_bytes = functions->fill_bytes,
                                 .user = user,
                                 .identity = identity};
    return lx_source_new(length, columns, count, &options, source, error);
}

static inline lx_status new_tokens(lx_tokens *tokens, uint64_t length, lx_dtype dtype,
                                   uint64_t vocabulary, lx_source **source, lx_error *error)
{
    lx_token_options options = {.dtype = dtype, .vocabulary = vocabulary};
    return lx_source_new_tokens(tokens, length, &options, source, error);
}

static inline lx_status new_token_blocks(lx_tokens *tokens, uint64_t size, lx_dtype dtype,
                                         uint64_t vocabulary, lx_source **source, lx_error *error)
{
    lx_token_options options = {.dtype = dtype, .vocabulary = vocabulary};
    return lx_source_new_token_blocks(tokens, size, &options, source, error);
}

static inline lx_status new_packed_tokens(lx_tokens *tokens, uint64_t capacity, lx_dtype dtype,
                                          uint64_t vocabulary, int64_t pad, unsigned columns,
                                          lx_source **source, lx_error *error)
{
    lx_token_options options = {.given = LX__TOKEN_PAD | LX__TOKEN_COLUMNS,
                                .dtype = dtype,
                                .vocabulary = vocabulary,
                                .pad = pad,
                                .columns = columns};
    return lx_source_new_packed_tokens(tokens, capacity, &options, source, error);
}

static inline lx_status new_joined_tokens(lx_tokens *tokens, uint64_t length, lx_dtype dtype,
                                          uint64_t vocabulary, int64_t separator, unsigned columns,
                                          lx_source **source, lx_error *error)
{
    lx_token_options options = {.given = LX__TOKEN_SEPARATOR | LX__TOKEN_COLUMNS,
                                .dtype = dtype,
                                .vocabulary = vocabulary,
                                .separator = separator,
                                .columns = columns};
    return lx_source_new_joined_tokens(tokens, length, &options, source, error);
}

/** Measures the pieces in @p rows of @p length numbers. */
static inline lx_status get_segment_sizes(const int32_t *segments, uint64_t rows, uint64_t length,
                                          bool padding, int32_t *offsets, size_t capacity,
                                          lx_segment_sizes *sizes, lx_error *error)
{
    const lx_column column = {.dtype = LX_INT32,
                              .ndim = 1,
                              .shape = &length,
                              .rows = rows,
                              .data = (void *)(uintptr_t)segments};
    return lx_segments_get_sizes(&column, padding, offsets, capacity, sizes, error);
}

#endif
