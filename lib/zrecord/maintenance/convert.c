/* SPDX-License-Identifier: MIT */
/* Converts the values of a field to another type: reads them, lets the caller convert them, and
 * replaces the field. See doc/zrecord-format.md, 11.5. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/dataset.h"
#include "zrecord/write/alter.h"
#include "zrecord/write/value.h"

/* How many records to convert at a time, at most. */
#define BLOCK 4096
/* How many bytes of values to convert at a time; a longer value is converted alone. */
#define BLOCK_BYTES ((uint64_t)16 << 20)

typedef struct conversion {
    const char *name;
    lx_field to; /**< The type of the new field. */
    lx_convert_function convert;
    void *user;
    lx_dataset *dataset; /**< The writer's own dataset. */
    size_t field;        /**< The position of the old field. */
    uint64_t *indices, *offsets;
    uint8_t *present;
    uint8_t *data;
    size_t capacity;
    lx_status returned; /**< What the caller's function returned. */
} conversion;

/** Reads the values of the records from @p first on; sets @p count to their number. */
static lx_status read_block(conversion *self, uint64_t first, uint64_t left, size_t *count,
                            lx_error *error)
{
    *count = left < BLOCK ? (size_t)left : BLOCK;
    for (size_t i = 0; i < *count; i++)
        self->indices[i] = first + i;
    lx_status status = lx_dataset_get_sizes(self->dataset, self->field, self->indices, *count,
                                            self->offsets, self->present, error);
    if (status != LX_OK)
        return status;
    while (*count > 1 && self->offsets[*count] > BLOCK_BYTES)
        --*count;
    if (!lx__reserve(&self->data, &self->capacity, self->offsets[*count]))
        return lx__fail_memory(error, "a conversion");
    return lx_dataset_gather_bytes(self->dataset, self->field, self->indices, *count, self->offsets,
                                   self->data, error);
}

/** Converts values, and checks the results. */
static lx_status convert_block(conversion *self, const lx_field *field, uint64_t first,
                               size_t count, lx_values *made, lx_error *error)
{
    const lx_values values = {self->data, self->offsets, self->present};
    lx_error theirs = LX_ERROR_INIT, why = LX_ERROR_INIT;
    lx_status status = self->convert(&values, count, made, self->user, &theirs);
    status = self->returned = lx__error_return(&theirs, status, "convert");
    theirs.status = status;
    if (status != LX_OK) {
        lx__error_propagate(error, &theirs);
        return status;
    }
    status = lx__column_check_field(field, made, count, &why);
    if (status != LX_OK && why.record != LX_NONE)
        why.record += first;
    lx__error_propagate(error, &why);
    return status;
}

static lx_status fill(lx__field_filler *filler, void *user, lx_error *error)
{
    conversion *self = user;
    const lx_field *field = &filler->field->shown;
    lx_status status = LX_OK;
    size_t count;
    for (uint64_t first = 0; status == LX_OK && first < filler->length; first += count) {
        lx_values made = {0};
        status = read_block(self, first, filler->length - first, &count, error);
        if (status == LX_OK)
            status = convert_block(self, field, first, count, &made, error);
        for (size_t i = 0; status == LX_OK && i < count; i++) {
            lx_value value = lx__column_value(field, &made, i);
            status = lx__field_filler_add(filler, &value, error);
        }
    }
    lx_error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    return status;
}

static lx_status begin(conversion *self, const lx_writer *writer, lx_error *error)
{
    self->indices = lx__alloc_array(BLOCK, sizeof *self->indices);
    self->offsets = lx__alloc_array(BLOCK + 1, sizeof *self->offsets);
    self->present = lx__alloc_array(BLOCK, 1);
    if (self->indices == NULL || self->offsets == NULL || self->present == NULL)
        return lx__fail_memory(error, "a conversion");
    lx_status status = lx_dataset_open(writer->directory.path, NULL, &self->dataset, error);
    return status == LX_OK
               ? lx_schema_find_field(self->dataset->schema, self->name, &self->field, error)
               : status;
}

static void end(conversion *self)
{
    lx_dataset_close(self->dataset);
    lx__free(self->indices);
    lx__free(self->offsets);
    lx__free(self->present);
    lx__free(self->data);
}

/** Runs after the commit, so the writer's own dataset has all records of earlier calls. */
static lx_status convert(lx_writer *writer, void *user, lx_error *error)
{
    conversion *self = user;
    size_t position;
    lx_status status = lx_schema_find_field(writer->meta.schema, self->name, &position, error);
    if (status != LX_OK)
        return status;
    const lx_field *old = &lx__schema_field(writer->meta.schema, position)->shown;
    self->to.compression = old->compression;
    self->to.level = old->level;
    self->to.dictionary = old->dictionary;
    status = begin(self, writer, error);
    if (status == LX_OK)
        status = lx__alter_replace(writer, position, &self->to, fill, self, error);
    end(self);
    /* A failure of the callback does not poison the writer, whatever its status. */
    return self->returned != LX_OK ? LX_ERR_CALLBACK : status;
}

lx_status lx_writer_convert_field(lx_writer *writer, const char *name, lx_dtype dtype,
                                  const uint64_t *shape, size_t ndim, lx_convert_function function,
                                  void *user, lx_error *error)
{
    if (name == NULL || function == NULL)
        return lx__fail_null(error, name == NULL ? "name" : "function");
    if (ndim != 0 && shape == NULL)
        return lx__fail_null(error, "shape");
    conversion self = {.name = name,
                       .to = {.dtype = dtype, .shape = shape, .ndim = ndim},
                       .convert = function,
                       .user = user};
    lx_status status = lx__install_call(writer, convert, &self, error);
    return self.returned != LX_OK ? self.returned : status;
}
