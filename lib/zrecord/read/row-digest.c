/* SPDX-License-Identifier: MIT */
#include "zrecord/read/row-digest.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "zrecord/read/dataset.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-reader.h"

/** Adds the row of a record to a digest. The result must not depend on the order of the rows,
 * because an overlay lists its updates in any order. */
static void add_row(uint64_t *digest, uint64_t index, const uint8_t rows[LX__ENTRY_BYTES])
{
    uint8_t bytes[sizeof index + LX__ENTRY_BYTES];
    lx__store_le64(bytes, index);
    memcpy(bytes + sizeof index, rows, LX__ENTRY_BYTES);
    *digest = (uint32_t)(*digest + lx__crc32c(0, bytes, sizeof bytes));
}

static lx_status add_update(void *user, const lx__update *update, lx_error *error)
{
    lx__row_digest *digest = user;
    (void)error;
    if (update->index < digest->rows)
        add_row(&digest->fields[update->field], update->index, update->rows);
    return LX_OK;
}

/** Adds the entries of all records starting at @c rows. Sets @p reachable to false if they are
 * elsewhere and cannot be fetched, so that it is pointless to try those of other fields. */
static lx_status add_entries(lx__row_digest *digest, lx__value_reader *reader, size_t field,
                             bool *reachable, lx_error *error)
{
    for (uint64_t i = digest->rows; i < digest->length; i++) {
        lx__value value;
        uint8_t rows[LX__ENTRY_BYTES];
        lx_status status = LX_OK;
        if (reader->by_pread)
            status = lx__value_load(reader, field, i, &value, NULL);
        else
            lx__snapshot_load(reader->snapshot, field, i, &value);
        if (status == LX_ERR_NOMEM)
            return lx__fail_memory(error, "table rows");
        if (status != LX_OK) { /* a failing disk must not prevent the state from being saved */
            digest->fields[field] = LX__DIGEST_UNKNOWN;
            *reachable = !lx__file_gave_up(&reader->snapshot->store->directory, status);
            return LX_OK;
        }
        lx__entry_store(&value.entry, rows, rows + LX__OFFSET_ROW);
        add_row(&digest->fields[field], i, rows);
    }
    return LX_OK;
}

static lx_status compute(lx__row_digest *digest, lx__snapshot *snapshot, lx_error *error)
{
    lx__value_reader reader = lx__value_reader_of(snapshot);
    lx_status status = lx__overlay_each(&snapshot->state.overlay, add_update, digest, error);
    bool reachable = true;
    for (size_t i = 0; status == LX_OK && i < digest->count; i++) {
        if (reachable)
            status = add_entries(digest, &reader, i, &reachable, error);
        else
            digest->fields[i] = LX__DIGEST_UNKNOWN;
    }
    lx__value_reader_end(&reader);
    return status;
}

static bool is_known(const lx__row_digest *digest)
{
    for (size_t i = 0; i < digest->count; i++)
        if (digest->fields[i] == LX__DIGEST_UNKNOWN)
            return false;
    return true;
}

/** Gets the digests of a whole snapshot. They are computed only once, because a loader may save its
 * state after each batch. */
static lx_status compute_once(lx__row_digest *digest, lx__snapshot *snapshot, lx_error *error)
{
    size_t bytes = digest->count * sizeof *digest->fields;
    uint64_t *known = atomic_load_explicit(&snapshot->row_digests, memory_order_acquire);
    if (known != NULL) {
        memcpy(digest->fields, known, bytes);
        return LX_OK;
    }
    lx_status status = compute(digest, snapshot, error);
    if (status != LX_OK || !is_known(digest))
        return status;
    uint64_t *copy = lx__alloc(bytes);
    if (copy == NULL)
        return lx__fail_memory(error, "digests of rows");
    memcpy(copy, digest->fields, bytes);
    if (!atomic_compare_exchange_strong(&snapshot->row_digests, &known, copy))
        lx__free(copy);
    return LX_OK;
}

static void copy_changes(lx__row_digest *digest, const lx__snapshot *snapshot)
{
    const lx__store *store = snapshot->store;
    digest->changes = digest->fields + digest->count;
    for (size_t i = 0; i < digest->count; i++)
        digest->changes[i] = lx__changes_get(&snapshot->state.changes, &store->meta, store->schema,
                                             i);
}

lx_status lx__dataset_digest_rows(lx_dataset *dataset, uint64_t length, uint64_t rows,
                                  lx__row_digest *digest, lx_error *error)
{
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    const lx__state *state = &snapshot->state;
    bool whole = rows == LX_NONE && length >= snapshot->length;
    length = length < snapshot->length ? length : snapshot->length;
    if (rows == LX_NONE)
        rows = state->rows < length ? state->rows : length - (length != 0);
    *digest = (lx__row_digest){.length = length,
                               .rows = rows,
                               .table_generation = state->table_generation,
                               .count = snapshot->store->schema->count};
    lx__snapshot_identify(snapshot, &digest->identity);
    digest->fields = lx__alloc_array(2 * digest->count, sizeof *digest->fields);
    if (digest->fields == NULL)
        status = lx__fail_memory(error, "digests of rows");
    else
        status = whole ? compute_once(digest, snapshot, error) : compute(digest, snapshot, error);
    if (status == LX_OK)
        copy_changes(digest, snapshot);
    lx__snapshot_unref(snapshot);
    if (status != LX_OK)
        lx__row_digest_free(digest);
    return status;
}

void lx__row_digest_free(lx__row_digest *digest)
{
    lx__free(digest->fields);
    digest->fields = digest->changes = NULL;
}
