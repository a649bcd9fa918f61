/* SPDX-License-Identifier: MIT */
#include "loader/sources/source.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"
#include "sampler/core/saved-state.h"
#include "zrecord/read/residency.h"

lx_status lx__source_new(const lx__source_class *class, size_t size, uint64_t length,
                         size_t column_count, lx_source **source, lx_error *error)
{
    lx_source *made = lx__alloc_array(1, size);
    if (made == NULL)
        return lx__fail_memory(error, "a source");
    made->class = class;
    made->length = length;
    atomic_init(&made->references, 1);
    made->columns = lx__alloc_array(column_count, sizeof *made->columns);
    if (made->columns == NULL) {
        lx__free(made);
        return lx__fail_memory(error, "a source");
    }
    made->column_count = column_count;
    *source = made;
    return LX_OK;
}

lx_status lx__source_new_pinned(lx_source *source, size_t size, lx_source **pinned, lx_error *error)
{
    lx_source *made = lx__alloc_array(1, size);
    if (made == NULL)
        return lx__fail_memory(error, "a batch's source");
    made->class = source->class;
    made->length = source->length;
    made->columns = source->columns;
    made->column_count = source->column_count;
    made->live_source = lx_source_ref(source);
    atomic_init(&made->references, 1);
    *pinned = made;
    return LX_OK;
}

lx_status lx__source_pin(lx_source *source, lx_source **pinned, lx_error *error)
{
    if (source->live)
        return source->class->pin(source, pinned, error);
    *pinned = lx_source_ref(source);
    return LX_OK;
}

lx_status lx__source_pass_on(lx_error *theirs, lx_status status, const char *callback,
                             lx_error *error)
{
    status = lx__error_return(theirs, status, callback);
    theirs->status = status;
    lx__error_propagate(error, theirs);
    return status;
}

lx_status lx__fail_sizes(lx_error *error)
{
    return lx_fail(error, LX_ERR_LIMIT,
                   "the values of these records have more than 2^64 - 1 bytes: read fewer records");
}

/** Computes the sizes of a value and of an item. */
static lx_status column_sizes(const lx_column_info *column, uint64_t *size, uint64_t *item_size,
                              lx_error *error)
{
    uint64_t item = lx_dtype_get_size(column->dtype), nonzero = item;
    bool bytes = lx_dtype_is_bytes(column->dtype);
    if (item == 0 || column->ndim > LX_MAX_NDIM || (bytes && column->ndim != 0))
        return lx_fail(error, LX_ERR_ARGUMENT, "the column's dtype or shape is invalid");
    if (column->shape == NULL && column->ndim != 0)
        return lx__fail_null(error, "a shape");
    bool ragged = column->ndim != 0 && column->shape[0] == LX_NONE;
    for (size_t i = ragged ? 1 : 0; i < column->ndim; i++) {
        uint64_t extent = column->shape[i];
        if (ragged && (extent == 0 || extent == LX_NONE))
            return lx_fail(error, LX_ERR_ARGUMENT,
                           "the first extent of the column's shape varies, so the others must be "
                           "fixed and positive");
        if (extent != 0 && !lx__multiply_fits(nonzero, extent, &nonzero))
            return lx_fail(error, LX_ERR_ARGUMENT, "the size of a record exceeds 2^64 - 1 bytes");
        item *= i != 0 ? extent : 1;
    }
    *size = bytes || ragged ? LX_NONE : column->ndim != 0 ? item * column->shape[0] : item;
    *item_size = item;
    return LX_OK;
}

