/* SPDX-License-Identifier: MIT */
/* The calls of zrecord.h that read records: they pin a snapshot and check arguments. */
#include "base/error.h"
#include "zrecord/reader/dataset.h"
#include "zrecord/reader/gather.h"

static lx_status check_call(const lx_dataset *dataset, size_t field, const uint64_t *indices,
                            size_t count, lx_error *error)
{
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK && indices == NULL && count != 0)
        status = lx__fail_null(error, "indices");
    return status;
}

lx_status lx_dataset_gather(lx_dataset *dataset, size_t field, const uint64_t *indices,
                            size_t count, void *out, size_t stride, lx_error *error)
{
    lx_status status = check_call(dataset, field, indices, count, error);
    if (status != LX_OK)
        return status;
    const lx_field *shown = &lx__schema_field(dataset->schema, field)->shown;
    if (shown->size == LX_NONE)
        return lx__fail(error, LX_ERR_ARGUMENT,
                        "field '%s' has records of varying length: measure them, and use "
                        "lx_dataset_gather_bytes",
                        shown->name);
    if (stride < shown->size)
        return lx__fail(error, LX_ERR_ARGUMENT, "stride %zu is less than the %llu bytes a record",
                        stride, (unsigned long long)shown->size);
    if (out == NULL && count != 0)
        return lx__fail_null(error, "out");
    lx__snapshot *snapshot;
    status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    status = lx__gather_dense(snapshot, dataset->damages, field, indices, count, out, stride,
                              error);
    lx__snapshot_unref(snapshot);
    return status;
}

lx_status lx_dataset_measure(lx_dataset *dataset, size_t field, const uint64_t *indices,
                             size_t count, uint64_t *offsets, uint8_t *present, lx_error *error)
{
    lx_status status = check_call(dataset, field, indices, count, error);
    if (status != LX_OK)
        return status;
    if (offsets == NULL)
        return lx__fail_null(error, "offsets");
    lx__snapshot *snapshot;
    status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    status = lx__measure(snapshot, dataset->damages, field, indices, count, offsets, present,
                         error);
    lx__snapshot_unref(snapshot);
    return status;
}

lx_status lx_dataset_gather_bytes(lx_dataset *dataset, size_t field, const uint64_t *indices,
                                  size_t count, void *out, const uint64_t *offsets,
                                  lx_error *error)
{
    lx_status status = check_call(dataset, field, indices, count, error);
    if (status != LX_OK)
        return status;
    if (offsets == NULL)
        return lx__fail_null(error, "offsets");
    if (out == NULL && offsets[count] != 0)
        return lx__fail_null(error, "out");
    lx__snapshot *snapshot;
    status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    uint8_t nothing; /* where all records are empty, no memory need be there for them */
    status = lx__gather_bytes(snapshot, dataset->damages, field, indices, count,
                              out != NULL ? out : &nothing, offsets, error);
    lx__snapshot_unref(snapshot);
    return status;
}

static lx_status find_slice(lx__snapshot *snapshot, size_t field, uint64_t index, lx_slice *slice,
                            lx_error *error)
{
    lx__entry entry;
    lx__value_place place;
    if (index >= snapshot->state.length)
        return lx__fail_index(snapshot, field, index, error);
    lx_status status = lx__snapshot_locate(snapshot, field, index, &entry, &place, error);
    if (status == LX_OK && lx__entry_is_compressed(&entry)) {
        status = lx__fail(error, LX_ERR_UNSUPPORTED,
                          "the record is compressed and cannot be viewed in place: gather it");
        lx__snapshot_blame(snapshot, field, index, &entry, error);
    }
    if (status == LX_OK)
        status = lx__snapshot_verify(snapshot, field, index, &entry, &place, error);
    *slice = (lx_slice){place.data, place.logical};
    return status;
}

static lx_status fill_slice(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                            uint64_t index, lx_slice *slice, lx_error *error)
{
    bool zeros = damages->policy == LX_DAMAGE_ZEROS;
    lx_status status = find_slice(snapshot, field, index, slice, zeros ? NULL : error);
    if (status == LX_OK)
        return status;
    if (lx__damages_meet(damages, status)) {
        *slice = (lx_slice){NULL, 0};
        return LX_OK;
    }
    return zeros ? find_slice(snapshot, field, index, slice, error) : status;
}

lx_status lx__mapped_slices(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                            const uint64_t *indices, size_t count, lx_slice *slices,
                            lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = fill_slice(snapshot, damages, field, indices[i], &slices[i], error);
    return status;
}

/* A view is a snapshot by another name: where what it shows is mapped, that which was pinned, and
 * no memory is taken for it. */
lx_status lx_dataset_view(lx_dataset *dataset, size_t field, const uint64_t *indices,
                          size_t count, lx_slice *slices, lx_view **view, lx_error *error)
{
    lx_status status = check_call(dataset, field, indices, count, error);
    if (status != LX_OK)
        return status;
    if (view == NULL)
        return lx__fail_null(error, "view");
    if (slices == NULL && count != 0)
        return lx__fail_null(error, "slices");
    lx__snapshot *snapshot;
    status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    lx__snapshot *shown;
    status = lx__view(snapshot, dataset->damages, field, indices, count, slices, &shown, error);
    if (status == LX_OK)
        *view = (lx_view *)shown;
    lx__snapshot_unref(snapshot);
    return status;
}

void lx_view_release(lx_view *view)
{
    lx__snapshot_unref((lx__snapshot *)view);
}
