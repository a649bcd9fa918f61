/* SPDX-License-Identifier: MIT */
#include "zrecord/read/residency.h"

#include "base/process.h"
#include "executor/clock.h"
#include "zrecord/read/prefetch.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-rows.h"

/* Calls that read fewer records are not measured: they would gain little. */
#define RECORDS_MIN 4
/* Maximum number of records in a step that reads from disk. Their pages stay in memory until they
 * are read, and requesting them keeps any disk busy. */
#define STEP_RECORDS 1024
#define STEP_BYTES ((uint64_t)16 << 20)
/* How many of a step's values are tested. */
#define SAMPLES 8
/* Values are in memory once this many steps in a row found no tested value on disk. */
#define RESIDENT_STEPS 16
/* A step that copies from memory takes less time than this for each record and each KiB. */
#define RECORD_NS 1000
#define KIB_NS 500

static bool is_absent(const lx__snapshot *snapshot, const lx__file_name *name, uint64_t offset)
{
    lx__open_file *file;
    lx__fd_cache *cache = &snapshot->store->files;
    if (lx__fd_cache_take(cache, name, &file, NULL) != LX_OK)
        return false; /* the read will report the error */
    bool absent = lx__file_is_absent(&file->file, offset);
    lx__fd_cache_release(cache, file);
    return absent;
}

/** Whether the row of a value, or the first byte of its payload, is on disk. */
static bool is_on_disk(lx__value_reader *reader, size_t field, uint64_t index)
{
    const lx__snapshot *snapshot = reader->snapshot;
    const lx__file_name rows = {.part = LX__PART_OFFSETS,
                                .number = (uint32_t)field,
                                .generation = snapshot->state.table_generation};
    lx__value value;
    if (index < snapshot->state.rows && is_absent(snapshot, &rows, index * LX__OFFSET_ROW))
        return true;
    if (index >= snapshot->length || lx__value_find(reader, field, index, &value, NULL) != LX_OK ||
        value.extent.chunk == NULL)
        return false;
    const lx__file_name chunk = {.part = LX__PART_CHUNK,
                                 .number = value.extent.chunk->id,
                                 .bytes = value.extent.chunk->bytes};
    return is_absent(snapshot, &chunk, value.extent.offset);
}

static bool any_on_disk(lx__value_reader *reader, size_t field, const uint64_t *indices,
                        size_t count)
{
    size_t stride = count / SAMPLES + 1;
    for (size_t i = 0; i < count; i += stride)
        if (is_on_disk(reader, field, indices[i]))
            return true;
    return false;
}

/** Requests the tables of a field once: reading them in order takes less time than reading the rows
 * of one batch after another. */
static void request_tables(const lx__snapshot *snapshot, size_t field)
{
    lx__store *store = snapshot->store;
    if (snapshot->state.rows == 0 || atomic_exchange(&store->tables_requested[field], true))
        return;
    for (lx__part part = LX__PART_OFFSETS; part <= LX__PART_CHECKS; part++) {
        lx__open_file *file;
        const lx__file_name name = {.part = part,
                                    .number = (uint32_t)field,
                                    .generation = snapshot->state.table_generation};
        uint64_t row = part == LX__PART_OFFSETS ? LX__OFFSET_ROW : LX__CHECK_ROW;
        if (lx__fd_cache_take(&store->files, &name, &file, NULL) != LX_OK)
            continue;
        lx__file_will_need(&file->file, 0, snapshot->state.rows * row);
        lx__fd_cache_release(&store->files, file);
    }
}

/** Updates the state with the result of a test. */
static void learn(lx__store *store, bool on_disk)
{
    lx__residency state = atomic_load_explicit(&store->residency, memory_order_relaxed);
    if (on_disk) {
        atomic_store_explicit(&store->resident_steps, 0, memory_order_relaxed);
        if (state != LX__ON_DISK)
            lx__fd_cache_keep(&store->files, LX__FILES_MAX);
        state = LX__ON_DISK;
    } else if (state == LX__ON_DISK) {
        unsigned steps = atomic_fetch_add_explicit(&store->resident_steps, 1, memory_order_relaxed);
        state = steps + 1 < RESIDENT_STEPS ? LX__ON_DISK : LX__IN_MEMORY;
    } else {
        state = LX__IN_MEMORY;
    }
    atomic_store_explicit(&store->residency, state, memory_order_relaxed);
}