lx_status lx__source_set_column(lx_source *source, size_t position, const char *name,
                                const lx_column_info *column, lx_error *error)
{
    uint64_t size = 0, item_size = 0;
    if (name == NULL || name[0] == '\0' || strlen(name) > LX__COLUMN_NAME_MAX)
        return lx_fail(error, LX_ERR_ARGUMENT, "a column name must have 1 to %d bytes",
                       LX__COLUMN_NAME_MAX);
    if (!lx__utf8_valid(name))
        return lx_fail(error, LX_ERR_ARGUMENT, "a column name is not valid UTF-8");
    lx_status status = column_sizes(column, &size, &item_size, error);
    if (status == LX_OK && ((column->size != 0 && column->size != size) ||
                            (column->item_size != 0 && column->item_size != item_size)))
        status =
            lx_fail(error, LX_ERR_ARGUMENT,
                    "a size of %llu bytes per record does not match the column's dtype and shape",
                    (unsigned long long)column->size);
    lx_error_locate(error, NULL, name, LX_NONE, LX_NONE);
    if (status != LX_OK)
        return status;

    uint64_t *shape = lx__alloc_array(column->ndim, sizeof *shape);
    char *copy = lx__strdup(name);
    if (shape == NULL || copy == NULL) {
        lx__free(shape);
        lx__free(copy);
        return lx__fail_memory(error, "a source");
    }
    if (column->ndim != 0)
        memcpy(shape, column->shape, column->ndim * sizeof *shape);
    source->columns[position] = (lx_column_info){.name = copy,
                                                 .dtype = column->dtype,
                                                 .ndim = column->ndim,
                                                 .shape = shape,
                                                 .size = size,
                                                 .item_size = item_size};
    return LX_OK;
}

lx_status lx__source_check_names(const lx_source *source, lx_error *error)
{
    for (size_t i = 0; i < source->column_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(source->columns[i].name, source->columns[j].name) == 0)
                return lx_fail(error, LX_ERR_ARGUMENT, "two columns are named '%s': rename one",
                               source->columns[i].name);
    return LX_OK;
}

/* ---- missing values */

bool lx__source_may_be_missing(const lx_source *source, size_t column)
{
    return source->class->may_be_missing != NULL && source->class->may_be_missing(source, column);
}

lx_status lx__source_mark_present(lx_source *source, size_t column, const uint64_t *indices,
                                  size_t count, uint8_t *present, lx_error *error)
{
    if (lx__source_may_be_missing(source, column))
        return source->class->mark_present(source, column, indices, count, present, error);
    memset(present, 1, count);
    return LX_OK;
}

const char *lx__source_locate(const lx_source *source, size_t column, uint64_t *index,
                              uint64_t *offset)
{
    return source->class->locate != NULL ? source->class->locate(source, column, index, offset)
                                         : NULL;
}

/* ---- saved states */

