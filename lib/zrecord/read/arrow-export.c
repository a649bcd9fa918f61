/* SPDX-License-Identifier: MIT */
/* Records as a stream of Arrow arrays. An array is gathered when the stream is read. */
#include <loaderx/arrow.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/arrow-type.h"
#include "zrecord/read/arrow-node.h"
#include "zrecord/read/dataset.h"

/* The most records of an array, unless it shall have all. */
#define ROWS 65536

typedef struct records {
    lx_dataset *dataset; /**< Pinned. */
    size_t *fields;
    size_t field_count;
    uint64_t *indices; /**< NULL: the first ones. */
    uint64_t count;
    uint64_t bytes; /**< The size at which an array is full. */
    uint64_t position;
    bool started; /**< An array was returned. */
    lx_error error;
    char message[1536]; /**< The whole error; lx_error_describe() truncates it. */
} records;

static const lx_field *field_at(const records *r, size_t i)
{
    return &lx__schema_field(r->dataset->schema, r->fields[i])->shown;
}

/* ---- types */

/** Makes the type of a field: a list for each dimension, and the elements. */
static lx_status make_type(struct ArrowSchema *schema, const lx_field *field, lx_error *error)
{
    const char *name = field->name;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < field->ndim; i++) {
        char format[32] = "+L";
        if (field->shape[i] != LX_NONE)
            snprintf(format, sizeof format, "+w:%llu", (unsigned long long)field->shape[i]);
        status = lx__arrow_schema_make(schema, format, name, 1, error);
        if (status == LX_OK)
            schema = schema->children[0];
        name = "item";
    }
    if (status != LX_OK)
        return status;
    return lx__arrow_schema_make(schema, lx__arrow_format_for(field->dtype)->text, name, 0, error);
}

static lx_status make_schema(const records *r, struct ArrowSchema *schema, lx_error *error)
{
    lx_status status = lx__arrow_schema_make(schema, "+s", "", r->field_count, error);
    if (status != LX_OK)
        return status;
    schema->flags = 0; /* a row is never null */
    for (size_t i = 0; status == LX_OK && i < r->field_count; i++)
        status = make_type(schema->children[i], field_at(r, i), error);
    if (status != LX_OK)
        schema->release(schema);
    return status;
}

/* ---- columns */

/** Turns bytes, each 0 or 1, into bits; @p bits may be the same memory. Returns the number of bits
 * that are set. */
static uint64_t to_bits(const uint8_t *bytes, uint64_t count, uint8_t *bits)
{
    uint64_t set = 0;
    for (uint64_t i = 0; i < count; i += 8) {
        uint8_t byte = 0;
        for (uint64_t k = i; k < count && k < i + 8; k++) {
            byte |= (uint8_t)((bytes[k] != 0) << (k - i));
            set += bytes[k] != 0;
        }
        bits[i / 8] = byte;
    }
    return set;
}

static lx_status fail_memory(lx_error *error)
{
    return lx__fail_memory(error, "a column of an Arrow array");
}

/** Makes the bitmap of the present values, unless all are present. */
static lx_status set_valid(struct ArrowArray *array, const uint8_t *present, lx_error *error)
{
    uint64_t count = (uint64_t)array->length;
    if (memchr(present, 0, (size_t)count) == NULL)
        return LX_OK;
    uint8_t *bits = lx__arrow_array_allocate(array, 0, (count + 7) / 8);
    if (bits == NULL)
        return fail_memory(error);
    array->null_count = (int64_t)(count - to_bits(present, count, bits));
    return LX_OK;
}

/** Finds the present values of a dense field. */
static lx_status mark_present(const records *r, size_t field, const uint64_t *indices, size_t count,
                              uint8_t *present, lx_error *error)
{
    bool damaged = r->dataset->options.damage == LX_DAMAGE_ZEROS; /* values are missing, too */
    memset(present, 1, count);
    if (!damaged && !lx_dataset_may_lack_values(r->dataset, field))
        return LX_OK;
    if (!damaged)
        return lx_dataset_get_present(r->dataset, field, indices, count, present, error);
    uint64_t *offsets = lx__alloc_array(count + 1, sizeof *offsets);
    if (offsets == NULL)
        return fail_memory(error);
    lx_status status = lx_dataset_get_sizes(r->dataset, field, indices, count, offsets, present,
                                            error);
    lx__free(offsets);
    return status;
}

