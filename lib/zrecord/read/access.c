/* SPDX-License-Identifier: MIT */
/* The access mode of a dataset: the option, and what it came to. */
#include "base/error.h"
#include "zrecord/read/dataset.h"

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
