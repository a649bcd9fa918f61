/* SPDX-License-Identifier: MIT */
/* A source whose records are files in a folder. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "loader/sources/source.h"
#include "sampler/core/saved-state.h"

typedef struct files_source {
    lx_source source;
    char *text;          /* the paths, one after another, each with its NUL */
    const char **paths;  /* absolute, so that a change of the working directory does not matter */
    uint32_t names_hash; /* of the names, relative to the folder, which may move */
} files_source;

/* ---- class */

/** Opens the file of a record; failures name it. */
static lx_status open_record(const files_source *self, uint64_t index, lx__file *file,
                             uint64_t *size, lx_error *error)
{
    lx_status status = lx__file_open(file, LX__CWD, self->paths[index], O_RDONLY, error);
    if (status == LX_OK) {
        status = lx__file_size(file, size, error);
        if (status != LX_OK)
            lx__file_close(file);
    }
    if (status == LX_OK && *size > LX_MAX_VALUE) {
        status = lx_fail(error, LX_ERR_CORRUPT, "the file has more than %" PRIu32 " bytes",
                         LX_MAX_VALUE);
        lx__file_close(file);
    }
    if (status != LX_OK)
        lx_error_locate(error, self->paths[index], NULL, index, LX_NONE);
    return status;
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    const files_source *self = (const files_source *)source;
    (void)column;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        lx__file file;
        uint64_t size;
        lx_status status = open_record(self, indices[i], &file, &size, error);
        if (status != LX_OK)
            return status;
        lx__file_close(&file);
        offsets[i + 1] = offsets[i] + size; /* no overflow: each size is below 2^32 */
    }
    return LX_OK;
}

/** Reads a file that should have @p size bytes. */
static lx_status read_record(const files_source *self, uint64_t index, uint8_t *to, uint64_t size,
                             lx_error *error)
{
    lx__file file;
    uint64_t found;
    lx_status status = open_record(self, index, &file, &found, error);
    if (status != LX_OK)
        return status;
    status = found == size ? lx__file_read(&file, to, (size_t)size, 0, error)
                           : lx_fail(error, LX_ERR_CORRUPT,
                                     "the file was changed while it was read: read it again");
    lx__file_close(&file);
    if (status != LX_OK)
        lx_error_locate(error, self->paths[index], NULL, index, LX_NONE);
    return status;
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    const files_source *self = (const files_source *)source;
    lx_status status = LX_OK;
    (void)column;
    for (size_t i = 0; status == LX_OK && i < samples->count; i++)
        status = read_record(self, samples->indices[i], (uint8_t *)out + offsets[i],
                             offsets[i + 1] - offsets[i], error);
    return status;
}

static const char *locate(const lx_source *source, size_t column, uint64_t *index, uint64_t *offset)
{
    (void)column, (void)offset;
    return ((const files_source *)source)->paths[*index];
}

static int describe(const lx_source *source, json_t *object)
{
    const files_source *self = (const files_source *)source;
    int failed = json_object_set_new(object, "columns", lx__columns_to_json(source, 0));
    failed |= json_object_set_new(object, "names", lx__state_crc(self->names_hash));
    return failed != 0 ? -1 : 0;
}

static void dispose(lx_source *source)
{
    files_source *self = (files_source *)source;
    lx__free(self->text);
    lx__free(self->paths);
}

static const lx__source_class class = {.kind = "files",
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .locate = locate,
                                       .describe = describe,
                                       .dispose = dispose};

/* ---- constructor */

/** Joins each name to the folder. */
static lx_status make_paths(files_source *self, const char *folder, const char *const *names,
                            size_t count, lx_error *error)
{
    size_t prefix = strlen(folder) + 1, size = 1;
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL || names[i][0] == '\0' || names[i][0] == '/')
            return lx_fail(error, LX_ERR_ARGUMENT, "names[%zu] is %s", i,
                           names[i] == NULL      ? "NULL"
                           : names[i][0] == '\0' ? "empty"
                                                 : "not relative to the folder");
        size += prefix + strlen(names[i]) + 1;
    }
    self->text = lx__alloc(size);
    self->paths = lx__alloc_array(count, sizeof *self->paths);
    if (self->text == NULL || self->paths == NULL)
        return lx__fail_memory(error, "a source of files");
    char *end = self->text;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]) + 1;
        self->names_hash = lx__crc32c(self->names_hash, names[i], length);
        self->paths[i] = end;
        memcpy(end, folder, prefix - 1);
        end[prefix - 1] = '/';
        memcpy(end + prefix, names[i], length);
        end += prefix + length;
    }
    return LX_OK;
}

static lx_status make(lx_source *made, const char *folder, const char *const *names,
                      const lx_column_info *column, lx_error *error)
{
    lx__file opened;
    char absolute[PATH_MAX];
    lx_status status = lx__directory_open(&opened, LX__CWD, folder, error);
    if (status != LX_OK)
        return status;
    lx__file_close(&opened);
    if (realpath(folder, absolute) == NULL)
        return lx_fail_errno(error, errno, folder, "cannot find the folder");
    status = lx__source_set_column(made, 0, column->name, column, error);
    if (status == LX_OK && column->dtype != LX_BYTES && column->dtype != LX_IMAGE) {
        status = lx_fail(error, LX_ERR_ARGUMENT, "the dtype is %s: files can be bytes or image",
                         lx_dtype_get_name(column->dtype));
        lx_error_locate(error, NULL, column->name, LX_NONE, LX_NONE);
    }
    return status == LX_OK
               ? make_paths((files_source *)made, absolute, names, (size_t)made->length, error)
               : status;
}

lx_status lx_source_open_files(const char *folder, const char *const *names, size_t count,
                               const lx_column_info *column, lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    lx_source *made = NULL;
    if (folder == NULL || (names == NULL && count != 0) || column == NULL || source == NULL)
        return lx__fail_null(error, folder == NULL   ? "folder"
                                    : column == NULL ? "column"
                                    : source == NULL ? "source"
                                                     : "names");
    lx_status status = lx__source_new(&class, sizeof(files_source), count, 1, &made, error);
    if (status == LX_OK)
        status = make(made, folder, names, column, error);
    if (status == LX_OK)
        *source = made;
    else
        lx_source_unref(made);
    return status;
}
