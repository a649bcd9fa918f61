/* SPDX-License-Identifier: MIT */
#include "loader/sources/source-array.h"

#include <string.h>

#include "base/error.h"
#include "base/mapping.h"

/* How far ahead, in records, the first cache line of a record is prefetched. */
#define AHEAD 4

typedef struct array_source {
    lx_source source;
    lx__mapping mapping;
    const uint8_t *data;
} array_source;

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    const array_source *self = (const array_source *)source;
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

static bool read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices, size_t count)
{
    const array_source *self = (const array_source *)source;
    uint64_t size = source->columns[0].size;
    for (size_t i = 0; wanted[0] && i < count; i++)
        lx__mapping_will_need(self->data + indices[i] * size, size);
    return wanted[0]; /* they may be in memory, too */
}

static int describe(const lx_source *source, json_t *object)
{
    return json_object_set_new(object, "columns", lx__columns_to_json(source, 0));
}

static void dispose(lx_source *source)
{
    lx__mapping_close(&((array_source *)source)->mapping);
}

static const lx__source_class classes[] = {[LX__ARRAY_NPY] = {.kind = "npy",
                                                              .fill = fill,
                                                              .describe = describe,
                                                              .read_ahead = read_ahead,
                                                              .dispose = dispose},
                                           [LX__ARRAY_FLAT] = {.kind = "flat",
                                                               .fill = fill,
                                                               .describe = describe,
                                                               .read_ahead = read_ahead,
                                                               .dispose = dispose}};

lx_status lx__source_map_array(const lx__file *file, lx__array_kind kind, uint64_t offset,
                               uint64_t length, const lx_column_info *column, lx_source **source,
                               lx_error *error)
{
    lx_source *made;
    uint64_t size;
    lx_status status = lx__file_size(file, &size, error);
    if (status == LX_OK)
        status = lx__source_new(&classes[kind], sizeof(array_source), length, 1, &made, error);
    if (status != LX_OK)
        return status;
    array_source *self = (array_source *)made;
    status = lx__source_set_column(made, 0, column->name, column, error);
    if (status == LX_OK)
        status = lx__mapping_open(&self->mapping, file, size, LX__ADVICE_RANDOM, error);
    if (status != LX_OK) {
        lx_source_unref(made);
        return status;
    }
    self->data = self->mapping.data + offset;
    *source = made;
    return LX_OK;
}
