/* SPDX-License-Identifier: MIT */
/* Takes records from the caller into stages. */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/writer.h"

/* ---- arguments */

static lx_status check_size(const lx_writer *writer, size_t field, uint64_t size, uint64_t record,
                            lx_error *error)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    lx_status status = LX_OK;
    if (size == LX_NONE)
        return LX_OK;
    if (shown->size != LX_NONE && size != shown->size)
        status = lx__fail(error, LX_ERR_ARGUMENT, "a value of %llu bytes, the field has %llu",
                          (unsigned long long)size, (unsigned long long)shown->size);
    else if (size > LX_RECORD_MAX)
        status = lx__fail(error, LX_ERR_LIMIT, "a value of %llu bytes; %u is the most",
                          (unsigned long long)size, LX_RECORD_MAX);
    lx__error_locate(error, writer->directory.path, shown->name, record, LX_NONE);
    return status;
}

static lx_status check_value(const lx_writer *writer, size_t field, const lx_value *value,
                             lx_error *error)
{
    lx_status status = check_size(writer, field, value->size, LX_NONE, error);
    if (status != LX_OK || value->data != NULL || value->size == 0 || value->size == LX_NONE)
        return status;
    status = lx__fail(error, LX_ERR_ARGUMENT, "a value of %llu bytes without data",
                      (unsigned long long)value->size);
    lx__error_locate(error, writer->directory.path,
                     lx__schema_field(writer->meta.schema, field)->name, LX_NONE, LX_NONE);
    return status;
}

/** The value of record @p i in a column; missing ones have the size LX_NONE. */
static lx_value value_at(const lx_writer *writer, size_t field, const lx_values *column,
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

static lx_status check_column(const lx_writer *writer, size_t field, const lx_values *column,
                              uint64_t count, lx_error *error)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    lx_status status = LX_OK;
    if (shown->size != LX_NONE)
        return LX_OK;
    if (column->data != NULL && column->offsets == NULL && count != 0)
        status = lx__fail(error, LX_ERR_ARGUMENT, "a field of bytes needs offsets");
    for (uint64_t i = 0; status == LX_OK && column->offsets != NULL && i < count; i++) {
        if (column->offsets[i + 1] < column->offsets[i])
            status = lx__fail(error, LX_ERR_ARGUMENT, "offsets must ascend");
        else if (column->data == NULL && column->offsets[i + 1] != column->offsets[i])
            status = lx__fail(error, LX_ERR_ARGUMENT, "offsets without data");
        else
            status = check_size(writer, field, column->offsets[i + 1] - column->offsets[i], i,
                                error);
    }
    lx__error_locate(error, writer->directory.path, shown->name, LX_NONE, LX_NONE);
    return status;
}

/* ---- appending */

/** Adds one record, whose values were checked, to the stage being filled. */
static lx_status add_record(lx_writer *writer, const lx_value *values, lx_error *error)
{
    size_t fields = writer->rows.field_count;
    uint64_t bytes = 0;
    for (size_t i = 0; i < fields; i++)
        bytes += lx__stage_room(&writer->rules[i], values[i].size);
    lx__stage *stage;
    lx_status status = lx__writer_begin_stage(writer, &stage, error);
    if (status != LX_OK)
        return status;
    status = lx__stage_reserve(stage, fields, bytes, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < fields; i++)
        lx__stage_add(stage, &writer->rules[i], values[i].data, values[i].size);
    stage->records++;
    writer->length++;
    writer->pending_bytes += bytes;
    return lx__stage_is_full(stage) ? lx__writer_submit_stage(writer, error) : LX_OK;
}

/** What a call that appended does at its end. */
static lx_status after_append(lx_writer *writer, lx_error *error)
{
    if (writer->durability == LX_DURABILITY_PERIODIC && !writer->transaction &&
        writer->pending_bytes >= LX__AUTO_COMMIT_BYTES) {
        lx_status status = lx__writer_commit_locked(writer, false, error);
        if (status != LX_OK)
            return status;
        lx__clock_start(writer);
    }
    return lx__clock_catch_up(writer, error);
}

static lx_status append(lx_writer *writer, const lx_value *values, uint64_t *index,
                        lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    for (size_t i = 0; status == LX_OK && i < writer->rows.field_count; i++)
        status = check_value(writer, i, &values[i], error);
    if (status != LX_OK)
        return status;
    lx_error failure = LX_ERROR_INIT;
    if (index != NULL)
        *index = writer->length;
    status = add_record(writer, values, &failure);
    if (status == LX_OK)
        status = after_append(writer, &failure);
    return lx__writer_note(writer, status, &failure, error);
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
        status = check_column(writer, i, &columns[i], count, error);
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
            values[field] = value_at(writer, field, &columns[field], i);
        status = add_record(writer, values, &failure);
    }
    lx__free(values);
    if (status == LX_OK)
        status = after_append(writer, &failure);
    return lx__writer_note(writer, status, &failure, error);
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
