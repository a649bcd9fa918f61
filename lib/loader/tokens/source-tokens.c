/* SPDX-License-Identifier: MIT */
/* Cuts a sequence of tokens into samples or blocks of equal length. */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/source.h"
#include "loader/tokens/token-options.h"
#include "loader/tokens/tokens.h"
#include "sampler/core/saved-state.h"

typedef struct tokens_source {
    lx_source source;
    lx_tokens *tokens;
    uint64_t size, step; /* tokens per sample, and tokens from the start of one sample to the
                            next */
    uint64_t limit;
    lx__widen *widen;
    size_t wide;
} tokens_source;

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const tokens_source *self = (const tokens_source *)source;
    uint8_t *out = targets[0].data;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count)
            lx__tokens_prefetch(self->tokens, indices[i + 1] * self->step, self->size);
        lx_status status = lx__tokens_copy(self->tokens, indices[i] * self->step, self->size,
                                           self->widen, self->limit, self->wide,
                                           out + i * targets[0].stride, error);
        if (status != LX_OK) {
            lx_error_locate(error, NULL, NULL, indices[i], LX_NONE);
            return status;
        }
    }
    return LX_OK;
}

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const tokens_source *self = (const tokens_source *)source;
    for (size_t i = 0; wanted[0] && i < count; i++)
        lx__tokens_read_ahead(self->tokens, indices[i] * self->step, self->size);
    return wanted[0];
}

/* The output dtype is left out, because it does not affect the data. */
static int describe(const lx_source *source, json_t *object)
{
    const tokens_source *self = (const tokens_source *)source;
    int failed = json_object_set_new(object, "tokens", lx__state_number(self->tokens->length));
    failed |= json_object_set_new(object, "dtype",
                                  json_string(lx_dtype_get_name(self->tokens->dtype)));
    failed |= lx__tokens_describe(self->tokens, object);
    const char *step = self->step < self->size ? "sequence_length" : "block";
    failed |= json_object_set_new(object, step, lx__state_number(self->step));
    return failed != 0 ? -1 : 0;
}

static lx_status visit_datasets(const lx_source *source, const bool *wanted,
                                lx__dataset_visit *visit, void *user, lx_error *error)
{
    (void)wanted;
    return lx__tokens_visit_datasets(((const tokens_source *)source)->tokens, visit, user, error);
}

static void dispose(lx_source *source)
{
    lx_tokens_unref(((tokens_source *)source)->tokens);
}

static const lx__source_class class = {.kind = "tokens",
                                       .fill = fill,
                                       .describe = describe,
                                       .visit_datasets = visit_datasets,
                                       .read_ahead = read_ahead,
                                       .dispose = dispose};

/** Creates a source of samples whose starts are @p step tokens apart. */
static lx_status make(lx_tokens *tokens, uint64_t size, uint64_t step,
                      const lx_token_options *options, lx_source **source, lx_error *error)
{
    lx_token_options how;
    lx_source *made;
    uint64_t bytes;
    if (tokens == NULL || source == NULL)
        return lx__fail_null(error, tokens == NULL ? "tokens" : "source");
    lx_status status = lx__token_options_take(options, 0, &how, error);
    if (status != LX_OK)
        return status;
    lx_dtype dtype = how.dtype;
    lx__widen *widen = lx__widen_find(tokens->dtype, dtype);
    if (widen == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the dtype of the samples must be int32 or int64");
    if (step == 0 || size == 0 || !lx__multiply_fits(size, lx_dtype_get_size(dtype), &bytes))
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "%s is %" PRIu64
                       ", but must be at least 1, and a sample must be smaller than 2^64 bytes",
                       size == step ? "size" : "sequence_length", step);
    uint64_t length = tokens->length < size ? 0 : (tokens->length - size) / step + 1;
    status = lx__source_new(&class, sizeof(tokens_source), length, 1, &made, error);
    if (status != LX_OK)
        return status;
    tokens_source *self = (tokens_source *)made;
    self->tokens = lx_tokens_ref(tokens);
    self->size = size;
    self->step = step;
    self->limit = lx__widen_limit(tokens->dtype, dtype, how.vocabulary);
    self->widen = widen;
    self->wide = lx_dtype_get_size(dtype);
    lx_column_info column = {.dtype = dtype, .ndim = 1, .shape = &size};
    status = lx__source_set_column(made, 0, "tokens", &column, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}

lx_status lx_source_new_tokens(lx_tokens *tokens, uint64_t sequence_length,
                               const lx_token_options *options, lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    /* The largest sequence_length overflows to size 0, which make() rejects. */
    return make(tokens, sequence_length + 1, sequence_length, options, source, error);
}

lx_status lx_source_new_token_blocks(lx_tokens *tokens, uint64_t size,
                                     const lx_token_options *options, lx_source **source,
                                     lx_error *error)
{
    LX__CLEAR(source);
    return make(tokens, size, size, options, source, error);
}
