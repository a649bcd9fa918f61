/* SPDX-License-Identifier: MIT */
#include "zrecord/snapshot/snapshot.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pages.h"
#include "zrecord/snapshot/store-map.h"
#include "zrecord/wal/shared-array.h"

/* Maximum number of slots per chunk in the table that maps ids to positions; if the ids are too
 * sparse for that, the list of chunks is searched instead. */
#define SPREAD_MAX 64

static lx_status map_column(lx__snapshot *snapshot, size_t field, lx_error *error)
{
    lx__store *store = snapshot->store;
    lx__column *column = &snapshot->columns[field];
    column->rules = &store->rules[field];
    if (snapshot->state.rows == 0)
        return LX_OK;
    lx_status status = lx__store_map_table(store, field, snapshot->state.table_generation,
                                           snapshot->state.rows, &column->table, error);
    if (status != LX_OK) {
        lx_error_locate(error, NULL, lx__schema_field(store->schema, field)->name, LX_NONE,
                        LX_NONE);
        return status;
    }
    /* NULL in access mode pread. */
    column->offsets = column->table->offsets.data;
    column->checks = column->table->checks.data;
    return LX_OK;
}

static lx_status map_columns(lx__snapshot *snapshot, const lx__snapshot *before, lx_error *error)
{
    size_t count = snapshot->store->schema->count;
    if (before != NULL && before->state.rows == snapshot->state.rows) {
        snapshot->columns = lx__shared_ref(before->columns);
        return LX_OK;
    }
    snapshot->columns = lx__shared_new(count, sizeof *snapshot->columns);
    if (snapshot->columns == NULL)
        return lx__fail_memory(error, "a snapshot");
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = map_column(snapshot, i, error);
    return status;
}

/** Copies the addresses of unchanged chunks. Returns whether both lists have the same ids. */
static bool inherit_chunks(lx__snapshot *snapshot, const lx__snapshot *before)
{
    const lx__state *now = &snapshot->state, *was = &before->state;
    size_t same = 0;
    for (size_t i = 0, k = 0; i < now->chunk_count && k < was->chunk_count; i++) {
        if (was->chunks[k].id != now->chunks[i].id)
            continue;
        const uint8_t *data = atomic_load_explicit(&before->chunk_data[k], memory_order_acquire);
        /* If a chunk has grown, its file is checked for the new size at the next access. */
        if (was->chunks[k].bytes == now->chunks[i].bytes)
            atomic_init(&snapshot->chunk_data[i], data);
        k++;
        same++;
    }
    return same == now->chunk_count && same == was->chunk_count;
}

static lx_status index_chunks(lx__snapshot *snapshot, lx_error *error)
{
    const lx__state *state = &snapshot->state;
    if (state->chunk_count == 0)
        return LX_OK;
    uint32_t first = state->chunks[0].id;
    uint64_t span = (uint64_t)state->chunks[state->chunk_count - 1].id - first + 1;
    if (span / SPREAD_MAX > state->chunk_count)
        return LX_OK;
    snapshot->chunk_positions = lx__shared_new(span, sizeof *snapshot->chunk_positions);
    if (snapshot->chunk_positions == NULL)
        return lx__fail_memory(error, "a snapshot");
    for (uint64_t i = 0; i < span; i++)
        snapshot->chunk_positions[i] = LX__NO_CHUNK;
    for (size_t i = 0; i < state->chunk_count; i++)
        snapshot->chunk_positions[state->chunks[i].id - first] = (uint32_t)i;
    snapshot->first_chunk = first;
    snapshot->chunk_span = (uint32_t)span;
    return LX_OK;
}

static void share_positions(lx__snapshot *snapshot, const lx__snapshot *before)
{
    snapshot->chunk_positions = lx__shared_ref(before->chunk_positions);
    snapshot->first_chunk = before->first_chunk;
    snapshot->chunk_span = before->chunk_span;
}

static lx_status find_chunks(lx__snapshot *snapshot, const lx__snapshot *before, lx_error *error)
{
    const lx__state *state = &snapshot->state;
    /* A list that two states share is immutable. */
    if (before != NULL && before->state.chunks == state->chunks) {
        snapshot->chunk_data = lx__shared_ref(before->chunk_data);
        share_positions(snapshot, before);
        return LX_OK;
    }
    snapshot->chunk_data = lx__shared_new(state->chunk_count, sizeof *snapshot->chunk_data);
    if (snapshot->chunk_data == NULL)
        return lx__fail_memory(error, "a snapshot");
    if (before == NULL || !inherit_chunks(snapshot, before))
        return index_chunks(snapshot, error);
    share_positions(snapshot, before);
    return LX_OK;
}

