/* SPDX-License-Identifier: MIT */
/* See doc/zrecord-format.md, 11.2 and 11.3. */
#include "zrecord/write/rotate.h"

#include "base/error.h"
#include "base/log.h"
#include "zrecord/fault.h"
#include "zrecord/write/checkpoint.h"
#include "zrecord/write/commit.h"
#include "zrecord/write/install.h"
#include "zrecord/write/reap.h"

/* A log is considered long if it exceeds both this size and an eighth of the tables' size. */
#define LOG_BYTES ((uint64_t)LX__SMALLER(16 << 20, 4 << 10))
/* A checkpoint is due if the updates exceed both this number and an eighth of the rows. */
#define LIVE_UPDATES ((size_t)LX__SMALLER(1 << 16, 20))
#define SHARE 8

static bool checkpoint_is_due(const lx_writer *writer)
{
    size_t updates = writer->committed.updates.count;
    return updates > LIVE_UPDATES && updates > writer->committed.state.rows / SHARE;
}

/** Whether the log is long and a new one would be much shorter, even with copies of the updates
 * that are still needed. */
static bool rotation_is_due(const lx_writer *writer)
{
    const lx__state *state = &writer->committed.state;
    uint64_t bytes = state->position.offset;
    uint64_t tables = state->rows * writer->meta.schema->count * (LX__OFFSET_ROW + LX__CHECK_ROW);
    return bytes > LOG_BYTES && bytes > tables / SHARE &&
           lx__frame_size(state->chunk_count, writer->committed.updates.count) < bytes / 2;
}

lx_status lx__writer_rotate(lx_writer *writer, lx_error *error)
{
    lx__install next;
    lx_status status = lx__install_begin(&next, writer, error);
    if (status == LX_OK)
        status = lx__install_make_log(
            &next, LX__FAULT(SNAPSHOT_UPDATES) ? NULL : &writer->committed.updates, error);
    if (status == LX_OK)
        status = lx__install_finish(&next, error);
    lx__install_end(&next);
    return status;
}

/** Postpones maintenance after a failure. If @p clean is set, there is nothing to undo; otherwise,
 * callers with pending operations must roll back, as after any failed commit. */
static void postpone(lx_writer *writer, bool clean, const lx_error *failure)
{
    lx__log(LX_LOG_WARNING, "%s: log rotation was postponed: %s", writer->directory.path,
            failure->message);
    writer->wal.retry_at = writer->committed.state.position.offset + LOG_BYTES;
    if (writer->calls.failure.status == LX_OK || !clean)
        return;
    lx__calls_clear_failure(&writer->calls);
    (void)lx__writer_drop(writer, NULL);
}

void lx__writer_maintain(lx_writer *writer)
{
    bool checkpoint = checkpoint_is_due(writer),
         clean = writer->calls.committed == writer->calls.made;
    /* If another thread is about to commit, it will do this maintenance. */
    if (lx__write_mutex_is_busy(&writer->mutex) || writer->transaction ||
        writer->calls.failure.status != LX_OK ||
        writer->committed.state.position.offset < writer->wal.retry_at ||
        (!checkpoint && !rotation_is_due(writer)))
        return;
    lx_error failure = LX_ERROR_INIT;
    lx_status status = lx__install_commit(writer, &failure);
    if (status == LX_OK)
        status = checkpoint ? lx__writer_checkpoint(writer, &failure)
                            : lx__writer_rotate(writer, &failure);
    if (status == LX_ERR_POISONED)
        (void)lx__calls_fail(&writer->calls, 0, status, &failure, NULL);
    else if (status != LX_OK)
        postpone(writer, clean, &failure);
}

void lx__writer_maintain_submitted(lx_writer *writer)
{
    if (writer->calls.made == writer->calls.committed ||
        writer->calls.made == writer->calls.submitted)
        lx__writer_maintain(writer);
}
