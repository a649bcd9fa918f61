/* SPDX-License-Identifier: MIT */
/* Gathers any values in any access mode, one block of records at a time: loads their entries and
 * fetches the bytes of all extents as a batch. Records that fail in the batch are then read one by
 * one, in order, so that the first failure is the one reported. */
#include "zrecord/read/gather.h"

#include <string.h>

#include "base/error.h"
#include "zrecord/read/prefetch.h"
#include "zrecord/read/residency.h"
#include "zrecord/read/value-rows.h"

/* How many mapped values to locate before copying the first of them. */
#define LOCATED 32

/** Where a call puts its values: at out + offsets[i], or at out + i * stride. */
typedef struct target {
    uint8_t *out;
    size_t stride;
    uint64_t size;           /**< Size of each value, unless offsets is set. */
    const uint64_t *offsets; /**< NULL: use stride and size. */
} target;

/** The state of a call, including the current block. */
typedef struct gather {
    lx__value_reader reader;
    lx__damage_counter *damages;
    size_t field;
    const lx__entry_rules *rules;
    target to;
    const uint64_t *indices; /**< The record indices of the block. */
    size_t count, extent_count;
    size_t fetched; /**< Number of extents that were fetched. */
    lx__loaded loaded[LX__VALUE_BLOCK];
    lx__extent extents[LX__VALUE_BLOCK];
    uint8_t owners[LX__VALUE_BLOCK]; /**< For each extent, the position of its record. */
    bool copied[LX__VALUE_BLOCK];    /**< Whether the value was copied as part of the batch. */
} gather;

_Static_assert(LX__VALUE_BLOCK <= UINT8_MAX + 1, "owners are bytes");

/** Initializes a gather, except for the arrays, which are large. */
static void start(gather *g, lx__snapshot *snapshot, lx__damage_counter *damages, size_t field)
{
    g->reader = lx__value_reader_of(snapshot);
    if (!g->reader.by_pread && lx__residency_is_on_disk(snapshot->store))
        g->reader.by_pread = g->reader.rows_mapped = true;
    g->damages = damages;
    g->field = field;
    g->rules = snapshot->columns[field].rules;
}

static uint8_t *out_of(const gather *g, size_t i)
{
    return g->to.out + (g->to.offsets != NULL ? g->to.offsets[i] : i * g->to.stride);
}

static uint64_t room_of(const gather *g, size_t i)
{
    return g->to.offsets != NULL ? g->to.offsets[i + 1] - g->to.offsets[i] : g->to.size;
}

/** Returns the size that a value has when read. A missing value is read as zeros in a dense field,
 * and as empty in a bytes field. */
static uint64_t size_of(const lx__entry_rules *rules, const lx__entry *entry)
{
    if (!lx__entry_is_missing(entry))
        return entry->logical;
    return rules->size != LX_NONE ? rules->size : 0;
}

/* ---- entries */

static void prefetch_row(const lx__snapshot *snapshot, size_t field, uint64_t index)
{
    const lx__column *column = &snapshot->columns[field];
    if (index >= snapshot->state.rows)
        return;
    __builtin_prefetch(column->offsets + index * LX__OFFSET_ROW);
    __builtin_prefetch(column->checks + index * LX__CHECK_ROW);
}

/** Starts the next block. With pread, it loads the entries; mapped rows are only prefetched. */
static lx_status next_block(gather *g, const uint64_t *indices, size_t left, bool to_gather,
                            lx_error *error)
{
    g->indices = indices;
    g->count = left < LX__VALUE_BLOCK ? left : LX__VALUE_BLOCK;
    if (g->reader.by_pread)
        return lx__value_load_block(&g->reader, g->field, indices, g->count, to_gather, g->loaded,
                                    error);
    for (size_t i = 0; i < LX__ROWS_AHEAD && i < g->count; i++)
        prefetch_row(g->reader.snapshot, g->field, indices[i]);
    return LX_OK;
}

