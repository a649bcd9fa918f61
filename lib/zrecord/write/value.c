/* SPDX-License-Identifier: MIT */
#include "zrecord/write/value.h"

#include "base/error.h"

static lx_status check_size(const lx_writer *writer, size_t field, uint64_t size, uint64_t record,
                            lx_error *error)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    lx_status status = LX_OK;
    if (size == LX_NONE)
        return LX_OK;
    if (shown->size != LX_NONE && size != shown->size)
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the value has %llu bytes, but a value of this field has %llu",
                         (unsigned long long)size, (unsigned long long)shown->size);
    else if (size > LX_MAX_VALUE)
        status = lx_fail(error, LX_ERR_LIMIT,
                         "the value has %llu bytes, but at most %u are allowed",
                         (unsigned long long)size, LX_MAX_VALUE);
    lx_error_locate(error, writer->directory.path, shown->name, record, LX_NONE);
    return status;
}

lx_status lx__value_check(const lx_writer *writer, size_t field, const lx_value *value,
                          lx_error *error)
{
    lx_status status = check_size(writer, field, value->size, LX_NONE, error);
    if (status != LX_OK || value->data != NULL || value->size == 0 || value->size == LX_NONE)
        return status;
    status = lx_fail(error, LX_ERR_ARGUMENT, "the value has %llu bytes, but its data is NULL",
                     (unsigned long long)value->size);
    lx_error_locate(error, writer->directory.path,
                    lx__schema_field(writer->meta.schema, field)->name, LX_NONE, LX_NONE);
    return status;
}

lx_value lx__column_value(const lx_writer *writer, size_t field, const lx_values *column,
                          uint64_t i)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    bool bytes = shown->size == LX_NONE;
    if ((column->data == NULL && !(bytes && column->offsets != NULL)) ||
        (column->present != NULL && !column->present[i]))
        return (lx_value){NULL, LX_NONE};
    const uint8_t *data = column->data;
    if (!bytes)
        return (lx_value){data + i * shown->size, shown->size};
    uint64_t start = column->offsets[i];
    return (lx_value){data != NULL ? data + start : NULL, column->offsets[i + 1] - start};
}

lx_status lx__column_check(const lx_writer *writer, size_t field, const lx_values *column,
                           uint64_t count, lx_error *error)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    lx_status status = LX_OK;
    if (shown->size != LX_NONE)
        return LX_OK;
    if (column->data != NULL && column->offsets == NULL && count != 0)
        status = lx_fail(error, LX_ERR_ARGUMENT, "a bytes field requires offsets");
    for (uint64_t i = 0; status == LX_OK && column->offsets != NULL && i < count; i++) {
        if (column->offsets[i + 1] < column->offsets[i])
            status = lx_fail(error, LX_ERR_ARGUMENT, "offsets must not decrease");
        else if (column->data == NULL && column->offsets[i + 1] != column->offsets[i])
            status = lx_fail(error, LX_ERR_ARGUMENT,
                             "the offsets describe nonempty values, but data is NULL");
        else
            status = check_size(writer, field, column->offsets[i + 1] - column->offsets[i], i,
                                error);
    }
    lx_error_locate(error, writer->directory.path, shown->name, LX_NONE, LX_NONE);
    return status;
}
