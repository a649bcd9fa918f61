/* SPDX-License-Identifier: MIT */
/* The public functions that read records. They check their arguments and pin a snapshot. */
#include "base/error.h"
#include "zrecord/read/gather-dense.h"
#include "zrecord/read/refresh.h"
#include "zrecord/read/residency.h"
#include "zrecord/read/gather.h"

static lx_status check_call(const lx_dataset *dataset, size_t field, const uint64_t *indices,
                            size_t count, lx_error *error)
{
    lx_status status = lx__dataset_check_field(dataset, field, error);
    if (status == LX_OK && indices == NULL && count != 0)
        status = lx__fail_null(error, "indices");
    return status;
}

static lx_status gather_dense(const lx_dataset *dataset, lx__snapshot *snapshot, size_t field,
                              const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                              lx_error *error)
{
    uint64_t size = snapshot->columns[field].rules->size;
    lx_status status = LX_OK;
    for (size_t at = 0; status == LX_OK && at < count;) {
        lx__residency_step step = lx__residency_begin(dataset, snapshot, field, indices + at,
                                                      count - at);
        status = lx__gather_dense(snapshot, dataset->damages, field, indices + at, step.count,
                                  out + at * stride, stride, error);
        lx__residency_end(snapshot, &step, step.count * size);
        at += step.count;
    }
    return status;
}

static lx_status gather_bytes(const lx_dataset *dataset, lx__snapshot *snapshot, size_t field,
                              const uint64_t *indices, size_t count, const uint64_t *offsets,
                              uint8_t *out, lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t at = 0; status == LX_OK && at < count;) {
        lx__residency_step step = lx__residency_begin(dataset, snapshot, field, indices + at,
                                                      count - at);
        status = lx__gather_bytes(snapshot, dataset->damages, field, indices + at, step.count, out,
                                  offsets + at, error);
        lx__residency_end(snapshot, &step, offsets[at + step.count] - offsets[at]);
        at += step.count;
    }
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
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the records of field '%s' vary in length: use lx_dataset_gather_bytes()",
                       shown->name);
    if (stride < shown->size)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "stride %zu is less than the record size of %llu bytes", stride,
                       (unsigned long long)shown->size);
    if (out == NULL && count != 0)
        return lx__fail_null(error, "out");
    lx__snapshot *snapshot;
    status = lx__dataset_pin_newest(dataset, &snapshot, error);
    if (status != LX_OK)
        return status;
    status = gather_dense(dataset, snapshot, field, indices, count, out, stride, error);
    lx__snapshot_unref(snapshot);
    return status;
}

lx_status lx_dataset_get_sizes(lx_dataset *dataset, size_t field, const uint64_t *indices,
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
                                  size_t count, const uint64_t *offsets, void *out, lx_error *error)
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
    uint8_t nothing; /* out may be NULL if all records are empty */
    status = gather_bytes(dataset, snapshot, field, indices, count, offsets,
                          out != NULL ? out : &nothing, error);
    lx__snapshot_unref(snapshot);
    return status;
}

/* A view is a snapshot. For mapped records, it is the pinned snapshot itself, so the view needs no
 * memory. */
lx_status lx_dataset_view(lx_dataset *dataset, size_t field, const uint64_t *indices, size_t count,
                          lx_slice *slices, lx_view **view, lx_error *error)
{
    LX__CLEAR(view);
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
    (void)lx__residency_begin(dataset, snapshot, field, indices, count);
    status = lx__view(snapshot, dataset->damages, field, indices, count, slices, &shown, error);
    if (status == LX_OK)
        *view = (lx_view *)shown;
    lx__snapshot_unref(snapshot);
    return status;
}

void lx_view_free(lx_view *view)
{
    lx__snapshot_unref((lx__snapshot *)view);
}
