/* SPDX-License-Identifier: MIT */
#include "zrecord/read/dataset.h"

#include "base/error.h"

/** Takes over a handle in a child of fork(). */
static void take_over(lx_dataset *dataset)
{
    if (!lx__process_take_over(&dataset->process))
        return;
    pthread_mutex_init(&dataset->refreshing, NULL);
    pthread_mutex_init(&dataset->mutex, NULL);
    lx__store_take_over(dataset->snapshot->store);
    lx__process_adopt(&dataset->process);
}

void lx__dataset_check_process(lx_dataset *dataset)
{
    if (!lx__process_is_this(&dataset->process))
        take_over(dataset);
}

void lx__dataset_lock(lx_dataset *dataset)
{
    lx__dataset_check_process(dataset);
    pthread_mutex_lock(&dataset->mutex);
}

lx__snapshot *lx__dataset_ref_snapshot(lx_dataset *dataset)
{
    lx__dataset_lock(dataset);
    lx__snapshot *snapshot = lx__snapshot_ref(dataset->snapshot);
    pthread_mutex_unlock(&dataset->mutex);
    return snapshot;
}

bool lx__dataset_is_live(const lx_dataset *dataset)
{
    return dataset->options.live;
}

const lx_schema *lx_dataset_get_schema(const lx_dataset *dataset)
{
    return dataset->schema;
}

const char *lx_dataset_get_path(const lx_dataset *dataset)
{
    return dataset->path;
}

lx_status lx__dataset_check_field(const lx_dataset *dataset, size_t field, lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    if (field < dataset->schema->count)
        return LX_OK;
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT,
                               "field %zu not found: the dataset has %zu fields", field,
                               dataset->schema->count);
    lx_error_locate(error, lx_dataset_get_path(dataset), NULL, LX_NONE, LX_NONE);
    return status;
}
