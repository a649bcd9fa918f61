/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-reader.h"

static void count_value(const lx__entry *entry, lx_field_stats *field)
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

/** Called for each entry of a field; the entry has been checked against the field's rules. */
typedef lx_status visit(lx__snapshot *snapshot, const lx__entry *entry, void *sums,
                        lx_error *error);

static lx_status each_entry(lx__snapshot *snapshot, size_t field, visit *see, void *sums,
                            lx_error *error)
{
    const lx__column *column = &snapshot->columns[field];
    lx__value_reader reader = {.snapshot = snapshot, .by_pread = true};
    lx_status status = LX_OK;
    for (uint64_t index = 0; status == LX_OK && index < snapshot->state.length; index++) {
        lx__value value;
        status = lx__value_load(&reader, field, index, &value, error);
        if (status != LX_OK)
            break;
        status = lx__entry_check(&value.entry, column->rules, error);
        if (status == LX_OK)
            status = see(snapshot, &value.entry, sums, error);
        if (status != LX_OK)
            lx__snapshot_add_context(snapshot, field, index, &value.entry, error);
    }
    lx__value_reader_end(&reader);
    return status;
}

static lx_status count_for_field(lx__snapshot *snapshot, const lx__entry *entry, void *sums,
                                 lx_error *error)
{
    (void)snapshot, (void)error;
    count_value(entry, sums);
    return LX_OK;
}

/** Counts an entry for its chunk. @p sums is the array of statistics of all chunks. */
static lx_status count_for_chunk(lx__snapshot *snapshot, const lx__entry *entry, void *sums,
                                 lx_error *error)
{
    lx_chunk_stats *infos = sums;
    if (lx__entry_is_missing(entry) || lx__entry_is_inline(entry))
        return LX_OK;
    uint32_t position = lx__snapshot_find_chunk(snapshot, entry->chunk);
    if (position == LX__NO_CHUNK)
        return lx_fail(error, LX_ERR_CORRUPT, "chunk %u not found", entry->chunk);
    infos[position].live_payloads++;
    infos[position].live_bytes += entry->physical;
    return LX_OK;
}

static void count_files(const lx__snapshot *snapshot, lx_storage_stats *totals)
{
    const lx__state *state = &snapshot->state;
    const lx__meta *meta = &snapshot->store->meta;
    *totals = (lx_storage_stats){.length = state->length,
                                 .chunks = state->chunk_count,
                                 .chunk_records = meta->chunk_records,
                                 .chunk_limit = meta->chunk_limit,
                                 .table_bytes = state->rows * meta->schema->count *
                                                (LX__OFFSET_ROW + LX__CHECK_ROW),
                                 .log_bytes = state->position.offset,
                                 .log_entries = lx__overlay_count(&state->overlay)};
    for (size_t i = 0; i < state->chunk_count; i++) {
        totals->payloads += state->chunks[i].records;
        totals->chunk_bytes += state->chunks[i].bytes;
    }
}

lx_status lx_dataset_stat(lx_dataset *dataset, lx_storage_stats *totals, lx_field_stats *fields,
                          lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (totals == NULL)
        return lx__fail_null(error, "totals");
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    count_files(snapshot, totals);
    for (size_t i = 0; status == LX_OK && i < dataset->schema->count; i++) {
        lx_field_stats sums = {0};
        status = each_entry(snapshot, i, count_for_field, &sums, error);
        totals->live_bytes += sums.stored_bytes;
        totals->live_payloads += sums.present - sums.inlined;
        if (fields != NULL)
            fields[i] = sums;
    }
    totals->utilisation = totals->chunks != 0
                              ? (double)totals->live_payloads /
                                    ((double)totals->chunks * (double)totals->chunk_records)
                              : 0;
    totals->live_ratio = totals->chunk_bytes != 0
                             ? (double)totals->live_bytes / (double)totals->chunk_bytes
                             : 1;
    /* In a dataset that was not made by a correct writer, entries may overlap. */
    totals->dead_bytes = totals->chunk_bytes > totals->live_bytes
                             ? totals->chunk_bytes - totals->live_bytes
                             : 0;
    lx__snapshot_unref(snapshot);
    return status;
}

static lx_status stat_chunks(lx__snapshot *snapshot, lx_chunk_stats *infos, lx_error *error)
{
    size_t count = snapshot->state.chunk_count, fields = snapshot->store->schema->count;
    lx_status status = LX_OK;
    for (size_t i = 0; i < count; i++) {
        const lx__chunk_item *item = &snapshot->state.chunks[i];
        infos[i] =
            (lx_chunk_stats){.id = item->id, .payloads = item->records, .bytes = item->bytes};
    }
    for (size_t i = 0; status == LX_OK && i < fields; i++)
        status = each_entry(snapshot, i, count_for_chunk, infos, error);
    return status;
}

lx_status lx_dataset_stat_chunks(lx_dataset *dataset, lx_chunk_stats *infos, size_t capacity,
                                 size_t *count, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (infos == NULL && capacity != 0)
        return lx__fail_null(error, "infos");
    if (count == NULL)
        return lx__fail_null(error, "count");
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    *count = snapshot->state.chunk_count;
    if (capacity != 0 && *count > capacity)
        status = lx_fail(error, LX_ERR_LIMIT,
                         "the dataset has %zu chunks, but the array has room for only %zu", *count,
                         capacity);
    else if (capacity != 0)
        status = stat_chunks(snapshot, infos, error);
    lx__snapshot_unref(snapshot);
    return status;
}
