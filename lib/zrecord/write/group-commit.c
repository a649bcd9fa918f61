/* SPDX-License-Identifier: MIT */
/* Group commit: while one caller syncs, the operations of other callers accumulate. The first of
 * them to continue then commits for all of them. */
#include "zrecord/write/group-commit.h"

#include <stddef.h>

#include "base/error.h"
#include "zrecord/fault.h"
#include "zrecord/write/commit.h"
#include "zrecord/write/handle.h"

/** Whether the requested commit is already done. */
static bool is_covered(const lx_writer *writer, uint64_t target, unsigned how)
{
    return writer->calls.committed >= target && !(how & LX__COMMIT_ROWS) &&
           (!(how & LX__COMMIT_SYNCED) ||
            (!writer->wal.unsynced && writer->committed.opening_synced));
}

/** Fails if the calls up to @p target cannot be committed. A failure affects only the call that
 * failed and later ones, unless calls after @p target have already been applied. */
static lx_status committable(lx_writer *writer, uint64_t target, lx_error *error)
{
    if (writer->meta.sealed || (writer->calls.failure.status != LX_OK &&
                                (target >= writer->calls.failed || writer->calls.applied > target)))
        return lx__writer_usable(writer, error);
    return LX_OK;
}

/** Commits for all waiting callers. If a later call fails, commits only up to @p target. */
static lx_status commit_frame(lx_writer *writer, uint64_t target, unsigned how, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    uint64_t all = how & LX__COMMIT_SUBMITTED ? writer->calls.submitted : writer->calls.made;
    if (all <= target || writer->transaction || writer->calls.failure.status != LX_OK)
        return lx__writer_commit_frame(writer, target, how, error);
    lx_status status = lx__writer_commit_frame(writer, all, how, &failure);
    if (status == LX_OK)
        return LX_OK;
    if (committable(writer, target, NULL) == LX_OK)
        return lx__writer_commit_frame(writer, target, how, error);
    lx__error_propagate(error, &failure);
    return status;
}

lx_status lx__group_commit(lx_writer *writer, uint64_t target, unsigned how, lx_error *error)
{
    uint64_t rollbacks = writer->calls.rollbacks;
    for (;;) {
        if (!(how & LX__COMMIT_REPEAT) && lx__calls_is_undone(&writer->calls, target, rollbacks))
            return lx_fail(error, LX_ERR_STATE,
                           "the changes were not committed: another thread rolled them back");
        if (is_covered(writer, target, how))
            return LX_OK; /* even if another commit has started since then */
        if (!lx__write_mutex_is_busy(&writer->mutex))
            break;
        lx__write_mutex_wait(&writer->mutex);
        if (LX__FAULT(SHARED_COMMIT))
            return LX_OK;
    }
    lx_status status = committable(writer, target, error);
    if (status != LX_OK)
        return status;
    if (writer->calls.committed >= target && !(how & LX__COMMIT_ROWS))
        how |= LX__COMMIT_REPEAT; /* already committed; only a sync is missing */
    lx__write_mutex_begin_commit(&writer->mutex);
    status = commit_frame(writer, target, how, error);
    lx__write_mutex_end_commit(&writer->mutex);
    return status;
}

lx_status lx__writer_commit_submitted(lx_writer *writer, lx_error *error)
{
    if (writer->calls.submitted <= writer->calls.committed)
        return LX_OK;
    return lx__group_commit(writer, writer->calls.submitted,
                            LX__COMMIT_ALONE | LX__COMMIT_SUBMITTED, error);
}

bool lx__writer_sync_by_timer(lx__sync_timer *timer)
{
    lx_writer *writer = (lx_writer *)((char *)timer - offsetof(lx_writer, timer));
    if (!lx__write_mutex_try_lock(&writer->mutex))
        return false;
    bool idle = !lx__write_mutex_is_busy(&writer->mutex) && writer->calls.failure.status == LX_OK &&
                lx__flush_is_idle(&writer->flush);
    /* The writer records a failure, and its next call returns it. */
    if (idle)
        (void)lx__group_commit(writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED, NULL);
    lx__write_mutex_unlock(&writer->mutex);
    return idle;
}

void lx__writer_start_timer(lx_writer *writer)
{
    if (writer->durability == LX_DURABILITY_PERIODIC && writer->wal.unsynced)
        lx__sync_timer_start(&writer->timer);
}

lx_status lx__writer_sync_due(lx_writer *writer, lx_error *error)
{
    return lx__sync_timer_take(&writer->timer)
               ? lx__group_commit(writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED, error)
               : LX_OK;
}
