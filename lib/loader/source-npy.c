/* SPDX-License-Identifier: MIT */
/* A mapped .npy file as a source. */
#include <string.h>

#include "base/error.h"
#include "base/mapping.h"
#include "loader/npy.h"
#include "loader/source.h"

/* Records whose first lines are prefetched ahead of the copy. */
#define AHEAD 4

typedef struct npy_source {
    lx_source source;
    lx__mapping mapping;
    const uint8_t *data;
} npy_source;

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const npy_source *self = (const npy_source *)source;
    size_t size = (size_t)source->columns[0].size;
    uint8_t *out = targets[0].data;
    (void)error;
    for (size_t i = 0; size != 0 && i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(self->data + indices[i + AHEAD] * size);
        memcpy(out + i * targets[0].stride, self->data + indices[i] * size, size);
    }
    return LX_OK;
}

static int describe(const lx_source *source, json_t *object)
{
    return json_object_set_new(object, "columns", lx__columns_to_json(source));
}

static void dispose(lx_source *source)
{
    lx__mapping_close(&((npy_source *)source)->mapping);
}

static const lx__source_class class = {
    .kind = "npy", .fill = fill, .describe = describe, .dispose = dispose};

static lx_status map(const lx__file *file, lx_source **source, lx_error *error)
{
    lx__npy npy;
    lx_source *made;
    uint64_t size;
    lx_status status = lx__npy_read(file, &npy, error);
    if (status == LX_OK && npy.ndim == 0)
        status = lx__fail(error, LX_ERR_UNSUPPORTED, "the array has no axis to count records by");
    if (status == LX_OK)
        status = lx__file_size(file, &size, error);
    if (status == LX_OK)
        status = lx__source_new(&class, sizeof(npy_source), npy.shape[0], 1, &made, error);
    if (status != LX_OK)
        return status;
    npy_source *self = (npy_source *)made;
    lx_column_info column = {.dtype = npy.dtype, .ndim = npy.ndim - 1, .shape = npy.shape + 1};
    status = lx__source_set_column(made, 0, "data", &column, error);
    if (status == LX_OK)
        status = lx__mapping_open(&self->mapping, file, size, LX__ACCESS_RANDOM, error);
    if (status != LX_OK) {
        lx_source_unref(made);
        return status;
    }
    self->data = self->mapping.data + npy.data_offset;
    *source = made;
    return LX_OK;
}

lx_status lx_source_open_npy(const char *path, lx_source **source, lx_error *error)
{
    if (path == NULL)
        return lx__fail_null(error, "path");
    if (source == NULL)
        return lx__fail_null(error, "source");
    lx__file file;
    lx_status status = lx__file_open(&file, LX__HERE, path, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = map(&file, source, error);
    lx__error_locate(error, path, NULL, LX_NONE, LX_NONE);
    lx__file_close(&file);
    return status;
}
