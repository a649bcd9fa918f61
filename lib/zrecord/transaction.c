/* SPDX-License-Identifier: MIT */
/* Commits, as the caller asks for them: one at a time, or as the end of a transaction. */
#include "base/error.h"
#include "zrecord/writer.h"

static lx_status commit(lx_writer *writer, bool synced, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    if (status == LX_OK)
        status = lx__writer_commit_locked(writer, synced, error);
    if (status != LX_OK)
        return status;
    lx__clock_start(writer);
    return lx__clock_catch_up(writer, error);
}

lx_status lx_writer_commit(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = writer->transaction
                 ? lx__fail(error, LX_ERR_STATE, "a transaction is open: its end commits")
                 : commit(writer, false, error);
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_sync(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    if (!writer->transaction) {
        status = commit(writer, true, error);
    } else {
        status = lx__writer_usable(writer, error);
        lx__placer_drain(&writer->placer);
        if (status == LX_OK)
            status = lx__writer_sync_frame(writer, error);
    }
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_begin(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = writer->transaction
                 ? lx__fail(error, LX_ERR_STATE, "a transaction is open already")
                 : commit(writer, false, error);
    if (status == LX_OK)
        writer->transaction = true;
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_end(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = !writer->transaction
                 ? lx__fail(error, LX_ERR_STATE, "no transaction is open")
                 : commit(writer, false, error);
    if (status == LX_OK)
        writer->transaction = false;
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_rollback(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    if (writer->failure.status == LX_ERR_POISONED)
        status = lx__writer_usable(writer, error);
    if (status == LX_OK) {
        writer->failure = (lx_error)LX_ERROR_INIT;
        writer->transaction = false;
        status = lx__writer_forget(writer, error);
    }
    lx__writer_leave(writer);
    return status;
}