/** Returns the entry of record @p i of the block if next_block() loaded it; otherwise NULL. */
static const lx__loaded *known(const gather *g, size_t i)
{
    if (g->reader.by_pread)
        return &g->loaded[i];
    if (i + LX__ROWS_AHEAD < g->count)
        prefetch_row(g->reader.snapshot, g->field, g->indices[i + LX__ROWS_AHEAD]);
    return NULL;
}

/** Locates a value by its entry, which is read first if @p loaded is NULL. */
static inline __attribute__((always_inline)) lx_status find(lx__value_reader *reader, size_t field,
                                                            uint64_t index,
                                                            const lx__loaded *loaded,
                                                            lx__value *value, lx_error *error)
{
    if (index >= reader->snapshot->length)
        return lx__fail_index(reader->snapshot, field, index, error);
    if (loaded == NULL || loaded->lost)
        return lx__value_find(reader, field, index, value, error);
    value->entry = loaded->entry;
    value->update = loaded->update;
    value->data = value->slot;
    lx__store_le64(value->slot, loaded->entry.offset);
    return lx__snapshot_locate(reader->snapshot, field, index, value, error);
}

/* ---- one value */

static void locate_record(const lx__snapshot *snapshot, size_t field, uint64_t index,
                          lx_error *error)
{
    lx_error_locate(error, snapshot->store->directory.path,
                    lx__schema_field(snapshot->store->schema, field)->name, index, LX_NONE);
}

lx_status lx__fail_index(const lx__snapshot *snapshot, size_t field, uint64_t index,
                         lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_RANGE,
                               "index %llu is out of range: the length is %llu",
                               (unsigned long long)index, (unsigned long long)snapshot->length);
    locate_record(snapshot, field, index, error);
    return status;
}

static lx_status fail_size(const lx__snapshot *snapshot, size_t field, uint64_t index,
                           uint64_t size, uint64_t room, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_MISMATCH,
                               "the value has %llu bytes, but the caller allowed for %llu: query "
                               "the sizes again",
                               (unsigned long long)size, (unsigned long long)room);
    locate_record(snapshot, field, index, error);
    return status;
}

/** Decodes a fetched and verified value into @p out; writes zeros if the value is missing. */
static lx_status put(lx__value_reader *reader, size_t field, uint64_t index, const lx__value *value,
                     uint8_t *out, uint64_t room, lx_error *error)
{
    if (value->data != NULL)
        return lx__value_decode(reader, field, index, value, out, error);
    memset(out, 0, (size_t)room);
    return LX_OK;
}

/** Fetches, verifies and copies a located value. */
static inline __attribute__((always_inline)) lx_status copy_located(lx__value_reader *reader,
                                                                    size_t field, uint64_t index,
                                                                    lx__value *value, uint8_t *out,
                                                                    uint64_t room, lx_error *error)
{
    const lx__snapshot *snapshot = reader->snapshot;
    uint64_t size = size_of(snapshot->columns[field].rules, &value->entry);
    bool straight = size == room && !lx__entry_is_compressed(&value->entry);
    lx_status status = lx__value_fetch(reader, field, index, value, straight ? out : NULL, error);
    if (status == LX_OK)
        status = lx__snapshot_verify(snapshot, field, index, value, error);
    if (status != LX_OK)
        return status;
    return size == room ? put(reader, field, index, value, out, room, error)
                        : fail_size(snapshot, field, index, size, room, error);
}

static inline __attribute__((always_inline)) lx_status
copy_value(lx__value_reader *reader, size_t field, uint64_t index, const lx__loaded *loaded,
           uint8_t *out, uint64_t room, lx_error *error)
{
    lx__value value;
    lx_status status = find(reader, field, index, loaded, &value, error);
    return status == LX_OK ? copy_located(reader, field, index, &value, out, room, error) : status;
}

/** Like copy_value(), but if the policy is ZEROS and the value is damaged, writes zeros and sets
 * @p lost. */
