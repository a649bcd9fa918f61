/* SPDX-License-Identifier: MIT */
#include "loader/tokens/tokens.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/source.h"
#include "loader/tokens/prefetch-pages.h"
#include "loader/tokens/token-file-open.h"
#include "zrecord/read/dataset.h"

/* ---- construction */

static lx_tokens *make(size_t parts, lx_dtype dtype, lx_error *error)
{
    lx_tokens *made = lx__alloc_array(1, sizeof *made);
    lx__token_part *list = lx__alloc_array(parts, sizeof *list);
    if (made == NULL || list == NULL) {
        lx__free(made);
        lx__free(list);
        lx__fail_memory(error, "tokens");
        return NULL;
    }
    *made = (lx_tokens){.dtype = dtype, .width = lx_dtype_get_size(dtype), .parts = list};
    atomic_init(&made->references, 1);
    return made;
}

/** Adds a file and takes ownership of its reference; false on overflow. */
static bool add(lx_tokens *tokens, lx__token_file *file)
{
    tokens->parts[tokens->part_count++] = (lx__token_part){
        .file = file, .first = tokens->length, .first_document = tokens->documents};
    return lx__add_fits(tokens->length, file->length, &tokens->length) &&
           lx__add_fits(tokens->documents, file->documents, &tokens->documents);
}

/** Makes a sequence of one file. Takes ownership of the reference, even on failure. */
static lx_status make_of_one(lx__token_file *file, lx_tokens **tokens, lx_error *error)
{
    lx_tokens *made = make(1, file->dtype, error);
    if (made == NULL) {
        lx__token_file_unref(file);
        return LX_ERR_NOMEM;
    }
    (void)add(made, file);
    *tokens = made;
    return LX_OK;
}

static lx_status open_file(const char *path, lx_dtype dtype, bool raw, lx_tokens **tokens,
                           lx_error *error)
{
    LX__CLEAR(tokens);
    lx__token_file *file;
    if (path == NULL || tokens == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "tokens");
    lx_status status = lx__token_file_open(path, dtype, raw, &file, error);
    return status == LX_OK ? make_of_one(file, tokens, error) : status;
}

lx_status lx_tokens_open(const char *path, lx_dtype dtype, lx_tokens **tokens, lx_error *error)
{
    return open_file(path, dtype, false, tokens, error);
}

lx_status lx_tokens_open_raw(const char *path, lx_dtype dtype, lx_tokens **tokens, lx_error *error)
{
    return open_file(path, dtype, true, tokens, error);
}

lx_status lx_tokens_new_field(lx_dataset *dataset, size_t field, lx_dtype dtype, lx_tokens **tokens,
                              lx_error *error)
{
    LX__CLEAR(tokens);
    lx__token_file *file;
    if (dataset == NULL || tokens == NULL)
        return lx__fail_null(error, dataset == NULL ? "dataset" : "tokens");
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK)
        status = lx__token_file_from_field(dataset, field, dtype, &file, error);
    return status == LX_OK ? make_of_one(file, tokens, error) : status;
}

static lx_status check_parts(lx_tokens *const *parts, size_t count, size_t *files, lx_error *error)
{
    *files = 0;
    if (parts == NULL || count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "no tokens to concatenate: count must be at least 1");
    for (size_t i = 0; i < count; i++) {
        if (parts[i] == NULL)
            return lx__fail_null(error, "one of the parts");
        if (parts[i]->dtype != parts[0]->dtype)
            return lx_fail(error, LX_ERR_MISMATCH,
                           "part %zu has %s tokens, but part 0 has %s tokens: concatenate parts "
                           "with the same dtype",
                           i, lx_dtype_get_name(parts[i]->dtype),
                           lx_dtype_get_name(parts[0]->dtype));
        *files += parts[i]->part_count;
    }
    return LX_OK;
}

lx_status lx_tokens_new_concat(lx_tokens *const *parts, size_t count, lx_tokens **tokens,
                               lx_error *error)
{
    LX__CLEAR(tokens);
    size_t files;
    bool fits = true;
    if (tokens == NULL)
        return lx__fail_null(error, "tokens");
    lx_status status = check_parts(parts, count, &files, error);
    if (status != LX_OK)
        return status;
    lx_tokens *made = make(files, parts[0]->dtype, error);
    if (made == NULL)
        return LX_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i]->part_count; k++)
            fits = add(made, lx__token_file_ref(parts[i]->parts[k].file)) && fits;
    if (!fits) {
        lx_tokens_unref(made);
        return lx_fail(error, LX_ERR_LIMIT, "the parts have more than 2^64 - 1 tokens in total");
    }
    *tokens = made;
    return LX_OK;
}

lx_tokens *lx_tokens_ref(lx_tokens *tokens)
{
    if (tokens != NULL)
        atomic_fetch_add_explicit(&tokens->references, 1, memory_order_relaxed);
    return tokens;
}

