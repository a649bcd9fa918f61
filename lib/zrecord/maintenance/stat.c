/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/chunk/chunk.h"
#include "zrecord/maintenance/leftovers.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-reader.h"

/** Adds an entry to the statistics of its field. @p again: its payload is shared, and was already
 * counted. */
static void count_value(const lx__entry *entry, bool again, lx_field_stats *field)
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
    } else if (!again) {
        field->stored_bytes += entry->physical;
    }
    field->compressed += lx__entry_is_compressed(entry);
}

/** The statistics while they are being collected. */
typedef struct counting {
    lx__snapshot *snapshot;
    lx_field_stats *fields; /**< One per field; may be NULL. */
    lx_chunk_stats *chunks; /**< One per chunk. */
    uint64_t *packed;       /**< For each chunk: the bytes that its live payloads need on their own,
                                 with padding, in record order. */
    lx__chunk_item last;    /**< The last chunk that a rebalance would write. */
    uint64_t written;       /**< Number of bytes in the chunks before it. */
    bool seen[LX_MAX_FIELDS]; /**< Whether the shared payload of a field was counted. */
} counting;

/** Puts a payload where a rebalance would put it. */
static void place_payload(counting *self, uint32_t size, uint32_t align)
{
    const lx__meta *meta = &self->snapshot->store->meta;
    lx__chunk_item *last = &self->last;
    if (!lx__chunk_has_room(last, size, align, meta->chunk_records, meta->chunk_limit)) {
        self->written += last->bytes;
        *last = (lx__chunk_item){0};
    }
    last->bytes = lx__align_up(last->bytes, align) + size;
    last->records++;
}

/** Adds a value to the statistics of its chunk. */
static void count_payload(counting *self, const lx__value *value, uint32_t align)
{
    const lx__entry *entry = &value->entry;
    if (value->extent.chunk == NULL)
        return;
    size_t position = (size_t)(value->extent.chunk - self->snapshot->state.chunks);
    self->chunks[position].live_payloads++;
    self->chunks[position].live_bytes += entry->physical;
    self->packed[position] = lx__align_up(self->packed[position], align) + entry->physical;
    place_payload(self, entry->physical, align);
}

/** Whether the payload of an entry is shared, and was already counted. */
static bool is_repeated(counting *self, size_t field, const lx__entry *entry)
{
    const lx__field *definition = lx__schema_field(self->snapshot->store->schema, field);
    bool shared = lx__entry_is_shared(entry, &definition->shared);
    bool again = shared && self->seen[field];
    self->seen[field] = self->seen[field] || shared;
    return again;
}

static lx_status count_record(counting *self, lx__value_reader *reader, uint64_t index,
                              lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < self->snapshot->store->schema->count; i++) {
        lx__value value;
        status = lx__value_find(reader, i, index, &value, error);
        if (status != LX_OK)
            break;
        bool again = is_repeated(self, i, &value.entry);
        if (!again)
            count_payload(self, &value, self->snapshot->columns[i].rules->align);
        if (self->fields != NULL)
            count_value(&value.entry, again, &self->fields[i]);
    }
    return status;
}

/** Counts the values in the order in which a rebalance writes them. */
static lx_status count_records(counting *self, lx_error *error)
{
    lx__value_reader reader = {.snapshot = self->snapshot, .by_pread = true};
    lx_status status = LX_OK;
    for (uint64_t i = 0; status == LX_OK && i < self->snapshot->state.length; i++)
        status = count_record(self, &reader, i, error);
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

/** Returns the bytes that are not needed; 0 if more are needed than there are. */
static uint64_t surplus(uint64_t bytes, uint64_t needed)
{
    return bytes > needed ? bytes - needed : 0;
}

/** Counts all entries. @p fields, which may be NULL, has one item per field, and @p chunks has one
 * per chunk. @p needed receives how many bytes a rebalance would write. */
static lx_status count_entries(lx__snapshot *snapshot, lx_field_stats *fields,
                               lx_chunk_stats *chunks, uint64_t *needed, lx_error *error)
{
    const lx__state *state = &snapshot->state;
    counting self = {.snapshot = snapshot,
                     .fields = fields,
                     .chunks = chunks,
                     .packed = lx__alloc_array(state->chunk_count, sizeof *self.packed)};
    if (self.packed == NULL)
        return lx__fail_memory(error, "the sizes of a dataset");
    for (size_t i = 0; i < state->chunk_count; i++)
        chunks[i] = (lx_chunk_stats){.id = state->chunks[i].id,
                                     .payloads = state->chunks[i].records,
                                     .bytes = state->chunks[i].bytes};
    for (size_t i = 0; fields != NULL && i < snapshot->store->schema->count; i++)
        fields[i] = (lx_field_stats){.dictionary_bytes = dictionary_bytes(snapshot->store, i)};
    lx_status status = count_records(&self, error);
    for (size_t i = 0; i < state->chunk_count; i++)
        chunks[i].dead_bytes = surplus(chunks[i].bytes, self.packed[i]);
    *needed = self.written + self.last.bytes;
    lx__free(self.packed);
    return status;
}

static void count_files(const lx__snapshot *snapshot, lx_storage_stats *totals)
{
    const lx__state *state = &snapshot->state;
    const lx__meta *meta = &snapshot->store->meta;
    *totals = (lx_storage_stats){.length = state->length,
                                 .chunks = state->chunk_count,
                                 .parts = lx__meta_count_parts(meta),
                                 .chunk_records = meta->chunk_records,
                                 .chunk_limit = meta->chunk_limit,
                                 .table_bytes = state->rows * meta->schema->count *
                                                (LX__OFFSET_ROW + LX__CHECK_ROW),
                                 .log_bytes = state->position.offset,
                                 .log_entries = lx__overlay_count(&state->overlay),
                                 .leftover_bytes = lx__leftovers_count(snapshot)};
    for (size_t i = 0; i < state->chunk_count; i++) {
        totals->payloads += state->chunks[i].records;
        totals->chunk_bytes += state->chunks[i].bytes;
    }
}

static void add_up(lx_storage_stats *totals, const lx_chunk_stats *chunks, uint64_t needed)
{
    totals->dead_bytes = surplus(totals->chunk_bytes, needed);
    for (size_t i = 0; i < totals->chunks; i++) {
        totals->live_bytes += chunks[i].live_bytes;
        totals->live_payloads += chunks[i].live_payloads;
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
    uint64_t needed;
    count_files(snapshot, totals);
    lx_chunk_stats *chunks = lx__alloc_array(totals->chunks, sizeof *chunks);
    status = chunks != NULL ? count_entries(snapshot, fields, chunks, &needed, error)
                            : lx__fail_memory(error, "the sizes of a dataset");
    if (status == LX_OK)
        add_up(totals, chunks, needed);
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
    uint64_t needed;
    *count = snapshot->state.chunk_count;
    if (capacity != 0 && *count > capacity)
        status = lx_fail(error, LX_ERR_LIMIT,
                         "the dataset has %zu chunks, but the array has room for only %zu", *count,
                         capacity);
    else if (capacity != 0)
        status = count_entries(snapshot, NULL, infos, &needed, error);
    lx__snapshot_unref(snapshot);
    return status;
}
