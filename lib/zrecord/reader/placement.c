/* SPDX-License-Identifier: MIT */
/* The access mode of a dataset, and which way a call reads. That is decided once a call, so that
 * mapped reads cost no more for the other mode. */
#include "base/error.h"
#include "zrecord/reader/dataset.h"
#include "zrecord/reader/fetch.h"

static bool is_mapped(const lx__snapshot *snapshot)
{
    return snapshot->store->placement == LX_PLACEMENT_MAPPED;
}

lx_status lx__gather_dense(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out, size_t stride,
                           lx_error *error)
{
    return (is_mapped(snapshot) ? lx__mapped_dense : lx__fetch_dense)(
        snapshot, damages, field, indices, count, out, stride, error);
}

lx_status lx__gather_bytes(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                           const uint64_t *indices, size_t count, uint8_t *out,
                           const uint64_t *offsets, lx_error *error)
{
    return (is_mapped(snapshot) ? lx__mapped_bytes : lx__fetch_any)(
        snapshot, damages, field, indices, count, out, offsets, error);
}

lx_status lx__measure(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                      const uint64_t *indices, size_t count, uint64_t *offsets, uint8_t *present,
                      lx_error *error)
{
    return (is_mapped(snapshot) ? lx__mapped_measure : lx__fetch_measure)(
        snapshot, damages, field, indices, count, offsets, present, error);
}

lx_status lx__view(lx__snapshot *snapshot, lx__damages *damages, size_t field,
                   const uint64_t *indices, size_t count, lx_slice *slices, lx__snapshot **view,
                   lx_error *error)
{
    if (!is_mapped(snapshot))
        return lx__fetch_view(snapshot, damages, field, indices, count, slices, view, error);
    lx_status status =
        lx__mapped_slices(snapshot, damages, field, indices, count, slices, error);
    if (status == LX_OK)
        *view = lx__snapshot_ref(snapshot); /* shows the mapped bytes themselves */
    return status;
}

/* ---- the option */

lx_status lx_dataset_options_set_placement(lx_dataset_options *options, lx_placement placement,
                                           lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    switch (placement) {
    case LX_PLACEMENT_AUTO:
    case LX_PLACEMENT_MAPPED:
    case LX_PLACEMENT_PREAD:
        options->placement = placement;
        return LX_OK;
    }
    return lx__fail(error, LX_ERR_ARGUMENT, "placement: %d is invalid: use auto, mapped or pread",
                    (int)placement);
}

lx_placement lx_dataset_get_placement(lx_dataset *dataset, const char **network)
{
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    lx_placement placement = snapshot->store->placement;
    if (network != NULL)
        *network = snapshot->store->network; /* a constant of ours */
    lx__snapshot_unref(snapshot);
    return placement;
}