/** Returns the base address of the committed bytes of a chunk, which is mapped on first access. */
static lx_status chunk_data(lx__snapshot *snapshot, const lx__chunk_item *item,
                            const uint8_t **data, lx_error *error)
{
    _Atomic(const uint8_t *) *known = &snapshot->chunk_data[item - snapshot->state.chunks];
    /* Threads may race here, but the store returns the same address to all of them. */
    *data = atomic_load_explicit(known, memory_order_acquire);
    if (*data != NULL)
        return LX_OK;
    lx_status status = lx__store_map_chunk(snapshot->store, item->id, item->bytes, data, error);
    if (status == LX_OK)
        atomic_store_explicit(known, *data, memory_order_release);
    return status;
}

static lx_status fetch_mapped(lx__fetcher *self, const lx__extent *extents, size_t count,
                              lx__fetch_done *done, void *user, lx_error *error)
{
    lx__snapshot *snapshot = (lx__snapshot *)self;
    lx_status failed = LX_OK;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *data;
        lx_status status = chunk_data(snapshot, extents[i].chunk, &data,
                                      failed == LX_OK ? error : NULL);
        if (status == LX_OK)
            done(user, i, data + extents[i].offset);
        else if (failed == LX_OK)
            failed = status;
    }
    return failed;
}

static lx_status make(lx__store *store, const lx__snapshot *before, lx__state *state,
                      lx__snapshot **snapshot, lx_error *error)
{
    lx__snapshot *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL) {
        lx__state_free(state);
        return lx__fail_memory(error, "a snapshot");
    }
    atomic_init(&made->references, 1);
    made->fetcher.fetch = fetch_mapped;
    made->store = lx__store_ref(store);
    made->state = *state;
    made->length = state->length;
    *state = (lx__state){0};
    lx_status status = map_columns(made, before, error);
    if (status == LX_OK)
        status = find_chunks(made, before, error);
    if (status == LX_OK)
        *snapshot = made;
    else
        lx__snapshot_unref(made);
    return status;
}

lx_status lx__snapshot_new(lx__store *store, lx__state *state, lx__snapshot **snapshot,
                           lx_error *error)
{
    return make(store, NULL, state, snapshot, error);
}

lx_status lx__snapshot_next(const lx__snapshot *before, lx__state *state, lx__snapshot **snapshot,
                            lx_error *error)
{
    return make(before->store, before, state, snapshot, error);
}

void lx__snapshot_limit(lx__snapshot *snapshot, uint64_t length)
{
    if (length < snapshot->length)
        snapshot->length = length;
}

void lx__snapshot_identify(const lx__snapshot *snapshot, lx_dataset_identity *identity)
{
    const lx__meta *meta = &snapshot->store->meta;
    *identity = (lx_dataset_identity){.generation = meta->generation,
                                      .sequence = snapshot->state.position.sequence - 1,
                                      .checksum = snapshot->state.position.crc,
                                      .sealed = meta->sealed};
    for (size_t i = 0; i < snapshot->store->schema->count; i++)
        identity->changes += lx__changes_get(&snapshot->state.changes, meta,
                                             snapshot->store->schema, i);
    identity->changes &= LX__CHANGES_MAX;
    memcpy(identity->uuid, meta->uuid_text, sizeof meta->uuid_text);
}

lx_status lx__snapshot_new_memory(lx__store *store, uint64_t size, lx__snapshot **snapshot,
                                  lx_error *error)
{
    lx__snapshot *made = lx__alloc_array(1, sizeof *made);
    if (made == NULL)
        return lx__fail_memory(error, "a view");
    atomic_init(&made->references, 1);
    made->store = lx__store_ref(store);
    /* Allocate whole pages, because values may need page alignment. */
    made->memory_size = (size_t)size + 1;
    made->memory = size < SIZE_MAX / 2 ? lx__pages_alloc(made->memory_size) : NULL;
    if (made->memory == NULL) {
        lx__snapshot_unref(made);
        return lx__fail_memory(error, "a view");
    }
    *snapshot = made;
    return LX_OK;
}

lx__snapshot *lx__snapshot_ref(lx__snapshot *snapshot)
{
    atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
    return snapshot;
}

void lx__snapshot_unref(lx__snapshot *snapshot)
{
    if (snapshot == NULL ||
        atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) != 1)
        return;
    lx__state_free(&snapshot->state);
    lx__shared_unref(snapshot->columns);
    lx__shared_unref(snapshot->chunk_positions);
    lx__shared_unref((void *)snapshot->chunk_data);
    lx__free(atomic_load_explicit(&snapshot->row_digests, memory_order_relaxed));
    lx__pages_free(snapshot->memory, snapshot->memory_size);
    lx__store_unref(snapshot->store);
    lx__free(snapshot);
}

