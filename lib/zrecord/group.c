/* SPDX-License-Identifier: MIT */
/* Several callers share one commit: while one syncs, the others' operations gather, and the first
 * of them that can commits for all. */
#include "base/error.h"
#include "zrecord/writer.h"

/** Whether there is nothing left to do for that. */
static bool is_covered(const lx_writer *writer, uint64_t target, unsigned how)
{
    return writer->committed_call >= target && !(how & LX__COMMIT_ROWS) &&
           (!(how & LX__COMMIT_SYNCED) || (!writer->unsynced && writer->settled));
}

static lx_status fail_undone(lx_error *error)
{
    return lx__fail(error, LX_ERR_STATE, "not committed: another thread has rolled back");
}

/** A failure keeps later calls from being committed, not those before the one that failed. */
static lx_status committable(lx_writer *writer, uint64_t target, lx_error *error)
{
    if (writer->meta.sealed || (writer->failure.status != LX_OK && target >= writer->failed_call))
        return lx__writer_usable(writer, error);
    return LX_OK;
}

lx_status lx__writer_commit(lx_writer *writer, uint64_t target, unsigned how, lx_error *error)
{
    uint64_t undone = writer->undone;
    while (writer->committing || writer->calling)
        pthread_cond_wait(&writer->turn, &writer->mutex);
    if (writer->undone != undone && !(how & LX__COMMIT_REPEAT))
        return fail_undone(error);
    lx_status status = committable(writer, target, error);
    if (status != LX_OK || is_covered(writer, target, how))
        return status;
    writer->committing = true;
    status = lx__writer_put_frame(writer, target, how, error);
    writer->committing = false;
    pthread_cond_broadcast(&writer->turn);
    return status;
}
