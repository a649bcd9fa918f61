/* SPDX-License-Identifier: MIT */
#include "loader/tokens/token-file.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "loader/sources/npy-header.h"
#include "loader/tokens/widen.h"

/* ---- tokens */

static lx_status check_dtype(lx_dtype dtype, lx_error *error)
{
    const char *name = lx_dtype_get_name(dtype);
    if (dtype == LX_BYTES)
        return lx__fail(error, LX_ERR_ARGUMENT,
                        "bare tokens do not say how wide they are: give a dtype, uint16 or uint32 "
                        "as a rule");
    if (lx__widen_find(dtype, LX_INT64) == NULL)
        return lx__fail(error, LX_ERR_ARGUMENT, "%s is no dtype of tokens: these are integers",
                        name != NULL ? name : "this");
    return LX_OK;
}

lx_status lx__token_file_agree(lx__token_file *file, lx_dtype dtype, lx_dtype said,
                               lx_error *error)
{
    if (dtype != LX_BYTES && dtype != said)
        return lx__fail(error, LX_ERR_MISMATCH, "tokens of %s are asked for, and these are %s",
                        lx_dtype_get_name(dtype), lx_dtype_get_name(said));
    file->dtype = said;
    return LX_OK;
}

static lx_status measure(lx__token_file *file, const lx__file *opened, uint64_t length,
                         uint64_t *size, lx_error *error)
{
    uint64_t width = lx_dtype_get_size(file->dtype), bytes;
    lx_status status = lx__file_size(opened, size, error);
    if (status != LX_OK)
        return status;
    uint64_t behind = *size < file->offset ? 0 : *size - file->offset;
    if (length == LX_NONE) {
        file->length = behind / width;
        if (behind % width == 0)
            return LX_OK;
        return lx__fail(error, LX_ERR_CORRUPT,
                        "behind the last whole token of %" PRIu64 " bytes there are %" PRIu64
                        " more: the file was cut, or has tokens of another dtype",
                        width, behind % width);
    }
    file->length = length;
    if (lx__multiply_fits(length, width, &bytes) && bytes <= behind)
        return LX_OK;
    return lx__fail(error, LX_ERR_CORRUPT,
                    "the file is cut: there should be %" PRIu64 " tokens, and are %" PRIu64, length,
                    behind / width);
}