bool lx__snapshot_may_be_missing(const lx__snapshot *snapshot, size_t field)
{
    const lx__store *store = snapshot->store;
    /* In a sealed dataset, the tables already contain everything that is in the log. */
    return store->meta.sealed ? !lx__schema_field(store->schema, field)->complete
                              : lx__state_may_be_missing(&snapshot->state, store->schema, field);
}

void lx__snapshot_add_context(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              const lx__entry *entry, lx_error *error)
{
    if (error == NULL || error->status >= 0)
        return;
    const lx__store *store = snapshot->store;
    lx__state_add_context(&snapshot->state, &store->directory, &store->meta,
                          lx__schema_field(store->schema, field), index, entry, error);
}

void lx__snapshot_load(const lx__snapshot *snapshot, size_t field, uint64_t index, lx__value *value)
{
    static const uint8_t missing[LX__ENTRY_BYTES];
    const lx__column *column = &snapshot->columns[field];
    const uint8_t *offset_row = missing, *check_row = missing + LX__OFFSET_ROW;
    value->update = lx__overlay_find_update(&snapshot->state.overlay, (uint32_t)field, index);
    if (value->update != NULL) {
        offset_row = value->update->rows;
        check_row = offset_row + LX__OFFSET_ROW;
    } else if (index < snapshot->state.rows) {
        offset_row = column->offsets + index * LX__OFFSET_ROW;
        check_row = column->checks + index * LX__CHECK_ROW;
    }
    value->entry = lx__entry_load(offset_row, check_row);
    value->data = offset_row + 8;
}

lx_status lx__snapshot_locate(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              lx__value *value, lx_error *error)
{
    const lx__entry *entry = &value->entry;
    uint32_t position = lx__snapshot_find_chunk(snapshot, entry->chunk);
    lx_status status = lx__payload_locate(
        entry, snapshot->columns[field].rules,
        position != LX__NO_CHUNK ? &snapshot->state.chunks[position] : NULL, &value->extent, error);
    if (lx__entry_is_missing(entry) && !lx__snapshot_may_be_missing(snapshot, field))
        status = lx__entry_fail_lost(error);
    if (status != LX_OK)
        lx__snapshot_add_context(snapshot, field, index, entry, error);
    if (!lx__entry_is_inline(entry))
        value->data = NULL;
    return status;
}

lx_status lx__snapshot_verify_now(const lx__snapshot *snapshot, size_t field, uint64_t index,
                                  const lx__value *value, lx_error *error)
{
    if (value->data == NULL)
        return LX_OK;
    lx_status status = lx__payload_check(&value->entry, snapshot->columns[field].rules, index,
                                         value->data, error);
    if (status != LX_OK)
        lx__snapshot_add_context(snapshot, field, index, &value->entry, error);
    return status;
}

lx_status lx__snapshot_verify(const lx__snapshot *snapshot, size_t field, uint64_t index,
                              const lx__value *value, lx_error *error)
{
    lx_verify_policy verify = snapshot->store->verify;
    lx__table *table = snapshot->columns[field].table;
    if (lx__entry_is_compressed(&value->entry) || verify == LX_VERIFY_ALWAYS)
        return lx__snapshot_verify_now(snapshot, field, index, value, error);
    if (verify == LX_VERIFY_NEVER)
        return LX_OK;

    bool row = value->update == NULL && index < snapshot->state.rows;
    if (value->update != NULL ? lx__update_is_verified(value->update)
                              : row && lx__table_is_verified(table, index))
        return LX_OK;
    lx_status status = lx__snapshot_verify_now(snapshot, field, index, value, error);
    if (status == LX_OK && value->update != NULL)
        lx__update_set_verified(value->update);
    else if (status == LX_OK && row && !lx__store_is_elsewhere(snapshot->store))
        lx__table_set_verified(table, index); /* elsewhere, the bytes may be fetched again */
    return status;
}

void lx__snapshot_verify_row(lx__snapshot *snapshot, size_t field, uint64_t index)
{
    const lx__column *column = &snapshot->columns[field];
    const uint8_t *row = column->offsets + index * LX__OFFSET_ROW;
    lx__value value = {.entry = lx__entry_load(row, column->checks + index * LX__CHECK_ROW),
                       .data = row + 8};
    lx_status status = lx__snapshot_locate(snapshot, field, index, &value, NULL);
    if (status == LX_OK && value.extent.chunk != NULL)
        status = lx__fetch_one(&snapshot->fetcher, &value.extent, &value.data, NULL);
    if (status == LX_OK)
        (void)lx__snapshot_verify(snapshot, field, index, &value, NULL);
}
