/* SPDX-License-Identifier: MIT */
/* Opens a token file, whose name determines its format, or a field in place of a file. */
#include "loader/tokens/token-file-open.h"

#include "loader/tokens/token-file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "loader/sources/npy-header.h"
#include "loader/tokens/token-file-ds.h"
#include "loader/tokens/token-file-megatron.h"
#include "loader/tokens/widen.h"

static lx_status open_npy(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    lx__file opened;
    lx_npy_info npy;
    lx_status status = lx__file_open(&opened, LX__CWD, file->path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__npy_read(&opened, &npy, error);
    lx__file_close(&opened);
    if (status == LX_OK && npy.ndim != 1)
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "the array has %zu dimensions: tokens require a one-dimensional array",
                         npy.ndim);
    if (status == LX_OK && lx__widen_find(npy.dtype, LX_INT64) == NULL)
        status = lx_fail(error, LX_ERR_UNSUPPORTED, "tokens must be integers, not %s",
                         lx_dtype_get_name(npy.dtype));
    if (status == LX_OK)
        status = lx__token_file_set_dtype(file, dtype, npy.dtype, error);
    if (status == LX_OK)
        status = lx__token_file_map(file, file->path, npy.dtype, npy.header_size, npy.shape[0],
                                    error);
    lx_error_locate(error, file->path, NULL, LX_NONE, LX_NONE);
    return status;
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

/** Whether a file whose name ends with .bin has an index in the same directory. */
static bool has_index(const char *path)
{
    bool regular = false;
    char *index = lx__strdup(path);
    if (index == NULL)
        return false;
    strcpy(index + strlen(index) - 3, "idx");
    lx_status status = lx__file_is_regular(LX__CWD, index, &regular, NULL);
    lx__free(index);
    return status == LX_OK && regular;
}

static lx_status open_raw(lx__token_file *file, lx_dtype dtype, lx_error *error)
{
    file->documents = 1;
    return lx__token_file_map(file, file->path, dtype, 0, LX_NONE, error);
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
    return open_raw(file, dtype, error);
}

/** Creates a token file without tokens; @p path names it in errors. */
static lx_status make(const char *path, lx__token_file **file, lx_error *error)
{
    lx__token_file *made = lx__alloc_array(1, sizeof *made);
    char *copy = lx__strdup(path);
    if (made == NULL || copy == NULL) {
        lx__free(made);
        lx__free(copy);
        return lx__fail_memory(error, "a token file");
    }
    *made = (lx__token_file){.path = copy};
    atomic_init(&made->references, 1);
    *file = made;
    return LX_OK;
}

lx_status lx__token_file_open(const char *path, lx_dtype dtype, bool raw, lx__token_file **file,
                              lx_error *error)
{
    lx__token_file *made;
    lx_status status = make(path, &made, error);
    if (status != LX_OK)
        return status;
    status = (raw ? open_raw : open_by_name)(made, dtype, error);
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
    lx_status status = !lx_dtype_is_bytes(field->dtype)
                           ? lx__token_file_set_dtype(file, dtype, field->dtype, error)
                           : LX_OK;
    if (status == LX_OK)
        status = lx__token_file_check_dtype(file->dtype, error);
    if (status == LX_OK)
        status = lx__token_field_open(dataset, position, file->dtype, &file->field, error);
    lx_error_locate(error, file->path, field->name, LX_NONE, LX_NONE);
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
