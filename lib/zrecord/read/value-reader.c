/* SPDX-License-Identifier: MIT */
#include "zrecord/read/value-reader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zrecord/read/value-rows.h"

/* How much is read ahead during sequential reads, for all fields together: table rows and chunk
 * bytes. */
#define ROW_BYTES ((size_t)1 << 20)
#define CHUNK_BYTES ((size_t)1 << 20)
/* Limits for one field. */
#define ROWS_MAX 1024
#define ROWS_MIN 8
/* How many such windows of rows to ask for at once if the dataset is elsewhere: 1 MiB of offsets.
 * The distance is then paid once for all of them. */
#define WINDOWS_AHEAD 64
#define BYTES_MAX ((size_t)64 << 10)

static lx_status prepare(lx__value_reader *reader, lx_error *error)
{
    if (reader->fields != NULL)
        return LX_OK;
    lx__store *store = reader->snapshot->store;
    size_t count = store->schema->count;
    size_t rows = ROW_BYTES / LX__ENTRY_BYTES / count, bytes = CHUNK_BYTES / count;
    reader->window_rows = rows > ROWS_MAX ? ROWS_MAX : rows < ROWS_MIN ? ROWS_MIN : rows;
    reader->fields = lx__alloc_array(count, sizeof *reader->fields);
    if (reader->fields == NULL)
        return lx__fail_memory(error, "reading");
    for (size_t i = 0; i < count; i++) {
        reader->fields[i].next = LX_NONE;
        lx__pread_init(&reader->fields[i].pread, &store->files,
                       bytes < BYTES_MAX ? bytes : BYTES_MAX);
        reader->fields[i].pread.elsewhere = lx__store_is_elsewhere(store);
    }
    return LX_OK;
}

void lx__value_reader_end(lx__value_reader *reader)
{
    if (reader->snapshot == NULL)
        return;
    lx__store *store = reader->snapshot->store;
    for (size_t i = 0; reader->fields != NULL && i < store->schema->count; i++) {
        lx__free(reader->fields[i].rows);
        lx__pread_end(&reader->fields[i].pread);
    }
    lx__free(reader->fields);
    lx__store_release_inflater(store, reader->inflater);
    *reader = (lx__value_reader){.snapshot = reader->snapshot,
                                 .by_pread = reader->by_pread,
                                 .rows_mapped = reader->rows_mapped};
}

/* ---- entries */

static uint8_t *checks_of(const lx__value_reader *reader, const lx__field_window *from)
{
    return from->rows + reader->window_rows * LX__OFFSET_ROW;
}

static lx_status read_window(lx__value_reader *reader, size_t field, uint64_t first, uint64_t count,
                             lx_error *error)
{
    lx__field_window *to = &reader->fields[field];
    to->count = 0;
    lx_status status = lx__value_read_rows(reader, field, LX__PART_OFFSETS, first, count, to->rows,
                                           error);
    if (status == LX_OK)
        status = lx__value_read_rows(reader, field, LX__PART_CHECKS, first, count,
                                     checks_of(reader, to), error);
    to->first = first;
    to->count = status == LX_OK ? count : 0;
    return status;
}

/** Asks for row @p index and, if reads are sequential, for the windows after it. */
static void ask_ahead(const lx__value_reader *reader, size_t field, uint64_t index, bool walks)
{
    uint64_t left = reader->snapshot->state.rows - index;
    uint64_t ahead = walks ? reader->window_rows * WINDOWS_AHEAD : 1;
    lx__value_ask_rows(reader, field, index, left < ahead ? left : ahead);
}

/** Loads row @p index into the window, along with the rows after it if reads are sequential. */
static lx_status find_row(lx__value_reader *reader, size_t field, uint64_t index, lx_error *error)
{
    lx__field_window *in = &reader->fields[field];
    const lx__store *store = reader->snapshot->store;
    uint64_t left = reader->snapshot->state.rows - index, window = reader->window_rows;
    bool walks = in->next == index;
    in->next = index + 1;
    if (index - in->first < in->count) /* wraps if index is less than first */
        return LX_OK;
    if (in->rows == NULL)
        in->rows = lx__alloc_array(reader->window_rows, LX__ENTRY_BYTES);
    if (in->rows == NULL)
        return lx__fail_memory(error, "table rows");
    if (lx__store_is_elsewhere(store))
        ask_ahead(reader, field, index, walks);
    /* Even if the range cannot be read, the row itself may be readable. */
    if (walks) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = read_window(reader, field, index, left < window ? left : window, &why);
        if (status == LX_OK)
            return LX_OK;
        if (lx__file_gave_up(&store->directory, status)) {
            lx__error_propagate(error, &why);
            return status;
        }
    }
    return read_window(reader, field, index, 1, error);
}

static lx_status load_row(lx__value_reader *reader, size_t field, uint64_t index, lx__entry *entry,
                          lx_error *error)
{
    lx_status status = prepare(reader, error);
    if (status == LX_OK)
        status = find_row(reader, field, index, error);
    if (status != LX_OK)
        return status;
    const lx__field_window *in = &reader->fields[field];
    size_t at = (size_t)(index - in->first);
    *entry = lx__entry_load(in->rows + at * LX__OFFSET_ROW,
                            checks_of(reader, in) + at * LX__CHECK_ROW);
    return LX_OK;
}