static lx_status copy_any(lx__value_reader *reader, lx__damage_counter *damages, size_t field,
                          uint64_t index, const lx__loaded *loaded, uint8_t *out, uint64_t room,
                          bool *lost, lx_error *error)
{
    *lost = false;
    lx_status status = copy_value(reader, field, index, loaded, out, room, error);
    if (status == LX_OK)
        return status;
    if (lx__value_renew(reader, field, index, status, error))
        status = copy_value(reader, field, index, NULL, out, room, error);
    if (!lx__damage_count(damages, status))
        return status;
    lx__value_forget_damage(reader, field, index, error);
    memset(out, 0, (size_t)room);
    *lost = true;
    return LX_OK;
}

lx_status lx__gather_one(lx__value_reader *reader, lx__damage_counter *damages, size_t field,
                         uint64_t index, uint8_t *out, uint64_t room, lx_error *error)
{
    bool lost;
    return copy_any(reader, damages, field, index, NULL, out, room, &lost, error);
}

/* ---- blocks */

/** Copies value @p i of the block and marks it as copied, provided that its bytes are intact. */
static void copy_if_intact(gather *g, size_t i, const uint8_t *data)
{
    lx__value value;
    uint64_t index = g->indices[i];
    value.entry = g->loaded[i].entry;
    value.update = g->loaded[i].update;
    value.data = data;
    g->copied[i] =
        lx__snapshot_verify(g->reader.snapshot, g->field, index, &value, NULL) == LX_OK &&
        put(&g->reader, g->field, index, &value, out_of(g, i), room_of(g, i), NULL) == LX_OK;
}

static void take_extent(void *user, size_t which, const uint8_t *data)
{
    gather *g = user;
    g->fetched++;
    copy_if_intact(g, g->owners[which], data);
}

/** Adds the extent of value @p i to the batch; if it has no extent, copies the value right away. */
static void list_value(gather *g, size_t i)
{
    lx__value value;
    const lx__loaded *loaded = &g->loaded[i];
    g->copied[i] = false;
    if (g->indices[i] >= g->reader.snapshot->length || loaded->lost ||
        find(&g->reader, g->field, g->indices[i], loaded, &value, NULL) != LX_OK ||
        size_of(g->rules, &value.entry) != room_of(g, i))
        return;
    if (value.extent.chunk == NULL) {
        copy_if_intact(g, i, value.data);
        return;
    }
    if (!lx__entry_is_compressed(&value.entry))
        value.extent.into = out_of(g, i);
    g->owners[g->extent_count] = (uint8_t)i;
    g->extents[g->extent_count++] = value.extent;
}

/** Fetches the bytes of a block as one batch and copies the intact values. The caller then reads
 * the others one by one, so that failures are reported. */
static lx_status copy_intact(gather *g, lx_error *error)
{
    const lx__snapshot *snapshot = g->reader.snapshot;
    g->extent_count = g->fetched = 0;
    for (size_t i = 0; i < g->count; i++)
        list_value(g, i);
    lx__fetcher *fetcher = lx__value_fetcher(&g->reader, g->field, error);
    if (fetcher == NULL)
        return LX_ERR_NOMEM;
    if (lx__store_is_elsewhere(snapshot->store))
        lx__prefetch_extents(&g->reader, g->field, g->extents, g->extent_count);
    lx_error why = LX_ERROR_INIT;
    lx_status status = fetcher->fetch(fetcher, g->extents, g->extent_count, take_extent, g, &why);
    if (!lx__file_gave_up(&snapshot->store->directory, status))
        return LX_OK;
    size_t i = g->owners[g->fetched];
    lx__snapshot_add_context(snapshot, g->field, g->indices[i], &g->loaded[i].entry, &why);
    lx__error_propagate(error, &why);
    return status;
}

static void prefetch_located(const gather *g, const lx__value *value, size_t lines)
{
    const uint8_t *data = value->extent.chunk != NULL
                              ? lx__snapshot_address(g->reader.snapshot, &value->extent)
                              : NULL;
    if (data != NULL)
        lx__prefetch_payload(data, value->entry.physical, lines);
}

/** Copies the intact ones of up to LOCATED mapped values, starting with @p first. Locates all of
 * them first, so that reading their entries and their bytes does not wait for memory. */