json_t *lx__columns_to_json(const lx_source *source, size_t first)
{
    json_t *list = json_array();
    for (size_t i = first; i < source->column_count; i++) {
        const lx_column_info *column = &source->columns[i];
        json_t *shape = json_array();
        int failed = 0;
        for (size_t k = 0; k < column->ndim; k++)
            failed |= json_array_append_new(shape, column->shape[k] == LX_NONE
                                                       ? json_null()
                                                       : lx__state_number(column->shape[k]));
        failed |= json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", column->name,
                                                        "dtype", lx_dtype_get_name(column->dtype),
                                                        "shape", shape));
        if (failed != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *lx__source_to_json(const lx_source *source)
{
    json_t *object = json_pack("{s:s, s:o}", "kind", source->class->kind, "length",
                               lx__state_number(source->length));
    if (object != NULL && source->class->describe(source, object) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static lx_status check_dataset(void *user, const lx__dataset_use *use, lx_error *error)
{
    bool *on_disk = user;
    (void)error;
    if (use->dataset != NULL && !use->mapped)
        *on_disk = *on_disk || lx__dataset_wants_read_ahead(use->dataset);
    return LX_OK;
}

bool lx__source_wants_read_ahead(const lx_source *source, const bool *wanted)
{
    bool on_disk = false;
    (void)lx__source_visit_datasets(source, wanted, check_dataset, &on_disk, NULL);
    return on_disk;
}

static lx_status find_remote(void *user, const lx__dataset_use *use, lx_error *error)
{
    bool *remote = user;
    (void)error;
    *remote = *remote || (use->dataset != NULL && lx__dataset_is_remote(use->dataset));
    return LX_OK;
}

bool lx__source_is_remote(const lx_source *source, const bool *wanted)
{
    bool remote = false;
    (void)lx__source_visit_datasets(source, wanted, find_remote, &remote, NULL);
    return remote;
}

bool lx__source_read_ahead(lx_source *source, const bool *wanted, const uint64_t *indices,
                           size_t count)
{
    return source->class->read_ahead != NULL &&
           source->class->read_ahead(source, wanted, indices, count);
}

lx_status lx__source_visit_datasets(const lx_source *source, const bool *wanted,
                                    lx__dataset_visit *visit, void *user, lx_error *error)
{
    return source->class->visit_datasets != NULL
               ? source->class->visit_datasets(source, wanted, visit, user, error)
               : LX_OK;
}

/* ---- public functions */

lx_source *lx_source_ref(lx_source *source)
{
    atomic_fetch_add_explicit(&source->references, 1, memory_order_relaxed);
    return source;
}

void lx_source_unref(lx_source *source)
{
    if (source == NULL ||
        atomic_fetch_sub_explicit(&source->references, 1, memory_order_acq_rel) != 1)
        return;
    if (source->class->dispose != NULL)
        source->class->dispose(source);
    if (source->live_source != NULL) {
        lx_source_unref(source->live_source);
        lx__free(source);
        return;
    }
    for (size_t i = 0; i < source->column_count; i++) {
        lx__free((char *)source->columns[i].name);
        lx__free((uint64_t *)source->columns[i].shape);
    }
    lx__free(source->columns);
    lx__free(source);
}

uint64_t lx_source_get_length(const lx_source *source)
{
    return source->length;
}

size_t lx_source_get_column_count(const lx_source *source)
{
    return source->column_count;
}

const lx_column_info *lx_source_get_column(const lx_source *source, size_t position)
{
    return position < source->column_count ? &source->columns[position] : NULL;
}

static lx_status check_indices(const lx_source *source, const uint64_t *indices, size_t count,
                               lx_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (indices[i] >= source->length) {
            lx_status status =
                lx_fail(error, LX_ERR_RANGE, "index %llu is out of range: the length is %llu",
                        (unsigned long long)indices[i], (unsigned long long)source->length);
            lx_error_locate(error, NULL, NULL, indices[i], LX_NONE);
            return status;
        }
    }
    return LX_OK;
}

lx_status lx__source_fill(lx_source *source, const lx_samples *samples, const lx_target *targets,
                          lx_error *error)
{
    const lx__source_class *class = source->class;
    return class->fill_samples != NULL
               ? class->fill_samples(source, samples, targets, error)
               : class->fill(source, samples->indices, samples->count, targets, error);
}

/** Fills from one snapshot; a caller that fills in several calls uses lx__source_pin(). */
static lx_status fill_held(lx_source *source, const lx_samples *samples, const lx_target *targets,
                           lx_error *error)
{
    lx_source *pinned;
    lx_status status = lx__source_pin(source, &pinned, error);
    if (status != LX_OK)
        return status;
    status = lx__source_fill(pinned, samples, targets, error);
    lx_source_unref(pinned);
    return status;
}

lx_status lx_source_fill_samples(lx_source *source, const lx_samples *samples,
                                 const lx_target *targets, lx_error *error)
{
    if (source == NULL || samples == NULL || targets == NULL)
        return lx__fail_null(error, source == NULL    ? "source"
                                    : samples == NULL ? "samples"
                                                      : "targets");
    if ((samples->indices == NULL || samples->positions == NULL) && samples->count != 0)
        return lx__fail_null(error, samples->indices == NULL ? "indices" : "positions");
    bool wanted = false;
    for (size_t i = 0; i < source->column_count; i++) {
        const lx_column_info *column = &source->columns[i];
        if (targets[i].data == NULL)
            continue;
        wanted = true;
        if (column->size != LX_NONE && targets[i].stride >= column->size)
            continue;
        lx_status status = column->size == LX_NONE
                               ? lx_fail(error, LX_ERR_ARGUMENT,
                                         "the records vary in size: use lx_source_fill_bytes()")
                               : lx_fail(error, LX_ERR_ARGUMENT,
                                         "stride %zu is less than the record size of %llu bytes",
                                         targets[i].stride, (unsigned long long)column->size);
        lx_error_locate(error, NULL, column->name, LX_NONE, LX_NONE);
        return status;
    }
    lx_status status = check_indices(source, samples->indices, samples->count, error);
    if (status != LX_OK || !wanted)
        return status;
    return source->live ? fill_held(source, samples, targets, error)
                        : lx__source_fill(source, samples, targets, error);
}

lx_status lx_source_fill(lx_source *source, const uint64_t *indices, size_t count,
                         const lx_target *targets, lx_error *error)
{
    lx_samples samples = {.count = count, .indices = indices, .positions = indices};
    return lx_source_fill_samples(source, &samples, targets, error);
}

lx_status lx_source_fill_present(lx_source *source, const lx_samples *samples,
                                 const lx_target *targets, uint8_t *const *present, lx_error *error)
{
    lx_source *pinned;
    if (source == NULL || samples == NULL || present == NULL)
        return lx__fail_null(error, source == NULL    ? "source"
                                    : samples == NULL ? "samples"
                                                      : "present");
    lx_status status = lx__source_pin(source, &pinned, error);
    if (status != LX_OK)
        return status;
    status = lx_source_fill_samples(pinned, samples, targets, error);
    for (size_t i = 0; status == LX_OK && i < source->column_count; i++)
        if (present[i] != NULL)
            status = lx__source_mark_present(pinned, i, samples->indices, samples->count,
                                             present[i], error);
    lx_source_unref(pinned);
    return status;
}

static lx_status check_varying(const lx_source *source, size_t column, const uint64_t *indices,
                               size_t count, lx_error *error)
{
    if (source == NULL)
        return lx__fail_null(error, "source");
    if (indices == NULL && count != 0)
        return lx__fail_null(error, "indices");
    if (column >= source->column_count)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no column %zu: the source has %zu columns",
                       column, source->column_count);
    if (source->columns[column].size == LX_NONE)
        return check_indices(source, indices, count, error);
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "all records have the same size: use lx_source_fill()");
    lx_error_locate(error, NULL, source->columns[column].name, LX_NONE, LX_NONE);
    return status;
}