lx_status lx__value_load(lx__value_reader *reader, size_t field, uint64_t index, lx__value *value,
                         lx_error *error)
{
    const lx__state *state = &reader->snapshot->state;
    lx_status status = LX_OK;
    if (!reader->by_pread || reader->rows_mapped) {
        lx__snapshot_load(reader->snapshot, field, index, value);
        return LX_OK;
    }
    value->entry = (lx__entry){0};
    value->data = value->slot;
    value->update = lx__overlay_find_update(&state->overlay, (uint32_t)field, index);
    if (value->update != NULL)
        value->entry = lx__update_entry(value->update);
    else if (index < state->rows)
        status = load_row(reader, field, index, &value->entry, error);
    lx__store_le64(value->slot, value->entry.offset);
    return status;
}

/* ---- bytes */

lx__fetcher *lx__value_fetcher(lx__value_reader *reader, size_t field, lx_error *error)
{
    if (!reader->by_pread)
        return &reader->snapshot->fetcher;
    return prepare(reader, error) == LX_OK ? &reader->fields[field].pread.fetcher : NULL;
}

lx_status lx__value_fetch_stored(lx__value_reader *reader, size_t field, uint64_t index,
                                 lx__value *value, uint8_t *into, lx_error *error)
{
    lx__fetcher *fetcher = lx__value_fetcher(reader, field, error);
    if (fetcher == NULL)
        return LX_ERR_NOMEM;
    value->extent.into = into;
    lx_status status = lx__fetch_one(fetcher, &value->extent, &value->data, error);
    if (status != LX_OK)
        lx__snapshot_add_context(reader->snapshot, field, index, &value->entry, error);
    return status;
}

static lx_status fetch_verified(lx__value_reader *reader, size_t field, uint64_t index,
                                lx__value *value, lx_error *error)
{
    lx_status status = lx__value_find(reader, field, index, value, error);
    if (status == LX_OK)
        status = lx__value_fetch(reader, field, index, value, NULL, error);
    return status == LX_OK ? lx__snapshot_verify_now(reader->snapshot, field, index, value, error)
                           : status;
}

lx_status lx__value_fetch_verified(lx__value_reader *reader, size_t field, uint64_t index,
                                   lx__value *value, lx_error *error)
{
    lx_status status = fetch_verified(reader, field, index, value, error);
    if (lx__value_renew(reader, field, index, status, error))
        status = fetch_verified(reader, field, index, value, error);
    return status;
}

/* ---- damage */

bool lx__value_renew_copies(lx__value_reader *reader, size_t field, uint64_t index, lx_error *error)
{
    const lx__snapshot *snapshot = reader->snapshot;
    lx__value value;
    if (index >= snapshot->length || prepare(reader, NULL) != LX_OK)
        return false;
    bool renewed = lx__value_renew_rows(reader, field, index);
    reader->fields[field].count = 0;
    if (lx__value_find(reader, field, index, &value, NULL) == LX_OK && value.extent.chunk != NULL &&
        lx__pread_renew(&reader->fields[field].pread, &value.extent))
        renewed = true;
    if (renewed)
        lx__value_forget_damage(reader, field, index, error);
    return renewed;
}

void lx__value_forget_damage(const lx__value_reader *reader, size_t field, uint64_t index,
                             lx_error *error)
{
    const lx__field *shown = lx__schema_field(reader->snapshot->store->schema, field);
    if (error != NULL && error->status == LX_ERR_CORRUPT && error->record == index &&
        strcmp(error->field, shown->name) == 0)
        lx_error_clear(error);
}

lx_status lx__value_inflate(lx__value_reader *reader, size_t field, uint64_t index,
                            const lx__value *value, uint8_t *out, lx_error *error)
{
    const lx__snapshot *snapshot = reader->snapshot;
    const lx__entry_rules *rules = snapshot->columns[field].rules;
    const lx__dictionary *dictionary = NULL;
    lx_status status = LX_OK;
    if (reader->inflater == NULL || reader->inflater->codec != rules->codec) {
        lx__store_release_inflater(snapshot->store, reader->inflater);
        reader->inflater = lx__store_take_inflater(snapshot->store, rules->codec);
    }
    if (lx__codec_needs_dictionary(rules->codec, value->data, value->entry.physical))
        status = lx__store_find_dictionary(snapshot->store, field, &dictionary, error);
    if (status == LX_OK)
        status = lx__payload_decode(&value->entry, rules, dictionary, value->data,
                                    &reader->inflater, out, error);
    if (status != LX_OK && status != LX_ERR_NOMEM)
        lx__snapshot_add_context(snapshot, field, index, &value->entry, error);
    return status;
}

void lx__value_advise(lx__value_reader *reader, size_t field, const lx__extent *extent)
{
    if (prepare(reader, NULL) == LX_OK)
        lx__pread_advise(&reader->fields[field].pread, extent);
}
