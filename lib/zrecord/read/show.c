/* SPDX-License-Identifier: MIT */
/* Reads single records of a pinned dataset, which is never refreshed. Its snapshot stays the same,
 * so a read takes no lock and no reference; for a value that was verified before, it accesses only
 * the row. */
#include "zrecord/read/show.h"

#include "zrecord/read/dataset.h"

/** Finds a value by its row in the offset table or, if @p update is not NULL, by that row update.
 * Returns false if the slow path has to read it: the value is inline, its chunk is not mapped yet,
 * or its location is invalid. */
static bool find_plain(const lx__snapshot *snapshot, size_t field, uint64_t index,
                       const lx__update *update, lx_slice *slice)
{
    const lx__column *column = &snapshot->columns[field];
    if (update == NULL && index >= snapshot->state.rows)
        return false;
    const uint8_t *row = update != NULL ? update->rows : column->offsets + index * LX__OFFSET_ROW;
    uint32_t chunk = lx__load_le32(row), size = lx__load_le32(row + 4);
    uint64_t offset = lx__load_le64(row + 8);
    uint32_t position;
    const uint8_t *data = lx__snapshot_find_mapped(snapshot, chunk, offset, size,
                                                   column->rules->align - 1, &position);
    if (data == NULL)
        return false;
    *slice = (lx_slice){data + offset, size};
    return true;
}

static const lx__update *find_update(const lx__snapshot *snapshot, size_t field, uint64_t index)
{
    const lx__overlay *overlay = &snapshot->state.overlay;
    return overlay->depth != 0 ? lx__overlay_find_update(overlay, (uint32_t)field, index) : NULL;
}

bool lx__dataset_locate(const lx_dataset *pinned, size_t field, uint64_t index, lx_slice *slice)
{
    const lx__snapshot *snapshot = pinned->snapshot;
    return find_plain(snapshot, field, index, find_update(snapshot, field, index), slice);
}

/** Whether a value was verified before. Such a value is raw if its field is not compressed. */
static bool is_verified(const lx__snapshot *snapshot, size_t field, uint64_t index,
                        const lx__update *update)
{
    return snapshot->store->verify == LX_VERIFY_FIRST &&
           (update != NULL ? lx__update_is_verified(update)
                           : lx__table_is_verified(snapshot->columns[field].table, index));
}

lx_status lx__dataset_show(lx_dataset *pinned, size_t field, uint64_t index, lx_slice *slice,
                           lx_error *error)
{
    lx__snapshot *snapshot = pinned->snapshot;
    const lx__update *update = find_update(snapshot, field, index);
    if (find_plain(snapshot, field, index, update, slice) &&
        is_verified(snapshot, field, index, update))
        return LX_OK;
    lx__dataset_check_process(pinned); /* the slow path may lock the store to map a chunk */
    return lx__mapped_slices(snapshot, pinned->damages, field, &index, 1, slice, error);
}
