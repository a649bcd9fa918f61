/* SPDX-License-Identifier: MIT */
#include "zrecord/table/table-writer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/format/names.h"
#include "zrecord/table/table-file.h"

static lx_status open_tables(lx__table_files *files, const lx__file *directory, const char *stem,
                             uint32_t generation, uint64_t rows, lx_error *error)
{
    char name[LX__NAME_SIZE];
    lx__table_name(stem, LX__OFFSET_KIND, generation, name);
    lx_status status = lx__committed_open(&files->offsets, directory, name, O_RDWR,
                                          rows * LX__OFFSET_ROW, false, error);
    if (status != LX_OK)
        return status;
    lx__table_name(stem, LX__CHECK_KIND, generation, name);
    return lx__committed_open(&files->checks, directory, name, O_RDWR, rows * LX__CHECK_ROW, false,
                              error);
}

lx_status lx__table_writer_open(lx__table_writer *rows, const lx__file *directory,
                                const lx_schema *schema, uint32_t generation, uint64_t committed,
                                uint64_t first, lx_error *error)
{
    lx_status status = LX_OK;
    *rows = (lx__table_writer){.first = first};
    rows->fields = lx__alloc_array(schema->count, sizeof *rows->fields);
    if (rows->fields == NULL)
        return lx__fail_memory(error, "tables");
    rows->field_count = schema->count;
    for (size_t i = 0; i < schema->count; i++)
        rows->fields[i].offsets = rows->fields[i].checks = (lx__file)LX__FILE_CLOSED;
    for (size_t i = 0; status == LX_OK && i < schema->count; i++) {
        const lx__field *field = lx__schema_field(schema, i);
        status = open_tables(&rows->fields[i], directory, field->stem, generation, committed,
                             error);
        if (status != LX_OK)
            lx__error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    }
    return status;
}

void lx__table_writer_close(lx__table_writer *rows)
{
    for (size_t i = 0; i < rows->field_count; i++) {
        lx__table_files *files = &rows->fields[i];
        lx__file_close(&files->offsets);
        lx__file_close(&files->checks);
        lx__free(files->offset_rows);
        lx__free(files->check_rows);
    }
    lx__free(rows->fields);
    *rows = (lx__table_writer){0};
}

static lx_status reserve(lx__table_writer *rows, uint64_t more, lx_error *error)
{
    size_t wanted = rows->count + (size_t)more;
    if (wanted <= rows->capacity)
        return LX_OK;
    size_t capacity = rows->capacity < 64 ? 64 : rows->capacity * 2;
    if (capacity < wanted)
        capacity = wanted;
    for (size_t i = 0; i < rows->field_count; i++) {
        lx__table_files *files = &rows->fields[i];
        uint8_t *offsets = lx__resize_array(files->offset_rows, capacity, LX__OFFSET_ROW);
        if (offsets != NULL)
            files->offset_rows = offsets;
        uint8_t *checks = lx__resize_array(files->check_rows, capacity, LX__CHECK_ROW);
        if (checks != NULL)
            files->check_rows = checks;
        if (offsets == NULL || checks == NULL)
            return lx__fail_memory(error, "rows of the tables");
    }
    rows->capacity = capacity;
    return LX_OK;
}

void lx__table_writer_put(lx__table_writer *rows, size_t field, uint64_t index,
                          const lx__entry *entry)
{
    size_t row = (size_t)(index - rows->first);
    lx__entry_store(entry, rows->fields[field].offset_rows + row * LX__OFFSET_ROW,
                    rows->fields[field].check_rows + row * LX__CHECK_ROW);
}

lx__entry lx__table_writer_get(const lx__table_writer *rows, size_t field, uint64_t index)
{
    size_t row = (size_t)(index - rows->first);
    return lx__entry_load(rows->fields[field].offset_rows + row * LX__OFFSET_ROW,
                          rows->fields[field].check_rows + row * LX__CHECK_ROW);
}

lx_status lx__table_writer_append(lx__table_writer *rows, const lx__entry *entries, size_t stride,
                                  uint64_t records, lx_error *error)
{
    lx_status status = reserve(rows, records, error);
    if (status != LX_OK)
        return status;
    const char *next = (const char *)entries;
    for (uint64_t i = 0; i < records; i++) {
        uint64_t index = rows->first + rows->count++;
        uint32_t index_crc = lx__index_crc(index);
        for (size_t field = 0; field < rows->field_count; field++, next += stride) {
            lx__entry entry = *(const lx__entry *)next;
            if (!lx__entry_is_missing(&entry))
                entry.crc ^= index_crc;
            lx__table_writer_put(rows, field, index, &entry);
        }
    }
    return LX_OK;
}

lx_status lx__table_writer_add_row(lx__table_writer *rows, lx_error *error)
{
    static const lx__entry missing;
    lx_status status = reserve(rows, 1, error);
    if (status != LX_OK)
        return status;
    uint64_t index = rows->first + rows->count++;
    for (size_t field = 0; field < rows->field_count; field++)
        lx__table_writer_put(rows, field, index, &missing);
    return LX_OK;
}

lx_status lx__table_writer_write(lx__table_writer *rows, lx_error *error)
{
    lx_status status = LX_OK;
    if (rows->count == 0)
        return LX_OK;
    rows->dirty = true;
    for (size_t i = 0; status == LX_OK && i < rows->field_count; i++) {
        const lx__table_files *files = &rows->fields[i];
        status = lx__file_write(&files->offsets, files->offset_rows, rows->count * LX__OFFSET_ROW,
                                rows->first * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_write(&files->checks, files->check_rows, rows->count * LX__CHECK_ROW,
                                    rows->first * LX__CHECK_ROW, error);
    }
    if (status != LX_OK)
        return status;
    rows->first += rows->count;
    rows->count = 0;
    return LX_OK;
}

lx_status lx__table_writer_read(const lx__table_writer *rows, size_t field, uint64_t index,
                                lx__entry *entry, lx_error *error)
{
    uint8_t offset_row[LX__OFFSET_ROW], check_row[LX__CHECK_ROW];
    const lx__table_files *files = &rows->fields[field];
    lx_status status = lx__file_read(&files->offsets, offset_row, sizeof offset_row,
                                     index * LX__OFFSET_ROW, error);
    if (status == LX_OK)
        status = lx__file_read(&files->checks, check_row, sizeof check_row, index * LX__CHECK_ROW,
                               error);
    if (status == LX_OK)
        *entry = lx__entry_load(offset_row, check_row);
    return status;
}

void lx__table_writer_truncate(lx__table_writer *rows, uint64_t end)
{
    if (rows->first > end)
        rows->first = end;
    if (rows->count > end - rows->first)
        rows->count = (size_t)(end - rows->first);
}

lx_status lx__table_writer_list_syncs(lx__table_writer *rows, lx__sync_list *list, lx_error *error)
{
    if (!rows->dirty || LX__FAULT(TABLE_SYNC))
        return LX_OK;
    lx_status status = lx__sync_list_reserve(list, 2 * rows->field_count, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < rows->field_count; i++) {
        lx__sync_list_add(list, &rows->fields[i].offsets);
        lx__sync_list_add(list, &rows->fields[i].checks);
    }
    rows->dirty = false;
    return LX_OK;
}
