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
    if (lx__entry_is_inline(entry)) {
        field->inlined++;
        field->inline_bytes += entry->logical;
    } else {
        field->stored_bytes += entry->physical;
    }
    field->compressed += lx__entry_is_compressed(entry);
}

/** Adds an entry to the statistics of its chunk. */
static lx_status count_payload(const lx__snapshot *snapshot, const lx__entry *entry,
                               lx_chunk_stats *chunks, lx_error *error)
{
    if (lx__entry_is_missing(entry) || lx__entry_is_inline(entry))
        return LX_OK;
    uint32_t position = lx__snapshot_find_chunk(snapshot, entry->chunk);
    if (position == LX__NO_CHUNK)
        return lx_fail(error, LX_ERR_CORRUPT, "chunk %u not found", entry->chunk);
    chunks[position].live_payloads++;
    chunks[position].live_bytes += entry->physical;
    return LX_OK;
}

static lx_status count_field(lx__snapshot *snapshot, size_t field, lx_field_stats *sums,
                             lx_chunk_stats *chunks, lx_error *error)
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
            status = count_payload(snapshot, &value.entry, chunks, error);
        if (status == LX_OK)
            count_value(&value.entry, sums);
        else
            lx__snapshot_add_context(snapshot, field, index, &value.entry, error);
    }
    lx__value_reader_end(&reader);
    return status;
}

static uint64_t dictionary_bytes(const lx__store *store, size_t field)
{
    uint32_t position;
    lx__dict dict = {0};
    if (lx__schema_find_id(store->meta.schema, lx__schema_field(store->schema, field)->shown.id,
                           &position))
        (void)lx__meta_find_dict(&store->meta, position, &dict);
    return dict.bytes;
}

/** Returns how many bytes a rebalance would free in a chunk. If all payloads are live, the rest is
 * padding, which a rebalance would write again. */
static uint64_t dead_bytes(const lx_chunk_stats *chunk)
{
    /* In a dataset that was not made by a correct writer, entries may overlap. */
    if (chunk->live_payloads >= chunk->payloads || chunk->live_bytes >= chunk->bytes)
        return 0;
    return chunk->bytes - chunk->live_bytes;
}

/** Counts all entries. @p fields, which may be NULL, has one item per field, and @p chunks has one
 * per chunk. */
static lx_status count_entries(lx__snapshot *snapshot, lx_field_stats *fields,
                               lx_chunk_stats *chunks, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; i < snapshot->state.chunk_count; i++) {
        const lx__chunk_item *item = &snapshot->state.chunks[i];
        chunks[i] =
            (lx_chunk_stats){.id = item->id, .payloads = item->records, .bytes = item->bytes};
    }
    for (size_t i = 0; status == LX_OK && i < snapshot->store->schema->count; i++) {
        lx_field_stats sums = {.dictionary_bytes = dictionary_bytes(snapshot->store, i)};
        status = count_field(snapshot, i, &sums, chunks, error);
        if (fields != NULL)
            fields[i] = sums;
    }
    for (size_t i = 0; i < snapshot->state.chunk_count; i++)
        chunks[i].dead_bytes = dead_bytes(&chunks[i]);
    return status;
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

static void add_up(lx_storage_stats *totals, const lx_chunk_stats *chunks)
{
    for (size_t i = 0; i < totals->chunks; i++) {
        totals->live_bytes += chunks[i].live_bytes;
        totals->live_payloads += chunks[i].live_payloads;
        totals->dead_bytes += chunks[i].dead_bytes;
    }
    if (totals->chunks != 0)
        totals->utilisation = (double)totals->live_payloads /
                              ((double)totals->chunks * (double)totals->chunk_records);
    totals->live_ratio = totals->chunk_bytes != 0
                             ? (double)totals->live_bytes / (double)totals->chunk_bytes
                             : 1;
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
    lx_chunk_stats *chunks = lx__alloc_array(totals->chunks, sizeof *chunks);
    status = chunks != NULL ? count_entries(snapshot, fields, chunks, error)
                            : lx__fail_memory(error, "the sizes of a dataset");
    if (status == LX_OK)
        add_up(totals, chunks);
    lx__free(chunks);
    lx__snapshot_unref(snapshot);
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
        status = count_entries(snapshot, NULL, infos, error);
    lx__snapshot_unref(snapshot);
    return status;
}