void lx_tokens_unref(lx_tokens *tokens)
{
    if (tokens == NULL ||
        atomic_fetch_sub_explicit(&tokens->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < tokens->part_count; i++)
        lx__token_file_unref(tokens->parts[i].file);
    lx__free(tokens->parts);
    lx__free(tokens);
}

/* ---- properties */

uint64_t lx_tokens_get_length(const lx_tokens *tokens)
{
    return tokens->length;
}

lx_dtype lx_tokens_get_dtype(const lx_tokens *tokens)
{
    return tokens->dtype;
}

uint64_t lx_tokens_get_document_count(const lx_tokens *tokens)
{
    return tokens->documents;
}

/** Returns the part that contains token @p at, which is below the length. */
static size_t find_part(const lx_tokens *tokens, uint64_t at)
{
    size_t low = 0, high = tokens->part_count;
    while (high - low > 1) { /* finds the last part that begins at or before the token */
        size_t middle = low + (high - low) / 2;
        if (tokens->parts[middle].first <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

lx_status lx_tokens_get_document(const lx_tokens *tokens, uint64_t number, uint64_t *first,
                                 uint64_t *length, lx_error *error)
{
    if (tokens == NULL || first == NULL || length == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "tokens, first or length is NULL");
    if (number >= tokens->documents)
        return lx_fail(error, LX_ERR_RANGE,
                       "document %" PRIu64 " is out of range: the number of documents is %" PRIu64,
                       number, tokens->documents);
    size_t low = 0, high = tokens->part_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (tokens->parts[middle].first_document <= number)
            low = middle;
        else
            high = middle;
    }
    const lx__token_part *part = &tokens->parts[low];
    lx_status status = lx__token_file_document(part->file, number - part->first_document, first,
                                               length, error);
    *first += part->first;
    return status;
}

/* ---- reading */

void lx__tokens_prefetch(const lx_tokens *tokens, uint64_t first, uint64_t count)
{
    const lx__token_part *part = &tokens->parts[find_part(tokens, first)];
    uint64_t at = first - part->first, left = part->file->length - at;
    uint64_t step = left < count ? left : count;
    if (part->file->field != NULL)
        lx__token_field_prefetch(part->file->field, at, step);
    else
        lx__prefetch_pages(part->file->data + at * tokens->width, step * tokens->width);
}

void lx__tokens_read_ahead(const lx_tokens *tokens, uint64_t first, uint64_t count)
{
    for (size_t i = find_part(tokens, first); count != 0 && i < tokens->part_count; i++) {
        const lx__token_file *file = tokens->parts[i].file;
        uint64_t at = first - tokens->parts[i].first;
        uint64_t step = file->length - at < count ? file->length - at : count;
        if (file->field != NULL)
            lx__token_field_read_ahead(file->field, at, step);
        else
            lx__mapping_will_need(file->data + at * tokens->width, step * tokens->width);
        first += step;
        count -= step;
    }
}

/** Reports the first token that violates the limit among the @p count tokens that start at token
 * @p at of the file. */
static lx_status fail_token(const lx__token_file *file, uint64_t at, uint64_t count, size_t width,
                            lx__widen *widen, uint64_t limit, lx_error *error)
{
    uint64_t token;
    at += lx__widen_find_bad(widen, file->data + at * width, count, width, limit, &token);
    lx_status status = lx_fail(error, LX_ERR_CORRUPT,
                               "token %" PRIu64 " of the file is 0x%" PRIx64
                               ", but must be less than %" PRIu64,
                               at, token, limit);
    lx_error_locate(error, file->path, NULL, LX_NONE, file->offset + at * width);
    return status;
}

lx_status lx__tokens_copy(const lx_tokens *tokens, uint64_t first, uint64_t count, lx__widen *widen,
                          uint64_t limit, size_t wide, void *data, lx_error *error)
{
    uint8_t *out = data;
    for (size_t i = find_part(tokens, first); count != 0; i++) {
        const lx__token_file *file = tokens->parts[i].file;
        uint64_t at = first - tokens->parts[i].first;
        uint64_t step = file->length - at < count ? file->length - at : count;
        lx_status status = LX_OK;
        if (file->field != NULL)
            status = lx__token_field_copy(file->field, at, step, widen, limit, wide, out, error);
        else if (step != 0 && !widen(file->data + at * tokens->width, (size_t)step, limit, out))
            status = fail_token(file, at, step, tokens->width, widen, limit, error);
        if (status != LX_OK)
            return status;
        out += step * wide;
        first += step;
        count -= step;
    }
    return LX_OK;
}

lx_status lx_tokens_read(const lx_tokens *tokens, uint64_t first, uint64_t count, lx_dtype dtype,
                         void *data, lx_error *error)
{
    if (tokens == NULL || (data == NULL && count != 0))
        return lx__fail_null(error, tokens == NULL ? "tokens" : "data");
    lx__widen *widen = lx__widen_find(tokens->dtype, dtype);
    if (widen == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "the requested dtype must be int32 or int64");
    if (!lx__range_fits(first, count, tokens->length))
        return lx_fail(error, LX_ERR_RANGE,
                       "%" PRIu64 " tokens starting at token %" PRIu64
                       " exceed the length of %" PRIu64,
                       count, first, tokens->length);
    return lx__tokens_copy(tokens, first, count, widen, lx__widen_limit(tokens->dtype, dtype, 0),
                           lx_dtype_get_size(dtype), data, error);
}

/* ---- saved states */

int lx__tokens_describe(const lx_tokens *tokens, json_t *object)
{
    json_t *fields = json_array();
    int failed = fields == NULL;
    for (size_t i = 0; i < tokens->part_count; i++) {
        const lx__token_part *part = &tokens->parts[i];
        if (part->file->field != NULL)
            failed |= json_array_append_new(
                fields, lx__token_field_describe(part->file->field, part->first));
    }
    if (failed == 0 && json_array_size(fields) != 0)
        failed |= json_object_set(object, "fields", fields);
    json_decref(fields);
    return failed != 0 ? -1 : 0;
}

lx_status lx__tokens_visit_datasets(const lx_tokens *tokens, lx__dataset_visit *visit, void *user,
                                    lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < tokens->part_count; i++) {
        const lx__token_field *field = tokens->parts[i].file->field;
        if (field == NULL)
            continue;
        const lx__dataset_use use = {.dataset = field->dataset,
                                     .length = field->documents,
                                     .only = field->position,
                                     .mapped = field->in_place};
        status = visit(user, &use, error);
    }
    return status;
}
