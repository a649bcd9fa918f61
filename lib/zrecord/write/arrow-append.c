/* SPDX-License-Identifier: MIT */
/* Appends the rows of Arrow arrays. Values are copied straight from the caller's buffers to the
 * write buffer. */
#include <loaderx/arrow.h>

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/write/add.h"
#include "zrecord/write/arrow-column.h"
#include "zrecord/write/handle.h"

/** Finds the field for a column. Columns usually have the order of the fields, so the search begins
 * at the same position. */
static lx_status find_field(const lx_writer *writer, const char *column, size_t position,
                            size_t *field, lx_error *error)
{
    char name[LX_MAX_FIELD_NAME + 1];
    size_t count = writer->tables.field_count;
    lx_status status = lx__field_name_make(column, name, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        *field = (position + i) % count;
        if (strcmp(lx__schema_field(writer->meta.schema, *field)->name, name) == 0)
            return LX_OK;
    }
    return lx_fail(error, LX_ERR_MISMATCH,
                   "the dataset has no field with the name of this column: leave the column out, "
                   "or add the field");
}

/** Finds the column for each field. */
static lx_status match(const lx_writer *writer, const struct ArrowSchema *columns,
                       int64_t *positions, lx_error *error)
{
    size_t count = writer->tables.field_count, field = 0;
    for (size_t i = 0; i < count; i++)
        positions[i] = -1;
    for (int64_t i = 0; i < columns->n_children; i++) {
        const char *name = columns->children[i]->name;
        lx_status status = find_field(writer, name, (size_t)i, &field, error);
        if (status == LX_OK && positions[field] >= 0)
            status = lx_fail(error, LX_ERR_MISMATCH, "several columns have the name of this field");
        if (status != LX_OK) {
            lx_error_locate(error, writer->directory.path, name, LX_NONE, LX_NONE);
            return status;
        }
        positions[field] = i;
    }
    for (size_t i = 0; i < count; i++) {
        if (positions[i] >= 0)
            continue;
        lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                                   "the table has no column for this field: add one, which may "
                                   "have the type null");
        lx_error_locate(error, writer->directory.path,
                        lx__schema_field(writer->meta.schema, i)->name, LX_NONE, LX_NONE);
        return status;
    }
    return LX_OK;
}

static lx_status check_rows(const struct ArrowSchema *columns, const struct ArrowArray *rows,
                            lx_error *error)
{
    const uint8_t *valid;
    lx_status status = lx__arrow_struct_check(columns, error);
    if (status == LX_OK && rows->release == NULL)
        status = lx_fail(error, LX_ERR_ARGUMENT, "the Arrow array was released");
    if (status == LX_OK)
        status = lx__arrow_array_check(rows, 1, columns->n_children, &valid, error);
    for (int64_t i = 0; status == LX_OK && valid != NULL && i < rows->length; i++) {
        if (lx__arrow_bit(valid, (uint64_t)(rows->offset + i)))
            continue;
        status = lx_fail(error, LX_ERR_ARGUMENT,
                         "the row is null: a record can only have missing values");
        lx_error_locate(error, NULL, NULL, (uint64_t)i, LX_NONE);
    }
    return status;
}

static void fill_from_arrow(const lx_writer *writer, void *records, uint64_t i, lx_value *values)
{
    lx__arrow_column *columns = records;
    for (size_t field = 0; field < writer->tables.field_count; field++)
        values[field] = lx__arrow_column_value(&columns[field], i);
}

/** Appends the rows. @p read and @p positions have room for one item per field. */
static lx_status append(lx_writer *writer, const struct ArrowSchema *columns,
                        const struct ArrowArray *rows, lx__arrow_column *read, int64_t *positions,
                        uint64_t *first, lx_error *error)
{
    lx_status status = match(writer, columns, positions, error);
    for (size_t i = 0; status == LX_OK && i < writer->tables.field_count; i++) {
        const lx_field *field = &lx__schema_field(writer->meta.schema, i)->shown;
        status = lx__arrow_column_open(&read[i], field, columns->children[positions[i]],
                                       rows->children[positions[i]], (uint64_t)rows->offset,
                                       (uint64_t)rows->length, error);
        if (status != LX_OK)
            lx_error_locate(error, writer->directory.path, field->name, LX_NONE, LX_NONE);
    }
    if (status == LX_OK)
        status = lx__writer_add_records(writer, (uint64_t)rows->length, fill_from_arrow, read,
                                        first, error);
    for (size_t i = 0; i < writer->tables.field_count; i++)
        lx__arrow_column_close(&read[i]);
    return status;
}

static lx_status append_entered(lx_writer *writer, const struct ArrowSchema *columns,
                                const struct ArrowArray *rows, uint64_t *first, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = check_rows(columns, rows, error);
    if (status == LX_OK)
        status = lx__writer_check_room(writer, (uint64_t)rows->length, error);
    if (status != LX_OK)
        return status;
    size_t count = writer->tables.field_count;
    lx__arrow_column *read = lx__alloc_array(count, sizeof *read);
    int64_t *positions = lx__alloc_array(count, sizeof *positions);
    if (read != NULL && positions != NULL)
        status = append(writer, columns, rows, read, positions, first, error);
    else
        status = lx__fail_memory(error, "the columns of a table");
    lx__free(read);
    lx__free(positions);
    return status;
}

lx_status lx_writer_append_arrow(lx_writer *writer, const struct ArrowSchema *columns,
                                 const struct ArrowArray *rows, uint64_t *first, lx_error *error)
{
    if (columns == NULL)
        return lx__fail_null(error, "columns");
    if (rows == NULL)
        return lx__fail_null(error, "rows");
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = append_entered(writer, columns, rows, first, error);
    lx__writer_leave(writer);
    return status;
}
