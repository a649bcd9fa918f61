/* SPDX-License-Identifier: MIT */
/* The access mode of a dataset: the option, and the mode in use. */
#include "base/error.h"
#include "zrecord/read/dataset.h"

lx_status lx_dataset_options_set_access(lx_dataset_options *options, lx_access access,
                                        lx_error *error)
{
    if (options == NULL)
        return lx__fail_null(error, "options");
    switch (access) {
    case LX_ACCESS_AUTO:
    case LX_ACCESS_MMAP:
    case LX_ACCESS_PREAD:
        options->access = access;
        return LX_OK;
    }
    return lx_fail(error, LX_ERR_ARGUMENT, "access mode %d is invalid: use auto, mmap or pread",
                   (int)access);
}

lx_access lx_dataset_get_access(lx_dataset *dataset)
{
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    lx_access access = snapshot->store->access;
    lx__snapshot_unref(snapshot);
    return access;
}

const char *lx_dataset_get_network(lx_dataset *dataset)
{
    lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
    const char *network = snapshot->store->network; /* a string constant */
    lx__snapshot_unref(snapshot);
    return network;
}
