/* SPDX-License-Identifier: MIT */
#include "zrecord/reader/fetch.h"

#include "base/alloc.h"
#include "base/error.h"

/* What a walk reads ahead, of all fields together: rows, and bytes of chunks. */
#define ROW_BYTES ((size_t)1 << 20)
#define CHUNK_BYTES ((size_t)1 << 20)
/* And of one field. */
#define ROWS_MAX 1024
#define ROWS_MIN 8
#define BYTES_MAX ((size_t)64 << 10)
/* Two values that are so close lie behind each other: what is between them is cheap. */
#define GAP 4096

static lx_status prepare(lx__fetch *fetch, lx_error *error)
{
    if (fetch->fields != NULL)
        return LX_OK;
    size_t count = fetch->snapshot->store->schema->count;
    size_t rows = ROW_BYTES / LX__ENTRY_BYTES / count, bytes = CHUNK_BYTES / count;
    fetch->window_rows = rows > ROWS_MAX ? ROWS_MAX : rows < ROWS_MIN ? ROWS_MIN : rows;
    fetch->window_bytes = bytes < BYTES_MAX ? bytes : BYTES_MAX;
    fetch->fields = lx__alloc_array(count, sizeof *fetch->fields);
    if (fetch->fields == NULL)
        return lx__fail_memory(error, "reading");
    for (size_t i = 0; i < count; i++)
        fetch->fields[i].next = LX_NONE;
    return LX_OK;
}

void lx__fetch_end(lx__fetch *fetch)
{
    if (fetch->snapshot == NULL)
        return;
    for (size_t i = 0; fetch->fields != NULL && i < fetch->snapshot->store->schema->count; i++) {
        lx__free(fetch->fields[i].rows);
        lx__free(fetch->fields[i].bytes);
    }
    lx__free(fetch->fields);
    lx__files_give(fetch->snapshot->store, fetch->chunk);
    *fetch = (lx__fetch){.snapshot = fetch->snapshot};
}

/* ---- entries */

static uint8_t *checks_of(const lx__fetch *fetch, const lx__fetched_field *from)
{
    return from->rows + fetch->window_rows * LX__OFFSET_ROW;
}

static lx_status read_window(lx__fetch *fetch, size_t field, uint64_t first, uint64_t count,
                             lx_error *error)
{
    lx__fetched_field *to = &fetch->fields[field];
    to->count = 0;
    lx_status status =
        lx__fetch_rows(fetch, field, LX__PART_OFFSETS, first, count, to->rows, error);
    if (status == LX_OK)
        status = lx__fetch_rows(fetch, field, LX__PART_CHECKS, first, count, checks_of(fetch, to),
                                error);
    to->first = first;
    to->count = status == LX_OK ? count : 0;
    return status;
}

/** Has row @p index in the window: with those behind it, if a walk comes to it. */
static lx_status find_row(lx__fetch *fetch, size_t field, uint64_t index, lx_error *error)
{
    lx__fetched_field *in = &fetch->fields[field];
    uint64_t left = fetch->snapshot->state.rows - index;
    bool walks = in->next == index;
    in->next = index + 1;
    if (index - in->first < in->count) /* wraps where it is below */
        return LX_OK;
    if (in->rows == NULL)
        in->rows = lx__alloc_array(fetch->window_rows, LX__ENTRY_BYTES);
    if (in->rows == NULL)
        return lx__fail_memory(error, "rows of tables");
    /* Where some of them cannot be read, this one may be there. */
    if (walks && read_window(fetch, field, index,
                             left < fetch->window_rows ? left : fetch->window_rows, NULL) == LX_OK)
        return LX_OK;
    return read_window(fetch, field, index, 1, error);
}

lx_status lx__fetch_entry(lx__fetch *fetch, size_t field, uint64_t index, lx__entry *entry,
                          const lx__set **set, lx_error *error)
{
    const lx__state *state = &fetch->snapshot->state;
    *entry = (lx__entry){0};
    *set = lx__sets_find_set(&state->sets, (uint32_t)field, index);
    if (*set != NULL)
        *entry = lx__set_entry(*set);
    if (*set != NULL || index >= state->rows)
        return LX_OK;
    lx_status status = prepare(fetch, error);
    if (status == LX_OK)
        status = find_row(fetch, field, index, error);
    if (status != LX_OK)
        return status;
    const lx__fetched_field *in = &fetch->fields[field];
    size_t at = (size_t)(index - in->first);
    *entry = lx__entry_load(in->rows + at * LX__OFFSET_ROW,
                            checks_of(fetch, in) + at * LX__CHECK_ROW);
    return LX_OK;
}

/* ---- values */

/** Opens a chunk, if it is not the one that was read last. */
static lx_status hold_chunk(lx__fetch *fetch, const lx__chunk_item *item, lx_error *error)
{
    lx__store *store = fetch->snapshot->store;
    if (fetch->chunk != NULL && fetch->chunk->number == item->id)
        return LX_OK;
    const lx__file_name name = {
        .part = LX__PART_CHUNK, .number = item->id, .bytes = item->bytes};
    lx__files_give(store, fetch->chunk);
    fetch->chunk = NULL;
    return lx__files_take(store, &name, &fetch->chunk, error);
}

