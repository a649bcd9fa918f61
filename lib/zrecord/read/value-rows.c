/* SPDX-License-Identifier: MIT */
/* Reads table rows with pread. */
#include "zrecord/read/value-rows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/value-reader.h"

/* Maximum distance between two rows that are read with the same call: reading a page of unneeded
 * rows costs less than a system call. */
#define GAP 128
/* Maximum number of rows to read with one call. */
#define RUN 1024

/** A row to read. */
typedef struct wanted {
    uint64_t index;
    size_t position; /**< Position of its record in the block. */
} wanted;

static unsigned row_bytes(lx__part part)
{
    return part == LX__PART_OFFSETS ? LX__OFFSET_ROW : LX__CHECK_ROW;
}

/** Opens a table of a field. */
static lx_status take_table(const lx__value_reader *reader, size_t field, lx__part part,
                            lx__open_file **file, lx_error *error)
{
    const lx__file_name name = {.part = part,
                                .number = (uint32_t)field,
                                .generation = reader->snapshot->state.table_generation};
    return lx__fd_cache_take(&reader->snapshot->store->files, &name, file, error);
}

void lx__value_ask_rows(const lx__value_reader *reader, size_t field, uint64_t first,
                        uint64_t count)
{
    for (lx__part part = LX__PART_OFFSETS; part <= LX__PART_CHECKS; part++) {
        lx__open_file *file;
        if (take_table(reader, field, part, &file, NULL) != LX_OK)
            continue; /* the read itself will report the error */
        lx__file_will_need(&file->file, first * row_bytes(part), count * row_bytes(part));
        lx__fd_cache_release(&reader->snapshot->store->files, file);
    }
}

bool lx__value_renew_rows(const lx__value_reader *reader, size_t field, uint64_t index)
{
    bool renewed = false;
    for (lx__part part = LX__PART_OFFSETS; part <= LX__PART_CHECKS; part++) {
        lx__open_file *file;
        if (take_table(reader, field, part, &file, NULL) != LX_OK)
            continue;
        if (lx__file_renew(&file->file, index * row_bytes(part), row_bytes(part)))
            renewed = true;
        lx__fd_cache_release(&reader->snapshot->store->files, file);
    }
    return renewed;
}

lx_status lx__value_read_rows(const lx__value_reader *reader, size_t field, lx__part part,
                              uint64_t first, uint64_t count, uint8_t *rows, lx_error *error)
{
    lx__open_file *file;
    lx__store *store = reader->snapshot->store;
    unsigned row = row_bytes(part);
    lx_status status = take_table(reader, field, part, &file, error);
    if (status == LX_OK) {
        status = lx__file_read(&file->file, rows, (size_t)(count * row), first * row, error);
        lx__fd_cache_release(&store->files, file);
    }
    lx_error_locate(error, NULL, lx__schema_field(store->schema, field)->name,
                    count == 1 ? first : LX_NONE, LX_NONE);
    return status;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = ((const wanted *)a)->index, right = ((const wanted *)b)->index;
    return (left > right) - (left < right);
}

/** Loads entries from row updates, and makes a list of the rows to read, sorted by index. */
static size_t list_rows(const lx__snapshot *snapshot, size_t field, const uint64_t *indices,
                        size_t count, lx__loaded *loaded, wanted *rows)
{
    size_t listed = 0;
    bool sorted = true;
    const lx__overlay *overlay = &snapshot->state.overlay;
    for (size_t i = 0; i < count; i++) {
        loaded[i] = (lx__loaded){0};
        if (indices[i] >= snapshot->length)
            continue;
        if (overlay->depth != 0)
            loaded[i].update = lx__overlay_find_update(overlay, (uint32_t)field, indices[i]);
        if (loaded[i].update != NULL) {
            loaded[i].entry = lx__update_entry(loaded[i].update);
        } else if (indices[i] < snapshot->state.rows) {
            sorted = sorted && (listed == 0 || rows[listed - 1].index <= indices[i]);
            rows[listed++] = (wanted){indices[i], i};
        }
    }
    if (!sorted)
        qsort(rows, listed, sizeof *rows, compare);
    return listed;
}

/** Returns how many of the listed rows can be read with one call. */
static size_t run_of(const wanted *rows, size_t count)
{
    size_t run = 1;
    while (run < count && rows[run].index - rows[run - 1].index <= GAP &&
           rows[run].index - rows[0].index < RUN)
        run++;
    return run;
}

/** Whether the check table need not be read: all rows belong to raw values that have the field's
 * size and need no verification. A gather from mappings skips the check table in the same case. */