static void copy_mapped(gather *g, size_t first, size_t count)
{
    lx__value values[LOCATED];
    bool *copied = g->copied + first;
    for (size_t i = 0; i < count; i++) {
        const lx__loaded *loaded = known(g, first + i);
        copied[i] = find(&g->reader, g->field, g->indices[first + i], loaded, &values[i], NULL) ==
                    LX_OK;
        if (copied[i])
            prefetch_located(g, &values[i], 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && copied[i + 1])
            prefetch_located(g, &values[i + 1], LX__LINES_AHEAD);
        if (copied[i])
            copied[i] = copy_located(&g->reader, g->field, g->indices[first + i], &values[i],
                                     out_of(g, first + i), room_of(g, first + i), NULL) == LX_OK;
    }
}

static lx_status copy_block(gather *g, lx_error *error)
{
    bool lost;
    lx_status status = g->reader.by_pread ? copy_intact(g, error) : LX_OK;
    for (size_t i = 0; !g->reader.by_pread && i < g->count; i += LOCATED)
        copy_mapped(g, i, g->count - i < LOCATED ? g->count - i : LOCATED);
    for (size_t i = 0; status == LX_OK && i < g->count; i++)
        if (!g->copied[i])
            status = copy_any(&g->reader, g->damages, g->field, g->indices[i], known(g, i),
                              out_of(g, i), room_of(g, i), &lost, error);
    return status;
}

static lx_status copy_all(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                          const uint64_t *indices, size_t count, target to, lx_error *error)
{
    gather g;
    lx_status status = LX_OK;
    start(&g, snapshot, damages, field);
    g.to = to;
    for (size_t at = 0; status == LX_OK && at < count; at += g.count) {
        status = next_block(&g, indices + at, count - at, to.offsets == NULL, error);
        if (status == LX_OK)
            status = copy_block(&g, error);
        if (to.offsets != NULL)
            g.to.offsets += g.count;
        else
            g.to.out += g.count * to.stride;
    }
    lx__value_reader_end(&g.reader);
    return status;
}

lx_status lx__gather_rows(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                          const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                          lx_error *error)
{
    target to = {.out = out, .stride = stride, .size = snapshot->columns[field].rules->size};
    return copy_all(snapshot, damages, field, indices, count, to, error);
}

lx_status lx__gather_bytes(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error)
{
    target to = {.out = out, .offsets = offsets};
    return copy_all(snapshot, damages, field, indices, count, to, error);
}

/* ---- lengths */

static lx_status fetch_verified(gather *g, size_t i, lx__value *value, lx_error *error)
{
    lx_status status = lx__value_fetch(&g->reader, g->field, g->indices[i], value, NULL, error);
    return status == LX_OK
               ? lx__snapshot_verify(g->reader.snapshot, g->field, g->indices[i], value, error)
               : status;
}

/** Locates a value in order to measure it. If damaged values are to be read as missing, also
 * fetches and verifies it. Rejects an intact value whose codec this library lacks, because there is
 * no bound on the length that its entry may claim. */
static lx_status find_measured(gather *g, size_t i, lx__value *value, lx_error *error)
{
    bool zeros = g->damages->policy == LX_DAMAGE_ZEROS;
    lx_status status = find(&g->reader, g->field, g->indices[i], known(g, i), value, error);
    if (status != LX_OK)
        return status;
    bool refused = lx__entry_is_compressed(&value->entry) &&
                   lx__payload_check_codec(&value->entry, g->rules, NULL) != LX_OK;
    if (zeros || refused)
        status = fetch_verified(g, i, value, error);
    if (status == LX_OK && refused) {
        status = lx__payload_check_codec(&value->entry, g->rules, error);
        lx__snapshot_add_context(g->reader.snapshot, g->field, g->indices[i], &value->entry, error);
    }
    return status;
}

/** Whether record @p i of the block, which could not be read, must be read again. */
static bool renew(gather *g, size_t i, lx_status status, lx_error *error)
{
    bool renewed = lx__value_renew(&g->reader, g->field, g->indices[i], status, error);
    if (renewed)
        g->loaded[i].lost = true; /* its row may differ now */
    return renewed;
}

