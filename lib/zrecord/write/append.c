/* SPDX-License-Identifier: MIT */
/* Takes records from the caller, to be put behind those there are. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/writer.h"

static lx_status add_record(lx_writer *writer, const lx_value *values, lx_error *error)
{
    lx__operation operation = {
        .kind = LX__APPEND, .index = writer->length, .values = (uint32_t)writer->rows.field_count};
    lx_status status = lx__writer_add(writer, &operation, NULL, values, error);
    if (status == LX_OK)
        writer->length++;
    return status;
}

static lx_status append(lx_writer *writer, const lx_value *values, uint64_t *index,
                        lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    for (size_t i = 0; status == LX_OK && i < writer->rows.field_count; i++)
        status = lx__value_check(writer, i, &values[i], error);
    if (status != LX_OK)
        return status;
    lx_error failure = LX_ERROR_INIT;
    if (index != NULL)
        *index = writer->length;
    status = add_record(writer, values, &failure);
    return lx__writer_end_call(writer, status, &failure, error);
}

lx_status lx_writer_append(lx_writer *writer, const lx_value *values, uint64_t *index,
                           lx_error *error)
{
    if (values == NULL)
        return lx__fail_null(error, "values");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = append(writer, values, index, error);
    lx__writer_leave(writer);
    return status;
}

static lx_status extend(lx_writer *writer, uint64_t count, const lx_values *columns,
                        uint64_t *first, lx_error *error)
{
    size_t fields = writer->rows.field_count;
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK && count > LX__LENGTH_MAX - writer->length)
        status = lx__fail(error, LX_ERR_LIMIT, "%llu records behind %llu are more than a dataset "
                          "can have",
                          (unsigned long long)count, (unsigned long long)writer->length);
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = lx__column_check(writer, i, &columns[i], count, error);
    if (status != LX_OK)
        return status;
    lx_value *values = lx__alloc_array(fields, sizeof *values);
    if (values == NULL)
        return lx__fail_memory(error, "a record");

    lx_error failure = LX_ERROR_INIT;
    if (first != NULL)
        *first = writer->length;
    for (uint64_t i = 0; status == LX_OK && i < count; i++) {
        for (size_t field = 0; field < fields; field++)
            values[field] = lx__column_value(writer, field, &columns[field], i);
        status = add_record(writer, values, &failure);
    }
    lx__free(values);
    return lx__writer_end_call(writer, status, &failure, error);
}

lx_status lx_writer_extend(lx_writer *writer, uint64_t count, const lx_values *columns,
                           uint64_t *first, lx_error *error)
{
    if (columns == NULL)
        return lx__fail_null(error, "columns");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = extend(writer, count, columns, first, error);
    lx__writer_leave(writer);
    return status;
}