/** Stores days as Arrow's date32, in the same memory. */
static lx_status narrow_days(const lx_field *field, uint8_t *days, uint64_t count, lx_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t day;
        memcpy(&day, days + i * sizeof day, sizeof day);
        int32_t narrow = (int32_t)day;
        if (day != INT64_MIN && narrow != day) {
            lx_status status =
                lx_fail(error, LX_ERR_UNSUPPORTED,
                        "day %lld since 1970 does not fit into Arrow's date32: leave "
                        "the record or the field out",
                        (long long)day);
            lx_error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
            return status;
        }
        memcpy(days + i * sizeof narrow, &narrow, sizeof narrow);
    }
    return LX_OK;
}

/** Marks the times that are NaT as not present. */
static void mark_times(const uint8_t *times, uint64_t count, uint8_t *present)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t time;
        memcpy(&time, times + i * sizeof time, sizeof time);
        present[i] = present[i] && time != INT64_MIN;
    }
}

/** Gives elements of a field the form that Arrow specifies: bits for bool, and null for NaT.
 * @p present is NULL for elements of lists; it marks scalars that are present. */
static lx_status finish_elements(const lx_field *field, struct ArrowArray *array, uint8_t *data,
                                 uint8_t *present, lx_error *error)
{
    uint64_t count = (uint64_t)array->length;
    lx_status status = LX_OK;
    if (field->dtype == LX_BOOL)
        to_bits(data, count, data);
    if (!lx__arrow_is_time(field->dtype))
        return present != NULL ? set_valid(array, present, error) : LX_OK;
    uint8_t *marks = present;
    if (marks == NULL && (marks = lx__alloc((size_t)count)) == NULL)
        return fail_memory(error);
    if (present == NULL)
        memset(marks, 1, (size_t)count);
    mark_times(data, count, marks);
    status = set_valid(array, marks, error);
    if (present == NULL)
        lx__free(marks);
    if (status == LX_OK && field->dtype == LX_DATETIME64_D)
        status = narrow_days(field, data, count, error);
    return status;
}

/** Makes the fixed-size lists of @p length values, for the dimensions from @p first, and the array
 * of their elements, to which @p array then points. */
static lx_status make_lists(const lx_field *field, size_t first, uint64_t length,
                            struct ArrowArray **array, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = first; status == LX_OK && i < field->ndim; i++) {
        status = lx__arrow_array_make(*array, length, 1, 1, error);
        if (status == LX_OK && !lx__multiply_fits(length, field->shape[i], &length))
            status = fail_memory(error);
        if (status == LX_OK)
            *array = (*array)->children[0];
    }
    return status == LX_OK ? lx__arrow_array_make(*array, length, 2, 0, error) : status;
}

/** Makes a column of a dense field, with a list for each dimension. @p present is scratch
 * memory. */
static lx_status make_dense(const records *r, size_t position, const uint64_t *indices,
                            size_t count, uint8_t *present, struct ArrowArray *array,
                            lx_error *error)
{
    const lx_field *field = &lx__schema_field(r->dataset->schema, position)->shown;
    struct ArrowArray *inner = array;
    uint64_t size;
    uint8_t *data = NULL;
    lx_status status = make_lists(field, 0, count, &inner, error);
    if (status == LX_OK)
        status = mark_present(r, position, indices, count, present, error);
    if (status == LX_OK && inner != array)
        status = set_valid(array, present, error);
    if (status != LX_OK)
        return status;
    if (lx__multiply_fits(count, field->size, &size))
        data = lx__arrow_array_allocate(inner, 1, size);
    if (data == NULL)
        return fail_memory(error);
    status = lx_dataset_gather(r->dataset, position, indices, count, data, (size_t)field->size,
                               error);
    return status == LX_OK
               ? finish_elements(field, inner, data, inner == array ? present : NULL, error)
               : status;
}

/** Makes the array of the items of ragged values, whose @p offsets in bytes become offsets in
 * items. */
static lx_status make_items(const records *r, size_t position, const uint64_t *indices,
                            size_t count, uint64_t *offsets, struct ArrowArray *array,
                            lx_error *error)
{
    const lx_field *field = &lx__schema_field(r->dataset->schema, position)->shown;
    lx_status status = make_lists(field, 1, offsets[count] / field->item_size, &array, error);
    if (status != LX_OK)
        return status;
    uint8_t *data = lx__arrow_array_allocate(array, 1, offsets[count]);
    if (data == NULL)
        return fail_memory(error);
    status = lx_dataset_gather_bytes(r->dataset, position, indices, count, offsets, data, error);
    for (size_t i = 0; i <= count; i++)
        offsets[i] /= field->item_size;
    return status == LX_OK ? finish_elements(field, array, data, NULL, error) : status;
}