static lx_status measure_value(gather *g, size_t i, lx__value *value, lx_error *error)
{
    lx_status status = find_measured(g, i, value, error);
    if (status == LX_OK)
        return status;
    if (renew(g, i, status, error))
        status = find_measured(g, i, value, error);
    if (g->damages->policy == LX_DAMAGE_ZEROS && status == LX_ERR_CORRUPT) {
        lx__value_forget_damage(&g->reader, g->field, g->indices[i], error);
        value->entry = (lx__entry){0}; /* The gather that follows will count it. */
        return LX_OK;
    }
    (void)lx__damage_count(g->damages, status);
    return status;
}

lx_status lx__measure(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                      const uint64_t *indices, size_t count, uint64_t *offsets, uint8_t *present,
                      lx_error *error)
{
    gather g;
    lx_status status = LX_OK;
    start(&g, snapshot, damages, field);
    offsets[0] = 0;
    for (size_t at = 0; status == LX_OK && at < count; at += g.count) {
        lx__prefetch_rows(&g.reader, field, indices, count, at);
        status = next_block(&g, indices + at, count - at, false, error);
        if (status == LX_OK && damages->policy == LX_DAMAGE_ZEROS) /* values are verified */
            status = lx__prefetch_block(&g.reader, field, g.indices, g.count, 0, error);
        for (size_t i = 0; status == LX_OK && i < g.count; i++) {
            lx__value value;
            status = measure_value(&g, i, &value, error);
            if (status != LX_OK)
                break;
            offsets[at + i + 1] = offsets[at + i] + size_of(g.rules, &value.entry);
            if (present != NULL)
                present[at + i] = !lx__entry_is_missing(&value.entry);
        }
    }
    lx__value_reader_end(&g.reader);
    return status;
}

/* ---- views */

static lx_status refuse_compressed(const lx__snapshot *snapshot, size_t field, uint64_t index,
                                   const lx__entry *entry, lx_error *error)
{
    if (!lx__entry_is_compressed(entry))
        return LX_OK;
    lx_status status =
        lx_fail(error, LX_ERR_UNSUPPORTED,
                "cannot view the record in place because it is compressed: gather it instead");
    lx__snapshot_add_context(snapshot, field, index, entry, error);
    return status;
}

static lx_status find_slice(lx__value_reader *reader, size_t field, uint64_t index, lx_slice *slice,
                            lx_error *error)
{
    lx__value value;
    lx_status status = find(reader, field, index, NULL, &value, error);
    if (status == LX_OK)
        status = refuse_compressed(reader->snapshot, field, index, &value.entry, error);
    if (status == LX_OK)
        status = lx__value_fetch(reader, field, index, &value, NULL, error);
    if (status == LX_OK)
        status = lx__snapshot_verify(reader->snapshot, field, index, &value, error);
    if (status == LX_OK)
        *slice = (lx_slice){value.data, value.entry.logical};
    return status;
}

static lx_status fill_slice(lx__value_reader *reader, lx__damage_counter *damages, size_t field,
                            uint64_t index, lx_slice *slice, lx_error *error)
{
    lx_status status = find_slice(reader, field, index, slice, error);
    if (status == LX_OK || !lx__damage_count(damages, status))
        return status;
    lx__value_forget_damage(reader, field, index, error);
    *slice = (lx_slice){NULL, 0};
    return LX_OK;
}

lx_status lx__mapped_slices(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                            const uint64_t *indices, size_t count, lx_slice *slices,
                            lx_error *error)
{
    lx__value_reader reader = {.snapshot = snapshot};
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = fill_slice(&reader, damages, field, indices[i], &slices[i], error);
    return status;
}

/** Sets the length of a slice and, if the value is present, its data to a placeholder. Rejects a
 * compressed value. */
