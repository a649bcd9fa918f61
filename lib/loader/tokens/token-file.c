/* SPDX-License-Identifier: MIT */
#include "loader/tokens/token-file.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/tokens/token-content.h"
#include "loader/tokens/widen.h"

/* ---- tokens */

lx_status lx__token_file_check_dtype(lx_dtype dtype, lx_error *error)
{
    const char *name = lx_dtype_get_name(dtype);
    if (dtype == LX_BYTES)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "a raw token file does not state a dtype: pass the dtype, usually uint16 or uint32");
    if (lx__widen_find(dtype, LX_INT64) == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "tokens must be integers, not %s",
                       name != NULL ? name : "an invalid dtype");
    return LX_OK;
}

lx_status lx__token_file_set_dtype(lx__token_file *file, lx_dtype dtype, lx_dtype said,
                                   lx_error *error)
{
    if (dtype != LX_BYTES && dtype != said)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "%s tokens were requested, but the stored tokens are %s",
                       lx_dtype_get_name(dtype), lx_dtype_get_name(said));
    file->dtype = said;
    return LX_OK;
}

static lx_status measure(lx__token_file *file, uint64_t length, lx_error *error)
{
    uint64_t width = lx_dtype_get_size(file->dtype), bytes, size = file->tokens.size;
    uint64_t remaining = size < file->offset ? 0 : size - file->offset;
    if (length == LX_NONE) {
        file->length = remaining / width;
        if (remaining % width == 0)
            return LX_OK;
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the file has %" PRIu64 " bytes after the last whole token of %" PRIu64
                       " bytes: the file is truncated, or its tokens have a different dtype",
                       remaining % width, width);
    }
    file->length = length;
    if (lx__multiply_fits(length, width, &bytes) && bytes <= remaining)
        return LX_OK;
    return lx_fail(error, LX_ERR_CORRUPT,
                   "the file is truncated: it should have %" PRIu64
                   " tokens, but has only %" PRIu64,
                   length, remaining / width);
}

lx_status lx__token_file_map(lx__token_file *file, const char *path, lx_dtype dtype,
                             uint64_t offset, uint64_t length, lx_error *error)
{
    lx__file opened;
    uint64_t size;
    lx_status status = lx__token_file_check_dtype(dtype, error);
    if (status != LX_OK) {
        lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    file->dtype = dtype;
    file->offset = offset;
    status = lx__file_open(&opened, LX__CWD, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__file_size(&opened, &size, error);
    if (status == LX_OK)
        status = lx__mapping_open(&file->tokens, &opened, size, LX__ADVICE_RANDOM, error);
    if (status == LX_OK && offset == 0)
        status = lx__token_content_check(file->tokens.data, file->tokens.size,
                                         lx_dtype_get_size(dtype), error);
    if (status == LX_OK)
        status = measure(file, length, error);
    if (status == LX_OK && file->length != 0)
        file->data = file->tokens.data + offset;
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&opened);
    return status;
}

lx_status lx__token_file_map_index(lx__token_file *file, char *path, lx_error *error)
{
    lx__file opened;
    uint64_t size;
    if (path == NULL)
        return lx__fail_memory(error, "a path");
    file->index_path = path;
    lx_status status = lx__file_open(&opened, LX__CWD, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__file_size(&opened, &size, error);
    if (status == LX_OK)
        status = lx__mapping_open(&file->index, &opened, size, LX__ADVICE_RANDOM, error);
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&opened);
    return status;
}

lx__token_file *lx__token_file_ref(lx__token_file *file)
{
    atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
    return file;
}

void lx__token_file_unref(lx__token_file *file)
{
    if (file == NULL || atomic_fetch_sub_explicit(&file->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__token_field_free(file->field);
    lx__mapping_close(&file->tokens);
    lx__mapping_close(&file->index);
    lx__free(file->path);
    lx__free(file->index_path);
    lx__free(file);
}

/* ---- documents */

static lx_status fail_place(const lx__token_file *file, uint64_t number, const uint8_t *at,
                            const char *what, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "document %" PRIu64 " %s", number, what);
    lx_error_locate(error, file->index_path, NULL, LX_NONE, (uint64_t)(at - file->index.data));
    return status;
}

lx_status lx__token_file_document(const lx__token_file *file, uint64_t number, uint64_t *first,
                                  uint64_t *length, lx_error *error)
{
    const uint8_t *at = file->places + 8 * number;
    uint64_t width = lx_dtype_get_size(file->dtype);
    if (file->how == LX__DOCUMENTS_ONE) {
        *first = 0;
        *length = file->length;
        return LX_OK;
    }
    if (file->how == LX__DOCUMENTS_RECORDS) {
        lx__token_field_document(file->field, number, first, length);
        return LX_OK;
    }
    if (file->how == LX__DOCUMENTS_ENDS) {
        uint64_t end = lx__load_le64(at);
        *first = number == 0 ? 0 : lx__load_le64(at - 8);
        *length = end - *first;
        return *first <= end && end <= file->length
                   ? LX_OK
                   : fail_place(file, number, at, "has an invalid end", error);
    }
    uint64_t place = lx__load_le64(at);
    uint32_t tokens = lx__load_le32(file->lengths + 4 * number);
    *first = place / width;
    *length = tokens;
    return place % width == 0 && tokens <= INT32_MAX && lx__range_fits(*first, tokens, file->length)
               ? LX_OK
               : fail_place(file, number, at, "is not within the tokens", error);
}