lx_status lx_source_get_sizes(lx_source *source, size_t column, const uint64_t *indices,
                              size_t count, uint64_t *offsets, lx_error *error)
{
    lx_source *pinned;
    lx_status status = check_varying(source, column, indices, count, error);
    if (status == LX_OK && offsets == NULL)
        return lx__fail_null(error, "offsets");
    if (status == LX_OK)
        status = lx__source_pin(source, &pinned, error);
    if (status != LX_OK)
        return status;
    status = pinned->class->get_sizes(pinned, column, indices, count, offsets, error);
    lx_source_unref(pinned);
    return status;
}

/** Copies records of a column whose records vary in size; the positions are not checked. */
static lx_status fill_values(lx_source *source, size_t column, const lx_samples *samples,
                             const uint64_t *offsets, void *out, lx_error *error)
{
    lx_source *pinned;
    lx_status status = check_varying(source, column, samples->indices, samples->count, error);
    if (status == LX_OK && offsets == NULL)
        return lx__fail_null(error, "offsets");
    if (status == LX_OK && out == NULL && offsets[samples->count] != 0)
        return lx__fail_null(error, "out");
    if (status == LX_OK)
        status = lx__source_pin(source, &pinned, error);
    if (status != LX_OK)
        return status;
    status = pinned->class->fill_bytes(pinned, column, samples, offsets, out, error);
    lx_source_unref(pinned);
    return status;
}

lx_status lx_source_fill_bytes(lx_source *source, size_t column, const uint64_t *indices,
                               size_t count, const uint64_t *offsets, void *out, lx_error *error)
{
    const lx_samples samples = {.count = count, .indices = indices, .positions = indices};
    return fill_values(source, column, &samples, offsets, out, error);
}

lx_status lx_source_fill_sample_bytes(lx_source *source, size_t column, const lx_samples *samples,
                                      const uint64_t *offsets, void *out, lx_error *error)
{
    if (samples == NULL || (samples->positions == NULL && samples->count != 0))
        return lx__fail_null(error, samples == NULL ? "samples" : "positions");
    return fill_values(source, column, samples, offsets, out, error);
}