/** Makes a column of values that vary in size: of bytes, or of lists. @p present is scratch
 * memory. */
static lx_status make_varying(const records *r, size_t position, const uint64_t *indices,
                              size_t count, uint8_t *present, struct ArrowArray *array,
                              lx_error *error)
{
    bool bytes = lx_dtype_is_bytes(lx__schema_field(r->dataset->schema, position)->shown.dtype);
    lx_status status = lx__arrow_array_make(array, count, bytes ? 3 : 2, bytes ? 0 : 1, error);
    if (status != LX_OK)
        return status;
    uint64_t *offsets = lx__arrow_array_allocate(array, 1, (count + 1) * sizeof *offsets);
    if (offsets == NULL)
        return fail_memory(error);
    status = lx_dataset_get_sizes(r->dataset, position, indices, count, offsets, present, error);
    if (status == LX_OK)
        status = set_valid(array, present, error);
    if (status != LX_OK)
        return status;
    if (!bytes)
        return make_items(r, position, indices, count, offsets, array->children[0], error);
    void *data = lx__arrow_array_allocate(array, 2, offsets[count]);
    if (data == NULL)
        return fail_memory(error);
    return lx_dataset_gather_bytes(r->dataset, position, indices, count, offsets, data, error);
}

/* ---- rows */

/** Returns how many of @p count records fit into an array. @p totals has room for count + 1
 * numbers, and @p offsets, too. */
static lx_status count_fitting(const records *r, const uint64_t *indices, size_t *count,
                               uint64_t *totals, uint64_t *offsets, lx_error *error)
{
    lx_status status = LX_OK;
    memset(totals, 0, (*count + 1) * sizeof *totals);
    for (size_t k = 0; status == LX_OK && k < r->field_count; k++) {
        uint64_t size = field_at(r, k)->size;
        if (size == LX_NONE)
            status = lx_dataset_get_sizes(r->dataset, r->fields[k], indices, *count, offsets, NULL,
                                          error);
        for (size_t i = 0; status == LX_OK && i <= *count; i++)
            totals[i] += size == LX_NONE ? offsets[i] : i * size;
    }
    size_t fit = *count < 1 ? 0 : 1;
    while (fit < *count && totals[fit + 1] <= r->bytes)
        fit++;
    *count = fit;
    return status;
}

static lx_status make_rows(const records *r, const uint64_t *indices, size_t count,
                           struct ArrowArray *array, lx_error *error)
{
    uint8_t *present = lx__alloc(count);
    if (present == NULL)
        return fail_memory(error);
    lx_status status = lx__arrow_array_make(array, count, 1, r->field_count, error);
    for (size_t i = 0; status == LX_OK && i < r->field_count; i++) {
        struct ArrowArray *column = array->children[i];
        status = field_at(r, i)->size == LX_NONE
                     ? make_varying(r, r->fields[i], indices, count, present, column, error)
                     : make_dense(r, r->fields[i], indices, count, present, column, error);
    }
    if (status != LX_OK && array->release != NULL)
        array->release(array);
    lx__free(present);
    return status;
}

/** Gathers the next array from the @p count next records, of which it takes as many as fit. */
static lx_status make_next(records *r, size_t count, struct ArrowArray *array, lx_error *error)
{
    uint64_t *numbers = lx__alloc_array(count + 1, sizeof *numbers * 3);
    if (numbers == NULL)
        return fail_memory(error);
    const uint64_t *indices = r->indices != NULL ? r->indices + r->position : numbers;
    for (size_t i = 0; r->indices == NULL && i < count; i++)
        numbers[i] = r->position + i;
    lx_status status = LX_OK;
    if (r->bytes != LX_NONE)
        status = count_fitting(r, indices, &count, numbers + count + 1, numbers + 2 * (count + 1),
                               error);
    if (status == LX_OK)
        status = make_rows(r, indices, count, array, error);
    if (status == LX_OK)
        r->position += count;
    lx__free(numbers);
    return status;
}

/* ---- the stream */

