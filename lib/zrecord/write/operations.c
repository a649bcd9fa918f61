/* SPDX-License-Identifier: MIT */
/* The calls that change records: append, extend, modify, delete and truncate. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/add.h"
#include "zrecord/write/handle.h"
#include "zrecord/write/value.h"

/* ---- arguments */

static lx_status check_index(const lx_writer *writer, uint64_t index, lx_error *error)
{
    if (index < writer->length)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_RANGE,
                               "index %llu is out of range: the length is %llu",
                               (unsigned long long)index, (unsigned long long)writer->length);
    lx_error_locate(error, writer->directory.path, NULL, index, LX_NONE);
    return status;
}

/** A caller that prepared its values before a field was added or dropped passes too few or too many
 * of them. */
static lx_status check_field_count(const lx_writer *writer, size_t count, lx_error *error)
{
    if (count == writer->tables.field_count)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "%zu fields were passed, but the dataset has %zu: pass one value or "
                               "column for each field that lx_writer_get_schema() lists",
                               count, writer->tables.field_count);
    lx_error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
    return status;
}

static lx_status check_fields(const lx_writer *writer, const size_t *fields, size_t count,
                              lx_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i] < writer->tables.field_count)
            continue;
        lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                                   "field %zu is out of range: the dataset has %zu fields",
                                   fields[i], writer->tables.field_count);
        lx_error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    return LX_OK;
}

static lx_status check_pointers(const void *fields, const void *values, size_t count,
                                lx_error *error)
{
    if (fields == NULL && count != 0)
        return lx__fail_null(error, "fields");
    return values == NULL && count != 0 ? lx__fail_null(error, "values") : LX_OK;
}

/* ---- append and extend */

