/* SPDX-License-Identifier: MIT */
/* Handles that go on by themselves, and waiting for records. */
#include <time.h>

#include "base/error.h"
#include "executor/clock.h"
#include "zrecord/read/dataset.h"

/* Between two looks for new records: a frame is seen a moment after it was written, and a wait of
 * minutes costs nothing. */
#define PAUSE_MIN_NS 1000000u
#define PAUSE_MAX_NS 20000000u

/** Goes on to the newest commit, if the dataset is live. */
static lx_status catch_up(lx_dataset *dataset, lx_error *error)
{
    if (!dataset->options.live)
        return LX_OK;
    lx_status status = LX_OK;
    bool changed;
    lx__dataset_check_process(dataset);
    uint64_t begun = atomic_load(&dataset->refreshes);
    pthread_mutex_lock(&dataset->refreshing);
    /* Another thread's refresh that began after this call did has seen all that this one may ask
     * for: of any number of threads that wait here, one does the work. */
    if (atomic_load(&dataset->refreshes) == begun || !dataset->refreshed)
        status = lx__dataset_refresh(dataset, &changed, error);
    pthread_mutex_unlock(&dataset->refreshing);
    return status;
}

lx_status lx__dataset_pin_newest(lx_dataset *dataset, lx__snapshot **snapshot, lx_error *error)
{
    lx_status status = catch_up(dataset, error);
    if (status == LX_OK)
        *snapshot = lx__dataset_ref_snapshot(dataset);
    return status;
}

lx__snapshot *lx__dataset_pin(lx_dataset *dataset)
{
    (void)catch_up(dataset, NULL);
    return lx__dataset_ref_snapshot(dataset);
}

/** Sleeps; a signal may end it early. */
static void pause_for(uint64_t nanoseconds)
{
    struct timespec time = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    (void)nanosleep(&time, NULL);
}

lx_status lx_dataset_wait(lx_dataset *dataset, uint64_t length, uint64_t nanoseconds,
                          lx_error *error)
{
    if (dataset == NULL)
        return lx__fail_null(error, "dataset");
    uint64_t deadline = lx__clock_after(nanoseconds), pause = PAUSE_MIN_NS;
    for (;;) {
        lx_status status = lx_dataset_refresh(dataset, NULL, error);
        if (status != LX_OK)
            return status;
        lx__snapshot *snapshot = lx__dataset_ref_snapshot(dataset);
        bool there = snapshot->state.length >= length;
        lx__snapshot_unref(snapshot);
        if (there)
            return LX_OK;
        uint64_t now = lx__clock_now();
        if (now >= deadline)
            return LX_ERR_TIMEOUT;
        pause_for(deadline - now < pause ? deadline - now : pause);
        pause = pause * 2 < PAUSE_MAX_NS ? pause * 2 : PAUSE_MAX_NS;
    }
}
