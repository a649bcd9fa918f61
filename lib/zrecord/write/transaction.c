/* SPDX-License-Identifier: MIT */
/* Commits, as the caller asks for them: one at a time, or as the end of a transaction. */
#include "base/error.h"
#include "zrecord/write/install.h"

static lx_status commit(lx_writer *writer, unsigned how, lx_error *error)
{
    lx_status status = lx__writer_usable(writer, error);
    return status == LX_OK ? lx__writer_commit(writer, writer->calls.made, how, error) : status;
}

/** What is due after a commit. */
static lx_status catch_up(lx_writer *writer, lx_status status, lx_error *error)
{
    if (status != LX_OK)
        return status;
    lx__writer_upkeep(writer);
    lx__writer_start_timer(writer);
    return lx__writer_sync_due(writer, error);
}

lx_status lx_writer_commit(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    status = writer->transaction
                 ? lx__fail(error, LX_ERR_STATE, "a transaction is open: its end commits")
                 : catch_up(writer, commit(writer, 0, error), error);
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_sync(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    if (!writer->transaction) {
        status = catch_up(writer, commit(writer, LX__COMMIT_SYNCED, error), error);
    } else {
        status = lx__writer_usable(writer, error);
        if (status == LX_OK)
            status = lx__writer_commit(writer, 0, LX__COMMIT_REPEAT | LX__COMMIT_SYNCED, error);
    }
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_begin_transaction(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    /* Nothing may come between, which is neither committed nor a part of it: what other threads
     * ask for while this one waits for its turn, is committed as well. */
    status = lx__writer_usable(writer, error);
    while (status == LX_OK && !writer->transaction && writer->calls.committed < writer->calls.made)
        status = commit(writer, LX__COMMIT_ALONE, error);
    /* Another thread may have begun one while this one waited. */
    if (status == LX_OK && writer->transaction)
        status = lx__fail(error, LX_ERR_STATE, "a transaction is open already");
    if (status == LX_OK) {
        writer->transaction = true;
        status = catch_up(writer, LX_OK, error);
    }
    lx__writer_leave(writer);
    return status;
}

lx_status lx_writer_end_transaction(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter(writer, error);
    if (status != LX_OK)
        return status;
    if (writer->transaction) {
        writer->transaction = false; /* if the commit fails, there is but a rollback */
        status = catch_up(writer, commit(writer, 0, error), error);
    } else {
        status = lx__fail(error, LX_ERR_STATE, "no transaction is open");
    }
    lx__writer_leave(writer);
    return status;
}

/** Undoes what was asked for, but not what was submitted to be committed. */
static lx_status roll_back(lx_writer *writer, lx_error *error)
{
    (void)lx__writer_commit_submitted(writer, NULL);
    if (writer->calls.failure.status == LX_ERR_POISONED || writer->meta.sealed)
        return writer->meta.sealed ? LX_OK : lx__writer_usable(writer, error);
    lx__calls_clear_failure(&writer->calls);
    writer->transaction = false;
    return lx__writer_forget(writer, error);
}

lx_status lx_writer_rollback(lx_writer *writer, lx_error *error)
{
    lx_status status = lx__writer_enter_alone(writer, error);
    if (status != LX_OK)
        return status;
    status = roll_back(writer, error);
    lx__writer_leave(writer);
    return status;
}