static lx_status append(lx_writer *writer, const lx_value *values, size_t count, uint64_t *index,
                        lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = check_field_count(writer, count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = lx__value_check(writer, i, &values[i], error);
    if (status != LX_OK)
        return status;
    lx_error failure = LX_ERROR_INIT;
    if (index != NULL)
        *index = writer->length;
    status = lx__writer_add_record(writer, values, &failure);
    return lx__writer_end_call(writer, status, &failure, error);
}

lx_status lx_writer_append(lx_writer *writer, const lx_value *values, size_t count, uint64_t *index,
                           lx_error *error)
{
    if (values == NULL)
        return lx__fail_null(error, "values");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = append(writer, values, count, index, error);
    lx__writer_leave(writer);
    return status;
}

static void fill_from_columns(const lx_writer *writer, void *records, uint64_t i, lx_value *values)
{
    const lx_values *columns = records;
    for (size_t field = 0; field < writer->tables.field_count; field++)
        values[field] = lx__column_value(&lx__schema_field(writer->meta.schema, field)->shown,
                                         &columns[field], i);
}

static lx_status extend(lx_writer *writer, uint64_t count, const lx_values *columns, size_t fields,
                        uint64_t *first, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = check_field_count(writer, fields, error);
    if (status == LX_OK)
        status = lx__writer_check_room(writer, count, error);
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = lx__column_check(writer, i, &columns[i], count, error);
    if (status != LX_OK)
        return status;
    return lx__writer_add_records(writer, count, fill_from_columns, (void *)columns, first, error);
}

lx_status lx_writer_extend(lx_writer *writer, uint64_t count, const lx_values *columns,
                           size_t field_count, uint64_t *first, lx_error *error)
{
    if (columns == NULL)
        return lx__fail_null(error, "columns");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = extend(writer, count, columns, field_count, first, error);
    lx__writer_leave(writer);
    return status;
}

/* ---- modify */

static lx_status add_change(lx_writer *writer, uint64_t index, const size_t *fields,
                            const lx_value *values, size_t count, lx_error *error)
{
    lx__operation operation = {.kind = LX__MODIFY, .index = index, .values = (uint32_t)count};
    return lx__writer_add(writer, &operation, fields, values, error);
}

static lx_status modify(lx_writer *writer, uint64_t index, const size_t *fields,
                        const lx_value *values, size_t count, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = check_index(writer, index, error);
    if (status == LX_OK)
        status = check_fields(writer, fields, count, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = lx__value_check(writer, fields[i], &values[i], error);
    if (status != LX_OK || count == 0)
        return status;
    lx_error failure = LX_ERROR_INIT;
    status = add_change(writer, index, fields, values, count, &failure);
    return lx__writer_end_call(writer, status, &failure, error);
}

lx_status lx_writer_modify(lx_writer *writer, uint64_t index, const size_t *fields,
                           const lx_value *values, size_t count, lx_error *error)
{
    lx_status status = check_pointers(fields, values, count, error);
    if (status == LX_OK)
        status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = modify(writer, index, fields, values, count, error);
    lx__writer_leave(writer);
    return status;
}

static lx_status check_many(const lx_writer *writer, const uint64_t *indices, uint64_t count,
                            const size_t *fields, const lx_values *columns, size_t field_count,
                            lx_error *error)
{
    lx_status status = check_fields(writer, fields, field_count, error);
    for (uint64_t i = 0; status == LX_OK && i < count; i++)
        status = check_index(writer, indices[i], error);
    for (size_t i = 0; status == LX_OK && i < field_count; i++)
        status = lx__column_check(writer, fields[i], &columns[i], count, error);
    return status;
}

static lx_status modify_many(lx_writer *writer, const uint64_t *indices, uint64_t count,
                             const size_t *fields, const lx_values *columns, size_t field_count,
                             lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = check_many(writer, indices, count, fields, columns, field_count, error);
    if (status != LX_OK || field_count == 0 || count == 0)
        return status;
    lx_value *values = lx__alloc_array(field_count, sizeof *values);
    if (values == NULL)
        return lx__fail_memory(error, "a record");

    lx_error failure = LX_ERROR_INIT;
    for (uint64_t i = 0; status == LX_OK && i < count; i++) {
        for (size_t k = 0; k < field_count; k++)
            values[k] = lx__column_value(&lx__schema_field(writer->meta.schema, fields[k])->shown,
                                         &columns[k], i);
        status = add_change(writer, indices[i], fields, values, field_count, &failure);
    }
    lx__free(values);
    return lx__writer_end_call(writer, status, &failure, error);
}

lx_status lx_writer_modify_many(lx_writer *writer, const uint64_t *indices, uint64_t count,
                                const size_t *fields, const lx_values *columns, size_t field_count,
                                lx_error *error)
{
    lx_status status = check_pointers(fields, columns, field_count, error);
    if (status == LX_OK && indices == NULL && count != 0)
        status = lx__fail_null(error, "indices");
    if (status == LX_OK)
        status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = modify_many(writer, indices, count, fields, columns, field_count, error);
    lx__writer_leave(writer);
    return status;
}

/* ---- delete and truncate */

static lx_status shorten(lx_writer *writer, lx__operation_kind kind, uint64_t index,
                         uint64_t length, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__operation operation = {.kind = kind, .index = index};
    lx_status status = lx__writer_add(writer, &operation, NULL, NULL, &failure);
    if (status == LX_OK)
        writer->length = length;
    return lx__writer_end_call(writer, status, &failure, error);
}

lx_status lx_writer_delete(lx_writer *writer, uint64_t index, uint64_t *moved, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = check_index(writer, index, error);
    if (status == LX_OK) {
        uint64_t last = writer->length - 1;
        if (moved != NULL)
            *moved = index != last ? last : LX_NONE;
        status = shorten(writer, LX__DELETE, index, last, error);
    }
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_truncate(lx_writer *writer, uint64_t length, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = lx__writer_usable(writer, error);
    if (status == LX_OK && length > writer->length) {
        status = lx_fail(error, LX_ERR_RANGE,
                         "cannot truncate to %llu records: the dataset has only %llu",
                         (unsigned long long)length, (unsigned long long)writer->length);
        lx_error_locate(error, writer->directory.path, NULL, LX_NONE, LX_NONE);
    }
    if (status == LX_OK && length < writer->length)
        status = shorten(writer, LX__TRUNCATE, length, length, error);
    lx__writer_leave(writer);
    return status;
}
