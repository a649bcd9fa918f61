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

lx_status lx__table_writer_open(lx__table_writer *tables, const lx__file *directory,
                                const lx_schema *schema, uint32_t generation, uint64_t committed,
                                uint64_t first, lx_error *error)
{
    lx_status status = LX_OK;
    *tables = (lx__table_writer){.first = first};
    tables->fields = lx__alloc_array(schema->count, sizeof *tables->fields);
    if (tables->fields == NULL)
        return lx__fail_memory(error, "tables");
    tables->field_count = schema->count;
    for (size_t i = 0; i < schema->count; i++)
        tables->fields[i].offsets = tables->fields[i].checks = (lx__file)LX__FILE_CLOSED;
    for (size_t i = 0; status == LX_OK && i < schema->count; i++) {
        const lx__field *field = lx__schema_field(schema, i);
        status = open_tables(&tables->fields[i], directory, field->stem, generation, committed,
                             error);
        if (status != LX_OK)
            lx_error_locate(error, NULL, field->name, LX_NONE, LX_NONE);
    }
    return status;
}

void lx__table_writer_close(lx__table_writer *tables)
{
    for (size_t i = 0; i < tables->field_count; i++) {
        lx__table_files *files = &tables->fields[i];
        lx__file_close(&files->offsets);
        lx__file_close(&files->checks);
        lx__free(files->offset_rows);
        lx__free(files->check_rows);
    }
    lx__free(tables->fields);
    *tables = (lx__table_writer){0};
}

static lx_status reserve(lx__table_writer *tables, uint64_t more, lx_error *error)
{
    size_t wanted = tables->count + (size_t)more;
    if (wanted <= tables->capacity)
        return LX_OK;
    size_t capacity = tables->capacity < 64 ? 64 : tables->capacity * 2;
    if (capacity < wanted)
        capacity = wanted;
    for (size_t i = 0; i < tables->field_count; i++) {
        lx__table_files *files = &tables->fields[i];
        uint8_t *offsets = lx__resize_array(files->offset_rows, capacity, LX__OFFSET_ROW);
        if (offsets != NULL)
            files->offset_rows = offsets;
        uint8_t *checks = lx__resize_array(files->check_rows, capacity, LX__CHECK_ROW);
        if (checks != NULL)
            files->check_rows = checks;
        if (offsets == NULL || checks == NULL)
            return lx__fail_memory(error, "rows of the tables");
    }
    tables->capacity = capacity;
    return LX_OK;
}

void lx__table_writer_put(lx__table_writer *tables, size_t field, uint64_t index,
                          const lx__entry *entry)
{
    size_t row = (size_t)(index - tables->first);
    lx__entry_store(entry, tables->fields[field].offset_rows + row * LX__OFFSET_ROW,
                    tables->fields[field].check_rows + row * LX__CHECK_ROW);
}

lx__entry lx__table_writer_get(const lx__table_writer *tables, size_t field, uint64_t index)
{
    size_t row = (size_t)(index - tables->first);
    return lx__entry_load(tables->fields[field].offset_rows + row * LX__OFFSET_ROW,
                          tables->fields[field].check_rows + row * LX__CHECK_ROW);
}

lx_status lx__table_writer_append(lx__table_writer *tables, const lx__entry *entries, size_t stride,
                                  uint64_t records, lx_error *error)
{
    lx_status status = reserve(tables, records, error);
    if (status != LX_OK)
        return status;
    const char *next = (const char *)entries;
    for (uint64_t i = 0; i < records; i++) {
        uint64_t index = tables->first + tables->count++;
        uint32_t index_crc = lx__index_crc(index);
        for (size_t field = 0; field < tables->field_count; field++, next += stride) {
            lx__entry entry = *(const lx__entry *)next;
            if (!lx__entry_is_missing(&entry))
                entry.crc ^= index_crc;
            lx__table_writer_put(tables, field, index, &entry);
        }
    }
    return LX_OK;
}

lx_status lx__table_writer_add_row(lx__table_writer *tables, lx_error *error)
{
    static const lx__entry missing;
    lx_status status = reserve(tables, 1, error);
    if (status != LX_OK)
        return status;
    uint64_t index = tables->first + tables->count++;
    for (size_t field = 0; field < tables->field_count; field++)
        lx__table_writer_put(tables, field, index, &missing);
    return LX_OK;
}

void lx__table_files_note_missing(lx__table_files *files, const uint8_t *offset_rows, size_t count)
{
    for (size_t i = 0; i < count && !files->missing; i++)
        files->missing = lx__load_le64(offset_rows + i * LX__OFFSET_ROW) == 0;
}

lx_status lx__table_writer_write(lx__table_writer *tables, lx_error *error)
{
    lx_status status = LX_OK;
    if (tables->count == 0)
        return LX_OK;
    tables->dirty = true;
    for (size_t i = 0; status == LX_OK && i < tables->field_count; i++) {
        lx__table_files *files = &tables->fields[i];
        lx__table_files_note_missing(files, files->offset_rows, tables->count);
        status = lx__file_write(&files->offsets, files->offset_rows, tables->count * LX__OFFSET_ROW,
                                tables->first * LX__OFFSET_ROW, error);
        if (status == LX_OK)
            status = lx__file_write(&files->checks, files->check_rows,
                                    tables->count * LX__CHECK_ROW, tables->first * LX__CHECK_ROW,
                                    error);
    }
    if (status != LX_OK)
        return status;
    tables->first += tables->count;
    tables->count = 0;
    return LX_OK;
}

lx_status lx__table_writer_read(const lx__table_writer *tables, size_t field, uint64_t index,
                                lx__entry *entry, lx_error *error)
{
    uint8_t offset_row[LX__OFFSET_ROW], check_row[LX__CHECK_ROW];
    const lx__table_files *files = &tables->fields[field];
    lx_status status = lx__file_read(&files->offsets, offset_row, sizeof offset_row,
                                     index * LX__OFFSET_ROW, error);
    if (status == LX_OK)
        status = lx__file_read(&files->checks, check_row, sizeof check_row, index * LX__CHECK_ROW,
                               error);
    if (status == LX_OK)
        *entry = lx__entry_load(offset_row, check_row);
    return status;
}

void lx__table_writer_truncate(lx__table_writer *tables, uint64_t end)
{
    if (tables->first > end)
        tables->first = end;
    if (tables->count > end - tables->first)
        tables->count = (size_t)(end - tables->first);
}

void lx__table_writer_trim(lx__table_writer *tables, uint64_t end)
{
    for (size_t i = 0; i < tables->field_count; i++) {
        lx__file_trim(&tables->fields[i].offsets, end * LX__OFFSET_ROW);
        lx__file_trim(&tables->fields[i].checks, end * LX__CHECK_ROW);
    }
}

lx_status lx__table_writer_list_syncs(lx__table_writer *tables, lx__sync_list *list,
                                      lx_error *error)
{
    if (!tables->dirty || LX__FAULT(TABLE_SYNC))
        return LX_OK;
    lx_status status = lx__sync_list_reserve(list, 2 * tables->field_count, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; i < tables->field_count; i++) {
        lx__sync_list_add(list, &tables->fields[i].offsets);
        lx__sync_list_add(list, &tables->fields[i].checks);
    }
    tables->dirty = false;
    return LX_OK;
}
