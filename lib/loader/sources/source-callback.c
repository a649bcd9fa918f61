/* SPDX-License-Identifier: MIT */
/* A source whose data comes from the caller's callback. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "loader/sources/source-options.h"
#include "loader/sources/source.h"

typedef struct callback_source {
    lx_source source;
    lx_fill_function fill;
    lx_sizes_function sizes;
    lx_fill_bytes_function fill_bytes;
    lx_release_function release;
    void *user;
    char *identity;
} callback_source;

static lx_status fill(lx_source *source, const uint64_t *indices, size_t count,
                      const lx_target *targets, lx_error *error)
{
    callback_source *self = (callback_source *)source;
    lx_error theirs = LX_ERROR_INIT;
    lx_status status = self->fill(indices, count, targets, self->user, &theirs);
    return lx__source_pass_on(&theirs, status, "fill", error);
}

static lx_status get_sizes(lx_source *source, size_t column, const uint64_t *indices, size_t count,
                           uint64_t *offsets, lx_error *error)
{
    callback_source *self = (callback_source *)source;
    lx_error theirs = LX_ERROR_INIT;
    lx_status status = self->sizes(column, indices, count, offsets, self->user, &theirs);
    uint64_t item = source->columns[column].item_size;
    status = lx__source_pass_on(&theirs, status, "sizes", error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        if (offsets[0] != 0 || offsets[i + 1] < offsets[i] || (item > 1 && offsets[i + 1] % item))
            status = lx_fail(error, LX_ERR_CALLBACK,
                             "the source's function for sizes returned offsets that do not begin "
                             "with 0, or decrease, or are not multiples of the item size");
    return status;
}

static lx_status fill_bytes(lx_source *source, size_t column, const lx_samples *samples,
                            const uint64_t *offsets, void *out, lx_error *error)
{
    callback_source *self = (callback_source *)source;
    lx_error theirs = LX_ERROR_INIT;
    lx_status status = self->fill_bytes(column, samples->indices, samples->count, offsets, out,
                                        self->user, &theirs);
    return lx__source_pass_on(&theirs, status, "fill_bytes", error);
}

static int describe(const lx_source *source, json_t *object)
{
    const callback_source *self = (const callback_source *)source;
    int failed = json_object_set_new(object, "columns", lx__columns_to_json(source, 0));
    failed |= json_object_set_new(object, "identity", json_string(self->identity));
    return failed != 0 ? -1 : 0;
}

static void dispose(lx_source *source)
{
    callback_source *self = (callback_source *)source;
    if (self->release != NULL)
        self->release(self->user);
    lx__free(self->identity);
}

static const lx__source_class class = {.kind = "own",
                                       .fill = fill,
                                       .get_sizes = get_sizes,
                                       .fill_bytes = fill_bytes,
                                       .describe = describe,
                                       .dispose = dispose};

static lx_status check_arguments(const lx_source_options *options, size_t column_count,
                                 lx_error *error)
{
    if (options == NULL || options->fill == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "a source needs a fill function: set fill");
    if (column_count == 0)
        return lx_fail(error, LX_ERR_ARGUMENT, "a source needs at least one column");
    if (options->identity != NULL && !lx__utf8_valid(options->identity))
        return lx_fail(error, LX_ERR_ARGUMENT, "the identity is not valid UTF-8");
    return LX_OK;
}

lx_status lx_source_new(uint64_t length, const lx_column_info *columns, size_t column_count,
                        const lx_source_options *options, lx_source **source, lx_error *error)
{
    LX__CLEAR(source);
    if (source == NULL)
        return lx__fail_null(error, "source");
    if (columns == NULL && column_count != 0)
        return lx__fail_null(error, "columns");
    lx_source *made;
    lx_status status = check_arguments(options, column_count, error);
    if (status == LX_OK)
        status = lx__source_new(&class, sizeof(callback_source), length, column_count, &made,
                                error);
    if (status != LX_OK)
        return status;
    callback_source *self = (callback_source *)made;
    self->identity = lx__strdup(options->identity != NULL ? options->identity : "");
    if (self->identity == NULL)
        status = lx__fail_memory(error, "a source");
    for (size_t i = 0; status == LX_OK && i < column_count; i++) {
        status = lx__source_set_column(made, i, columns[i].name, &columns[i], error);
        if (status == LX_OK && made->columns[i].size == LX_NONE && options->sizes == NULL) {
            status = lx_fail(error, LX_ERR_ARGUMENT,
                             "the records of this column vary in size: set the functions that read "
                             "such columns, or give the column a fixed-size dtype and a shape");
            lx_error_locate(error, NULL, columns[i].name, LX_NONE, LX_NONE);
        }
    }
    if (status == LX_OK)
        status = lx__source_check_names(made, error);
    if (status != LX_OK) {
        lx_source_unref(made); /* its functions are not set yet, so the user data is not released */
        return status;
    }
    self->fill = options->fill;
    self->sizes = options->sizes;
    self->fill_bytes = options->fill_bytes;
    self->release = options->release;
    self->user = options->user;
    *source = made;
    return LX_OK;
}
