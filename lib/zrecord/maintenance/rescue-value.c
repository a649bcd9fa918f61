/* SPDX-License-Identifier: MIT */
/* The part of a rescue that reads and checks values. */
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "zrecord/format/names.h"
#include "zrecord/maintenance/rescue.h"

/** What the disk does not give back is damage here; what the system refuses otherwise is not. */
static lx_status as_damage(lx_status status, lx_error *error)
{
    if (status != LX_ERR_IO || error->errnum != EIO)
        return status;
    error->status = LX_ERR_CORRUPT;
    return LX_ERR_CORRUPT;
}

static lx_status read_rows(lx__rescue_column *column, uint64_t first, size_t count,
                           lx_error *error)
{
    uint8_t *checks = column->window + (size_t)LX__RESCUE_ROWS * LX__OFFSET_ROW;
    column->window_count = 0;
    lx_status status = lx__file_read(&column->offsets, column->window, count * LX__OFFSET_ROW,
                                     first * LX__OFFSET_ROW, error);
    if (status == LX_OK)
        status = lx__file_read(&column->checks, checks, count * LX__CHECK_ROW,
                               first * LX__CHECK_ROW, error);
    if (status != LX_OK)
        return status;
    column->window_first = first;
    column->window_count = count;
    return LX_OK;
}

static lx_status read_row(lx__rescue_column *column, uint64_t index, lx__entry *entry,
                          lx_error *error)
{
    if (index - column->window_first >= column->window_count) { /* wraps where it is below */
        uint64_t left = column->rows - index;
        size_t count = left < LX__RESCUE_ROWS ? (size_t)left : LX__RESCUE_ROWS;
        /* Where the disk does not give all of them, perhaps this one. */
        if (read_rows(column, index, count, NULL) != LX_OK) {
            lx_status status = read_rows(column, index, 1, error);
            if (status != LX_OK)
                return as_damage(status, error);
        }
    }
    size_t at = (size_t)(index - column->window_first);
    const uint8_t *checks = column->window + (size_t)LX__RESCUE_ROWS * LX__OFFSET_ROW;
    *entry =
        lx__entry_load(column->window + at * LX__OFFSET_ROW, checks + at * LX__CHECK_ROW);
    return LX_OK;
}

static lx_status find_entry(lx__rescue *rescue, size_t field, uint64_t index, lx__entry *entry,
                            lx_error *error)
{
    lx__rescue_column *column = &rescue->columns[field];
    const uint8_t *set = lx__sets_find(&rescue->state.sets, (uint32_t)field, index);
    *entry = (lx__entry){0};
    if (set != NULL)
        *entry = lx__entry_load(set, set + LX__OFFSET_ROW);
    else if (index < column->rows)
        return read_row(column, index, entry, error);
    /* Rows behind the end of a short table are told of at once, not one by one. */
    return LX_OK;
}