bool lx__residency_request(lx__snapshot *snapshot, size_t field, const uint64_t *indices,
                           size_t count)
{
    lx__value_reader reader = lx__value_reader_of(snapshot);
    bool elsewhere = lx__store_is_elsewhere(snapshot->store);
    if (!elsewhere)
        learn(snapshot->store, any_on_disk(&reader, field, indices, count));
    bool on_disk = lx__residency_is_on_disk(snapshot->store);
    if (on_disk && !elsewhere)
        request_tables(snapshot, field);
    if (on_disk)
        (void)lx__prefetch_values(&reader, field, indices, count, NULL);
    lx__value_reader_end(&reader);
    return on_disk;
}

/** Returns the number of records in a step that reads from disk. */
static size_t step_of(const lx__snapshot *snapshot, size_t field, size_t count)
{
    uint64_t size = snapshot->columns[field].rules->size, fit = STEP_RECORDS;
    if (size == LX_NONE)
        fit = STEP_RECORDS / 4;
    else if (size > STEP_BYTES / STEP_RECORDS)
        fit = STEP_BYTES / size;
    fit = fit < RECORDS_MIN ? RECORDS_MIN : fit;
    return count < fit ? count : (size_t)fit;
}

lx__residency_step lx__residency_begin(const lx_dataset *dataset, lx__snapshot *snapshot,
                                       size_t field, const uint64_t *indices, size_t count)
{
    lx__residency_step step = {.count = count};
    const lx__store *store = snapshot->store;
    lx__residency state = atomic_load_explicit(&store->residency, memory_order_relaxed);
    if (count < RECORDS_MIN || state == LX__ASSUMED)
        return step;
    /* A gather requests what it needs for a block from elsewhere, in any case. */
    if (lx__store_is_elsewhere(store) && count <= LX__VALUE_BLOCK)
        return step;
    if (store->access == LX_ACCESS_MMAP && state == LX__IN_MEMORY) {
        step.started = lx__clock_now();
    } else if (!atomic_load_explicit(&dataset->read_ahead, memory_order_relaxed)) {
        step.count = step_of(snapshot, field, count);
        lx__residency_request(snapshot, field, indices, step.count);
    }
    return step;
}

void lx__residency_end(const lx__snapshot *snapshot, const lx__residency_step *step, uint64_t bytes)
{
    lx__store *store = snapshot->store;
    if (step->started == 0 ||
        lx__clock_now() - step->started < step->count * RECORD_NS + bytes / 1024 * KIB_NS)
        return;
    uint64_t faults = lx__process_major_faults();
    if (atomic_exchange_explicit(&store->major_faults, faults, memory_order_relaxed) != faults)
        atomic_store_explicit(&store->residency, LX__UNKNOWN, memory_order_relaxed);
}

bool lx__dataset_wants_read_ahead(lx_dataset *dataset)
{
    lx__dataset_lock(dataset);
    lx__residency state = atomic_load_explicit(&dataset->snapshot->store->residency,
                                               memory_order_relaxed);
    pthread_mutex_unlock(&dataset->mutex);
    return state == LX__UNKNOWN || state == LX__ON_DISK;
}

void lx__dataset_ask_rows(lx_dataset *dataset, size_t field, uint64_t first, uint64_t count)
{
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    lx__value_reader reader = lx__value_reader_of(snapshot);
    uint64_t rows = snapshot->state.rows, left = first < rows ? rows - first : 0;
    if (lx__store_is_elsewhere(snapshot->store) && left != 0)
        lx__value_ask_rows(&reader, field, first, count < left ? count : left);
    lx__snapshot_unref(snapshot);
}

bool lx__dataset_is_remote(lx_dataset *dataset)
{
    lx__dataset_lock(dataset);
    bool elsewhere = lx__store_is_elsewhere(dataset->snapshot->store);
    pthread_mutex_unlock(&dataset->mutex);
    return elsewhere;
}

bool lx__dataset_read_ahead(lx_dataset *dataset, size_t field, const uint64_t *indices,
                            size_t count)
{
    lx__snapshot *snapshot;
    atomic_store_explicit(&dataset->read_ahead, true, memory_order_relaxed);
    if (lx__dataset_pin_newest(dataset, &snapshot, NULL) != LX_OK)
        return false; /* the read will report the error */
    bool on_disk = lx__residency_request(snapshot, field, indices, count);
    lx__snapshot_unref(snapshot);
    return on_disk;
}