lx_status lx__token_file_map(lx__token_file *file, const char *path, lx_dtype dtype,
                             uint64_t offset, uint64_t length, lx_error *error)
{
    lx__file opened;
    uint64_t size;
    lx_status status = check_dtype(dtype, error);
    if (status != LX_OK) {
        lx__error_locate(error, path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    file->dtype = dtype;
    file->offset = offset;
    status = lx__file_open(&opened, LX__HERE, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = measure(file, &opened, length, &size, error);
    if (status == LX_OK)
        status = lx__mapping_open(&file->tokens, &opened, size, LX__ACCESS_RANDOM, error);
    if (status == LX_OK && file->length != 0)
        file->data = file->tokens.data + offset;
    lx__error_locate(error, path, NULL, LX_NONE, LX_NONE);
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
    lx_status status = lx__file_open(&opened, LX__HERE, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__file_size(&opened, &size, error);
    if (status == LX_OK)
        status = lx__mapping_open(&file->index, &opened, size, LX__ACCESS_RANDOM, error);
    lx__error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&opened);
    return status;
}

static lx_status open_npy(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    lx__file opened;
    lx_npy npy;
    lx_status status = lx__file_open(&opened, LX__HERE, file->path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__npy_read(&opened, &npy, error);
    lx__file_close(&opened);
    if (status == LX_OK && npy.ndim != 1)
        status = lx__fail(error, LX_ERR_UNSUPPORTED,
                          "the array has %zu axes: tokens are an array of one", npy.ndim);
    if (status == LX_OK && lx__widen_find(npy.dtype, LX_INT64) == NULL)
        status = lx__fail(error, LX_ERR_UNSUPPORTED, "the array is of %s: tokens are integers",
                          lx_dtype_get_name(npy.dtype));
    if (status == LX_OK)
        status = lx__token_file_agree(file, dtype, npy.dtype, error);
    if (status == LX_OK)
        status = lx__token_file_map(file, file->path, npy.dtype, npy.header_size, npy.shape[0],
                                    error);
    lx__error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

/** Whether there is an index beside a file that ends with .bin. */
static bool has_index(const char *path)
{
    bool regular = false;
    char *index = lx__strdup(path);
    if (index == NULL)
        return false;
    strcpy(index + strlen(index) - 3, "idx");
    lx_status status = lx__file_is_regular(LX__HERE, index, &regular, NULL);
    lx__free(index);
    return status == LX_OK && regular;
}

static lx_status open_by_name(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    const char *path = file->path;
    file->documents = 1;
    if (ends_with(path, ".npy"))
        return open_npy(file, dtype, error);
    if (ends_with(path, ".idx") || (ends_with(path, ".bin") && has_index(path)))
        return lx__token_file_open_megatron(file, dtype, error);
    if (ends_with(path, ".ds"))
        return lx__token_file_open_ds(file, dtype, error);
    return lx__token_file_map(file, path, dtype, 0, LX_NONE, error);
}

/** One without tokens, which is told by @p path. */
static lx_status make(const char *path, lx__token_file **file, lx_error *error)
{
    lx__token_file *made = lx__alloc_array(1, sizeof *made);
    char *copy = lx__strdup(path);
    if (made == NULL || copy == NULL) {
        lx__free(made);
        lx__free(copy);
        return lx__fail_memory(error, "a file of tokens");
    }
    *made = (lx__token_file){.path = copy};
    atomic_init(&made->references, 1);
    *file = made;
    return LX_OK;
}

lx_status lx__token_file_open(const char *path, lx_dtype dtype, lx__token_file **file,
                              lx_error *error)
{
    lx__token_file *made;
    lx_status status = make(path, &made, error);
    if (status != LX_OK)
        return status;
    status = open_by_name(made, dtype, error);
    if (status == LX_OK)
        *file = made;
    else
        lx__token_file_unref(made);
    return status;
}

static lx_status open_field(lx__token_file *file, lx_dataset *dataset, size_t position,
                            lx_dtype dtype, lx_error *error)
{
    const lx_field *field = lx_schema_get_field(lx_dataset_get_schema(dataset), position);
    file->dtype = dtype;
    lx_status status =
        field->dtype != LX_BYTES ? lx__token_file_agree(file, dtype, field->dtype, error) : LX_OK;
    if (status == LX_OK)
        status = check_dtype(file->dtype, error);
    if (status == LX_OK)
        status = lx__token_field_open(dataset, position, file->dtype, &file->field, error);
    lx__error_locate(error, file->path, field->name, LX_NONE, LX_NONE);
    if (status != LX_OK)
        return status;
    file->how = LX__DOCUMENTS_RECORDS;
    file->length = file->field->length;
    file->documents = file->field->documents;
    return LX_OK;
}

lx_status lx__token_file_from_field(lx_dataset *dataset, size_t field, lx_dtype dtype,
                                    lx__token_file **file, lx_error *error)
{
    lx__token_file *made;
    lx_status status = make(lx_dataset_get_path(dataset), &made, error);
    if (status != LX_OK)
        return status;
    status = open_field(made, dataset, field, dtype, error);
    if (status == LX_OK)
        *file = made;
    else
        lx__token_file_unref(made);
    return status;
}

lx__token_file *lx__token_file_ref(lx__token_file *file)
{
    atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
    return file;
}

void lx__token_file_unref(lx__token_file *file)
{
    if (file == NULL ||
        atomic_fetch_sub_explicit(&file->references, 1, memory_order_acq_rel) != 1)
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
    lx_status status = lx__fail(error, LX_ERR_CORRUPT, "document %" PRIu64 " %s", number, what);
    lx__error_locate(error, file->index_path, NULL, LX_NONE, (uint64_t)(at - file->index.data));
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
                   : fail_place(file, number, at, "ends where no token does", error);
    }
    uint64_t place = lx__load_le64(at);
    uint32_t tokens = lx__load_le32(file->lengths + 4 * number);
    *first = place / width;
    *length = tokens;
    return place % width == 0 && tokens <= INT32_MAX &&
                   lx__range_fits(*first, tokens, file->length)
               ? LX_OK
               : fail_place(file, number, at, "lies where there are no tokens", error);
}