/** Opens a chunk, and tells how long it is. */
static lx_status open_chunk(const lx__rescue *rescue, uint32_t id, lx__file *file, uint64_t *size,
                            lx_error *error)
{
    char name[LX__NAME_SIZE];
    *file = (lx__file)LX__FILE_CLOSED;
    if (rescue->chunk_directory.fd == -1)
        return lx__fail(error, LX_ERR_CORRUPT, "there is no directory of chunks");
    lx__chunk_name(id, name);
    lx_status status = lx__file_open(file, &rescue->chunk_directory, name, O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_size(file, size, error);
    if (status != LX_OK)
        lx__file_close(file);
    if (status == LX_ERR_NOT_FOUND)
        error->status = status = LX_ERR_CORRUPT;
    return as_damage(status, error);
}

/** Opens a chunk for a column, if it is not the one that was read last. */
static lx_status hold_chunk(lx__rescue *rescue, lx__rescue_column *column, uint32_t id,
                            lx_error *error)
{
    if (column->chunk.fd != -1 && column->chunk_id == id)
        return LX_OK;
    lx__file_close(&column->chunk);
    column->chunk_id = id;
    return open_chunk(rescue, id, &column->chunk, &column->chunk_size, error);
}

static lx_status read_payload(lx__rescue *rescue, lx__rescue_column *column,
                              const lx__extent *extent, lx_error *error)
{
    lx_status status = hold_chunk(rescue, column, extent->chunk->id, error);
    if (status == LX_OK && !lx__range_fits(extent->offset, extent->size, column->chunk_size))
        status = lx__fail(error, LX_ERR_CORRUPT, "the file has %llu bytes, %llu are committed",
                          (unsigned long long)column->chunk_size,
                          (unsigned long long)extent->chunk->bytes);
    if (status != LX_OK)
        return status;
    if (!lx__reserve(&rescue->payload, &rescue->capacity, extent->size))
        return lx__fail_memory(error, "a record");
    status = lx__file_read(&column->chunk, rescue->payload, extent->size, extent->offset, error);
    if (status == LX_OK)
        rescue->stored = extent->size;
    return as_damage(status, error);
}

static lx_status check_entry(lx__rescue *rescue, size_t field, uint64_t index,
                             const lx__entry *entry, lx_error *error)
{
    uint8_t slot[LX__INLINE_MAX];
    lx__extent extent;
    lx__rescue_column *column = &rescue->columns[field];
    const uint8_t *stored = slot;
    const lx__chunk_item *chunk = lx__state_find_chunk(&rescue->state, entry->chunk);
    lx_status status = lx__payload_locate(entry, &column->rules, chunk, &extent, error);
    lx__store_le64(slot, entry->offset);
    if (status == LX_OK && extent.chunk != NULL) {
        status = read_payload(rescue, column, &extent, error);
        stored = rescue->payload;
    }
    if (status == LX_OK)
        status = lx__payload_check(entry, &column->rules, index, stored, error);
    if (status != LX_OK || !lx__entry_is_compressed(entry) ||
        lx__payload_check_codec(entry, &column->rules, NULL) != LX_OK)
        return status;
    if (!lx__reserve(&rescue->value, &rescue->value_capacity, entry->logical))
        return lx__fail_memory(error, "decompression");
    return lx__payload_decode(entry, &column->rules, stored, &rescue->inflater, rescue->value,
                              error);
}

static void blame(const lx__rescue *rescue, size_t field, uint64_t index, const lx__entry *entry,
                  lx_error *error)
{
    char name[LX__NAME_SIZE], path[sizeof error->path];
    const lx__field *about = lx__schema_field(rescue->meta.schema, field);
    bool in_chunk = !lx__entry_is_inline(entry) && !lx__entry_is_missing(entry) &&
                    lx__state_find_chunk(&rescue->state, entry->chunk) != NULL;
    if (in_chunk)
        lx__chunk_name(entry->chunk, name);
    else
        lx__table_name(about->stem, LX__OFFSET_KIND, rescue->state.table_generation, name);
    snprintf(path, sizeof path, "%.300s/%s%s", rescue->directory.path,
             in_chunk ? LX__CHUNK_DIRECTORY "/" : "", name);
    lx__error_locate(error, path, about->name, index,
                     in_chunk ? entry->offset : index * LX__OFFSET_ROW);
}

lx_status lx__rescue_check(lx__rescue *rescue, size_t field, uint64_t index, lx__entry *entry,
                           lx_error *error)
{
    rescue->stored = 0;
    lx_status status = find_entry(rescue, field, index, entry, error);
    if (status == LX_OK && !lx__entry_is_missing(entry))
        status = check_entry(rescue, field, index, entry, error);
    if (status != LX_OK)
        blame(rescue, field, index, entry, error);
    return status;
}

bool lx__rescue_is_lost(const lx__rescue *rescue, size_t field, uint64_t index)
{
    return index >= rescue->columns[field].rows && index < rescue->state.rows &&
           lx__sets_find(&rescue->state.sets, (uint32_t)field, index) == NULL;
}

lx_status lx__rescue_chunk_bytes(const lx__rescue *rescue, const lx__chunk_item *chunk,
                                 uint64_t *bytes, lx_error *damage, lx_error *error)
{
    uint64_t size = 0;
    lx__file file;
    lx_error why = LX_ERROR_INIT;
    char path[sizeof why.path];
    lx_status status = open_chunk(rescue, chunk->id, &file, &size, &why);
    if (status == LX_OK && size < chunk->bytes) {
        status = lx__fail(&why, LX_ERR_CORRUPT, "the file has %llu bytes, %llu are committed",
                          (unsigned long long)size, (unsigned long long)chunk->bytes);
        lx__error_locate(&why, file.path, NULL, LX_NONE, size);
    }
    lx__file_close(&file);
    *bytes = size < chunk->bytes ? size : chunk->bytes;
    if (status == LX_OK)
        return LX_OK;
    snprintf(path, sizeof path, "%.300s/" LX__CHUNK_DIRECTORY, rescue->directory.path);
    lx__error_locate(&why, path, NULL, LX_NONE, LX_NONE); /* where it is the directory */
    lx__error_pass(status == LX_ERR_CORRUPT ? damage : error, &why);
    return status == LX_ERR_CORRUPT ? LX_OK : status;
}
