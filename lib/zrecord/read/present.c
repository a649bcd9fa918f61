/* SPDX-License-Identifier: MIT */
/* Tells missing values from present ones by their entries, without reading the values. */
#include <string.h>

#include "base/error.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/value-rows.h"

bool lx_dataset_may_lack_values(lx_dataset *dataset, size_t field)
{
    if (lx__dataset_check_field(dataset, field, NULL) != LX_OK)
        return false;
    lx__dataset_lock(dataset);
    bool may = lx__snapshot_may_be_missing(dataset->snapshot, field);
    pthread_mutex_unlock(&dataset->mutex);
    return may;
}

/** Reads the mapped rows one by one. For nearly all of them, the first half is enough: if it is not
 * zero, the value is not missing. */
static void mark_mapped(const lx__snapshot *snapshot, size_t field, const uint64_t *indices,
                        size_t count, uint8_t *present)
{
    const uint8_t *rows = snapshot->columns[field].offsets;
    uint64_t end = snapshot->state.overlay.depth == 0 ? snapshot->state.rows : 0;
    for (size_t i = 0; i < count; i++) {
        lx__value value;
        present[i] = 1;
        if (i + LX__ROWS_AHEAD < count && indices[i + LX__ROWS_AHEAD] < end)
            __builtin_prefetch(rows + indices[i + LX__ROWS_AHEAD] * LX__OFFSET_ROW);
        if (indices[i] < end && lx__load_le64(rows + indices[i] * LX__OFFSET_ROW) != 0)
            continue;
        lx__snapshot_load(snapshot, field, indices[i], &value);
        present[i] = !lx__entry_is_missing(&value.entry);
    }
}

/** Marks a value whose row could not be read along with the others. A damaged row counts as
 * present: the read of the value reports the damage. */
static lx_status mark_lost(lx__value_reader *reader, size_t field, uint64_t index, uint8_t *present,
                           lx_error *error)
{
    lx__value value;
    lx_error why = LX_ERROR_INIT;
    lx_status status = lx__value_load(reader, field, index, &value, &why);
    *present = status != LX_OK || !lx__entry_is_missing(&value.entry);
    if (status == LX_OK || status == LX_ERR_CORRUPT)
        return LX_OK;
    lx__error_propagate(error, &why);
    return status;
}

/** Reads rows with pread, one block of records at a time. */
static lx_status mark_read(lx__snapshot *snapshot, size_t field, const uint64_t *indices,
                           size_t count, uint8_t *present, lx_error *error)
{
    lx__loaded loaded[LX__VALUE_BLOCK];
    lx__value_reader reader = lx__value_reader_of(snapshot);
    lx_status status = LX_OK;
    for (size_t at = 0, here; status == LX_OK && at < count; at += here) {
        here = count - at < LX__VALUE_BLOCK ? count - at : LX__VALUE_BLOCK;
        status = lx__value_load_block(&reader, field, indices + at, here, false, loaded, error);
        for (size_t i = 0; status == LX_OK && i < here; i++) {
            if (loaded[i].lost)
                status = mark_lost(&reader, field, indices[at + i], &present[at + i], error);
            else
                present[at + i] = !lx__entry_is_missing(&loaded[i].entry);
        }
    }
    lx__value_reader_end(&reader);
    return status;
}

lx_status lx_dataset_get_present(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                 size_t count, uint8_t *present, lx_error *error)
{
    lx__snapshot *snapshot;
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK && (indices == NULL || present == NULL) && count != 0)
        status = lx__fail_null(error, indices == NULL ? "indices" : "present");
    if (status == LX_OK)
        status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        if (indices[i] >= snapshot->length)
            status = lx__fail_index(snapshot, field, indices[i], error);
    if (status == LX_OK && !lx__snapshot_may_be_missing(snapshot, field))
        memset(present, 1, count); /* reading a row of zeros will report the damage */
    else if (status == LX_OK && snapshot->store->access == LX_ACCESS_MMAP)
        mark_mapped(snapshot, field, indices, count, present);
    else if (status == LX_OK)
        status = mark_read(snapshot, field, indices, count, present, error);
    lx__snapshot_unref(snapshot);
    return status;
}