static bool needs_no_checks(const lx__value_reader *reader, size_t field, const wanted *rows,
                            size_t count, const uint8_t *offsets)
{
    const lx__column *column = &reader->snapshot->columns[field];
    lx_verify_policy verify = reader->snapshot->store->verify;
    if (column->rules->codec != NULL || column->rules->size > UINT32_MAX ||
        verify == LX_VERIFY_ALWAYS)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = rows[i].index - rows[0].index;
        uint32_t physical = lx__load_le32(offsets + at * LX__OFFSET_ROW + 4);
        if (physical != column->rules->size ||
            (verify == LX_VERIFY_FIRST && !lx__table_is_verified(column->table, rows[i].index)))
            return false;
    }
    return true;
}

static void ask_runs(const lx__value_reader *reader, size_t field, const wanted *rows, size_t count)
{
    for (size_t at = 0, run; at < count; at += run) {
        run = run_of(rows + at, count - at);
        lx__value_ask_rows(reader, field, rows[at].index,
                           rows[at + run - 1].index - rows[at].index + 1);
    }
}

void lx__value_ask_block(const lx__value_reader *reader, size_t field, const uint64_t *indices,
                         size_t count)
{
    wanted rows[LX__VALUE_BLOCK];
    lx__loaded loaded[LX__VALUE_BLOCK];
    if (lx__store_is_elsewhere(reader->snapshot->store))
        ask_runs(reader, field, rows,
                 list_rows(reader->snapshot, field, indices, count, loaded, rows));
}

static lx_status read_run(const lx__value_reader *reader, size_t field, const wanted *rows,
                          size_t count, bool to_gather, uint8_t *buffer, lx__loaded *loaded,
                          lx_error *error)
{
    uint64_t first = rows[0].index, span = rows[count - 1].index - first + 1;
    uint8_t *checks = buffer + (size_t)RUN * LX__OFFSET_ROW;
    lx_status status = lx__value_read_rows(reader, field, LX__PART_OFFSETS, first, span, buffer,
                                           error);
    bool skip = status == LX_OK && to_gather && needs_no_checks(reader, field, rows, count, buffer);
    if (status == LX_OK && !skip)
        status = lx__value_read_rows(reader, field, LX__PART_CHECKS, first, span, checks, error);
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)(rows[i].index - first);
        lx__loaded *one = &loaded[rows[i].position];
        one->lost = status != LX_OK;
        if (status != LX_OK)
            continue;
        one->entry = lx__entry_load(buffer + at * LX__OFFSET_ROW,
                                    skip ? buffer : checks + at * LX__CHECK_ROW);
        if (skip) {
            one->entry.logical = one->entry.physical;
            one->entry.crc = 0;
        }
    }
    return status;
}

static void load_mapped(const lx__snapshot *snapshot, size_t field, const uint64_t *indices,
                        size_t count, lx__loaded *loaded)
{
    for (size_t i = 0; i < count; i++) {
        lx__value value;
        loaded[i] = (lx__loaded){0};
        if (indices[i] >= snapshot->length)
            continue;
        lx__snapshot_load(snapshot, field, indices[i], &value);
        loaded[i].entry = value.entry;
        loaded[i].update = value.update;
    }
}

lx_status lx__value_load_block(lx__value_reader *reader, size_t field, const uint64_t *indices,
                               size_t count, bool to_gather, lx__loaded *loaded, lx_error *error)
{
    wanted rows[LX__VALUE_BLOCK];
    const lx__store *store = reader->snapshot->store;
    if (!reader->by_pread || reader->rows_mapped) {
        load_mapped(reader->snapshot, field, indices, count, loaded);
        return LX_OK;
    }
    size_t listed = list_rows(reader->snapshot, field, indices, count, loaded, rows);
    if (listed == 0)
        return LX_OK;
    uint8_t *buffer = lx__alloc((size_t)RUN * LX__ENTRY_BYTES);
    if (buffer == NULL)
        return lx__fail_memory(error, "table rows");
    if (lx__store_is_elsewhere(store))
        ask_runs(reader, field, rows, listed);
    lx_status status = LX_OK;
    lx_error why = LX_ERROR_INIT;
    for (size_t at = 0; status == LX_OK && at < listed;) {
        size_t run = run_of(rows + at, listed - at);
        status = read_run(reader, field, rows + at, run, to_gather, buffer, loaded, &why);
        at += run;
        if (status != LX_OK && !lx__file_gave_up(&store->directory, status)) {
            status = LX_OK; /* The rows are marked as lost. */
            lx_error_clear(&why);
        }
    }
    lx__free(buffer);
    if (status != LX_OK)
        lx__error_propagate(error, &why);
    return status;
}