static int to_errno(records *r, lx_status status)
{
    if (status == LX_OK)
        return 0;
    lx_error_describe(&r->error, r->message, sizeof r->message);
    return status == LX_ERR_NOMEM                            ? ENOMEM
           : status == LX_ERR_IO || status == LX_ERR_CORRUPT ? EIO
                                                             : EINVAL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    records *r = stream->private_data;
    lx_error_clear(&r->error);
    *schema = (struct ArrowSchema){0};
    return to_errno(r, make_schema(r, schema, &r->error));
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    records *r = stream->private_data;
    uint64_t left = r->count - r->position;
    lx_error_clear(&r->error);
    *array = (struct ArrowArray){0};
    if (left == 0 && r->started)
        return 0;
    if (r->bytes != LX_NONE && left > ROWS)
        left = ROWS;
    lx_status status = make_next(r, (size_t)left, array, &r->error);
    r->started = r->started || status == LX_OK;
    return to_errno(r, status);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const records *r = stream->private_data;
    return r->error.status != LX_OK ? r->message : NULL;
}

static void free_records(records *r)
{
    if (r == NULL)
        return;
    lx_dataset_close(r->dataset);
    lx__free(r->fields);
    lx__free(r->indices);
    lx__free(r);
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free_records(stream->private_data);
    stream->release = NULL;
}

/* ---- opening */

static lx_status take_fields(records *r, const size_t *fields, size_t count, lx_error *error)
{
    r->field_count = fields != NULL ? count : lx_schema_get_field_count(r->dataset->schema);
    r->fields = lx__alloc_array(r->field_count, sizeof *r->fields);
    if (r->fields == NULL)
        return lx__fail_memory(error, "an Arrow stream");
    for (size_t i = 0; i < r->field_count; i++) {
        r->fields[i] = fields != NULL ? fields[i] : i;
        lx_status status = lx__dataset_check_field(r->dataset, r->fields[i], error);
        if (status != LX_OK)
            return status;
        const lx_field *field = field_at(r, i);
        if (lx__arrow_format_for(field->dtype) != NULL)
            continue;
        status = lx_fail(error, LX_ERR_UNSUPPORTED,
                         "Arrow has no type for %s: leave the field out, or convert it first",
                         lx_dtype_get_name(field->dtype));
        lx_error_locate(error, r->dataset->path, field->name, LX_NONE, LX_NONE);
        return status;
    }
    return LX_OK;
}

static lx_status take_indices(records *r, const uint64_t *indices, uint64_t count, lx_error *error)
{
    uint64_t length = lx_dataset_get_length(r->dataset);
    r->count = indices == NULL && count == LX_NONE ? length : count;
    uint64_t wrong = indices == NULL && r->count > length ? r->count - 1 : LX_NONE;
    for (uint64_t i = 0; indices != NULL && wrong == LX_NONE && i < r->count; i++)
        if (indices[i] >= length)
            wrong = indices[i];
    if (wrong != LX_NONE) {
        lx_status status = lx_fail(error, LX_ERR_RANGE,
                                   "index %llu is out of range: the length is %llu",
                                   (unsigned long long)wrong, (unsigned long long)length);
        lx_error_locate(error, r->dataset->path, NULL, wrong, LX_NONE);
        return status;
    }
    if (indices == NULL)
        return LX_OK;
    r->indices = lx__alloc_array((size_t)r->count, sizeof *r->indices);
    if (r->indices == NULL)
        return lx__fail_memory(error, "an Arrow stream");
    memcpy(r->indices, indices, (size_t)r->count * sizeof *r->indices);
    return LX_OK;
}

lx_status lx_dataset_to_arrow(lx_dataset *dataset, const size_t *fields, size_t field_count,
                              const uint64_t *indices, uint64_t count, uint64_t bytes,
                              struct ArrowArrayStream *stream, lx_error *error)
{
    if (stream == NULL)
        return lx__fail_null(error, "stream");
    *stream = (struct ArrowArrayStream){0};
    records *r = lx__alloc_array(1, sizeof *r);
    if (r == NULL)
        return lx__fail_memory(error, "an Arrow stream");
    r->bytes = bytes;
    lx_status status = lx__arrow_machine_check(error);
    if (status == LX_OK)
        status = lx_dataset_pin(dataset, &r->dataset, error);
    if (status == LX_OK)
        status = take_fields(r, fields, field_count, error);
    if (status == LX_OK)
        status = take_indices(r, indices, count, error);
    if (status != LX_OK) {
        free_records(r);
        return status;
    }
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, r};
    return LX_OK;
}
