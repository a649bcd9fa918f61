/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/error.h"
#include "zrecord/dataset.h"

static void count_value(const lx__entry *entry, lx_field_statistics *field)
{
    if (lx__entry_is_missing(entry)) {
        field->missing++;
        return;
    }
    field->present++;
    field->logical_bytes += entry->logical;
    if (lx__entry_is_inline(entry))
        field->inlined++;
    else
        field->stored_bytes += entry->physical;
    field->compressed += lx__entry_is_compressed(entry);
}

static lx_status count_field(lx__snapshot *snapshot, size_t field, lx_field_statistics *sums,
                             lx_error *error)
{
    const lx__column *column = &snapshot->columns[field];
    *sums = (lx_field_statistics){0};
    for (uint64_t index = 0; index < snapshot->state.length; index++) {
        bool row;
        lx__entry entry = lx__snapshot_entry(snapshot, field, index, &row);
        lx_status status = lx__entry_check(&entry, column->rules, error);
        if (status != LX_OK) {
            lx__snapshot_blame(snapshot, field, index, &entry, error);
            return status;
        }
        count_value(&entry, sums);
    }
    return LX_OK;
}

static void count_files(const lx__snapshot *snapshot, lx_statistics *totals)
{
    const lx__state *state = &snapshot->state;
    const lx__meta *meta = &snapshot->store->meta;
    *totals = (lx_statistics){.length = state->length,
                              .chunks = state->chunk_count,
                              .chunk_records = meta->chunk_records,
                              .chunk_limit = meta->chunk_limit,
                              .table_bytes = state->rows * meta->schema->count *
                                             (LX__OFFSET_ROW + LX__CHECK_ROW),
                              .log_bytes = state->place.offset,
                              .log_entries = lx__sets_count(&state->sets)};
    for (size_t i = 0; i < state->chunk_count; i++) {
        totals->payloads += state->chunks[i].records;
        totals->chunk_bytes += state->chunks[i].bytes;
    }
}

lx_status lx_dataset_stat(lx_dataset *dataset, lx_statistics *totals,
                          lx_field_statistics *fields, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (totals == NULL)
        return lx__fail_null(error, "totals");
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_status status = LX_OK;
    uint64_t live_values = 0;
    count_files(snapshot, totals);
    for (size_t i = 0; status == LX_OK && i < dataset->schema->count; i++) {
        lx_field_statistics sums;
        status = count_field(snapshot, i, &sums, error);
        totals->live_bytes += sums.stored_bytes;
        live_values += sums.present - sums.inlined;
        if (fields != NULL)
            fields[i] = sums;
    }
    totals->utilisation =
        totals->chunks != 0
            ? (double)live_values / ((double)totals->chunks * (double)totals->chunk_records)
            : 0;
    totals->live_ratio = totals->chunk_bytes != 0
                             ? (double)totals->live_bytes / (double)totals->chunk_bytes
                             : 1;
    lx__snapshot_unref(snapshot);
    return status;
}

lx_status lx_dataset_get_chunk(lx_dataset *dataset, size_t position, lx_chunk_info *info)
{
    if (dataset == NULL || info == NULL)
        return LX_ERR_ARGUMENT;
    lx__snapshot *snapshot = lx__dataset_pin(dataset);
    lx_status status = LX_END;
    if (position < snapshot->state.chunk_count) {
        const lx__chunk_item *item = &snapshot->state.chunks[position];
        *info = (lx_chunk_info){item->id, item->records, item->bytes};
        status = LX_OK;
    }
    lx__snapshot_unref(snapshot);
    return status;
}