lx_status lx__fetch_place(lx__fetch *fetch, size_t field, uint64_t index, const lx__entry *entry,
                          const lx__set *set, lx__value_place *place, lx_error *error)
{
    const lx__snapshot *snapshot = fetch->snapshot;
    *place = (lx__value_place){NULL, entry->physical, entry->logical, set};
    if (lx__entry_is_missing(entry))
        return LX_OK;
    lx_status status = prepare(fetch, error);
    if (status == LX_OK)
        status = lx__entry_check(entry, snapshot->columns[field].rules, error);
    if (status == LX_OK && lx__entry_is_inline(entry)) {
        lx__store_le64(fetch->fields[field].slot, entry->offset);
        place->data = fetch->fields[field].slot;
    } else if (status == LX_OK) {
        uint32_t position;
        status = lx__snapshot_find_stored(snapshot, entry, &position, error);
        if (status == LX_OK)
            status = hold_chunk(fetch, &snapshot->state.chunks[position], error);
    }
    if (status != LX_OK)
        lx__snapshot_blame(snapshot, field, index, entry, error);
    return status;
}

lx_status lx__fetch_bytes(lx__fetch *fetch, size_t field, uint64_t index, const lx__entry *entry,
                          size_t size, uint8_t *out, lx_error *error)
{
    const lx__snapshot *snapshot = fetch->snapshot;
    uint32_t position;
    lx_status status = lx__snapshot_find_stored(snapshot, entry, &position, error);
    if (status == LX_OK)
        status = hold_chunk(fetch, &snapshot->state.chunks[position], error);
    if (status == LX_OK)
        status = lx__file_read(&fetch->chunk->file, out, size, entry->offset, error);
    if (status != LX_OK)
        lx__snapshot_blame(snapshot, field, index, entry, error);
    return status;
}

void lx__fetch_advise(lx__fetch *fetch, uint32_t position, uint64_t start, uint64_t size)
{
    if (hold_chunk(fetch, &fetch->snapshot->state.chunks[position], NULL) == LX_OK)
        lx__file_will_need(&fetch->chunk->file, start, size);
}

static bool is_in_window(const lx__fetched_field *in, const lx__entry *entry)
{
    return in->chunk == entry->chunk && entry->offset >= in->start &&
           lx__range_fits(entry->offset - in->start, entry->physical, in->size);
}

/** How much to read for a value: what follows it, too, where it follows what was read last. */
static size_t window_for(const lx__fetch *fetch, const lx__fetched_field *in,
                         const lx__entry *entry)
{
    const lx__snapshot *snapshot = fetch->snapshot;
    uint64_t end = in->start + in->size, left;
    uint32_t position = lx__snapshot_find_chunk(snapshot, entry->chunk);
    if (in->size == 0 || in->chunk != entry->chunk || entry->offset < in->start ||
        entry->offset > end + GAP || entry->physical >= fetch->window_bytes)
        return entry->physical;
    left = snapshot->state.chunks[position].bytes - entry->offset;
    return left < fetch->window_bytes ? (size_t)left : fetch->window_bytes;
}

lx_status lx__fetch_stored(lx__fetch *fetch, size_t field, uint64_t index, const lx__entry *entry,
                           const uint8_t **data, lx_error *error)
{
    lx_status status = prepare(fetch, error);
    if (status != LX_OK)
        return status;
    lx__fetched_field *in = &fetch->fields[field];
    if (is_in_window(in, entry)) {
        *data = in->bytes + (entry->offset - in->start);
        return LX_OK;
    }
    size_t size = window_for(fetch, in, entry);
    if (!lx__reserve(&in->bytes, &in->capacity, size))
        return lx__fail_memory(error, "a record");
    in->size = 0;
    status = lx__fetch_bytes(fetch, field, index, entry, size, in->bytes,
                             size > entry->physical ? NULL : error);
    if (status != LX_OK && size > entry->physical) {
        /* What follows cannot be read; this value perhaps can. */
        size = entry->physical;
        status = lx__fetch_bytes(fetch, field, index, entry, size, in->bytes, error);
    }
    if (status != LX_OK)
        return status;
    in->chunk = entry->chunk;
    in->start = entry->offset;
    in->size = size;
    *data = in->bytes;
    return LX_OK;
}

lx_status lx__fetch_value(lx__fetch *fetch, size_t field, uint64_t index, lx__entry *entry,
                          lx__value_place *place, lx_error *error)
{
    const lx__set *set;
    lx_status status = lx__fetch_entry(fetch, field, index, entry, &set, error);
    if (status == LX_OK)
        status = lx__fetch_place(fetch, field, index, entry, set, place, error);
    if (status == LX_OK && place->data == NULL && !lx__entry_is_missing(entry))
        status = lx__fetch_stored(fetch, field, index, entry, &place->data, error);
    return status;
}