static lx_status size_slice(gather *g, size_t i, lx_slice *slice, lx_error *error)
{
    static const uint8_t there;
    lx__value value;
    lx_status status = find(&g->reader, g->field, g->indices[i], known(g, i), &value, error);
    *slice = (lx_slice){NULL, 0};
    if (renew(g, i, status, error))
        status = find(&g->reader, g->field, g->indices[i], known(g, i), &value, error);
    if (status != LX_OK && g->damages->policy == LX_DAMAGE_ZEROS &&
        lx__damage_count(g->damages, status)) {
        lx__value_forget_damage(&g->reader, g->field, g->indices[i], error);
        return LX_OK;
    }
    if (status == LX_OK)
        status = refuse_compressed(g->reader.snapshot, g->field, g->indices[i], &value.entry,
                                   error);
    if (status == LX_OK && !lx__entry_is_missing(&value.entry))
        *slice = (lx_slice){&there, value.entry.logical};
    return status;
}

/** Sets the lengths of all slices that precede the first failure, and sets @p sized to their
 * number. */
static lx_status size_slices(gather *g, const uint64_t *indices, size_t count, lx_slice *slices,
                             size_t *sized, uint64_t *total, lx_error *error)
{
    lx_status status = LX_OK;
    *total = 0;
    for (*sized = 0; status == LX_OK && *sized < count;) {
        status = next_block(g, indices + *sized, count - *sized, false, error);
        for (size_t i = 0; status == LX_OK && i < g->count; i++) {
            status = size_slice(g, i, &slices[*sized], error);
            if (status == LX_OK)
                *total += lx__align_up(slices[(*sized)++].size, g->rules->align);
        }
    }
    return status;
}

/** Reads the values of a block to @p *out, one after the other, and advances that pointer. */
static lx_status fill_slices(gather *g, lx_slice *slices, uint8_t **out, lx_error *error)
{
    lx_status status = lx__prefetch_block(&g->reader, g->field, g->indices, g->count, 0, error);
    for (size_t i = 0; status == LX_OK && i < g->count; i++) {
        bool lost;
        if (slices[i].data == NULL)
            continue;
        status = copy_any(&g->reader, g->damages, g->field, g->indices[i], known(g, i), *out,
                          slices[i].size, &lost, error);
        slices[i] = lost ? (lx_slice){NULL, 0} : (lx_slice){*out, slices[i].size};
        *out += lost ? 0 : lx__align_up(slices[i].size, g->rules->align);
    }
    return status;
}

/** Makes a view that consists of copies of the records. */
static lx_status view_copies(gather *g, const uint64_t *indices, size_t count, lx_slice *slices,
                             lx__snapshot **view, lx_error *error)
{
    uint64_t total;
    size_t sized;
    lx_error later = LX_ERROR_INIT;
    lx_status failed = size_slices(g, indices, count, slices, &sized, &total, &later);
    lx_status status = lx__snapshot_new_memory(g->reader.snapshot->store, total, view, error);
    if (status != LX_OK)
        return status;
    uint8_t *out = (*view)->memory;
    for (size_t at = 0; status == LX_OK && at < sized; at += g->count) {
        status = next_block(g, indices + at, sized - at, false, error);
        if (status == LX_OK)
            status = fill_slices(g, slices + at, &out, error);
    }
    /* The records copied here all come before the one at which size_slices() failed, so its failure
     * is reported last. */
    if (status == LX_OK && failed != LX_OK) {
        (void)lx__damage_count(g->damages, failed);
        lx__error_propagate(error, &later);
        status = failed;
    }
    if (status != LX_OK)
        lx__snapshot_unref(*view);
    return status;
}

lx_status lx__view(lx__snapshot *snapshot, lx__damage_counter *damages, size_t field,
                   const uint64_t *indices, size_t count, lx_slice *slices, lx__snapshot **view,
                   lx_error *error)
{
    lx_status status;
    if (snapshot->store->access == LX_ACCESS_MMAP) {
        status = lx__mapped_slices(snapshot, damages, field, indices, count, slices, error);
        if (status == LX_OK)
            *view = lx__snapshot_ref(snapshot);
        return status;
    }
    gather g;
    start(&g, snapshot, damages, field);
    status = view_copies(&g, indices, count, slices, view, error);
    lx__value_reader_end(&g.reader);
    return status;
}
