/* SPDX-License-Identifier: MIT */
#include "zrecord/write/apply.h"

#include "base/error.h"

/** Whether a row is in memory and was never committed, and can therefore be overwritten. Any other
 * row is in the tables or in the log, and needs an update to override it. */
static bool is_new_row(const lx_writer *writer, uint64_t index)
{
    return index >= writer->tables.first && index >= writer->committed.state.length;
}

/** Reads the current entry of a row that is to be moved, which takes into account all operations
 * reaped so far. A row of zeros that is damage must not turn into a missing value. */
static lx_status get(const lx_writer *writer, size_t field, uint64_t index, lx__entry *entry,
                     lx_error *error)
{
    const lx__state *state = &writer->committed.state;
    const lx__field *definition = lx__schema_field(writer->meta.schema, field);
    const lx__update *found = lx__update_map_find(&writer->applied.updates, (uint32_t)field, index);
    if (found == NULL && index >= writer->tables.first) {
        *entry = lx__table_writer_get(&writer->tables, field, index);
        return LX_OK;
    }
    if (found == NULL && index < state->rows)
        found = lx__update_map_find(&writer->committed.updates, (uint32_t)field, index);
    if (found != NULL) {
        *entry = lx__update_entry(found);
        return LX_OK;
    }
    lx_status status = lx__table_writer_read(&writer->tables, field, index, entry, error);
    if (status != LX_OK || index >= state->rows || !definition->complete ||
        !lx__entry_is_missing(entry))
        return status;
    status = lx__entry_fail_lost(error);
    lx__state_add_context(state, &writer->directory, &writer->meta, definition, index, entry,
                          error);
    return status;
}

/** Stores an entry whose CRC does not include the index CRC yet. Room must have been reserved. */
static void put(lx_writer *writer, size_t field, uint64_t index, lx__entry entry)
{
    if (!lx__entry_is_missing(&entry))
        entry.crc ^= lx__index_crc(index);
    if (is_new_row(writer, index))
        lx__table_writer_put(&writer->tables, field, index, &entry);
    else
        lx__update_map_put_entry(&writer->applied.updates, (uint32_t)field, index, &entry);
}

/** Reserves room for new entries of a record; @p index may be one past the last row. */
static lx_status reserve(lx_writer *writer, uint64_t index, lx_error *error)
{
    if (!is_new_row(writer, index))
        return lx__update_map_reserve(&writer->applied.updates, writer->tables.field_count, error);
    if (index < writer->tables.first + writer->tables.count)
        return LX_OK;
    return lx__table_writer_add_row(&writer->tables, error);
}

static lx_status append_one(lx_writer *writer, const lx__buffered_value *values, lx_error *error)
{
    lx_status status = reserve(writer, writer->applied.length, error);
    if (status != LX_OK)
        return status;
    for (size_t field = 0; field < writer->tables.field_count; field++)
        put(writer, field, writer->applied.length, values[field].entry);
    writer->applied.length++;
    return LX_OK;
}

static lx_status append(lx_writer *writer, const lx__operation *operation,
                        const lx__buffered_value *values, lx_error *error)
{
    lx_status status = LX_OK;
    uint64_t left = operation->count;
    /* An index that was in use earlier already has a row, so it is handled separately: a row that
     * is only in the buffer is overwritten; any other row is overridden by an update. */
    while (status == LX_OK && left != 0 &&
           (!is_new_row(writer, writer->applied.length) ||
            writer->applied.length < writer->tables.first + writer->tables.count)) {
        status = append_one(writer, values, error);
        values += writer->tables.field_count;
        left--;
    }
    if (status == LX_OK)
        status = lx__table_writer_append(&writer->tables, &values->entry, sizeof *values, left,
                                         error);
    if (status == LX_OK)
        writer->applied.length += left;
    return status;
}

static lx_status modify(lx_writer *writer, const lx__operation *operation,
                        const lx__buffered_value *values, lx_error *error)
{
    lx_status status = reserve(writer, operation->index, error);
    for (uint32_t i = 0; status == LX_OK && i < operation->values; i++)
        put(writer, values[i].field, operation->index, values[i].entry);
    return status;
}

/** Deletes a record by moving the last record to its index. */
static lx_status delete (lx_writer *writer, uint64_t index, lx_error *error)
{
    uint64_t last = writer->applied.length - 1;
    lx_status status = index != last ? reserve(writer, index, error) : LX_OK;
    for (size_t field = 0; status == LX_OK && index != last && field < writer->tables.field_count;
         field++) {
        lx__entry entry;
        status = get(writer, field, last, &entry, error);
        if (status != LX_OK)
            break;
        if (!lx__entry_is_missing(&entry))
            entry.crc ^= lx__index_crc(last);
        put(writer, field, index, entry);
    }
    if (status == LX_OK)
        writer->applied.length = last;
    return status;
}

lx_status lx__writer_apply(lx_writer *writer, const lx__write_buffer *buffer, lx_error *error)
{
    const lx__buffered_value *values = buffer->values;
    size_t fields = writer->tables.field_count;
    lx_status status = lx__applied_add_chunks(&writer->applied, buffer, error);
    for (size_t i = 0; status == LX_OK && i < buffer->operation_count; i++) {
        const lx__operation *operation = &buffer->operations[i];
        switch (operation->kind) {
        case LX__APPEND:
            status = append(writer, operation, values, error);
            values += operation->count * fields;
            break;
        case LX__MODIFY:
            status = modify(writer, operation, values, error);
            values += operation->values;
            break;
        case LX__DELETE:
            status = delete (writer, operation->index, error);
            break;
        case LX__TRUNCATE:
            writer->applied.length = operation->index;
            break;
        }
    }
    return status;
}
